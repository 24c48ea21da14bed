"""The catalogue: one package per area, one module per requirement, each with a tuple named ``SCENARIOS``."""
