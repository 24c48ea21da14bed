"""What does each release do? One module a question, one ``Rule`` a change; ``by_version`` names the releases."""
