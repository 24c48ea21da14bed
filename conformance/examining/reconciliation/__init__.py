"""How is a run doctored, and judged again (RC-01 to RC-03)?"""
