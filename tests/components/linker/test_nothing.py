"""Linking to nothing, capitals, repeated texts, types, identifiers and thresholds."""

import cProfile
import pstats

import pytest
import spacy
from spacy.tokens import Span

from spacy_decoders import ConceptBase, ProblemError
from tests.components.linker import linking

PLANETS = (
    "Mercury is the planet nearest to the Sun. NASA sent a probe to it that circled the planet "
    "for four years. On Earth, mercury, a liquid metal, rises in a thermometer. "
    "Venus is hotter than Mercury."
)

CONCEPTS = [
    {
        "id": "washington",
        "title": "George Washington",
        "aliases": {"Washington": 5},
        "type": "person",
        "qid": "Q23",
        "description": "first president of the United States",
    },
    {
        "id": "capital",
        "title": "Washington",
        "aliases": {"Washington": 6},
        "type": "city",
        "qid": "Q61",
        "url": "https://example.org/capital",
        "description": "capital of the United States",
    },
    {"id": "congress", "title": "Congress", "type": "organisation", "links": ["capital"]},
    {"id": "general", "title": "General", "links": ["washington"], "type": "thing"},
]


def linker_of(concepts):
    """A linker of entities over some concepts."""
    nlp, base = linking.pipeline(mentions="ents"), ConceptBase.build(concepts)
    nlp.get_pipe(linking.NAME).kb = base
    return nlp


@pytest.fixture
def concepts():
    """A linker of entities over a few concepts that name the same."""
    return linker_of(CONCEPTS)


def test_small_letters_are_no_name_even_beside_it():
    text = "Steve Jobs left Apple, a computer company. Apple cut jobs in California."
    assert "jobs" not in linking.identifiers(linking.pipeline()(text))
    doc = linking.pipeline()("Tata Motors said it would cut jobs.")
    assert linking.identifiers(doc) == {"Tata Motors": "tata"}
    (certificate,) = doc._.certificates[linking.NAME]
    assert certificate["status"] == "optimal"


def test_a_link_to_nothing_says_how_sure_it_is():
    nlp = linking.pipeline()
    assert not nlp("They cut jobs.").ents
    link = nlp(linking.given(nlp, "They cut jobs.", "jobs")).ents[0]._.link
    assert link["id"] == link["title"] == "" and link["qid"] is link["type"] is link["url"] is None
    assert link["prob"] == link["nil_prob"] > 0.99
    assert [one["id"] for one in link["candidates"]] == ["steve_jobs"]
    link = nlp(linking.given(nlp, "They cut qwertz.", "qwertz")).ents[0]._.link
    assert link["candidates"] == [] and link["score"] == link["prob"] == link["nil_prob"] == 1.0


def test_the_same_text_may_mean_several_things():
    doc = linking.pipeline()(PLANETS)
    found = [(ent.text, ent.kb_id_) for ent in doc.ents if ent.text.lower() == "mercury"]
    assert found == [
        ("Mercury", "mercury_planet"),
        ("mercury", "mercury_element"),
        ("Mercury", "mercury_planet"),
    ]


def test_concepts_that_are_no_names_can_stand_aside():
    nlp = linking.pipeline(concepts_key="concepts")
    doc = nlp(linking.given(nlp, f"{linking.TEXT} Amazon!", "Amazon"))
    assert linking.identifiers(doc) == {"Amazon": "amazon_rainforest"} and len(doc.ents) == 2
    assert [(span.text, span.kb_id_) for span in doc.spans["concepts"]] == [
        ("jaguar", "jaguar"),
        ("jungle", "jungle"),
    ]
    assert doc.spans["concepts"][0]._.link["prob"] > 0.5
    assert list(nlp("Nothing is known here.").spans["concepts"]) == []


def test_the_type_of_an_entity_counts(concepts):
    assert linking.entity(concepts, "Washington", "GPE").kb_id_ == "capital"
    assert linking.entity(concepts, "Washington", "PERSON").kb_id_ == "washington"


def test_linking_can_be_restricted_to_types(concepts):
    linker = concepts.get_pipe(linking.NAME)
    linker.types = ["place"]
    assert linking.entity(concepts, "Washington", "PERSON").kb_id_ == "capital"
    assert linking.entity(concepts, "Congress").kb_id_ == ""
    linker.types = ["person"]
    assert linking.entity(concepts, "Washington", "GPE").kb_id_ == "washington"
    with pytest.raises(ProblemError, match=r"types: .* has no 'company'; its types are .*person"):
        linker.types = ["place", "company"]
    with pytest.raises(ProblemError, match="types: input should be a valid list"):
        linker.types = "person"


def test_a_link_tells_what_is_known_of_its_concept(concepts):
    ent = linking.entity(concepts, "Washington", "GPE")
    known = {name: value for name, value in CONCEPTS[1].items() if name != "aliases"}
    assert {name: ent._.link[name] for name in known} == known
    other = ent._.link["candidates"][1]
    assert (other["id"], other["qid"], other["type"]) == ("washington", "Q23", "person")


def test_the_identifier_may_be_the_one_of_wikidata(concepts):
    linker = concepts.get_pipe(linking.NAME)
    linker.kb_id = "qid"
    assert linking.entity(concepts, "Washington", "GPE").kb_id_ == "Q61"
    # a concept that Wikidata does not have keeps its own
    assert linking.entity(concepts, "Congress", "ORG").kb_id_ == "congress"


def test_an_unlikely_link_is_none(concepts):
    linker = concepts.get_pipe(linking.NAME)
    link = linking.entity(concepts, "Washington")._.link
    linker.min_prob = link["prob"] + 0.01
    unsure = linking.entity(concepts, "Washington")
    assert unsure.kb_id_ == "" and unsure._.link["candidates"] == link["candidates"]
    linker.min_prob = link["prob"] - 0.01
    assert linking.entity(concepts, "Washington").kb_id_ == link["id"]


def test_when_to_link_nothing_is_learnt():
    """Gold mentions that are NIL make the others of their kind NIL."""
    nlp = spacy.blank("en")
    linker = nlp.add_pipe(linking.NAME)
    golds = {"Thermometer broke": "NIL", "Coventry lost": "elsewhere"}
    examples = [linking.linked_example(nlp, text, {0: name}) for text, name in golds.items()]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.5
    before = linking.entity(nlp, "Jakarta won").kb_id_
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    assert (before, linking.entity(nlp, "Jakarta won").kb_id_) == ("jakarta", "")
    assert linker.model.get_param("weights").shape == (14,)


def test_probabilities_are_calibrated_on_held_out_links(concepts):
    """Links that are wrong more often than they say become less probable, and stay the same."""
    linker = concepts.get_pipe(linking.NAME)
    examples = [
        linking.linked_example(concepts, "Washington met", {0: right}, "GPE")
        for right in ("washington", "capital") * 15
    ]
    before = linking.entity(concepts, "Washington met", "GPE")._.link
    assert before["prob"] > 0.7
    fitted = linker.calibrate(examples)
    after = linking.entity(concepts, "Washington met", "GPE")._.link
    assert (after["id"], after["margin"]) == (before["id"], before["margin"])
    assert after["prob"] == pytest.approx(0.5, abs=0.1)
    assert sum(one["prob"] for one in after["candidates"]) + after["nil_prob"] == pytest.approx(1)
    assert len(fitted["links"].before.right) == 30
    with pytest.warns(UserWarning, match="its kb was changed"):
        saved = linker.to_bytes()
    restored = linking.pipeline(mentions="ents").get_pipe(linking.NAME).from_bytes(saved)
    assert restored.calibration == linker.calibration


HELEN = {
    "id": "helen",
    "title": "Helen of Troy",
    "aliases": {"Helen": 5},
    "type": "person",
    "description": "queen of Sparta whom Paris took",
}


@pytest.mark.parametrize("label", ["PERSON", "MENTION"])
def test_a_bare_name_is_linked_where_the_text_speaks_for_it(label):
    concepts = linker_of([HELEN, *CONCEPTS])
    assert linking.entity(concepts, "Helen came late to dinner.", label).kb_id_ == ""
    assert linking.entity(concepts, "Helen was the queen of Sparta.", label).kb_id_ == "helen"
    assert linking.entity(concepts, "Helen of Troy came late.", label, 0, 3).kb_id_ == "helen"


def test_a_bare_name_is_that_of_who_bears_it_in_the_text(concepts):
    for first, linked in ((None, True), ("Neil", False), ("George", True)):
        text = f"{first or 'Some'} Washington spoke first. Washington agreed."
        spans = [(5, 6), *([(0, 2)] if first else [])]
        assert (
            linking.entities(concepts, text, *spans, label="PERSON")[-1].kb_id_ == "washington"
        ) == linked


def test_a_family_name_is_that_of_the_full_name_in_the_text():
    people = [
        {
            "id": first,
            "title": f"{first} Williams",
            "aliases": {"Williams": count},
            "type": "person",
        }
        for first, count in (("Serena", 9), ("Venus", 3))
    ]
    nlp = linker_of(people)
    for first, linked in (("Venus", "Venus"), ("Serena", "Serena"), ("Robin", "")):
        text = f"{first} Williams won again. Williams smiled."
        assert linking.entities(nlp, text, (0, 2), (5, 6), label="PERSON")[-1].kb_id_ == linked


def calls(function, *arguments):
    """How many functions are called, Python's and others."""
    profile = cProfile.Profile()
    profile.runcall(function, *arguments)
    return pstats.Stats(profile).total_calls


def test_the_work_on_names_grows_with_the_length_of_a_document_alone(concepts):
    text = "George Washington spoke first. Then Washington left. "
    docs = [concepts.make_doc(text * size) for size in (1, 40, 160)]
    for doc in docs:
        begins = range(0, len(doc), 9)
        spans = [span for i in begins for span in ((i, i + 2), (i + 6, i + 7))]
        doc.ents = [Span(doc, *at, label="PERSON") for at in spans]
    _, short, long = (calls(concepts.get_pipe(linking.NAME).predict, [doc]) for doc in docs)
    assert long < 6 * short


def test_a_name_that_is_labelled_as_a_place_is_nobodys():
    nlp = linking.pipeline(mentions="ents")
    doc = nlp.make_doc("Paris Hilton stayed in Paris.")
    for label, meant in (("GPE", "paris_city"), ("PERSON", "paris_hilton")):
        doc.ents = [Span(doc, 0, 2, label="PERSON"), Span(doc, 4, 5, label=label)]
        assert [ent.kb_id_ for ent in nlp(doc).ents] == ["paris_hilton", meant]


def test_it_is_said_once_that_nobody_finds_entities():
    nlp = spacy.blank("en")
    nlp.add_pipe(linking.NAME)
    assert not nlp("")._.certificates.get(linking.NAME)
    with pytest.warns(UserWarning, match="the documents have no entities") as said:
        list(nlp.pipe(["Paris is in France.", "Rome is in Italy."]))
        nlp("Oslo is in Norway.")
    assert len(said) == 1
    doc = nlp.make_doc("It rains.")
    doc.ents = []
    nlp.get_pipe(linking.NAME)(doc)
