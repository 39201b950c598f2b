"""Headlines that are sentences shortened along their trees."""

import itertools
from contextlib import contextmanager

import numpy as np
import pytest
from spacy.tokens import Doc

import spacy_decoders
from spacy_decoders import ProblemError
from spacy_decoders.components.headline import subtree_search
from spacy_decoders.components.headline.sentences import ShortSentences
from tests.components.headline.titled import blank

TEXT = "A judge in Boston did not block the proposed merger on Tuesday , shares fell ."
HEADS = [1, 6, 3, 1, 6, 6, 6, 9, 9, 6, 11, 6, 6, 14, 6, 6]
RELATIONS = [
    "det", "nsubj", "case", "nmod", "aux", "advmod", "ROOT", "det", "amod", "obj", "case", "obl",
    "punct", "nsubj", "parataxis", "punct",
]  # fmt: skip


@pytest.fixture
def parsed():
    nlp = blank()
    return Doc(nlp.vocab, words=TEXT.split(), heads=HEADS, deps=RELATIONS)


def shortened(doc, most, **options):
    chances = np.full(len(doc), 0.3)
    given = {"least": 1, "max_chars": None, "required": (), **options}
    return ShortSentences(doc, chances, most=most, **given).write(1)


def test_what_grammar_needs_stays(parsed):
    (headline,) = shortened(parsed, 6)
    assert headline.text == "Judge did not block proposed merger"
    assert headline.certificate.is_optimal
    assert [parsed[i].text for i in headline.tokens][-1] == "merger"


def test_more_words_say_more(parsed):
    (headline,) = shortened(parsed, 9)
    assert headline.text.startswith("Judge")
    assert 6 < len(headline.text.split()) <= 9
    # a preposition comes with its noun
    for preposition, noun in (("in", "Boston"), ("on", "Tuesday")):
        assert (preposition in headline.text.split()) == (noun in headline.text)


def test_required_words(parsed):
    (headline,) = shortened(parsed, 8, required=("tuesday",))
    assert headline.text.endswith("on Tuesday")
    assert headline.certificate.is_optimal
    assert shortened(parsed, 8, required=("london",)) == []


def test_characters(parsed):
    (headline,) = shortened(parsed, 12, max_chars=40)
    assert len(headline.text) <= 40
    assert shortened(parsed, 12, max_chars=10) == []


def test_as_a_mode(parsed):
    nlp = blank(mode="sentence", length=6, required=["merger"])
    doc = nlp.get_pipe("headline_generator")(parsed)
    assert doc._.headline == "Judge did not block proposed merger"
    assert doc._.headlines[0]["certificate"]["status"] == "optimal"
    with pytest.raises(ProblemError, match="parser"):
        nlp("No tree here.")


WORDS = ["cat", "dog", "a", "house", "few", "not", ",", "-", "tomorrow"]
PARTS = ["nsubj", "obj", "obl", "amod", "conj", "cc", "case", "det", "appos", "advmod", "punct"]


def random_doc(rng):
    """One to three random trees, with commas, hyphens, and words without a blank."""
    nlp = blank()
    words, heads, relations, spaces = [], [], [], []
    for _ in range(int(rng.integers(1, 4))):
        start, count = len(words), int(rng.integers(1, 9))
        order = rng.permutation(count)
        given = np.empty(count, dtype=int)
        given[order[0]] = start + order[0]
        for place in range(1, count):
            given[order[place]] = start + order[rng.integers(0, place)]
        heads += given.tolist()
        for token in range(start, start + count):
            root = token == heads[token]
            words.append(str(rng.choice(WORDS)))
            relations.append("ROOT" if root else str(rng.choice(PARTS)))
            spaces.append(bool(rng.random() < 0.8))
    return Doc(nlp.vocab, words=words, heads=heads, deps=relations, spaces=spaces)


def every_headline(short):
    """The score, number of words and text of every subtree of every sentence."""
    found = []
    for number, sentence in enumerate(short.unit.sents):
        if all(token.is_punct for token in sentence):
            continue
        tree = short._tree(sentence, number, sentence.start)
        problem = tree.compression.problem
        nodes = range(1, len(problem.parents))
        for chosen in itertools.product([False, True], repeat=len(nodes)):
            kept = [0, *itertools.compress(nodes, chosen)]
            if all(int(problem.parents[node]) in kept for node in kept[1:]):
                places = tree.places(kept)
                words = [
                    tree.tokens[place] for place in places if tree.tokens[place].text not in ",-"
                ]
                lower = {token.lower_ for token in words}
                score = float(problem.scores[kept].sum())
                found.append((score, len(words), tree.text(kept), lower))
    return found


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("looked_at", [150, 2])
def test_against_every_headline(seed, looked_at, monkeypatch):
    monkeypatch.setattr(subtree_search, "LOOKED_AT", looked_at)
    rng = np.random.default_rng(seed)
    doc = random_doc(rng)
    chances = rng.random(len(doc)) * 0.3
    every = None
    for _ in range(6):
        least = int(rng.integers(1, 6))
        most = least + int(rng.integers(0, 4))
        limit = None if rng.random() < 0.3 else int(rng.integers(3, 30))
        wanted = rng.choice(["cat", "dog", "house"], int(rng.integers(0, 3)), replace=False)
        required = tuple(wanted.tolist())
        short = ShortSentences(doc, chances, least, most, limit, required)
        every = every or every_headline(short)
        allowed = [
            (score, size)
            for score, size, text, lower in every
            if set(required) <= lower and (limit is None or len(text) <= limit) and size <= most
        ]
        headlines = short.write(1)
        if not allowed:
            assert headlines == []
            continue
        size = max(size for _, size in allowed)
        best = max(score for score, n in allowed if n >= min(least, size))
        if not headlines:
            assert looked_at < 150
            continue
        certificate = headlines[0].certificate
        if looked_at == 150:
            assert certificate.is_optimal
        if certificate.is_optimal:
            assert certificate.score == pytest.approx(best)
        elif looked_at < 150 and size >= least:
            assert certificate.score < best + 1e-9 <= certificate.bound + 2e-9
        assert limit is None or len(headlines[0].text) <= limit


@pytest.fixture(scope="module")
def shipped():
    nlp = spacy_decoders.load()
    nlp.get_pipe("headline").mode = "sentence"
    return nlp


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Few doctors recommend the drug for children.", "few for children"),
        ("Hardly anyone voted for the proposal on Tuesday.", "hardly"),
        ("Less than half of the voters supported the reform.", "less than half of voters"),
        ("The new method does not need parallel data.", "not parallel"),
        ("Only two of the ten players scored.", "only two of players"),
        ("The former prime minister resigned on Monday.", "former"),
        ("Most voters want a new election this year.", "most"),
        ("The alleged thief was never seen in the town.", "alleged never"),
        ("The law no longer applies to small firms.", "no longer small"),
        ("Scarcely any water was left in the lake.", "scarcely any"),
        ("At most ten people can enter the room.", "at most ten"),
        ("Taxes will rise if the bill passes.", "if bill passes"),
        ("Marcus Rashford scored twice and Bruno Fernandes added a penalty.", "and"),
        ("Rain fell.", "rain fell"),
        ("Hello", "hello"),
        ("Police arrested a man who was not armed.", "police arrested"),
    ],
)
def test_a_headline_says_what_the_text_says(shipped, text, words):
    doc = shipped(text)
    assert set(words.split()) <= set(doc._.headline.lower().split())
    assert doc._.headlines[0]["certificate"]["status"] == "optimal"


def test_appositives_keep_their_commas(shipped):
    doc = shipped("Mario Rossi, the mayor of Rome, met the pope on Friday.")
    assert doc._.headline in ("Mario Rossi, mayor of Rome, met pope", "Mario Rossi met pope")


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (
            "We propose a new method for unsupervised domain adaptation. The new method for "
            "unsupervised domain adaptation does not need parallel data.",
            "New method for unsupervised domain adaptation",
        ),
        (
            "The European Central Bank raised its interest rates on Thursday. Markets fell after "
            "the decision.",
            "European Central Bank",
        ),
    ],
)
def test_phrases_end_after_what_their_last_word_needs(shipped, text, headline):
    with pipe_options(shipped.get_pipe("headline"), mode="phrases"):
        assert shipped(text)._.headline == headline


def test_nothing_to_shorten(shipped):
    docs = list(shipped.pipe(["...", "   \n ", "", "Rain fell."]))
    assert [doc._.headline for doc in docs] == ["", "", "", "Rain fell"]
    assert [len(doc._.certificates["headline"]) for doc in docs] == [0, 0, 0, 1]


def test_characters_and_required_words(shipped):
    text = (
        "At least 12 people were killed and dozens injured when a magnitude 6.1 earthquake struck "
        "western Afghanistan early Saturday, the country's disaster authority said. The quake "
        "damaged hundreds of houses in Herat province. No tsunami warning was issued."
    )
    pipe = shipped.get_pipe("headline")
    scores = []
    for required in (None, ["the"]):
        with pipe_options(pipe, max_chars=40, required=required):
            (headline,) = shipped(text)._.headlines
        assert headline["certificate"]["status"] == "optimal"
        scores.append(headline["score"])
    assert scores[0] >= scores[1] - 1e-9


def test_required_words_stretch_an_automatic_length(shipped):
    text = "The " + ", ".join(f"old{n}" for n in range(14)) + " and young people sang."
    with pipe_options(shipped.get_pipe("headline"), required=["sang", "old3", "young"]):
        assert {"sang", "young"} <= set(shipped(text)._.headline.lower().split())


def test_required_words_need_their_mode():
    nlp = blank(required=["cat"])
    with pytest.raises(ProblemError, match=r"required.*sentence"):
        nlp("The cat sat on the mat.")


@contextmanager
def pipe_options(pipe, **options):
    before = {name: getattr(pipe, name) for name in options}
    pipe.configure(**options)
    try:
        yield
    finally:
        pipe.configure(**before)
