"""``headline_generator``: a headline from the document's own words, certified.

``generator`` is the component. ``reading`` turns a Doc into arrays, ``decoding`` builds the graph
in which a headline is a path, ``writer`` chooses length and number, ``headlines`` renders paths as
text. ``rouge`` and ``scorer`` compare them with titles.
"""
