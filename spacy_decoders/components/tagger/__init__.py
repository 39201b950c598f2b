"""``exact_tagger``: tag sequences by exact, certified decoding.

``tagger`` is the component. ``label_space`` says what its labels mean and which may follow which,
``constraints`` what a user rules out, ``decoding`` decodes the sentences of documents.
"""
