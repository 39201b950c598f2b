"""The scores of headlines.

``words`` represents a text as arrays, ``knowledge`` has the counts of a corpus of titled texts.
``word_features`` and ``phrase_features`` are what ``selection`` scores words and phrases by,
``judge`` says how likely a headline is good. ``meaning`` and ``compression`` say which words of a
sentence need each other; ``bigrams`` and ``word_graph`` how single words follow each other.
"""
