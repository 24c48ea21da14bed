"""Rules made wrong on purpose, each with the story, prediction or property that notices it."""
