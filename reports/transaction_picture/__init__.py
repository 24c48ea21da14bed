"""The picture of a script of transactions, drawn by hand as SVG: lanes from left to right, time goes down.

``course`` joins what the rules say with what brokers answered, ``layout`` says where everything lies; the others draw
one kind of thing each, and ``sheet`` puts them together. Colours come from the page's style sheet; shapes and words
carry the meaning.
"""
