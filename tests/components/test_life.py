"""Components through the life of a pipeline: other processes, files, streams, training again."""

import gc
import hashlib
import os
import warnings
from pathlib import Path

import pytest
import spacy
from spacy.training import Example
from thinc.api import use_ops

import spacy_decoders
from spacy_decoders import ProblemError
from tests.processes import python

from .parser.parsing import SMALL, make_examples
from .test_documents import TEXTS

#: A tagger alone says that it lacks the vectors of the parser.
pytestmark = pytest.mark.filterwarnings("ignore:.*doc.tensor is missing")

#: Annotates texts in a process of its own and prints what became of each, bit for bit.
FRESH = """
import hashlib, sys
import spacy
sys.path.insert(0, {root!r})
from tests.components.test_documents import TEXTS

nlp = spacy.load(sys.argv[1])
for text in TEXTS.values():
    print(hashlib.sha256(nlp(text).to_bytes(exclude=["strings"])).hexdigest())
"""


def bits(doc):
    """A document as bytes, but for its strings: spaCy saves a set, in any order."""
    return doc.to_bytes(exclude=["strings"])


@pytest.fixture(scope="module")
def expected(shipped):
    return [bits(shipped(text)) for text in TEXTS.values()]


@pytest.fixture(scope="module")
def saved(shipped, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "nlp"
    shipped.to_disk(folder)
    return folder


def test_annotations_are_the_same_bits_here_and_in_a_fresh_process(expected, saved):
    root = str(Path(__file__).parents[2])
    # a seed of the order of sets
    done = python("-c", FRESH.format(root=root), saved, PYTHONHASHSEED="1")
    assert done.stdout.split() == [hashlib.sha256(of_text).hexdigest() for of_text in expected]


def test_annotations_are_the_same_bits_beside_pipelines_with_faster_products(expected):
    with use_ops("numpy", use_blis=False):
        other = spacy_decoders.load()
        assert [bits(other(text)) for text in TEXTS.values()] == expected


def test_saved_and_loaded_pipelines_are_the_same_bits(shipped, expected, saved, tmp_path):
    again = spacy.load(saved)
    again.to_disk(tmp_path / "again")
    for path in sorted(saved.rglob("*")):
        other = tmp_path / "again" / path.relative_to(saved)
        if path.is_file() and "vocab" not in path.parts:
            assert path.read_bytes() == other.read_bytes(), path
    from_bytes = spacy_decoders.load().from_bytes(shipped.to_bytes())
    for text, before in zip(TEXTS.values(), expected, strict=True):
        assert bits(from_bytes(text)) == before == bits(again(text))


def resident() -> int:
    """Bytes of memory that this process has."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def stream(count, rng):
    """Texts with words that no other one has."""
    for _ in range(count):
        new = ["".join(chr(97 + c) for c in rng.integers(0, 26, 9)) for _ in range(4)]
        yield f"Mary Smith saw {new[0]} and {new[1].title()} in Rome. {new[2]} {new[3]}s it."


def growth(nlp, count, rng):
    """What the memory grows by from a fifth of so many documents to all of them."""
    sizes = []
    for _ in range(10):
        with nlp.memory_zone():
            for doc in nlp.pipe(stream(count // 10, rng)):
                assert len(doc)
        sizes.append(resident())
    return sizes[-1] - sizes[1]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_is_bounded_over_ten_thousand_documents(shipped, rng):
    # three taggers keep the words that they met, in at most 32 MB each; other caches are smaller
    assert growth(shipped, 10_000, rng) < 128 << 20


@pytest.mark.parametrize(
    ("factory", "config", "said"),
    [
        ("exact_tagger", {}, "no example has a value for tag"),
        ("exact_tagger", {"target": "ent"}, "none from BIO"),
        ("branch_and_bound_parser", {}, "no labelled arcs"),
    ],
)
def test_without_labels_it_says_what_to_do(factory, config, said):
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, config=config)
    with pytest.raises(ProblemError, match="there are no labels; train the component"):
        nlp("Fish swim.")
    bare = nlp.make_doc("Fish swim.")
    with pytest.raises(ProblemError, match=said):
        nlp.initialize(lambda: [Example.from_dict(bare, {"entities": ["B-FISH", "O", "O"]})])


def test_a_tagger_tells_what_examples_and_weights_lack():
    weights = {"tag_acc": 1.0, "pos_acc": None, "morph_acc": None, "ents_f": None}
    nlp = spacy.blank("en", config={"training": {"score_weights": weights}})
    nlp.add_pipe("exact_tagger", config={"target": ["tag", "ent"]})
    gold = {"tags": ["NNS", "VBP", "."], "entities": ["O", "O", "O"]}
    with pytest.raises(ProblemError, match=r"for tag, ent; they have tag\."):
        nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("Fish swim."), gold)])
    nlp.replace_pipe("exact_tagger", "exact_tagger", config={"target": "ent"})
    gold["entities"] = ["U-FISH", "O", "O"]
    with pytest.warns(UserWarning, match="no weight for ents_f"):
        nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("Fish swim."), gold)])


def said(nlp):
    return [(t.tag_, t.dep_, t.head.i) for t in nlp("she eats the red fish .")]


def test_listeners_can_be_replaced_and_sourced():
    """Two components of ours listen to one tok2vec, and each gets its own."""
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": SMALL["tok2vec"]})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 24, "upstream": "*"}
    for name in ("exact_tagger", "branch_and_bound_parser"):
        nlp.add_pipe(name, config={"model": {"tok2vec": listener}})
    golds = make_examples(nlp)
    optimizer = nlp.initialize(lambda: golds)
    for _ in range(10):
        nlp.update(golds, sgd=optimizer)
    expected = said(nlp)
    for name in ("exact_tagger", "branch_and_bound_parser"):
        nlp.replace_listeners("tok2vec", name, ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # each has its own vectors
        assert said(nlp) == expected
    other = spacy.blank("en")
    for name in nlp.pipe_names:
        other.add_pipe(name, source=nlp)
    assert said(other) == expected
    again = spacy.blank("en").from_config(other.config).from_bytes(other.to_bytes())
    assert said(again) == expected
