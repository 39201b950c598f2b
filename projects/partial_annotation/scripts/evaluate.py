"""Measure a recogniser on a corpus that annotates some types: those, and no others, count.

python scripts/evaluate.py training/model-best dev.iob2 metrics/dev.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import spacy

from spacy_decoders.registry.readers import column_corpus

COLUMNS = ["-", "form", "ent", "-", "-"]


def main(model: str, corpus: str, written: str) -> None:
    """Write precision, recall and F, of all types together and of each."""
    nlp = spacy.load(model)
    examples = list(column_corpus(Path(corpus), COLUMNS, n_sents=10)(nlp))
    types = {ent.label_ for example in examples for ent in example.reference.ents}
    counts = {name: [0, 0, 0] for name in ["all", *sorted(types)]}
    docs = nlp.pipe([example.predicted for example in examples])
    for example, doc in zip(examples, docs, strict=True):
        gold = {(ent.start, ent.end, ent.label_) for ent in example.reference.ents}
        found = {(ent.start, ent.end, ent.label_) for ent in doc.ents if ent.label_ in types}
        for name, count in counts.items():
            own = [{of for of in spans if name in ("all", of[2])} for spans in (gold, found)]
            for place, number in enumerate((len(own[0] & own[1]), len(own[1]), len(own[0]))):
                count[place] += number
    scores = {}
    for name, (right, found_count, wanted) in counts.items():
        precision, recall = right / max(1, found_count), right / max(1, wanted)
        fscore = 2 * precision * recall / max(1e-9, precision + recall)
        scores[name] = {"p": precision, "r": recall, "f": fscore, "entities": wanted}
    Path(written).parent.mkdir(parents=True, exist_ok=True)
    Path(written).write_text(json.dumps(scores, indent=2) + "\n", encoding="utf8")
    print(f"F of {', '.join(sorted(types))}: {100 * scores['all']['f']:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
