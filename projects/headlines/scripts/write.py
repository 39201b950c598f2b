"""Write headlines, score them, and put them beside the titles."""

import json
from pathlib import Path

import spacy
import typer

from spacy_decoders.registry.readers import headline_corpus

KEYS = ("headline_rouge1", "headline_rouge2", "headline_rougeL", "certified")


def main(model: Path, corpus: Path, output: Path, n_best: int = 5) -> None:
    """Write scores.json and headlines.jsonl to a folder."""
    nlp = spacy.load(model, config={"components": {"headline_generator": {"n_best": n_best}}})
    examples = list(headline_corpus(corpus)(nlp))
    scores = nlp.evaluate(examples)
    found = {key: scores[key] for key in KEYS}
    print(found)
    output.mkdir(parents=True, exist_ok=True)
    (output / "scores.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf8")
    with (output / "headlines.jsonl").open("w", encoding="utf8") as lines:
        texts = [example.reference.text for example in examples]
        for example, doc in zip(examples, nlp.pipe(texts), strict=True):
            row = {
                "title": example.reference._.headline,
                "headlines": [headline["text"] for headline in doc._.headlines],
                "certificate": doc._.certificates["headline_generator"][0],
            }
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    typer.run(main)
