"""Every chain decoder on the same trained scores: accuracy, and how much is proven."""

import json
from pathlib import Path

import spacy
import typer

from spacy_decoders.registry import decoders
from spacy_decoders.registry.readers import column_corpus

NAMES = ("ForwardDominance", "ColumnGeneration", "PrunedViterbi", "Viterbi", "ChainBeam")


def main(model: Path, corpus: Path, output: Path) -> None:
    """Write a row of scores for each decoder."""
    nlp = spacy.load(model)
    tagger = nlp.get_pipe("tagger")
    read = column_corpus(corpus, ["form", "tag", "ent"])
    found = {}
    for name in NAMES:
        tagger.decoder = decoders.get(f"spacy-decoders.{name}.v1")()
        scores = nlp.evaluate(list(read(nlp)))
        found[name] = {key: scores[key] for key in ("tag_acc", "ents_f", "certified")}
        print(name, found[name])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
