"""Measure the assembled pipeline on the development data."""

import json
from pathlib import Path

import spacy
import typer

from spacy_decoders.registry.readers import column_corpus, conllu_corpus

KEYS = (
    "tag_acc",
    "pos_acc",
    "morph_acc",
    "lemma_acc",
    "dep_uas",
    "dep_las",
    "sents_f",
    "ents_p",
    "ents_r",
    "ents_f",
    "certified",
)


def main(model: Path, treebank: Path, entities: Path, output: Path, limit: int = 0) -> None:
    """Write the scores on raw text, on gold tokens and sentences, and on entities."""
    nlp = spacy.load(model)
    raw = conllu_corpus(treebank, n_sents=10, gold_tokens=False, limit=limit)
    gold = conllu_corpus(treebank, n_sents=10, gold_sents=True, limit=limit)
    columns = ["-", "form", "ent", "-", "-"]
    named = column_corpus(entities, columns, n_sents=10, gold_sents=True, limit=limit)
    found_in = column_corpus(entities, columns, n_sents=10, limit=limit)
    found = {}
    tagged = ["parser", "tagger", "morphologizer", "attribute_ruler", "lemmatizer"]
    for name, corpus, pipes in (
        ("raw text", raw, tagged),
        ("gold tokens and sentences", gold, tagged),
        ("entities", named, ["entities"]),
        ("entities, sentences found", found_in, ["parser", "entities"]),
    ):
        with nlp.select_pipes(enable=pipes):
            scores = nlp.evaluate(list(corpus(nlp)))
        found[name] = {key: scores[key] for key in KEYS if scores.get(key) is not None}
        print(name, found[name])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
