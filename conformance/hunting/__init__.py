"""How are schedules found that nobody wrote down? Grown from what the model has, run, and judged as all others."""
