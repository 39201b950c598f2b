"""Fit the probabilities of entities on documents that a model of the same kind has not seen."""

from pathlib import Path

import spacy
import typer

from spacy_decoders.components.probabilities import calibrate_pipeline
from spacy_decoders.readers.corpora import gold_corpus

COLUMNS = ["-", "form", "ent", "-", "-"]


def main(pipeline: Path, fold: Path, held_out: Path) -> None:
    """Calibrate the entities of a fold behind the parser, and keep that in the pipeline."""
    nlp = spacy.load(pipeline)
    behind = spacy.load(pipeline)
    for name in behind.pipe_names:
        if name != "parser":
            behind.remove_pipe(name)
    entities = behind.add_pipe("entities", source=spacy.load(fold), last=True)
    read = gold_corpus(held_out, columns=COLUMNS, limit=0)
    calibrate_pipeline(behind, list(read(behind)), components=["entities"])
    nlp.get_pipe("entities").calibration = entities.calibration
    nlp.to_disk(pipeline)


if __name__ == "__main__":
    typer.run(main)
