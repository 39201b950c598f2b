"""Write the pipeline as it is shipped."""

import json
from pathlib import Path

import numpy as np
import spacy
import srsly
import typer
from spacy.language import Language

#: The spaCy that it is for, any that the package takes: spaCy itself writes the release it was
#: saved by, and warns of earlier ones.
SPACY = ">=3.8.0,<3.9.0"


def pack(nlp: Language, folder: Path) -> None:
    """Write a pipeline as small as it goes: weights of 7 bits of fraction, and no vocabulary.

    The pipeline is spoilt by it: load it again to use it. Its components need nothing from the
    vocabulary but the strings of their labels.
    """
    _round(nlp)
    for name in nlp.config.get("paths", {}):
        nlp.config["paths"][name] = None  # do not ship local paths of the training data
    nlp.to_disk(folder, exclude=["vocab"])
    written = {**srsly.read_json(folder / "meta.json"), "spacy_version": SPACY}
    srsly.write_json(folder / "meta.json", written)


def _round(nlp: Language) -> None:
    """Round to half precision with 7 of its 10 bits of fraction: wheels compress it better."""
    models = [getattr(component, "model", None) for _, component in nlp.components]
    for layer in (layer for model in models if hasattr(model, "walk") for layer in model.walk()):
        for name in layer.param_names:
            weights = layer.get_param(name) if layer.has_param(name) else None
            if weights is not None and weights.dtype in ("float16", "float32"):
                bits = (weights.astype(np.float16).view(np.uint16).astype(np.uint32) + 4) & 0xFFF8
                layer.set_param(name, bits.astype(np.uint16).view(np.float16))


def main(model: Path, metrics: Path, output: Path) -> None:
    """Pack a pipeline, its scores in its meta data, and say how large it is."""
    nlp = spacy.load(model)
    nlp.meta["performance"] = json.loads(metrics.read_text(encoding="utf8"))
    pack(nlp, output)
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    print(f"{output}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    typer.run(main)
