"""Scoring headlines.

``words`` represents texts as arrays, ``phrases`` extracts their phrases, and ``knowledge`` holds
the counts of a corpus of titled texts. From ``features``, the models of ``selection`` score words
and phrases; ``judge`` has the probability that a headline is good, and ``bigrams`` a language
model for headlines of single words.
"""
