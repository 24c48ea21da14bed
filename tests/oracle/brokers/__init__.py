"""Tests of the brokers' model: what the explorer finds in it, and what schedules it makes of that."""
