"""``headline_generator``: a headline from the document's own words, certified."""
