"""Templates, words, phrases, mentions and packed weights, each against readable code."""

from itertools import pairwise

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_decoders.errors import ProblemError
from spacy_decoders.models.clusters.table import ClusterTable
from spacy_decoders.models.tagger.sparse.features import DocBatch, FeatureReader
from spacy_decoders.models.tagger.sparse.gazetteer import Gazetteer, PhraseTable
from spacy_decoders.models.tagger.sparse.kernels.learning import Trained, descend
from spacy_decoders.models.tagger.sparse.kernels.words import NAMED, mark_phrases, note_mentions
from spacy_decoders.models.tagger.sparse.templates import PRESETS, TOKEN_ATOMS, WORD_ATOMS
from spacy_decoders.models.tagger.sparse.weights import Learning, Packed, SparseWeights

NLP = spacy.blank("en")
TEXTS = ("The old man sees New York .", "new york , NEW York; 2024!", "", "Ärger mit İstanbul x")
#: Templates that look at every atom, at several words, and far.
EVERYTHING = (
    *(f"{atom}[-1..1]" for atom in (*WORD_ATOMS, *TOKEN_ATOMS)),
    "lower[-1] | shape[0] | suffix2[2]",
    "mention_case[0] | cluster[1]",
)


def docs():
    return [NLP(text) for text in TEXTS]


def lists(size: int, bits: int = 12) -> SparseWeights:
    """Random weights with clusters and phrases."""
    weights = SparseWeights(Learning(bits=bits))
    weights.clusters = ClusterTable.of({"man": 0b101, "New": 0b111, "old": 0b1}, {"man": 258})
    york = [NLP.vocab.strings.add(word) for word in ("new", "york")]
    weights.phrases = PhraseTable.of({"city": [york], "word": [york[:1]]})
    weights.set_size(size)
    weights._trained()[:] = np.random.default_rng(0).normal(size=(1 << bits, size))
    return weights


@pytest.mark.parametrize("templates", [EVERYTHING, PRESETS["tags"], PRESETS["groups"]])
@pytest.mark.parametrize("size", [1, 7, 19])
def test_kept_sums_are_worth_what_the_rows_are(templates, size):
    weights, reader = lists(size), FeatureReader(templates)
    batch = DocBatch.of(docs())
    emissions = reader.emissions(batch, weights)
    assert emissions.shape == (len(batch.words), size)
    np.testing.assert_allclose(
        emissions, weights.emissions(reader.rows(batch, weights)), rtol=1e-4, atol=1e-4
    )


def test_windows_end_with_their_sentence():
    weights, reader = lists(4), FeatureReader(["lower[-1]", "lower[0] | lower[1]"])
    words = ["a", "b", "c", "d"]
    cut = Doc(NLP.vocab, words=words, sent_starts=[True, False, True, False])
    halves = [Doc(NLP.vocab, words=words[:2]), Doc(NLP.vocab, words=words[2:])]
    np.testing.assert_array_equal(
        reader.emissions(DocBatch.of([cut]), weights),
        reader.emissions(DocBatch.of(halves), weights),
    )


def test_what_letters_show():
    plan = ["suffix2[0]", "prefix1[0]", "short_shape[0]", "kind[0]", "prefix4[0]"]
    words = ["Walked", "talked", "Wan", "T-1", "Wanted", "Äpfel", "äpfel"]
    batch = DocBatch.of([Doc(NLP.vocab, words=words)])
    suffix, prefix, shape, kind, longer = FeatureReader(plan).rows(batch, lists(2, 20)).T
    assert suffix[0] == suffix[1] == suffix[4] != suffix[2]
    assert prefix[0] == prefix[2] != prefix[1]
    assert shape[0] == shape[2] == shape[5] and shape[1] == shape[6] != shape[0]
    assert kind[0] == kind[2] and kind[3] not in kind[[0, 1]]
    assert longer[2] == longer[3] == -1 and longer[4] >= 0


def test_mentions_against_readable_code():
    rng = np.random.default_rng(1)
    for _ in range(50):
        n = int(rng.integers(1, 30))
        lower = rng.integers(10, 15, size=n).astype(np.uint64)
        form = lower + 100 * rng.integers(0, 2, size=n).astype(np.uint64)
        initial = rng.random(n) < 0.2
        documents = np.unique([0, *rng.integers(0, n + 1, size=2), n])
        own = np.zeros((n, 3), dtype=np.uint64)
        batch = DocBatch.of([Doc(NLP.vocab, words=["x"] * m) for m in np.diff(documents)])
        numbers = batch.numbers(lower)
        note_mentions(numbers, form, lower, documents, initial, own)
        for begin, stop in pairwise(documents.tolist()):
            for i in range(begin, stop):
                others = [j for j in range(begin, stop) if lower[j] == lower[i] and j != i]
                capital = sum(form[j] != lower[j] and not initial[j] for j in others)
                small = sum(form[j] == lower[j] for j in others)
                # counting ends where both or either are known to be many
                seen = int(own[i, 0]) - NAMED
                if capital <= 2 and small <= 2:
                    assert (seen // 16, seen // 4 % 4) == (capital, small)
                assert seen % 4 == 2 * initial[i] + (form[i] != lower[i])
                assert (own[i, 1] == 0) == (not others)
                near = {(lower[j - 1] if j > begin else 1) for j in others}
                assert not others or own[i, 1] in near


def test_longest_phrases_against_readable_code():
    rng = np.random.default_rng(2)
    phrases = {
        kind: [tuple(rng.integers(1, 4, size=rng.integers(1, 5)).tolist()) for _ in range(6)]
        for kind in ("a", "b")
    }
    table = PhraseTable.from_bytes(PhraseTable.of(phrases).to_bytes())
    assert table.kinds == ("a", "b")
    for _ in range(50):
        words = rng.integers(1, 4, size=rng.integers(1, 20)).astype(np.uint64)
        marks = np.empty(len(words), dtype=np.uint64)
        mark_phrases(table.keys, table.entries, words, np.array([0, len(words)]), marks)
        expected, i = [0] * len(words), 0
        while i < len(words):
            for length in range(min(8, len(words) - i), 0, -1):
                part = tuple(words[i : i + length].tolist())
                kinds = sum(
                    1 << k for k, of_kind in enumerate(phrases.values()) if part in of_kind
                )
                if kinds:
                    for k in range(length):
                        place = 0 if length == 1 else 1 if k == 0 else 2
                        expected[i + k] = NAMED + 4 * kinds + place
                    i += length - 1
                    break
            i += 1
        assert marks.tolist() == expected


def test_gazetteer_reads_names(tmp_path):
    (tmp_path / "cities.txt").write_text("New York\n\nTampa Bay\n" + "very " * 9 + "long\n")
    table = Gazetteer({"city": tmp_path / "cities.txt"}).read()
    lower = np.array([token.lower for token in NLP("in tampa bay")], dtype=np.uint64)
    marks = np.empty(3, dtype=np.uint64)
    mark_phrases(table.keys, table.entries, lower, np.array([0, 3]), marks)
    assert (marks > 0).tolist() == [False, True, True]
    with pytest.raises(ProblemError, match="at most 15 lists"):
        PhraseTable.of({str(kind): [] for kind in range(16)})


def test_adagrad_with_missed_penalties_against_readable_code():
    rng = np.random.default_rng(3)
    rows_of_weights, size, rate, l1, l2 = 6, 3, 0.1, 0.02, 0.05
    weights = np.zeros((rows_of_weights, size), dtype=np.float32)
    squares, steps = np.ones_like(weights), np.zeros(rows_of_weights, dtype=np.int32)
    trained = Trained(weights, squares, steps)
    pace_of_all = np.array([rate, l1, l2], dtype=np.float32)
    w, g, last = weights.astype(float), squares.astype(float), [0] * rows_of_weights
    for step in range(1, 20):
        rows = rng.integers(-1, rows_of_weights, size=(4, 2)).astype(np.int32)
        gradient = rng.normal(size=(4, size)).astype(np.float32)
        gradient[rng.random(gradient.shape) < 0.3] = 0
        descend(trained, step, rows, gradient, pace_of_all)
        for i in range(4):
            if not gradient[i].any():
                continue
            for row in rows[i]:
                if row < 0:
                    continue
                pace = rate * (step - last[row]) / np.sqrt(g[row])
                last[row] = step
                shrunk = w[row] / (1 + pace * l2)
                w[row] = np.sign(shrunk) * np.maximum(np.abs(shrunk) - pace * l1, 0)
                g[row] += gradient[i].astype(float) ** 2
                w[row] -= rate * gradient[i] / np.sqrt(g[row])
        np.testing.assert_allclose(weights, w, atol=1e-4)


def again(table: Packed, size: int) -> Packed:
    """The table saved and read."""
    return Packed.from_columns(table.to_columns(), len(table.starts) - 1, size)


def test_packed_weights_come_back():
    error = 1 / 127
    rng = np.random.default_rng(4)
    weights = rng.normal(size=(300, 70)).astype(np.float32)
    weights[rng.random(weights.shape) < 0.9] = 0
    weights[17] = 0
    table = again(Packed.of(weights, 0.1), 70)
    kept = np.where(np.abs(weights) > 0.1, weights, 0)
    back = table.dense(70)
    np.testing.assert_allclose(back, kept, atol=error * np.abs(weights).max() / 2 + 1e-7)
    # saving what was loaded changes nothing any more
    np.testing.assert_allclose(again(Packed.of(back, 0.1 - error), 70).dense(70), back, atol=1e-6)


def test_words_of_a_group_share_its_features():
    weights = lists(2, 20)
    # a path of 25 turns: the coarsest level sees 6, which are the same for all three
    weights.groups = ClusterTable.of({"rome": 3 << 24, "oslo": 3 << 24, "ran": 1 << 24})
    batch = DocBatch.of([Doc(NLP.vocab, words=["rome", "Oslo", "ran", "unheard"])])
    coarse, fine = FeatureReader(["group6[0]", "group[0]"]).rows(batch, weights).T.tolist()
    assert coarse[0] == coarse[1] == coarse[2] and fine[0] == fine[1]
    assert len({*fine}) == 3


def test_blanks_are_known_where_a_document_has_any_missing():
    glued = Doc(NLP.vocab, words=["Jean", "-", "Luc", "left"], spaces=[False, False, True, False])
    given = Doc(NLP.vocab, words=["Jean", "-", "Luc"], spaces=[True, True, False])
    found = DocBatch.of([given, Doc(NLP.vocab), glued, given]).glued().tolist()
    # 2 for no blank before, 1 for none behind; the end of a document is as good as one
    shown = [0, 0, 0, NAMED + 1, NAMED + 3, NAMED + 2, NAMED, 0, 0, 0]
    assert found == shown


def test_saved_weights_learn_in_steps_as_large_as_before():
    weights, often, once = SparseWeights(Learning(bits=8)), [[0]], [[1]]
    weights.set_size(2)
    for rows in [*99 * [often], once]:
        weights.accumulate(np.array(rows, np.int32), np.array([[1, -1]], np.float32))
        weights.finish_update(None)
    loaded = SparseWeights(Learning(bits=8)).from_bytes(weights.to_bytes())
    ratio = loaded.squares() / weights.squares()
    assert weights.squares()[0] == 100 and (ratio >= 0.5).all() and (ratio <= 2).all()
    before = loaded.dense()
    loaded.accumulate(np.array([[0], [1]], np.int32), np.ones((2, 2), np.float32))
    loaded.finish_update(None)
    moved = abs(loaded.dense() - before)[:2, 0]
    assert moved[0] < moved[1] / 3
