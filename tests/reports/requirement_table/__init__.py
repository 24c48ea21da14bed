"""The requirement table: what it counts, and what it says."""
