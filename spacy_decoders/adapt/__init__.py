"""Exact decoding for the scores of other libraries.

Each room takes what one kind of model gives, makes a decoding problem of it, and hands the best
structure back with its certificate:

- :mod:`.spans`: scored spans to the best set that does not overlap;
- :mod:`.tokens`: scores of a token classifier to legal entities with probabilities;
- :mod:`.crfsuite`: model files of CRFsuite;
- :mod:`.trees`: arrays of arc scores to trees;
- :mod:`.linking`: scored candidates to collective links;
- :mod:`.pipelines`: the trained components of spaCy's own.

The other libraries are imported only by what needs them, and only when it is used.
"""
