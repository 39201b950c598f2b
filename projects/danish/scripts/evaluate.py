"""Measure the assembled pipeline on the development data."""

import json
from pathlib import Path

import spacy
import typer

from spacy_decoders.registry.readers import column_corpus, conllu_corpus

KEYS = (
    *("pos_acc", "morph_acc", "lemma_acc"),
    *("dep_uas", "dep_las", "sents_f", "ents_f", "certified"),
)


def main(model: Path, treebank: Path, entities: Path, output: Path) -> None:
    """Write the scores on raw text, on gold tokens and sentences, and on entities."""
    nlp = spacy.load(model)
    corpora = {
        "raw text": conllu_corpus(treebank, n_sents=10, gold_tokens=False),
        "gold tokens and sentences": conllu_corpus(treebank, n_sents=10, gold_sents=True),
    }
    if nlp.has_pipe("entities"):
        columns = ["-", "form", "ent", "-", "-"]
        corpora["entities, sentences found"] = column_corpus(entities, columns, n_sents=10)
    found = {}
    for name, corpus in corpora.items():
        scores = nlp.evaluate(list(corpus(nlp)))
        found[name] = {key: scores[key] for key in KEYS if scores.get(key) is not None}
        print(name, found[name])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
