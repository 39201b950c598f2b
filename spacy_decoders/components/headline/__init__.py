"""``headline_generator``: a headline from the document's own words, certified.

``generator`` is the component and its training. ``reading`` turns texts into arrays, ``headlines``
scores them and finds the best phrases; ``sentences`` shortens sentences, which cannot lose what
``meaning`` tells; ``single_words`` selects and orders words. ``scorer`` compares with titles.
"""
