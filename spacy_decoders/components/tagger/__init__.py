"""``exact_tagger``: tag sequences by exact, certified decoding.

``tagger`` is the component. ``label_space`` defines its labels and their legal order,
``constraints`` the labels that a user forbids, ``decoding`` decodes the sentences of documents.
"""
