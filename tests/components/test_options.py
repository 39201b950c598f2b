"""Options of all components: checked whenever they are set, effective at once, saved."""

import pickle

import numpy as np
import pytest
import spacy

from spacy_decoders import ProblemError
from spacy_decoders.components.options import SAVED
from spacy_decoders.decoders.chain import Beam as ChainBeam
from spacy_decoders.decoders.chain import ForwardDominance
from spacy_decoders.decoders.path import ExactPath
from spacy_decoders.decoders.representatives import Greedy
from spacy_decoders.decoders.tree import BranchAndBound, Eisner
from spacy_decoders.registry import decoders

#: The factories of the components, each with a decoder of another core.
WRONG = {
    "exact_tagger": Eisner(),
    "branch_and_bound_parser": ForwardDominance(),
    "graph_entity_linker": ExactPath(),
    "headline_generator": BranchAndBound(),
}
TEXT = "The jaguar hunts in the jungle along the Amazon. Jaguar builds its cars in Coventry."


@pytest.fixture
def nlp(shipped):
    """The shipped pipeline, its options as they were before the test."""
    before = {name: dict(pipe._options) for name, pipe in ours(shipped)}
    yield shipped
    for name, pipe in ours(shipped):
        pipe.configure(**before[name])


def ours(nlp):
    return [(name, pipe) for name, pipe in nlp.pipeline if hasattr(pipe, "configure")]


@pytest.mark.parametrize("factory", WRONG)
def test_every_option_of_the_config_is_a_checked_attribute(factory):
    pipe = spacy.blank("en").add_pipe(factory)
    spacys_own = {"model", "scorer"}
    default = spacy.Language.get_factory_meta(factory).default_config
    assert set(pipe._options) == set(default) - spacys_own
    for name in pipe._options:
        # an option that is a list names the item
        for wrong in (object(), [3.5], np.ones(2)):
            with pytest.raises(ProblemError, match=rf"^{name}(\[0\])?: "):
                setattr(pipe, name, wrong)


def said(component, field):
    """What the first certificate of a component says."""
    return lambda doc: doc._.certificates[component][0][field]


@pytest.mark.parametrize(
    ("component", "options", "seen"),
    [
        ("tagger", {"k_best": 2}, lambda doc: len(doc._.taggings)),
        ("tagger", {"decoder": ChainBeam(1)}, said("tagger", "decoder")),
        ("parser", {"beam": 0.0, "factors": ["siblings"]}, said("parser", "scope")),
        ("parser", {"factors": [], "decoder": Eisner()}, said("parser", "decoder")),
        ("linker", {"window": 2}, lambda doc: len(doc._.certificates["linker"])),
        ("linker", {"decoder": Greedy()}, said("linker", "decoder")),
        ("headline", {"n_best": 3}, lambda doc: len(doc._.headlines)),
        ("headline", {"max_chars": 5}, lambda doc: len(doc._.headline) <= 5),
    ],
)
def test_the_next_document_is_decoded_by_the_new_value(nlp, component, options, seen):
    before = seen(nlp(TEXT))
    pipe = nlp.get_pipe(component)
    pipe.configure(**options)
    for name, value in options.items():
        assert getattr(pipe, name) == (tuple(value) if isinstance(value, list) else value)
    assert seen(nlp(TEXT)) != before


def test_numbers_of_arrays_are_plain_numbers():
    pipe = spacy.blank("en").add_pipe("exact_tagger")
    pipe.configure(k_best=np.int64(2), min_prob=np.float32(0.5), margins=np.bool_(True))
    found = pipe.k_best, pipe.min_prob, pipe.margins
    assert found == (2, 0.5, True)
    assert [type(value) for value in found] == [int, float, bool]


@pytest.mark.parametrize("factory", WRONG)
def test_a_slip_of_the_pen_is_no_new_attribute(factory):
    pipe = spacy.blank("en").add_pipe(factory)
    with pytest.raises(AttributeError, match=r"decodr.*did you mean 'decoder'"):
        pipe.decodr = None
    with pytest.raises(AttributeError, match="xyz123"):
        pipe.xyz123 = 1
    with pytest.raises(AttributeError, match=r"decodr"):
        pipe.configure(decodr=None)
    with pytest.raises(AttributeError):
        pipe.labels = ["X"]


@pytest.mark.parametrize("factory", WRONG)
def test_a_decoder_of_another_core_is_refused_when_the_component_is_built(factory):
    nlp = spacy.blank("en")
    own = nlp.add_pipe(factory).decoder
    name = next(
        name
        for name, build in decoders.get_all().items()
        if name.startswith("spacy-decoders.") and build() == WRONG[factory]
    )
    allowed = f"decoder: expected .*{type(own).__name__}.v1.*got {type(WRONG[factory]).__name__}"
    with pytest.raises(ProblemError, match=allowed):
        spacy.blank("en").add_pipe(factory, config={"decoder": {"@decoders": name}})
    pipe = nlp.get_pipe(factory)
    for wrong in (WRONG[factory], None, "Viterbi", b"Viterbi", type(own)):
        with pytest.raises(ProblemError, match=r"^decoder: "):
            pipe.decoder = wrong
    assert pipe.decoder is own


def test_numbers_that_no_file_holds_are_refused_when_they_are_set():
    parser = spacy.blank("en").add_pipe("branch_and_bound_parser")
    constraint = {"spans": "sc", "head": 1 << 64}
    for name, value in (("iterations", 1 << 64), ("constraints", [constraint])):
        with pytest.raises(ProblemError, match=f"^{name}: expected numbers of up to 64 bits"):
            setattr(parser, name, value)
    parser.iterations = (1 << 64) - 1
    parser.to_bytes()


CHANGES = {
    "tagger": {"margins": True, "k_best": 3},
    "parser": {"beam": 8.0, "head_margins": True, "factors": ("arcs", "siblings")},
    "linker": {"min_prob": 0.25, "labels_discard": ("GPE",), "seconds": 3.0},
    "headline": {"length": (2, 3), "auxiliaries": ("of",), "n_best": 2},
}


def changed(pipe):
    return {name: getattr(pipe, name) for name in CHANGES[pipe.name]}


def test_changed_options_are_saved(nlp, tmp_path):
    for name, options in CHANGES.items():
        nlp.get_pipe(name).configure(**options)
    nlp.to_disk(tmp_path / "nlp")
    for again in (
        spacy.load(tmp_path / "nlp"),
        spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes()),
    ):
        assert {name: changed(again.get_pipe(name)) for name in CHANGES} == CHANGES
    for name in CHANGES:
        copied = pickle.loads(pickle.dumps(nlp.get_pipe(name)))
        assert changed(copied) == CHANGES[name]
    # put back, nothing is left of them
    tagger = nlp.get_pipe("tagger")
    tagger.configure(margins=False, k_best=1)
    assert SAVED not in tagger.cfg


def test_what_cannot_be_saved_is_told(nlp, tmp_path):
    nlp.get_pipe("tagger").decoder = ChainBeam(3)
    for save in (lambda: nlp.to_disk(tmp_path / "nlp"), nlp.to_bytes):
        with pytest.warns(UserWarning, match="tagger: its decoder was changed and is not saved"):
            save()
    linker = nlp.get_pipe("linker")
    linker.set_kb(lambda vocab: type(linker.kb)(vocab, linker.kb.base))
    with pytest.warns(UserWarning, match="linker: its kb was changed"):
        linker.to_disk(tmp_path / "linker")
    linker.store_kb = True
    linker.to_disk(tmp_path / "stored")
    assert (tmp_path / "stored" / "kb").is_dir()
