"""Mentions are linked together, with scores and margins, by any knowledge base."""

import json
import shutil

import pytest
import spacy
from spacy.tokens import Doc, Span

from spacy_decoders import ConceptBase
from spacy_decoders.bundled import CONCEPTS
from spacy_decoders.components.linker.decoding import windows_of
from spacy_decoders.components.scoring import score_linker
from spacy_decoders.errors import StorageError
from tests.components.linker.linking import NAME, TEXT, identifiers, linked_example, pipeline


@pytest.fixture(scope="module")
def nlp():
    return pipeline()


@pytest.mark.parametrize(
    "decoder", ["HittingDistance", "SpanningTree", "Greedy", "Degree", "PageRank", "LocalSearch"]
)
def test_the_papers_decoders_link_too(decoder):
    doc = pipeline(decoder={"@decoders": f"spacy-decoders.{decoder}.v1"})(TEXT)
    assert identifiers(doc)["jungle"] == "jungle"
    (certificate,) = doc._.certificates[NAME]
    assert certificate["decoder"] == decoder
    assert certificate["status"] in ("heuristic", "bounded", "optimal")


@pytest.mark.parametrize(
    "text, expected",
    [
        (TEXT, {"jaguar": "jaguar", "jungle": "jungle", "Amazon": "amazon_rainforest"}),
        (
            "Jaguar and Land Rover belong to Tata.",
            {"Jaguar": "jaguar_cars", "Land Rover": "land_rover", "Tata": "tata"},
        ),
        (
            "Mercury sang Bohemian Rhapsody with Queen.",
            {
                "Mercury": "freddie_mercury",
                "Bohemian Rhapsody": "bohemian_rhapsody",
                "Queen": "queen_band",
            },
        ),
        (
            "Mercury poisons whoever breaks a thermometer.",
            {"Mercury": "mercury_element", "thermometer": "thermometer"},
        ),
        ("A jaguar is a big cat.", {"jaguar": "jaguar", "big cat": "big_cat"}),
        ("The thermometer was filled with mercury.", {"mercury": "mercury_element"}),
        ("He writes software in Python and Java.", {"Python": "python_language"}),
        ("The bat flew out of the cave.", {"bat": "bat_animal", "cave": "cave"}),
        ("He cut his finger and lost his job.", {}),
    ],
)
def test_neighbours_decide_what_a_name_means(nlp, text, expected):
    doc = nlp(text)
    assert identifiers(doc).items() >= expected.items()
    assert expected or not doc.ents
    for certificate in doc._.certificates[NAME]:
        assert (certificate["status"], certificate["scope"]) == ("optimal", "full")


def test_a_link_holds_scores_margin_and_candidates(nlp):
    ent = nlp(TEXT).ents[0]
    link = ent._.link
    assert (link["id"], link["title"]) == ("jaguar", "Jaguar")
    assert link["margin"] > 0
    assert next(c["id"] for c in link["candidates"]) == "jaguar"
    assert len(link["candidates"]) > 2
    assert sum(c["score"] for c in link["candidates"]) <= 1 + 1e-6
    assert all(token.ent_kb_id_ == "jaguar" for token in ent)
    json.dumps(link)


def test_entities_are_linked_and_unknown_ones_get_nil():
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "X", "pattern": p} for p in ("Jaguar", "Xyzzy", "Coventry")])
    ruler.add_patterns([{"label": "SKIP", "pattern": "Tata"}])
    nlp.add_pipe(NAME, config={"labels_discard": ["SKIP"]})
    doc = nlp("Jaguar left Coventry for Xyzzy and Tata.")
    assert identifiers(doc) == {
        "Jaguar": "jaguar_cars",
        "Coventry": "coventry",
        "Xyzzy": "",
        "Tata": "",
    }
    assert [ent.label_ for ent in doc.ents] == ["X", "X", "X", "SKIP"]


def test_span_groups_are_linked():
    nlp = pipeline(mentions="spans", spans_key="found")
    doc = nlp.make_doc("Python and Java are languages.")
    doc.spans["found"] = [Span(doc, 0, 1, label="L"), Span(doc, 2, 3, label="L")]
    doc = nlp(doc)
    assert [span.kb_id_ for span in doc.spans["found"]] == ["python_language", "java_language"]
    assert doc.spans["found"][0]._.link["title"] == "Python (programming language)"
    assert not doc.ents
    back = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert back.spans["found"][0].kb_id_ == "python_language"


def test_weights_are_learnt():
    nlp = spacy.blank("en")
    # from weights that look at frequency alone
    linker = nlp.add_pipe(
        NAME, config={"model": {"@architectures": "spacy-decoders.LinkWeights.v1", "pairs": 0.0}}
    )
    golds = {
        "Mercury and Venus circle": {0: "mercury_planet", 2: "venus_planet"},
        "Mercury of the Queen album": {0: "freddie_mercury", 3: "queen_band"},
        "Jaguar and Tata": {0: "jaguar_cars", 2: "tata"},
    }
    examples = [linked_example(nlp, text, ids) for text, ids in golds.items()]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.5
    first = nlp.update(examples, sgd=optimizer)[NAME]
    for _ in range(30):
        last = nlp.update(examples, sgd=optimizer)[NAME]
    assert last < first / 2
    for example in examples:
        example.predicted = linker(example.predicted)
    scores = score_linker(examples)
    assert scores["nel_micro_f"] == 1.0
    assert scores["nel_linkable_acc"] == 1.0
    assert scores["certified"] == 1.0


def test_a_stored_knowledge_base_needs_no_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ConceptBase.open(CONCEPTS).save("own")
    loader = {"@misc": "spacy-decoders.ConceptBase.v1", "path": "own"}
    demand = [{"phrases": ["jaguar"], "candidates": ["jaguar_cars"]}]
    nlp = pipeline(kb=loader, constraints=demand)
    nlp.to_disk("bare")
    nlp.get_pipe(NAME).store_kb = True
    nlp.to_disk("model")
    shutil.rmtree("own")
    again = spacy.load("model")
    assert again.get_pipe(NAME).kb.base.folder.resolve().is_relative_to(tmp_path / "model")
    assert identifiers(again(TEXT)) == identifiers(nlp(TEXT))
    message = (
        f"path = 'own', relative to the working directory, {tmp_path}. .*kb.path.*store_kb = true"
    )
    bare = pipeline(kb=loader)
    for needed in (lambda: spacy.load("bare"), lambda: bare(TEXT), bare.initialize):
        with pytest.raises(StorageError, match=message):
            needed()


def test_changes_of_a_knowledge_base_are_saved_or_told(tmp_path):
    nlp = pipeline()
    nlp.to_disk(tmp_path / "as configured")
    linker = nlp.get_pipe(NAME)
    linker.kb.base.remove("jaguar_cars")
    message = "its kb was changed .* not saved .* store_kb = True"
    with pytest.warns(UserWarning, match=message):
        nlp.to_disk(tmp_path / "without")
    linker.store_kb = True
    nlp.to_disk(tmp_path / "with")
    with pytest.warns(UserWarning, match=message):
        nlp.to_bytes()
    bases = [spacy.load(tmp_path / of).get_pipe(NAME).kb.base for of in ("without", "with")]
    assert ["jaguar_cars" in base for base in bases] == [True, False]


@pytest.mark.parametrize("size", [1, 2, 5, 10, 22, 23, 50])
def test_windows_decide_every_mention_once(size):
    windows = windows_of(23, size)
    assert [mention for window in windows for mention in window] == list(range(23))
    assert max(map(len, windows)) == min(size, 23)
    assert windows_of(0, size) == []


def test_long_documents_are_cut_and_say_so():
    doc = pipeline(window=3)("Python, Java, Rust, Go, Ruby, Perl and Swift are languages.")
    certificates = doc._.certificates[NAME]
    assert len(certificates) > 1
    assert {certificate["scope"] for certificate in certificates} == {"pruned"}
    assert identifiers(doc)["Rust"] == "rust_language"
