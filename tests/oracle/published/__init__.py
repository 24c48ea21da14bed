"""The published specifications as models: TLC's counts, truncation rules, what breaks without a rule."""
