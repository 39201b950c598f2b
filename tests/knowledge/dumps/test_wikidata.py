"""Items become concepts, in one language, of old and new dumps."""

import json
from pathlib import Path

import pytest

from spacy_decoders.knowledge.dumps.wikidata import WikidataDump
from tests.readers.files import written


def statement(number, rank="normal", old=False, kind="item"):
    entity = {"entity-type": kind, "numeric-id": number}
    if not old:
        entity["id"] = f"Q{number}"
    snak = {"datavalue": {"type": "wikibase-entityid", "value": entity}}
    return {"rank": rank, "mainsnak": snak}


def item(identity, label="Label", claims=None, **fields):
    labels = {"en": {"value": label}} if label else {}
    return {"type": "item", "id": identity, "labels": labels, "claims": claims or {}, **fields}


ITEMS = [
    item(
        "Q1",
        "Jaguar",
        {
            "P1": [statement(2), statement(2), statement(3, rank="deprecated")],
            "P2": [statement(4, old=True), statement(5, kind="property")],
            "P3": [{"rank": "normal", "mainsnak": {"snaktype": "novalue"}}],
        },
        aliases={"en": [{"value": "big cat"}], "de": [{"value": "Katze"}]},
        descriptions={"en": {"value": "a cat"}},
        sitelinks={"enwiki": {}, "dewiki": {}},
    ),
    item("Q2", ""),
    {"type": "property", "id": "P1", "labels": {"en": {"value": "part of"}}},
    item("Q3", "Empty", [], aliases=[], sitelinks=[]),  # PHP writes empty objects as lists
]


def test_items_of_one_language(tmp_path):
    lines = ["[", *(json.dumps(one) + "," for one in ITEMS), "{broken", "]"]
    path = written(tmp_path, "dump.json.bz2", "\n".join(lines))
    dump = WikidataDump(path)
    first, last = list(dump)
    assert (first.id, first.title, first.description) == ("Q1", "Jaguar", "a cat")
    assert first.aliases == {"Jaguar": 3.0, "big cat": 3.0}
    assert first.links == ("Q2", "Q4")
    assert last.id == "Q3"
    assert dump.bad.count == 1
    assert not list(WikidataDump(path, language="fr"))


@pytest.mark.data
@pytest.mark.parametrize(
    "name, least",
    [
        ("opentapioca-sample_wikidata_items.json.bz2", 90),
        ("wikibrain-wikidata-testDump.json.bz2", 400),
        ("wikibase-dump-filter-Q22.json", 1),
    ],
)
def test_real_dumps(data: Path, name, least):
    dump = WikidataDump(data / "linking" / "dump-samples" / name)
    concepts = list(dump)
    assert len(concepts) >= least
    assert dump.bad.count == 0
    assert all(concept.id.startswith("Q") for concept in concepts)
    assert any(concept.links for concept in concepts)
