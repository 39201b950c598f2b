"""Exact decoding for the scores of other libraries.

Each module makes decoding problems of the output of one kind of model, and returns the best
structures with their certificates:

- :mod:`.spans`: scored spans to the best set that does not overlap;
- :mod:`.tokens`: scores of a token classifier to legal entities with probabilities;
- :mod:`.crfsuite`: model files of CRFsuite;
- :mod:`.trees`: arrays of arc scores to trees;
- :mod:`.linking`: scored candidates to collective links;
- :mod:`.pipelines`: the trained components of spaCy's own.

Other libraries are imported only when they are used.
"""
