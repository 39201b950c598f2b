"""The headline generator as spaCy users meet it."""

import pytest
import spacy

from spacy_decoders import ProblemError
from spacy_decoders.decoders.path import ExactPath, PathDecoder
from spacy_decoders.errors import InfeasibleError, UndecidedError
from tests.components.headline.titled import TEXTS, blank, examples


@pytest.fixture(scope="module")
def trained():
    nlp = blank(length=2, n_best=3)
    nlp.initialize(lambda: examples(nlp))
    return nlp


def test_works_at_once_and_explains_itself():
    doc = blank(length=2)(TEXTS["Binary search"])
    (headline,) = doc._.headlines
    assert doc._.headline == headline["text"] == "Binary search"
    assert [doc[i].lower_ for i in headline["tokens"]] == ["binary", "search"]
    assert headline["kind"] == "phrases"
    assert 0.0 < headline["prob"] < 1.0
    assert headline["certificate"]["status"] == "optimal"
    assert headline["certificate"]["score"] == headline["score"]
    assert doc._.certificates["headline_generator"] == [headline["certificate"]]


def test_training_learns_the_titles(trained):
    titles = [trained(text)._.headline.lower() for text in TEXTS.values()]
    shared = [
        len(set(title.split()) & set(gold.lower().split()))
        for title, gold in zip(titles, TEXTS, strict=True)
    ]
    assert sum(shared) >= 6
    scores = trained.evaluate(examples(trained))
    assert scores["headline_rougeL"] > 0.5
    assert scores["certified"] == 1.0
    assert set(scores) >= {"headline_rouge1", "headline_rouge2", "speed"}


def test_calibrating_tells_good_headlines_from_others(trained):
    nlp = blank().from_bytes(trained.to_bytes())
    pipe = nlp.get_pipe("headline_generator")
    good, bad = examples(nlp), examples(nlp)
    for example in bad:
        example.reference._.headline = "Quite another matter"
    pipe.calibrate([*good, *good, *good, *bad])
    sure = nlp(TEXTS["Hash tables"])._.headlines[0]["prob"]
    pipe.calibrate([*bad, *bad, *bad, *good])
    doubtful = nlp(TEXTS["Hash tables"])._.headlines[0]["prob"]
    assert 0.0 < doubtful < sure < 1.0
    pipe.min_prob = sure
    doc = nlp(TEXTS["Hash tables"])
    assert doc._.headline == ""
    assert doc._.headlines[0]["prob"] == doubtful


def test_spans_get_their_own():
    nlp = blank(spans_key="sections", length=2)
    nlp.add_pipe("sentencizer", first=True)
    doc = nlp.make_doc(" ".join([TEXTS["Binary search"], TEXTS["Hash tables"]]))
    cut = len(nlp.make_doc(TEXTS["Binary search"]))
    doc.spans["sections"] = [doc[:cut], doc[cut:]]
    doc = nlp(doc)
    first, second = doc.spans["sections"]
    assert first._.headline == "Binary search"
    assert second._.headline == "Hash tables"
    assert all(cut <= i for i in second._.headlines[0]["tokens"])
    assert len(doc._.certificates["headline_generator"]) == 2
    assert nlp("No sections here.")._.certificates["headline_generator"] == []


# --- how long headlines are, and how they are put into words ---


def test_n_best_are_different_and_ranked(trained):
    headlines = trained(TEXTS["Hash tables"])._.headlines
    assert len({headline["text"] for headline in headlines}) == 3
    scores = [headline["score"] for headline in headlines]
    assert scores == sorted(scores, reverse=True)
    assert [headline["certificate"]["status"] for headline in headlines] == [
        "optimal",
        "bounded",  # by how much each is worse than the best
        "bounded",
    ]


def test_max_chars():
    text = TEXTS["Shortest paths in graphs"]
    doc = blank(length=4, max_chars=20)(text)
    assert 0 < len(doc._.headline) <= 20
    # more paths are looked at than are asked for
    assert len(blank(mode="words", max_chars=30, n_best=2)(text)._.headlines) == 2
    with pytest.warns(UserWarning, match="relax max_chars"):
        assert blank(length=4, max_chars=1)(text)._.headlines == []


def test_texts_without_headlines():
    nlp = blank()
    for text in ("", "   ", "... !!", "the of and"):
        doc = nlp(text)
        assert doc._.headline == ""
        assert doc._.headlines == []
        # without a word there is nothing to decode, so nothing to certify
        statuses = [found["status"] for found in doc._.certificates["headline_generator"]]
        assert statuses == (["infeasible"] if "the" in text else [])
    assert nlp("Heap")._.headline == "Heap"
    for mode in ("best", "phrases", "words"):
        nlp.get_pipe("headline_generator").mode = mode
        assert nlp("a" * 20_000)._.headline == ""  # a key or an encoded file, no word


def test_a_script_without_blanks():
    nlp = spacy.blank("zh")  # a token is a character
    nlp.add_pipe("headline_generator")
    assert nlp("北京是中国的首都，也是中国的政治中心。北京历史悠久。")._.headline == "北京"


def test_single_words_are_whole_and_not_denied():
    nlp = blank(mode="words", n_best=20)
    text = "We shan't visit Rome. Trains, planes and ships are gonna visit Paris."
    found = nlp(text)._.headlines
    words = {word.lower() for headline in found for word in headline["text"].split()}
    assert {"trains", "planes"} <= words
    assert not {"sha", "gon", "na", "rome"} & words
    doc = nlp("The report does not support the claims.")
    assert doc._.headline == ""
    assert doc._.certificates["headline_generator"][0]["status"] == "infeasible"


def test_required_words_and_a_threshold_are_no_fault_of_a_mode():
    pipe = spacy.blank("en").add_pipe("headline_generator")
    pipe.required = ["merger"]
    pipe.mode = "words"
    pipe.min_prob = 0.4
    pipe.configure(mode="words", min_prob=0.3, required=["airlines"])
    assert blank(mode="words", min_prob=0.4)(TEXTS["Hash tables"])._.headline


OTHER_MODE = r"required: .* use mode 'sentence', or required=None"


@pytest.mark.parametrize("name", ["weights", "phrases", "judge"])
def test_weights_that_are_not_finite_are_refused(name):
    nlp = spacy.blank("en")
    model = nlp.add_pipe("headline_generator").model
    model.set_param(name, model.get_param(name) * float("nan"))
    with pytest.raises(ProblemError, match="weights that are not finite"):
        nlp("Binary search halves a list.")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"mode": "phrases", "required": ["merger"]}, OTHER_MODE),
        ({"mode": "words", "required": ["merger"]}, OTHER_MODE),
        ({"mode": "sentence", "required": ["-"]}, "required"),  # which no headline has
        ({"spans_key": ""}, "spans_key"),
    ],
)
def test_a_config_that_leads_nowhere_is_refused(config, message):
    with pytest.raises(ProblemError, match=message):
        blank(**config)


def test_a_model_of_other_features_works_as_it_was_saved():
    def made(features):
        architecture = "spacy-decoders.WordSelection.v1"
        return blank(mode="words", model={"@architectures": architecture, "features": features})

    for features in (None, ["bias", "tfidf"]):
        saved, other = made(features), made(["bias"])
        other.from_bytes(saved.to_bytes())
        for text in TEXTS.values():
            assert other(text)._.headlines == saved(text)._.headlines


def test_a_dash_between_blanks_parts_phrases_and_a_hyphen_does_not():
    nlp = spacy.blank("en")
    nlp.add_pipe("headline_generator", config={"n_best": 50})
    texts = ["Red-black trees", "Red - black trees", "Red – black trees"]
    found = [[headline["text"] for headline in nlp(text)._.headlines] for text in texts]
    assert "Red-black trees" in found[0]
    assert not any("-" in text or "–" in text for text in found[1] + found[2])


@pytest.mark.parametrize(
    ("error", "status"), [(UndecidedError, "heuristic"), (InfeasibleError, "infeasible")]
)
def test_no_headline_is_called_infeasible_without_proof(monkeypatch, error, status):
    def decode(*given, budget):
        raise error

    monkeypatch.setattr(PathDecoder, "decode", decode)
    monkeypatch.setattr(ExactPath, "k_best", decode)
    with pytest.warns(UserWarning, match="budget" if status == "heuristic" else "length"):
        doc = blank(mode="words", length=2)(TEXTS["Binary search"])
    (certificate,) = doc._.certificates["headline_generator"]
    assert (certificate["status"], certificate["score"]) == (status, None)
    assert doc._.headlines == []
