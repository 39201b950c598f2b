"""Put the trained parts into one pipeline, with lemmas by table."""

from collections import Counter, defaultdict
from pathlib import Path

import spacy
import typer
from spacy.language import Language
from spacy.lookups import Lookups, load_lookups

from spacy_decoders.registry.readers import conllu_corpus


def main(syntax: Path, treebank: Path, output: Path, entities: Path | None = None) -> None:
    """Add lemmas, and entities where they were trained, to a pipeline of trees."""
    nlp = spacy.load(syntax)
    lemmatizer = nlp.add_pipe("lemmatizer", config={"mode": "lookup"})
    lookups = lemma_tables(nlp, treebank)
    lemmatizer.initialize(nlp=nlp, lookups=lookups)
    print(f"lemmas: {len(lookups.get_table('lemma_lookup')):,} words")
    if entities is not None:
        nlp.add_pipe("entities", source=spacy.load(entities))
    nlp.to_disk(output)
    print(f"{output}: {', '.join(nlp.pipe_names)}")


def lemma_tables(nlp: Language, treebank: Path) -> Lookups:
    """The table of spacy-lookups-data, if it has one, and the treebank's most frequent lemmas."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for example in conllu_corpus(treebank)(nlp):
        for token in example.reference:
            if token.lemma_:
                counts[token.text][token.lemma_] += 1
    lookups = load_lookups(nlp.lang, ["lemma_lookup"], strict=False)
    if not lookups.has_table("lemma_lookup"):
        lookups.add_table("lemma_lookup")
    table = lookups.get_table("lemma_lookup")
    for word, lemmas in counts.items():
        table[word] = lemmas.most_common(1)[0][0]
    return lookups


if __name__ == "__main__":
    typer.run(main)
