"""A tiny treebank, and parsers trained on it, for tests."""

import spacy
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_decoders.components.factories.factory import HASH_EMBED_CNN

NAME = "branch_and_bound_parser"


SMALL = {
    "@architectures": "spacy-decoders.ArcScorer.v1",
    "lstm_width": 8,
    "arc_width": 16,
    "label_width": 8,
    "factor_rows": 2**10,
    "tok2vec": {**HASH_EMBED_CNN, "width": 24, "depth": 1, "embed_size": 200, "maxout_pieces": 2},
}


SENTENCES = [
    ("she eats the red fish .", [1, 1, 4, 4, 1, 1], "nsubj ROOT det amod obj punct"),
    ("he sleeps .", [1, 1, 1], "nsubj ROOT punct"),
    ("the dog sees a cat .", [1, 2, 2, 4, 2, 2], "det nsubj ROOT det obj punct"),
]


TAGS = {"she": "P", "he": "P", "the": "D", "a": "D", ".": ".", "red": "J"}


def make_gold(nlp, which, *, tags=True) -> Doc:
    words, heads, deps = [], [], []
    for text, tree, labels in (SENTENCES[i] for i in which):
        heads += [len(words) + head for head in tree]
        words += text.split()
        deps += labels.split()
    return Doc(
        nlp.vocab,
        words=words,
        heads=heads,
        deps=deps,
        tags=[TAGS.get(word, "X") for word in words] if tags else None,
    )


def bare(doc: Doc) -> Doc:
    return Doc(doc.vocab, words=[token.text for token in doc])


def make_examples(nlp, **options) -> list[Example]:
    golds = [make_gold(nlp, which, **options) for which in ([0, 1], [2], [1, 2, 0], [0])]
    return [Example(bare(gold), gold) for gold in golds]


def make_nlp(steps=40, examples=make_examples, **config):
    fix_random_seed(0)
    nlp = spacy.blank("xx")  # which has no thousand exceptions to read
    nlp.add_pipe(NAME, config={"model": SMALL, **config})
    batch = examples(nlp)
    optimizer = nlp.initialize(lambda: batch)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(batch, sgd=optimizer)
    return nlp


def sentence(nlp, words) -> Doc:
    """Words that are one sentence."""
    return Doc(nlp.vocab, words=words, sent_starts=[True] + [False] * (len(words) - 1))


def parse(nlp, which=(0, 1), **preset) -> Doc:
    words = [word for i in which for word in SENTENCES[i][0].split()]
    return nlp(Doc(nlp.vocab, words=words, **preset))


def trees(doc: Doc):
    return [(token.head.i, token.dep_, token.is_sent_start) for token in doc]
