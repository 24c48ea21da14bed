"""``site`` and ``explain --page``: what catalogue, model and runs say, gathered for ``reports.site`` to draw."""
