"""The scores of headlines.

``words`` holds a text in numbers, ``corpus_counts`` what was counted in titled texts.
``word_features`` and ``word_selection`` say which words belong in a headline, ``bigrams`` and
``auxiliaries`` how they follow each other; ``word_graph`` and ``sentence_graph`` make a problem of
both.
"""
