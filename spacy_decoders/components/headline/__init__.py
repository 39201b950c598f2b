"""``headline_generator``: a headline from the document's own words, certified.

``generator`` is the component. ``reading`` turns texts into arrays, ``decoding`` scores them and
finds their headlines: phrases, ``sentences`` or ``single_words``. ``scorer`` compares them with
titles.
"""
