"""The scores of headlines.

``words`` represents a text as arrays, ``corpus_counts`` the counts of a corpus of titled texts.
``word_features`` and ``word_selection`` score which words belong in a headline, ``bigrams`` and
``auxiliaries`` how they follow each other; ``word_graph`` and ``sentence_graph`` build the
decoding problem from both.
"""
