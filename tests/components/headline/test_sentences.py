"""Headlines that are sentences shortened along their trees."""

import itertools
import warnings
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from spacy.tokens import Doc

import spacy_decoders
from spacy_decoders import Certificate, ProblemError
from spacy_decoders.components.headline.headlines import ScoredTexts, ScoredUnit
from spacy_decoders.components.headline.meaning import SentenceTrees
from spacy_decoders.components.headline.reading import Texts
from spacy_decoders.components.headline.sentences import (
    headlines_of_sentences,
    kept_tokens,
    render,
    trees_of,
)
from spacy_decoders.models.headline.stems import Stemmer
from tests.components.headline.titled import blank
from tests.tables import rows

HERE = Path(__file__).parent
VOCAB = blank().vocab
TEXT = "A judge in Boston did not block the proposed merger on Tuesday , shares fell ."
HEADS = [1, 6, 3, 1, 6, 6, 6, 9, 9, 6, 11, 6, 6, 14, 6, 6]
RELATIONS = [
    "det", "nsubj", "case", "nmod", "aux", "advmod", "ROOT", "det", "amod", "obj", "case", "obl",
    "punct", "nsubj", "parataxis", "punct",
]  # fmt: skip


@pytest.fixture
def parsed():
    return Doc(VOCAB, words=TEXT.split(), heads=HEADS, deps=RELATIONS)


def given(doc, chances, least, most, max_chars=None, required=()):
    """What sentences are shortened by: the scores of a document, and options."""
    texts = Texts.of([doc])
    of = ScoredTexts(texts, texts.tokens(Stemmer("en")), *5 * [None], chances)
    options = SimpleNamespace(
        length=(least, most), max_chars=max_chars, required=required, n_best=1
    )
    return ScoredUnit(of, doc, 0, len(doc)), options


def test_as_a_mode(parsed):
    nlp = blank(mode="sentence", length=10, required=["merger"])
    doc = nlp.get_pipe("headline_generator")(parsed)
    assert doc._.headline == "Judge in Boston did not block proposed merger on Tuesday"
    assert doc._.headlines[0]["certificate"]["status"] == "optimal"
    words = ["Read", "a" * 200]
    doc = Doc(VOCAB, words=words, heads=[0, 0], deps=["ROOT", "obj"])
    pipe = blank(mode="sentence").get_pipe("headline_generator")
    assert pipe(doc)._.headlines == []


def test_that_a_parser_is_needed_is_told_once():
    pipe = blank(mode="sentence").get_pipe("headline_generator")
    for decoder, sent_starts in (("Eisner", [1, 0]), ("Viterbi", [1, 0]), ("Viterbi", None)):
        doc = Doc(VOCAB, words=["No", "tree"], sent_starts=sent_starts)
        doc._.certificates = {"other": [Certificate.infeasible(decoder).as_dict()]}
        # a parser that found no tree is enough
        with nullcontext() if decoder == "Eisner" else pytest.warns(UserWarning, match="parser"):
            pipe(doc)
        assert doc._.headlines == [] and pipe(doc.copy())._.headline == ""
        assert doc._.certificates["headline_generator"][0]["status"] == "infeasible"
        pipe = blank(mode="sentence").get_pipe("headline_generator")


def test_the_root_of_a_cut_sentence_is_its_first_word_with_a_head_outside(parsed):
    for begin, end in itertools.combinations(range(len(parsed) + 1), 2):
        span = parsed[begin:end]
        found = SentenceTrees.of(Texts.of([span]), np.zeros(len(span)))
        first = next(token.i for token in span if not begin <= token.head.i < end or token.i == 6)
        roots = [token for token, head in enumerate(found.heads) if token == head]
        assert roots == [(6 if begin <= 6 < end else first) - begin]


def test_a_conjunction_may_be_the_root_of_a_cut_sentence():
    words, heads = ["Ann", "sings", "and", "Bob", "dances"], [1, 1, 1, 4, 1]
    doc = Doc(VOCAB, words=words, heads=heads, deps=["nsubj", "ROOT", "cc", "nsubj", "conj"])
    doc.spans["parts"] = [doc[2:5], doc[1:4]]
    doc = blank(mode="sentence", spans_key="parts").get_pipe("headline_generator")(doc)
    assert [span._.headline for span in doc.spans["parts"]] == ["And Bob dances", "Sings and Bob"]


def test_a_list_ends_as_it_does_in_the_text():
    doc = Doc(
        VOCAB, words=["Ann", "saw", "Bob", ",", "Max", ",", "and", "Eve"],
        heads=[1, 1, 1, 4, 2, 7, 7, 2],
        deps=["nsubj", "ROOT", "obj", "punct", "conj", "punct", "cc", "conj"],
    )  # fmt: skip
    pipe = blank(mode="sentence").get_pipe("headline_generator")
    found = []
    for length in range(3, 7):
        pipe.length = length
        found.append(pipe(doc.copy())._.headline)
    assert found == 2 * ["Ann saw Bob"] + ["Ann saw Bob and Eve", "Ann saw Bob, Max, and Eve"]


def test_what_finds_nothing_is_named(parsed):
    nlp = blank(mode="sentence", required=["zebra"])
    with pytest.warns(UserWarning, match="zebra"):
        doc = nlp.get_pipe("headline_generator")(parsed)
    (certificate,) = doc._.certificates["headline_generator"]
    assert (certificate["decoder"], certificate["status"]) == ("TreeKnapsack", "infeasible")


def test_required_words_that_occur_too_often_are_refused():
    names = ["the", "of", "a", "in", "to", "and"]
    doc = Doc(VOCAB, words=4 * names, heads=[0] * 24, deps=["ROOT"] + ["obl"] * 23)
    with pytest.raises(ProblemError, match="4,096 ways"):
        blank(mode="sentence", required=names).get_pipe("headline_generator")(doc)


WORDS = ["cat", "dog", "a", "house", "few", "not", ",", "-", "tomorrow", "from", "to"]
PARTS = ["nsubj", "obj", "obl", "amod", "conj", "cc", "case", "det", "appos", "advmod", "punct"]


def random_doc(rng):
    """One to three random trees, with commas, hyphens, and words without a blank."""
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
            relation = "punct" if words[-1] in ",-" else str(rng.choice(PARTS))
            relations.append("ROOT" if root else relation)
            spaces.append(bool(rng.random() < 0.8))
    return Doc(VOCAB, words=words, heads=heads, deps=relations, spaces=spaces)


def every_headline(scored, options):
    """The score, number of words and text of every subtree of every sentence."""
    found = []
    for number in range(len(scored.batch.sentences.ceilings)):
        ((groups, scores, parents, _),) = trees_of(scored, number, options)
        nodes = range(1, len(parents))
        for taken in itertools.product([False, True], repeat=len(nodes)):
            kept = [0, *itertools.compress(nodes, taken)]
            if all(parents[node] in kept for node in kept[1:]):
                places = {place for place, node in enumerate(groups) if node in kept}
                tokens = kept_tokens(scored, number, places)
                said = [token for token in tokens if token.text not in ",-"]
                lower = {token.lower_ for token in said}
                score = sum(scores[node] for node in kept)
                if said:
                    found.append((score, len(said), render(tokens), lower))
    return found


def test_no_part_scores_more_than_the_ceiling():
    rng = np.random.default_rng(0)
    for _ in range(60):
        doc = random_doc(rng)
        scored, options = given(doc, rng.random(len(doc)) * 0.3, 1, 9)
        of = scored.batch.sentences
        for number, ceiling in enumerate(of.ceilings):
            ((_, (root, *others), _, _),) = trees_of(scored, number, options)
            assert ceiling == pytest.approx(root + sum(max(score, 0) for score in others))


@pytest.mark.parametrize("seed", range(20))
def test_against_every_headline(seed):
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
        every = every or every_headline(*given(doc, chances, 1, 1))
        allowed = [
            (score, size)
            for score, size, text, lower in every
            if set(required) <= lower and (limit is None or len(text) <= limit) and size <= most
        ]
        scored, options = given(doc, chances, least, most, limit, required)
        headlines = headlines_of_sentences(scored, options)
        if not allowed:
            assert headlines == []
            continue
        size = max(size for _, size in allowed)
        best = max(score for score, n in allowed if n >= min(least, size))
        if not headlines:
            assert limit is not None
            continue
        certificate = headlines[0].certificate
        if limit is None:  # commas may make what fits too long
            assert certificate.is_optimal
        if certificate.is_optimal:
            assert certificate.score == pytest.approx(best)
        elif size >= least:
            assert certificate.score < best + 1e-9 <= certificate.bound + 2e-9
        assert limit is None or len(headlines[0].text) <= limit


@pytest.fixture(scope="module")
def shipped():
    nlp = spacy_decoders.load()
    nlp.get_pipe("headline").configure(mode="sentence", min_prob=0.0)
    return nlp


@pytest.mark.filterwarnings("ignore:headline")  # not every length is possible
@pytest.mark.parametrize(
    ("text", "tied"),
    rows(HERE / "restricted.tsv"),
)
def test_what_restricts_stays_at_any_length(shipped, text, tied):
    found = at_lengths(shipped, text, 2, 12)
    assert any(found)
    assert all(
        {*tied.split()} <= {*line.lower().replace(",", "").split()} for line in found if line
    )


def test_a_sentence_may_end_with_an_abbreviation(shipped):
    text = "The treaty was signed by all countries but the U.S. It bans land mines."
    found = {line.lower().replace("the ", "") for line in at_lengths(shipped, text, 4, 12)}
    assert found == {"it bans land mines", "treaty was signed by all countries but u.s."}


@pytest.mark.parametrize(
    "begin", ["a) ", "(iv) ", "b. ", "3. ", "[2] ", "Dear Sir or Madam, ", "Dear Aunt Rose,\n\n"]
)
def test_neither_numbers_of_items_nor_salutations_are_headlines(shipped, begin):
    with pipe_options(shipped.get_pipe("headline"), mode="best"):
        doc = shipped(f"{begin}The mayor sold the old school in May. A bank bought it.")
    assert doc._.headline == "Mayor sold old school in May"
    assert all(of["status"] == "optimal" for of in doc._.certificates["headline"])


def test_pictures_are_no_words(shipped):
    text = (
        "\ufeffThe \U0001f469\u200d\U0001f680 crew landed \u2764\ufe0f in Spain\u200b "
        "\U0001f1e9\U0001f1ea today."
    )
    with pipe_options(shipped.get_pipe("headline"), mode="best", n_best=20):
        found = [headline["text"] for headline in shipped(text)._.headlines]
    assert "Crew landed in Spain today" in found
    assert all(line.isascii() for line in found)


def test_a_phrase_and_a_sentence_of_the_same_words_are_one(shipped):
    with pipe_options(shipped.get_pipe("headline"), mode="best", n_best=5):
        found = [headline["text"] for headline in shipped("Breaking news")._.headlines]
    assert sorted(found) == ["Breaking news", "News"]
    assert shipped("\ufb01ne weather")._.headlines[0]["text"] == "Fine weather"  # a ligature


def test_the_first_headline_does_not_depend_on_how_many_are_asked_for(shipped):
    texts = [
        "Rain fell in Spain on Monday. Farmers in the south of Spain had waited for months.",
        "Ship new terms by Friday. See @jim for the draft, or the pages of last year's contract.",
    ]
    for count in range(1, 6):
        with pipe_options(shipped.get_pipe("headline"), mode="best", n_best=count):
            docs = [*shipped.pipe(texts)]
        first = [doc._.headlines[0] for doc in docs]
        assert all(headline["certificate"]["status"] == "optimal" for headline in first)
        rest = [[headline["prob"] for headline in doc._.headlines[1:]] for doc in docs]
        assert rest == [sorted(of, reverse=True) for of in rest]
        if count == 1:
            alone = [headline["text"] for headline in first]
        assert [headline["text"] for headline in first] == alone


@pytest.mark.filterwarnings("ignore:headline")
@pytest.mark.parametrize(
    ("text", "quoted", "word"),
    rows(HERE / "quoted.tsv"),
)
def test_quotations_keep_their_marks_and_numbers_their_units(shipped, text, quoted, word):
    lines = at_lengths(shipped, text, 3, 13)
    assert any(quoted in line for line in lines)
    assert all(quoted in line or word not in line for line in lines)


def test_phrases_keep_the_marks_around_them(shipped):
    with pipe_options(shipped.get_pipe("headline"), mode="phrases", n_best=20):
        texts = ['He called it a "great victory for peace" in "Heat".', "There is no good reason."]
        found = [{h["text"] for h in doc._.headlines} for doc in shipped.pipe(texts)]
    assert '"Great victory for peace"' in found[0]
    assert "Great victory for peace" not in found[0] and "Heat" in found[0]
    assert not any("Good" in line for line in found[1])


@pytest.mark.filterwarnings("ignore:headline")
@pytest.mark.parametrize(
    "text",
    [
        "Freddie Mercury, who was born in Zanzibar, sang with Queen in London.",
        "The last three years of the Iraq occupation, however, have sapped this confidence.",
        "The poorest region in the world, by far, is Africa.",
        "Troops can, for instance, save the town.",
        "The purpose of the bombs -- which hurt nobody -- was to send a message.",
    ],
)
def test_two_marks_go_together(shipped, text):
    for line in at_lengths(shipped, text, 5, 13):
        assert line.count(",") in (0, 2) and line.count("--") in (0, 2)


def test_no_comma_is_left_before_another_mark(shipped):
    text = "The council bought a van on May 3, 2019 (the first); and the mayor sold the bus."
    lines = at_lengths(shipped, text, 5, 13)
    assert any(";" in line for line in lines)
    assert not any(",;" in line or ", (" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "heads", "relations", "headline"),
    [
        (
            "Ann , living with Bob , Eve , in Rome , sang", [11, 2, 0, 4, 2, 2, 0, 9, 9, 6, 6, 11],
            "nsubj punct acl case obl punct appos punct case nmod punct ROOT",
            "Ann, Eve, in Rome, sang",
        ),
        (
            "Ann ( born in Rome ) , was ill", [8, 2, 0, 4, 2, 2, 0, 8, 8],
            "nsubj punct acl case obl punct punct cop ROOT", "Ann was ill",
        ),
        (
            "Ann , living with Bob , and Eve sang", [8, 2, 0, 4, 2, 7, 7, 0, 8],
            "nsubj punct acl case obl punct cc conj ROOT", "Ann and Eve sang",
        ),
        (
            "Ann ran , hid , and lost it", [1, 1, 3, 1, 6, 6, 1, 6],
            "nsubj ROOT punct conj punct cc conj obj", "Ann ran and lost it",
        ),
        (  # what begins with "to" belongs to the "from" before it, unless it is the root
            "From Rome to Paris", [1, 3, 3, 3], "case nmod case ROOT", "From Rome to Paris",
        ),
        (  # a measure keeps its article
            "The train runs twice a day", [1, 2, 2, 2, 5, 3],
            "det nsubj ROOT advmod det obl:unmarked", "Train runs twice a day",
        ),
        (  # relations of spaCy's English models are known
            "Ann was praised by Bob and Eve for news", [2, 2, 2, 2, 3, 4, 4, 2, 7],
            "nsubjpass auxpass ROOT agent pobj cc conj prep pobj", "Ann was praised by Bob",
        ),
    ],
)  # fmt: skip
def test_what_stays_of_a_tree(text, heads, relations, headline):
    doc = Doc(VOCAB, words=text.split(), heads=heads, deps=relations.split())
    length = len(headline.replace(",", "").split())
    doc = blank(mode="sentence", length=length).get_pipe("headline_generator")(doc)
    assert doc._.headline == headline


def test_nothing_to_shorten(shipped):
    docs = list(shipped.pipe(["...", "   \n ", "", "1. 2. 3.", "Rain fell."]))
    assert [doc._.headline for doc in docs] == ["", "", "", "", "Rain fell"]
    assert [len(doc._.certificates["headline"]) for doc in docs] == [0, 0, 0, 1, 1]


def at_lengths(nlp, text, least, end):
    """The headline of each length, made of sentences."""
    found, pipe, doc = [], nlp.get_pipe("headline"), nlp(text)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*no headline")  # once, by whoever comes first
        for length in range(least, end):
            with pipe_options(pipe, mode="sentence", length=length):
                found.append(pipe(doc.copy())._.headline)
    return found


@contextmanager
def pipe_options(pipe, **options):
    before = {name: getattr(pipe, name) for name in options}
    pipe.configure(**options)
    try:
        yield
    finally:
        pipe.configure(**before)
