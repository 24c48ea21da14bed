"""Which requirement does each release meet? Runs of many releases as one table, for people, programs and CI."""

from reports.requirement_table.write import ReleasePage, write_table

__all__ = ["ReleasePage", "write_table"]
