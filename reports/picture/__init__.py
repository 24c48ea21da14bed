"""The picture of a run, drawn by hand as SVG: lanes over time, held frames between them, final logs.

Every module draws one kind of thing and knows nothing of the others; ``reports.timeline_svg`` puts
them on one sheet. Colours come from the page's style sheet; shapes and words carry the meaning.
"""
