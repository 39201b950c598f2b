"""Every component works in a pipeline that it was not made in."""

import json
import multiprocessing

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

#: A tagger alone says that it lacks the vectors of the parser.
pytestmark = pytest.mark.filterwarnings("ignore:.*doc.tensor .*, the token vectors")

TEXTS = [
    "The jaguar hunts in the jungle along the Amazon. Mary Smith saw it.",
    "Jaguar builds its cars in Coventry, said John Miller of London.",
]
NAMES = ("parser", "tagger", "entities", "linker", "headline")


def blank():
    return spacy.blank("en")


def like_core_web():
    """A pipeline of spaCy's own parts, as those one downloads have them, hardly trained."""
    nlp = spacy.blank("en")
    for name in ("tok2vec", "tagger", "parser", "ner"):
        config = {}
        if name != "tok2vec":
            tok2vec = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
            config = {"model": {"tok2vec": tok2vec}}
        if name == "parser":
            config["min_action_freq"] = 1
        nlp.add_pipe(name, config=config)
    gold = {
        "words": ["Mary", "sees", "London"],
        "tags": ["XNNP", "XVBZ", "XNNP"],
        "heads": [1, 1, 1],
        "deps": ["xsubj", "ROOT", "xobj"],
        "entities": ["U-XPERSON", "O", "U-XGPE"],
    }
    examples = [Example.from_dict(nlp.make_doc("Mary sees London"), gold)]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(5):
        nlp.update(examples, sgd=optimizer)
    ruler = nlp.add_pipe("attribute_ruler")
    ruler.add(patterns=[[{"TAG": "XVBZ"}]], attrs={"POS": "VERB"})
    return nlp


def read(doc: Doc) -> dict[str, list]:
    """Everything that a component writes, as strings: an unknown one raises here."""
    tokens = [
        (t.text, t.tag_, t.pos_, str(t.morph), t.dep_, t.head.i, t.ent_type_, t.ent_kb_id_)
        for t in doc
    ]
    spans = [*doc.ents, *doc.spans.get("concepts", ())]
    links = [(span.text, span.label_, span.kb_id_, json.dumps(span._.link)) for span in spans]
    statuses = {name: [c["status"] for c in of] for name, of in doc._.certificates.items()}
    return {
        "tokens": tokens,
        "links": links,
        "headline": doc._.headline,
        "headlines": [headline["text"] for headline in doc._.headlines],
        "certificates": statuses,
    }


def saved_and_read(doc: Doc, vocab: Vocab | None = None) -> Doc:
    """The document after a journey through a file, by default to those who know no label."""
    stored = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (again,) = DocBin().from_bytes(stored).get_docs(vocab or spacy.blank("en").vocab)
    return again


@pytest.fixture(autouse=True)
def names_as_they_were(shipped):
    """spaCy renames a sourced component, which still is the one of its source."""
    yield
    for name, pipe in shipped.pipeline:
        if hasattr(pipe, "name"):
            pipe.name = name


@pytest.mark.parametrize("make", [blank, like_core_web])
def test_sourced_into_another_pipeline(make, shipped, tmp_path):
    nlp = make()
    for name in NAMES:  # last of all, beside spaCy's of its kind
        nlp.add_pipe(name, name=f"exact_{name}", source=shipped)
    docs = [nlp(text) for text in TEXTS]
    found = [read(doc) for doc in docs]
    assert all({f"exact_{name}" for name in NAMES} <= set(doc["certificates"]) for doc in found)

    assert [read(saved_and_read(doc)) for doc in docs] == found
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    assert [read(again(text)) for text in TEXTS] == found
    assert [read(doc) for doc in again.pipe(TEXTS, n_process=2)] == found


@pytest.mark.parametrize("name", NAMES)
def test_docs_of_a_vocabulary_that_knows_no_label(name, shipped):
    pipe = shipped.get_pipe(name)
    for text in TEXTS:
        doc = spacy.blank("en").make_doc(text)
        assert "nsubj:pass" not in doc.vocab.strings
        pipe(doc)
        assert pipe.name in read(doc)["certificates"]
        again = Doc(spacy.blank("en").vocab).from_bytes(doc.to_bytes())
        assert read(again) == read(doc)


def test_the_sourced_pipeline_in_spawned_processes(shipped):
    nlp = blank()
    for name in ("parser", "tagger", "linker", "headline"):
        nlp.add_pipe(name, source=shipped)
    found = [read(nlp(text)) for text in TEXTS]
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("spawn", force=True)
    try:
        assert [read(doc) for doc in nlp.pipe(TEXTS, n_process=2)] == found
    finally:
        multiprocessing.set_start_method(before, force=True)
