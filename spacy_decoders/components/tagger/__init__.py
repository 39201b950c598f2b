"""``exact_tagger``: tag sequences by exact, certified decoding.

``tagger`` is the component. ``label_space`` defines its labels, ``entity_scheme`` the legal order
of those of entities, ``decoding`` decodes the sentences of documents, ``probabilities`` says how
sure they are.
"""
