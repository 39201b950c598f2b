"""Put the trained parts into one pipeline."""

from pathlib import Path

import spacy
import srsly
import typer

import spacy_decoders.bundled

#: How parts of speech follow from tags, dependencies and words.
RULES = Path(__file__).parents[1] / "configs" / "parts_of_speech.json"

#: How the parser decodes: its weights of larger factors are there to be switched on.
DECODING = {
    "parser": {
        "components.parser.factors": ["arcs"],
        "components.parser.rules": ["universal-dependencies"],
    }
}


def load(trained: Path, name: str) -> spacy.Language:
    """Load the pipeline that a part was trained in."""
    return spacy.load(trained / name / "model-best", config=DECODING.get(name, {}))


def main(trained: Path, output: Path) -> None:
    """Take the parser, the tagger and the entity tagger, and add what needs no training."""
    chunks = {"@callbacks": "spacy-decoders.UniversalNounChunks.v1"}
    nlp = spacy.blank("en", config={"nlp": {"after_creation": chunks}})
    # the parser comes first: it finds the sentences that all others decode
    for name in ("parser", "tagger", "entities"):
        nlp.add_pipe(name, source=load(trained, name))
    rules = nlp.add_pipe("attribute_ruler", after="tagger")
    rules.add_patterns(srsly.read_json(RULES))
    nlp.add_pipe("graph_entity_linker", name="linker", config={"mentions": "aliases"})
    # trained by headlines.py, on texts that are no part of this project
    nlp.add_pipe("headline", source=spacy_decoders.load())
    nlp.meta.update(
        name="decoders_sm",
        version="0.1.0",
        license="CC BY-SA 4.0",
        description="Tags, entities, trees, links and headlines, decoded exactly.",
        sources=spacy_decoders.bundled.meta()["sources"],
    )
    nlp.to_disk(output)
    print(f"{output}: {', '.join(nlp.pipe_names)}")


if __name__ == "__main__":
    typer.run(main)
