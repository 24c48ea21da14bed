"""One module per rule change, over a shared base; ``by_version`` says which release has which."""
