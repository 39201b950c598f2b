"""Write the pipeline as it is shipped."""

import json
from pathlib import Path

import spacy
import typer

from spacy_decoders import bundled


def main(model: Path, metrics: Path, output: Path) -> None:
    """Pack a pipeline, its scores in its meta data, and say how large it is."""
    nlp = spacy.load(model)
    nlp.meta["performance"] = json.loads(metrics.read_text(encoding="utf8"))
    bundled.pack(nlp, output)
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    print(f"{output}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    typer.run(main)
