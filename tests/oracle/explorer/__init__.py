"""The explorer: search, paths, properties of all three kinds."""
