"""``branch_and_bound_parser``: exact, certified dependency parsing.

``parser`` is the component. ``gold`` reads the trees of examples, ``parsed_doc`` holds trees
before ``trees`` writes them to a Doc, ``noun_chunks`` finds noun chunks in them.
"""
