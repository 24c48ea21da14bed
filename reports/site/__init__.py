"""The site for teaching: a page for every requirement, known defect and setting, drawn from what was gathered."""
