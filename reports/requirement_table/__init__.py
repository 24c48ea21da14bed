"""Does each release behave as modelled, requirement by requirement? One table for people, programs and CI."""

from reports.requirement_table.html import ReleasePage, write_table

__all__ = ["ReleasePage", "write_table"]
