"""The spaCy components, a folder each; shared modules are beside the folders.

Every component is a :class:`.decoding_pipe.DecodingPipe`: ``predict`` scores documents with a
model, ``decode`` builds a problem and gives it to a decoder, ``annotate`` writes the solution and
its certificates. Its options are declared in ``factories``.
"""
