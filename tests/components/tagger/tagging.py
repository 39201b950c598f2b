"""A tiny made-up language to tag, and pipelines trained on it."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_decoders.components.factories.factory import HASH_EMBED_CNN
from tests.oracles import all_chains

#: Words with tag, universal part of speech, features and named entity.
WORDS = {
    "the": ("DT", "DET", "Definite=Def", "O"),
    "old": ("JJ", "ADJ", "Degree=Pos", "O"),
    "man": ("NN", "NOUN", "Number=Sing", "O"),
    "boats": ("NNS", "NOUN", "Number=Plur", "O"),
    "sees": ("VBZ", "VERB", "Tense=Pres", "O"),
    "Mercury": ("NNP", "PROPN", "Number=Sing", "B-STAR"),
    "New": ("NNP", "PROPN", "Number=Sing", "B-CITY"),
    "York": ("NNP", "PROPN", "Number=Sing", "I-CITY"),
    ".": (".", "PUNCT", "", "O"),
}
SENTENCES = (
    "the old man sees Mercury .",
    "Mercury sees the boats .",
    "New York sees the old boats .",
    "the man sees New York .",
)
MODEL = {
    "@architectures": "spacy-decoders.ChainScorer.v1",
    "tok2vec": {
        **HASH_EMBED_CNN,
        "width": 16,
        "depth": 1,
        "embed_size": 100,
        "maxout_pieces": 2,
        "subword_features": False,
    },
}


def annotated(nlp: Language, sentences: Iterable[str]) -> Doc:
    """A gold document of some sentences."""
    lines = [sentence.split() for sentence in sentences]
    words = [word for line in lines for word in line]
    tags, pos, morphs, ents = zip(*(WORDS[word] for word in words), strict=True)
    starts = [i == 0 for line in lines for i in range(len(line))]
    return Doc(
        nlp.vocab,
        words=words,
        tags=list(tags),
        pos=list(pos),
        morphs=list(morphs),
        ents=list(ents),
        sent_starts=starts,
    )


def examples(nlp: Language) -> list[Example]:
    """All sentences, each a document."""
    golds = [annotated(nlp, [sentence]) for sentence in SENTENCES]
    return [Example(bare(nlp, gold.text), gold) for gold in golds]


def bare(nlp: Language, text: str) -> Doc:
    """A document whose words stand between blanks."""
    return Doc(nlp.vocab, words=text.split())


def tags(doc: Doc) -> list[str]:
    """The tags of a document."""
    return [token.tag_ for token in doc]


def entities(labels: Sequence[str]) -> dict[tuple[int, int], str]:
    """Where the entities of a BIO labelling begin and end, and their types."""
    shape = "".join(label[0] for label in labels)
    return {of.span(): labels[of.start()][2:] for of in re.finditer("BI*", shape)}


def every_labelling(
    nlp: Language, doc: Doc, temperature: float = 1.0
) -> list[tuple[float, list[str]]]:
    """Every labelling of a document, by what it is worth and the names of its labels."""
    pipe = nlp.get_pipe("exact_tagger")
    [(emissions, chain)] = pipe.predict([doc])
    given = (chain.transitions, chain.start, chain.end, emissions)
    scored = all_chains(*(np.asarray(scores) / temperature for scores in given))
    return [(score, [pipe.labels[label] for label in labels]) for score, labels in scored]


def trained(steps: int = 25, **config: Any) -> Language:
    """A pipeline with an exact tagger that knows the language."""
    nlp = spacy.blank("xx")  # which has no thousand exceptions to read
    spacy.util.fix_random_seed(0)
    nlp.add_pipe("exact_tagger", config={"model": MODEL, **config})
    golds = examples(nlp)
    optimizer = nlp.initialize(lambda: golds)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(golds, sgd=optimizer)
    return nlp


def randomised(seed: int = 0, **config: Any) -> Language:
    """A pipeline of random weights: what is best is no matter of course."""
    nlp = trained(0, **config)
    randomise(nlp, seed)
    return nlp


def randomise(nlp: Language, seed: int) -> None:
    """Draw all weights above the tok2vec anew."""
    model = nlp.get_pipe("exact_tagger").model
    rng = np.random.default_rng(seed)
    for layer, name in (
        (model.get_ref("chain"), "transitions"),
        (model.get_ref("chain"), "start"),
        (model.get_ref("chain"), "end"),
        (model.get_ref("output_layer"), "W"),
    ):
        shape = layer.get_param(name).shape
        layer.set_param(name, rng.normal(size=shape).astype("f"))
