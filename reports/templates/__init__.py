"""Jinja2 templates and the style sheet of the HTML report."""
