"""Scenarios that ask one broker in the middle of a schedule, whether it leads the partition or not."""
