"""Templates and style sheet of the site; ``reports.site.pages`` fills them."""
