"""What scripts of puppets predict, and what no interpreter may accept."""
