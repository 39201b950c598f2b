"""What the graph adds: the trained linker with and without the costs of pairs."""

import json
from pathlib import Path

import spacy
import typer

from spacy_decoders.models.linker.weights import Feature
from spacy_decoders.registry.readers import linked_corpus

KEYS = ("nel_micro_p", "nel_micro_r", "nel_micro_f", "nel_linkable_acc", "certified")


def main(model: Path, corpus: Path, output: Path) -> None:
    """Write a row of scores for each."""
    nlp = spacy.load(model)
    linker = nlp.get_pipe("graph_entity_linker")
    found = {}
    for name in ("local and graph", "local alone"):
        if name == "local alone":
            weights = linker.model.get_param("weights").copy()
            weights[Feature.PAIRS] = 0.0
            linker.model.set_param("weights", weights)
        scores = nlp.evaluate(list(linked_corpus(corpus)(nlp)))
        found[name] = {key: scores[key] for key in KEYS}
        print(name, found[name])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
