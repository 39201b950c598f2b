"""``branch_and_bound_parser``: dependency trees that are the best by proof.

``parser`` is the component. ``gold`` reads the trees of examples, ``parsed_doc`` holds trees
before ``trees`` writes them to a Doc, ``noun_chunks`` finds noun chunks in them.
"""
