"""``graph_entity_linker``: all mentions of a document linked together, certified.

``linker`` is the component. ``mentions`` finds what is to be linked, ``candidates`` what it may
mean in a ``knowledge_base``, ``features`` what speaks for that; ``decoding`` cuts long documents
into windows, chooses all links of a window together and says how sure each is.
"""
