"""The parser's weights and words as arrays, which `distil.py` trains, and back."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import typer
from thinc.api import Model

from spacy_decoders.models.clusters.table import ClusterTable
from spacy_decoders.readers.sentences import read_conllu

app = typer.Typer()
#: White space that is put between words and sentences.
BLANKS = ("\n", "\n\n", " ")


def parameters(model: Model[Any, Any]) -> dict[str, tuple[Model[Any, Any], str]]:
    """Return all parameters that are trained, by names that do not depend on their order."""
    arcs, labels, boundaries = (model.get_ref(name) for name in ("arcs", "labels", "boundaries"))
    lstm = next(node for node in model.walk() if node.name == "bilstm")
    embed, encode = model.get_ref("tok2vec").layers
    parts = {
        "arcs": arcs,
        "arc_modifiers": arcs.layers[0].layers[0],
        "arc_heads": arcs.layers[1].layers[0],
        "labels": labels,
        "label_heads": labels.layers[0].layers[0],
        "label_modifiers": labels.layers[1].layers[0],
        "boundary_hidden": boundaries.layers[0].layers[0],
        "boundaries": boundaries.layers[1],
        "tags": model.get_ref("tags"),
        "tagged": model.get_ref("tagged"),
        "lstm": lstm,
    }
    tables = [node for node in embed.walk() if node.name == "hashembed"]
    by_width = {width: [t for t in tables if t.get_dim("nO") == width] for width in (96, 32)}
    parts |= {f"form{t.attrs['column']}": t for t in by_width[96]}
    parts |= {f"cluster{t.attrs['column']}": t for t in by_width[32]}
    parts["vectors"] = next(node for node in embed.walk() if node.name == "linear")
    mixes = [node for node in embed.walk() if node.name == "maxout"]
    norms = [node for node in embed.walk() if node.name == "layernorm"]
    for name, kind in (("mix", mixes), ("norm", norms)):  # the outermost is met first
        parts[f"{name}_all"], parts[f"{name}_forms"] = kind
        parts[f"{name}_windows"] = next(n for n in encode.walk() if n.name == kind[0].name)
    return {
        f"{part}.{name}": (node, name) for part, node in parts.items() for name in node.param_names
    }


@app.command()
def words(pipeline: Path, texts: Path, treebanks: list[Path], output: Path) -> None:
    """Write what the network is told of each word of some texts and treebanks, and its weights."""
    nlp = spacy.load(pipeline)
    parser = nlp.get_pipe("parser")
    model = parser.model
    forms: dict[str, None] = dict.fromkeys(BLANKS)
    for file in sorted(texts.glob("*.jsonl")):
        for line in file.read_text(encoding="utf8").splitlines():
            forms.update(dict.fromkeys(json.loads(line)["words"]))
    for file in treebanks:
        for sentence in read_conllu(file):
            forms.update(dict.fromkeys(sentence.words))
    doc = spacy.tokens.Doc(nlp.vocab, words=list(forms))
    hashed = doc.to_array(["NORM", "PREFIX", "SUFFIX", "SHAPE"])
    memories = [s for node in model.walk() for s in node.shims if getattr(s, "table", None)]
    told = {type(memory.table) is ClusterTable: memory.features([doc])[0] for memory in memories}
    clusters = np.ascontiguousarray(told[True]).astype("uint64")
    arrays: dict[str, Any] = {}
    for node in model.get_ref("tok2vec").walk():
        if node.name == "hashembed":
            column = node.attrs["column"]
            ids = hashed if node.get_dim("nO") == 96 else clusters
            kind = "form" if ids is hashed else "cluster"
            keys = np.ascontiguousarray(ids[:, column])
            rows = model.ops.hash(keys, node.attrs["seed"]) % node.get_dim("nV")
            arrays[f"rows.{kind}{column}"] = rows.astype(np.int16)
    arrays["vectors"], arrays["rows.vectors"] = np.unique(
        told[False].astype(np.float16), axis=0, return_inverse=True
    )
    weights = {f"weights.{k}": node.get_param(p) for k, (node, p) in parameters(model).items()}
    output.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(output / "words.npz", **arrays, **weights)
    names = {"words": list(forms), "labels": list(parser.labels), "tags": list(parser.cfg["tags"])}
    (output / "names.json").write_text(json.dumps(names, ensure_ascii=False), encoding="utf8")
    print(f"{len(forms):,} words")


@app.command()
def load(pipeline: Path, weights: list[Path], output: Path) -> None:
    """Write a pipeline whose parser has the mean of some trained weights."""
    nlp = spacy.load(pipeline)
    known = parameters(nlp.get_pipe("parser").model)
    found = [dict(np.load(file)) for file in weights]
    for name, (node, parameter) in known.items():
        mean = np.mean([of[name] for of in found], axis=0)
        node.set_param(parameter, mean.reshape(node.get_param(parameter).shape).astype("f"))
    output.parent.mkdir(parents=True, exist_ok=True)
    nlp.to_disk(output)


if __name__ == "__main__":
    app()
