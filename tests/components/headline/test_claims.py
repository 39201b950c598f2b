"""Headlines of the shipped pipeline do not claim what the text denies, asks or supposes.

The sentences, whose propositions the text does not assert, are made from a grammar.
"""

from itertools import product
from pathlib import Path

import pytest

import spacy_decoders
from tests.tables import rows

HERE = Path(__file__).parent
#: What is not asserted: subject, verb in its base, third person, past and gerund, object.
PROPOSITIONS = rows(HERE / "propositions.tsv")
#: How it is governed, and the words of which a headline with the proposition must have one.
FRAMES = rows(HERE / "frames.tsv")
#: A text, the words of the proposition, and the words that govern it.
SENTENCES = [
    (_text[0].upper() + _text[1:], (subject.split()[-1], (base, *forms), of.split()[-1]), cue)
    for (frame, cue), (subject, base, *forms, of) in product(FRAMES, PROPOSITIONS)
    for _text in [frame.format(s=subject, b=base, d=forms[1], g=forms[2], o=of)]
]


def claims(headline: str, proposition: tuple[str, tuple[str, ...], str], cue: str) -> bool:
    """Whether a headline has the proposition, or what its verb does, without what governs it."""
    _, verbs, of = proposition
    words = headline.lower().replace("n't", " n't").replace("?", " ?").split()
    if not set(verbs) & {*words}:
        return False
    return of.lower() in words and not {*cue.split()} & {*words}


#: Sentences whose second half limits the first, what they are about, and both halves' last words.
CONTRASTS = [
    *product(
        (
            "{s} is open to {a} but not to {b}.",
            "{s} lends to {a}, not to {b}.",
            "{s} protects {a} but not {b}.",
            "{s} was praised by {a}, but not by {b}.",
            "{s} works for {a} but never for {b}.",
        ),
        (
            ("The pool", "members", "guests"),
            ("The bank", "farmers", "traders"),
            ("The vaccine", "adults", "infants"),
            ("The law", "firms", "workers"),
            ("The new school", "girls", "boys"),
            ("The charity", "women", "men"),
            ("The offer", "tourists", "residents"),
            ("The machine", "experts", "beginners"),
        ),
    )
]


@pytest.fixture(scope="module")
def nlp():
    return spacy_decoders.load(exclude=["linker", "entities", "lemmatizer"])


@pytest.mark.parametrize("mode", ["phrases", "sentence"])
def test_no_headline_claims_what_the_text_does_not(nlp, mode):
    nlp.get_pipe("headline").configure(mode=mode, min_prob=0.0, n_best=3)
    texts = [text for text, _, _ in SENTENCES]
    assert len(texts) == 216
    false = [
        (text, headline["text"])
        for doc, (text, proposition, cue) in zip(nlp.pipe(texts), SENTENCES, strict=True)
        for headline in doc._.headlines
        if claims(headline["text"], proposition, cue)
    ]
    assert not false


@pytest.mark.filterwarnings("ignore:headline")
@pytest.mark.parametrize("length", ["auto", [4, 7]])
def test_no_headline_loses_a_contrast(nlp, length):
    given = [(text.format(s=s, a=one, b=other), one, other) for text, (s, one, other) in CONTRASTS]
    pipe = nlp.get_pipe("headline")
    pipe.configure(mode="sentence", length=length, min_prob=0.0, n_best=3)
    lost = [
        (text, headline["text"])
        for doc, (text, one, other) in zip(
            nlp.pipe([text for text, *_ in given]), given, strict=True
        )
        for headline in doc._.headlines
        if one in headline["text"] and other not in headline["text"]
    ]
    pipe.length = "auto"
    assert not lost


def sentences_that_lose_their_point():
    """Sentences whose shorter versions would say something else; what may not stand alone."""
    particles = (
        ("The minister stepped", "", "down"),
        ("Interest rates went", "", "down"),
        ("The lights went", "", "out"),
        ("The talks fell", "", "through"),
        ("Two men broke", "", "in"),
        ("The pilot turned", "", "back"),
        ("The court threw", "the case", "out"),
        ("The bank gave", "the money", "back"),
    )
    tails = ("in Oslo on Monday.", "on Friday after a long vote.", "again in April.", "last week.")
    for (start, thing, particle), tail in product(particles, tails):
        yield " ".join(filter(None, (start, thing, particle, tail))), start.split()[-1], particle
    judged = ("illegal", "legal", "safe", "wrong")
    acts = (
        "sell alcohol to anyone under 18",
        "sell knives to people under 21",
        "serve wine after 10",
    )
    for how, act, place in product(judged, acts, ("Ohio", "Norway")):
        yield f"It is {how} to {act} in {place}.", act.split()[0], act.split()[-1]
    groups = ("Drivers under 25", "Women over 60", "Workers above 50", "All who live here")
    duties = ("must pay a deposit", "can travel for free", "will get a letter by post")
    for group, duty in product(groups, duties):
        yield f"{group} {duty} from next year.", group.split()[0], group.split()[-1]
    for share, thing, day in product(
        (50, 20), ("all shoes", "books", "tickets"), ("today", "now")
    ):
        yield f"{share}% off {thing} {day}!", f"{share}", f"{share}%"


def test_no_headline_loses_its_point(nlp):
    given = list(sentences_that_lose_their_point())
    assert len(given) == 80
    nlp.get_pipe("headline").configure(mode="sentence", min_prob=0.0, n_best=1)
    lost = [
        doc._.headline
        for doc, (_, cue, point) in zip(nlp.pipe([of for of, *_ in given]), given, strict=True)
        if cue in doc._.headline and point not in doc._.headline
    ]
    assert not lost


def test_marks_of_quotations_and_reports(nlp):
    nlp.get_pipe("headline").configure(mode="sentence", min_prob=0.0, n_best=1)
    texts = [
        '"Where have you been?" asked Anna.',
        "The dam may not hold, a study suggests.",
        "It's fine - just make sure that the room is warm.",
    ]
    assert [doc._.headline for doc in nlp.pipe(texts)] == [
        '"Where have you been?" asked Anna',
        "Dam may not hold, study suggests",
        "It's fine - just make sure that room is warm",
    ]
