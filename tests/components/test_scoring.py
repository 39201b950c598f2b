"""What is proven among kept candidates counts apart from what is proven of all."""

import spacy
from spacy.training import Example

from spacy_decoders.components import extensions
from spacy_decoders.components.scoring import score_certified


def scores(*certificates: tuple[str, str]) -> dict[str, float | None]:
    extensions.install()
    doc = spacy.blank("en").make_doc("a")
    doc._.certificates = {
        "parser": [{"status": status, "scope": scope} for status, scope in certificates]
    }
    return score_certified([Example(doc, doc.copy())], "parser")


def test_scopes_are_counted_apart_and_nothing_decoded_is_no_share():
    found = scores(("optimal", "full"), ("optimal", "pruned"), ("bounded", "full"), ("x", "y"))
    assert found == {"certified": 0.25, "certified_pruned": 0.25}
    assert scores() == {"certified": None, "certified_pruned": None}
