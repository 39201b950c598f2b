"""``exact_tagger``: tag sequences by exact, certified decoding.

``tagger`` is the component. ``label_space`` defines its labels, ``entity_scheme`` the legal order
of entity labels, ``decoding`` decodes the sentences of documents, ``probabilities`` computes the
probabilities of what was decoded.
"""
