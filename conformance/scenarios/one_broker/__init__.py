"""Rows that one broker among puppets proves exactly: every fetch, epoch and log of the others is chosen."""
