"""The scores of headlines.

``words`` represents texts as arrays, ``phrases`` finds their phrases, ``knowledge`` has the counts
of a corpus of titled texts. ``features`` are what ``selection`` scores words and phrases by,
``judge`` says how likely a headline is good; ``bigrams`` how single words follow each other.
"""
