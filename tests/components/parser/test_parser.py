"""``branch_and_bound_parser``: training, boundaries, safe writing, serialisation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_decoders.components.parser.trees import TreeWriter, attach_spaces, tree_fault
from spacy_decoders.errors import ProblemError

NAME = "branch_and_bound_parser"

SMALL = {
    "@architectures": "spacy-decoders.ArcScorer.v1",
    "lstm_width": 8,
    "arc_width": 16,
    "label_width": 8,
    "factor_rows": 2**10,
    "tok2vec": {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "pretrained_vectors": None,
        "width": 24,
        "depth": 1,
        "embed_size": 200,
        "window_size": 1,
        "maxout_pieces": 2,
        "subword_features": True,
    },
}

SENTENCES = [
    ("she eats the red fish .", [1, 1, 4, 4, 1, 1], "nsubj ROOT det amod obj punct"),
    ("he sleeps .", [1, 1, 1], "nsubj ROOT punct"),
    ("the dog sees a cat .", [1, 2, 2, 4, 2, 2], "det nsubj ROOT det obj punct"),
]
TAGS = {"she": "P", "he": "P", "the": "D", "a": "D", ".": ".", "red": "J"}


def make_gold(nlp, which, *, tags=True) -> Doc:
    words, heads, deps = [], [], []
    for text, tree, labels in (SENTENCES[i] for i in which):
        heads += [len(words) + head for head in tree]
        words += text.split()
        deps += labels.split()
    return Doc(
        nlp.vocab,
        words=words,
        heads=heads,
        deps=deps,
        tags=[TAGS.get(word, "X") for word in words] if tags else None,
    )


def bare(doc: Doc) -> Doc:
    return Doc(doc.vocab, words=[token.text for token in doc])


def make_examples(nlp, **options) -> list[Example]:
    golds = [make_gold(nlp, which, **options) for which in ([0, 1], [2], [1, 2, 0], [0])]
    return [Example(bare(gold), gold) for gold in golds]


def make_nlp(steps=40, examples=make_examples, **config):
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, config={"model": SMALL, **config})
    batch = examples(nlp)
    optimizer = nlp.initialize(lambda: batch)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(batch, sgd=optimizer)
    return nlp


def parse(nlp, which=(0, 1), **preset) -> Doc:
    words = [word for i in which for word in SENTENCES[i][0].split()]
    return nlp(Doc(nlp.vocab, words=words, **preset))


def trees(doc: Doc):
    return [(token.head.i, token.dep_, token.is_sent_start) for token in doc]


@pytest.fixture(scope="module")
def trained():
    return make_nlp()


def test_learns_trees_and_boundaries(trained):
    scores = trained.evaluate(make_examples(trained))
    assert scores["dep_uas"] == scores["dep_las"] == scores["sents_f"] == 1.0
    assert scores["certified"] == 1.0


def test_learns_labels_from_likely_relatives():
    nlp = make_nlp(model={**SMALL, "relatives_width": 4})
    scores = nlp.evaluate(make_examples(nlp))
    assert scores["dep_uas"] == scores["dep_las"] == 1.0
    again = make_nlp(steps=0, model={**SMALL, "relatives_width": 4}).from_bytes(nlp.to_bytes())
    assert trees(parse(again)) == trees(parse(nlp))
    assert [len(doc) for doc in nlp.pipe(["", " ", "fish"])] == [0, 1, 1]


def test_a_beam_leaves_the_factors_fewer_arcs():
    nlp = make_nlp(factors_start=0, beam=0.0)
    doc = parse(nlp)
    assert [sentence.root.text for sentence in doc.sents] == ["eats", "sleeps"]
    assert [c["scope"] for c in doc._.certificates[NAME]] == ["pruned", "pruned"]


def test_writes_what_spacy_reads(trained):
    doc = parse(trained)
    assert [sentence.text for sentence in doc.sents] == ["she eats the red fish .", "he sleeps ."]
    assert [child.text for child in doc[1].children] == ["she", "fish", "."]
    assert (doc[4].left_edge.i, doc[4].right_edge.i) == (2, 4)
    assert doc.has_annotation("DEP")
    assert [token.head.i for token in doc] == [1, 1, 4, 4, 1, 1, 7, 7, 7]
    certificates = doc._.certificates[NAME]
    assert [c["status"] for c in certificates] == ["optimal", "optimal"]


def test_without_tags(trained):
    nlp = make_nlp(examples=lambda nlp: make_examples(nlp, tags=False))
    assert trees(parse(nlp)) == trees(parse(trained))


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([True] + [False] * 8, [0]),
        ([None] * 9, [0, 6]),
        ([None, None, True, None, None, None, None, None, None], [0, 2, 6]),
        ([None] * 6 + [False, None, None], [0]),
    ],
)
def test_preset_boundaries_are_kept(trained, marks, expected):
    doc = parse(trained, sent_starts=marks)
    assert [sentence.start for sentence in doc.sents] == expected
    assert sum(token.dep_ == "ROOT" for token in doc) == len(expected)


@pytest.mark.parametrize("text", ["", " ", "\n\n", "fish", " fish ", "a\n"])
def test_tiny_documents(trained, text):
    doc = trained(text)
    assert len(doc._.certificates[NAME]) == (1 if text.strip() else 0)
    if len(doc):
        assert len(list(doc.sents)) == 1
        assert sum(token.head.i == token.i for token in doc) == 1


def test_white_space_hangs_on_words(trained):
    doc = trained("\n she eats\n\n the  red fish . he sleeps .  \n")
    assert [sentence.root.text for sentence in doc.sents] == ["eats", "sleeps"]
    for token in doc:
        assert not token.head.is_space
        assert (token.dep_ == "dep") == token.is_space


def test_a_document_of_one_long_sentence(trained):
    words = ["she", "eats", "the", "red", "fish", "."] * 40
    doc = trained(Doc(trained.vocab, words=words, sent_starts=[True] + [False] * 239))
    (certificate,) = doc._.certificates[NAME]
    assert certificate["status"] in ("optimal", "bounded")
    assert len(list(doc.sents)) == 1


def test_a_thousand_tokens_are_parsed_by_their_arcs():
    nlp = make_nlp(factors_start=0)
    words = (["she", "eats", "the", "red", "fish", "."] * 167)[:1000]
    doc = nlp(Doc(nlp.vocab, words=words, sent_starts=[True] + [False] * 999))
    (certificate,) = doc._.certificates[NAME]
    assert (certificate["decoder"], certificate["status"]) == ("Eisner", "bounded")
    assert sum(token.head.i == token.i for token in doc) == len(list(doc.sents)) == 1


def test_nan_scores_cost_one_document(trained):
    nlp = make_nlp(steps=1)
    failed = []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.append(str(error)))
    nlp.get_pipe(NAME).model.get_ref("arcs").get_param("root")[:] = np.nan
    assert list(nlp.pipe(["she eats .", "he"])) == []
    assert len(failed) == 2
    assert "arcs" in failed[0]


def test_margins_and_several_parses_on_request(trained):
    nlp = make_nlp(head_margins=True, k_best=3)
    doc = parse(nlp)
    assert all(isinstance(token._.head_margin, float) for token in doc)
    assert min(token._.head_margin for token in doc) >= 0.0
    first, second = doc._.parses
    assert len(first) == 3
    assert first[0]["heads"] == [token.head.i for token in doc[:6]]
    assert second[0]["deps"] == ["nsubj", "ROOT", "punct"]
    scores = [found["score"] for found in first]
    assert scores == sorted(scores, reverse=True)
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert again._.parses == doc._.parses
    assert parse(trained)[0]._.head_margin is None


@pytest.mark.parametrize(
    ("decoder", "factors", "projective"),
    [
        ("Eisner", [], True),
        ("ChuLiuEdmonds", [], False),
        ("PriceAndCut", ["arcs", "grandparents"], False),
    ],
)
def test_decoder_by_config(trained, decoder, factors, projective):
    nlp = make_nlp(
        decoder={"@decoders": f"spacy-decoders.{decoder}.v1"},
        factors=factors,
        projective=projective,
    )
    doc = parse(nlp)
    assert trees(doc) == trees(parse(trained))
    assert doc._.certificates[NAME][0]["decoder"] == decoder


def test_non_projective_trees_keep_their_sentence():
    """Crossing arcs that spaCy's own edges get wrong: heads and boundaries stay right."""
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=list("abcdef"))
    heads = np.array([0, 3, 0, 1, 4, 4])
    label = nlp.vocab.strings.add("dep")
    deps = np.full(6, label, dtype=np.uint64)
    writer = TreeWriter()
    with pytest.warns(UserWarning, match="non-projective tree"):
        writer.write(doc, heads=np.array([0, 2, 0, 1, 4, 4]), deps=deps, starts=np.array([0, 4]))
    assert [token.head.i for token in doc] == [0, 2, 0, 1, 4, 4]
    assert [sentence.start for sentence in doc.sents] == [0, 4]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writer.write(doc, heads=np.array([0, 2, 0, 1, 4, 4]), deps=deps, starts=np.array([0, 4]))
    with pytest.raises(ProblemError, match="no tree"):
        writer.write(doc, heads=heads, deps=deps, starts=np.array([0]))


def test_deep_crossing_tree_is_not_cut():
    """An inside-out zigzag: spaCy gives up on it and would make two sentences."""
    n = 41
    order = [20]
    for step in range(1, 21):
        order += [20 + step, 20 - step]
    heads = np.zeros(n, dtype=np.int64)
    for child, head in zip(order, [order[0], *order], strict=False):
        heads[child] = head
    doc = Doc(spacy.blank("en").vocab, words=["w"] * n)
    deps = np.full(n, doc.vocab.strings.add("dep"), dtype=np.uint64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TreeWriter().write(doc, heads, deps, np.array([0]))
    assert len(list(doc.sents)) == 1
    assert [token.head.i for token in doc] == heads.tolist()


@pytest.mark.parametrize(
    ("heads", "fault"),
    [
        ([0], None),
        ([1, 1, 1], None),
        ([1, 0], "cycle"),
        ([0, 2, 1], "cycle"),
        ([0, 1], "2 roots"),
        ([5, 1], "outside"),
    ],
)
def test_tree_fault(heads, fault):
    found = tree_fault(np.array(heads))
    assert found is None if fault is None else fault in found


def test_tree_fault_of_long_chains():
    chain = np.maximum(np.arange(1000) - 1, 0)
    assert tree_fault(chain) is None
    chain[0] = 999
    assert "cycle" in tree_fault(chain)


def test_attach_spaces():
    heads = np.array([0, 2, 2, 0, 4, 5])
    spaces = np.array([True, False, False, True, True, True])
    attach_spaces(heads, spaces, np.array([0, 4]))
    np.testing.assert_array_equal(heads, [1, 2, 2, 2, 4, 4])


@pytest.mark.parametrize(("heads", "match"), [([1, 2, 0], "cycle"), ([0, 1, 0], "2 roots")])
def test_gold_that_is_no_tree_teaches_nothing(trained, heads, match):
    from spacy_decoders.components.parser.gold import GoldReader
    from spacy_decoders.models.parser.losses import UNKNOWN

    gold = Doc(trained.vocab, words=["a", "b", "c"])
    columns = np.array(
        [
            [(head - i) % 2**64 for i, head in enumerate(heads)],
            [trained.vocab.strings.add("det")] * 3,
        ],
        dtype=np.uint64,
    ).T
    gold.from_array(["HEAD", "DEP"], columns)
    gold.from_array(["SENT_START"], np.array([[1], [-1], [-1]]).astype(np.uint64))
    reader = GoldReader(["det"], [])
    with pytest.warns(UserWarning, match=match):
        found = reader([Example(bare(gold), gold)])
    assert (found.heads == UNKNOWN).all()


def test_gold_over_another_tokenization(trained):
    from spacy_decoders.components.parser.gold import GoldReader
    from spacy_decoders.models.parser.losses import ROOT, UNKNOWN

    gold = make_gold(trained, [0, 1])
    words = ["she", "eats", "the", "red", "fish", ".he", "sleeps", "."]
    predicted = Doc(trained.vocab, words=words, spaces=[True] * 5 + [True, True, False])
    gold = Doc(
        trained.vocab,
        words=[token.text for token in gold],
        spaces=[True] * 5 + [False, True, True, False],
        heads=[token.head.i for token in gold],
        deps=[token.dep_ for token in gold],
    )
    found = GoldReader(["det", "obj", "nsubj", "amod", "punct"], [])([Example(predicted, gold)])
    assert found.heads.tolist() == [1, ROOT, 4, 4, 1, UNKNOWN, ROOT, 6]
    assert found.labels.tolist()[0] == 2
    assert (found.tags == UNKNOWN).all()


def test_partial_gold_teaches_its_arcs(trained):
    from spacy_decoders.components.parser.gold import GoldReader
    from spacy_decoders.models.parser.losses import UNKNOWN

    gold = Doc(
        trained.vocab,
        words=["she", "eats", "fish"],
        heads=[1, 1, 1],
        deps=["nsubj", "", "obj"],
        sent_starts=None,
    )
    found = GoldReader(["nsubj", "obj"], [])([Example(bare(gold), gold)])
    assert found.heads.tolist() == [1, UNKNOWN, 1]


def test_disk_bytes_and_docbin(trained, tmp_path):
    expected = trees(parse(trained))
    trained.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    assert trees(parse(loaded)) == expected
    assert loaded.get_pipe(NAME).labels == trained.get_pipe(NAME).labels
    blank = spacy.blank("en")
    blank.add_pipe(NAME, config={"model": SMALL})
    blank.from_bytes(trained.to_bytes())
    assert trees(parse(blank)) == expected
    stored = DocBin(store_user_data=True, attrs=["HEAD", "DEP", "SENT_START"])
    stored.add(parse(trained))
    (doc,) = DocBin().from_bytes(stored.to_bytes()).get_docs(trained.vocab)
    assert trees(doc) == expected
    assert doc._.certificates[NAME][0]["status"] == "optimal"


def test_source(trained):
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, source=trained)
    assert trees(parse(nlp)) == trees(parse(trained))


def test_listens_to_a_shared_tok2vec():
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": SMALL["tok2vec"]})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 24}
    nlp.add_pipe(NAME, config={"model": {**SMALL, "tok2vec": listener}})
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    for _ in range(3):
        nlp.update(examples, sgd=optimizer)
    assert nlp.get_pipe("tok2vec").model.to_bytes() != before
    assert parse(nlp).has_annotation("DEP")


def test_annotates_while_others_train(monkeypatch):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe(NAME, config={"model": SMALL})
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    seen = []
    write = pipe.annotate
    monkeypatch.setattr(
        pipe, "annotate", lambda doc, parsed: (write(doc, parsed), seen.append(doc))
    )
    nlp.update(examples, sgd=optimizer, annotates=[NAME])
    assert len(seen) == len(examples)
    assert all(doc.has_annotation("DEP") for doc in seen)


def test_frozen_weights_stay(trained):
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, source=trained)
    examples = make_examples(nlp)
    before = nlp.get_pipe(NAME).model.to_bytes()
    nlp.update(examples, sgd=nlp.resume_training(), exclude=[NAME])
    assert nlp.get_pipe(NAME).model.to_bytes() == before


def test_labels_given_beforehand(trained):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe(NAME, config={"model": SMALL})
    assert pipe.add_label("obl") == 1
    assert pipe.add_label("obl") == 0
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    assert set(pipe.labels) == {"obl", *trained.get_pipe(NAME).labels}
    with pytest.raises(ValueError, match="E922"):
        pipe.add_label("late")
    other = spacy.blank("en")
    copy = other.add_pipe(NAME, config={"model": SMALL})
    copy.initialize(lambda: examples, nlp=other, labels=pipe.label_data)
    assert copy.labels == pipe.labels


def test_needs_trees_to_learn():
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, config={"model": SMALL})
    example = Example(Doc(nlp.vocab, words=["a"]), Doc(nlp.vocab, words=["a"]))
    with pytest.raises(ProblemError, match="no labelled arcs"):
        nlp.initialize(lambda: [example])


@pytest.mark.parametrize(
    ("decoder", "options", "match"),
    [
        ("Eisner", {}, "Eisner scores arcs alone"),
        ("Eisner", {"factors": ["arcs"], "projective": False}, "projective"),
        ("ChuLiuEdmonds", {"factors": []}, "non-projective"),
    ],
)
def test_refuses_what_the_decoder_can_not_do(decoder, options, match):
    config = {"model": SMALL, "decoder": {"@decoders": f"spacy-decoders.{decoder}.v1"}}
    with pytest.raises(ProblemError, match=match):
        spacy.blank("en").add_pipe(NAME, config={**config, **options})


def test_factors_learn_in_the_same_training():
    nlp = make_nlp(steps=0, factors_start=0)
    pipe = nlp.get_pipe(NAME)
    examples = make_examples(nlp)
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.01
    assert not pipe.templates.is_trained
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    assert pipe.templates.is_trained
    scores = nlp.evaluate(examples)
    assert scores["dep_uas"] == 1.0
    assert scores["certified"] == 1.0
    again = spacy.blank("en")
    again.add_pipe(NAME, config={"model": SMALL})
    again.from_bytes(nlp.to_bytes())
    assert again.get_pipe(NAME).templates.is_trained
    assert trees(parse(again)) == trees(parse(nlp))


@pytest.mark.parametrize(
    "option", [{"k_best": 0}, {"window": 0}, {"seconds": 0.0}, {"iterations": 0}, {"k": 0}]
)
def test_refuses_senseless_options(option):
    with pytest.raises(ProblemError, match=next(iter(option))):
        spacy.blank("en").add_pipe(NAME, config={"model": SMALL, **option})


def test_the_budget_counts_work_and_not_seconds(trained):
    budget = trained.get_pipe(NAME).parser.budget
    assert budget.seconds is None
    assert budget.iterations == 500


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(trained, method):
    import multiprocessing

    texts = ["she eats the red fish . he sleeps .", "the dog sees a cat ."]
    expected = [trees(trained(text)) for text in texts]
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(method, force=True)
    try:
        found = list(trained.pipe(texts, n_process=2, batch_size=1))
    finally:
        multiprocessing.set_start_method(before, force=True)
    assert [trees(doc) for doc in found] == expected
    assert all(doc._.certificates[NAME] for doc in found)
