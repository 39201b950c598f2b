"""What agreement within documents costs and gains, on corpora with document boundaries.

    python -m spacy train configs/fast_entities.cfg --output model --paths.train ... --paths.dev ..
    python benchmarks/agreement.py model/model-best

Documents of UNER_English-EWT and wikigold are decoded whole, with the corpus's sentences.
Contradictions are names with entities of two types in one document; "repeated" are the documents
in which gold has a name twice. CPU seconds are minima of several passes.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from itertools import compress
from pathlib import Path
from typing import Any

import timing  # isort: skip - first: it sets the threads

import spacy
from pipelines import f_score
from spacy.tokens import Doc
from spacy.training import Example

from spacy_decoders.registry.readers import column_corpus

TYPES = {"PER", "LOC", "ORG"}

SETTINGS: dict[str, Any] = {
    "none": None,
    "hard": "hard",
    "weight 1": 1.0,
    "hard, missing 0.1": {"same_name": "hard", "missing": 0.1},
    "hard, short names 1": {"same_name": "hard", "short_names": 1.0},
    "hard, missing 0.1, short names 1": {"same_name": "hard", "missing": 0.1, "short_names": 1.0},
}


def corpora(folder: Path) -> dict[str, Any]:
    """The corpora that state where documents begin."""
    whole: dict[str, Any] = {"n_sents": 0, "gold_sents": True}
    uner = folder / "UNER_English-EWT" / "en_ewt-ud-dev.iob2"
    wikigold = folder / "wikigold" / "wikigold.conll.gz"
    return {
        "UNER EWT dev": column_corpus(uner, ["-", "form", "ent", "-", "-"], **whole),
        "Wikigold": column_corpus(wikigold, ["form", "ent"], separator=" ", **whole),
    }


def spans(doc: Doc) -> set[tuple[int, int, str]]:
    """The entities of the types that all corpora annotate."""
    return {(of.start, of.end, of.label_) for of in doc.ents if of.label_ in TYPES}


def contradictions(doc: Doc) -> int:
    """Names that have entities of several types."""
    types = defaultdict(set)
    for ent in doc.ents:
        types[ent.text].add(ent.label_)
    return sum(len(of) > 1 for of in types.values())


def measured(nlp: Any, examples: list[Example], setting: Any, passes: int) -> dict[str, Any]:
    """Annotate a corpus under a setting."""
    pipe = nlp.get_pipe("entities")
    pipe.agreement = setting
    scores = pipe.predict([example.predicted for example in examples])
    alone, whole = [], []
    for _ in range(passes):
        docs = [example.predicted.copy() for example in examples]
        begun = time.process_time()
        pipe.decode_together(docs, scores)
        alone.append(time.process_time() - begun)
        begun = time.process_time()
        docs = list(pipe.pipe(docs))
        whole.append(time.process_time() - begun)
    certificates = [of for doc in docs for of in doc._.certificates[pipe.name]]
    repeated = [
        max(Counter(ent.text for ent in example.reference.ents).values(), default=0) > 1
        for example in examples
    ]
    pairs = [(spans(doc), spans(of.reference)) for doc, of in zip(docs, examples, strict=True)]
    return {
        "F": f_score(pairs),
        "F, repeated names": f_score(compress(pairs, repeated)),
        "contradictions": sum(map(contradictions, docs)),
        "certified": sum(of["status"] == "optimal" for of in certificates) / len(certificates),
        "seconds of decoding": min(alone),
        "seconds of the component": min(whole),
    }


def main() -> None:
    """Measure every setting on every corpus."""
    parser = timing.arguments(__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--passes", type=int, default=5)
    given = parser.parse_args()
    nlp = spacy.load(given.model)
    report = timing.Report("agreement", given.results)
    for name, corpus in corpora(given.data / "tagging").items():
        examples = list(corpus(nlp))
        words = sum(len(example.reference) for example in examples)
        found = [measured(nlp, examples, value, given.passes) for value in SETTINGS.values()]
        report.table(
            f"{name}: {len(examples)} documents, {words:,} words",
            ["agreement", *found[0]],
            [[setting, *row.values()] for setting, row in zip(SETTINGS, found, strict=True)],
        )
    report.close()


if __name__ == "__main__":
    main()
