"""The catalogue: one module per area, each a tuple named ``SCENARIOS``."""
