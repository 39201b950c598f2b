"""Options of all components: checked whenever they are set, effective at once, saved."""

from __future__ import annotations

import pickle

import pytest
import spacy

import spacy_decoders
from spacy_decoders import ProblemError
from spacy_decoders.components.options import SAVED
from spacy_decoders.decoders.chain import Beam as ChainBeam
from spacy_decoders.decoders.chain import ForwardDominance
from spacy_decoders.decoders.path import ExactPath
from spacy_decoders.decoders.representatives import Degree, Greedy
from spacy_decoders.decoders.tree import BranchAndBound, ChuLiuEdmonds, Eisner
from spacy_decoders.registry import decoders

FACTORIES = (
    "exact_tagger",
    "branch_and_bound_parser",
    "graph_entity_linker",
    "headline_generator",
)
TEXT = "The jaguar hunts in the jungle along the Amazon. Jaguar builds its cars in Coventry."


@pytest.fixture(scope="module")
def shipped():
    return spacy_decoders.load()


@pytest.fixture
def nlp(shipped):
    """The shipped pipeline, its options as they were before the test."""
    before = {name: dict(pipe._options) for name, pipe in ours(shipped)}
    yield shipped
    for name, pipe in ours(shipped):
        pipe.configure(**before[name])


def ours(nlp):
    return [(name, pipe) for name, pipe in nlp.pipeline if hasattr(pipe, "configure")]


@pytest.mark.parametrize("factory", FACTORIES)
def test_every_option_of_the_config_is_a_checked_attribute(factory):
    pipe = spacy.blank("en").add_pipe(factory)
    spacys_own = {"model", "scorer"}
    default = spacy.Language.get_factory_meta(factory).default_config
    assert set(pipe._options) == set(default) - spacys_own
    for name in pipe._options:
        # an option that is a list names the item
        for wrong in (object(), [3.5]):
            with pytest.raises(ProblemError, match=rf"^{name}(\[0\])?: "):
                setattr(pipe, name, wrong)


@pytest.mark.parametrize(
    ("factory", "name", "value"),
    [
        ("graph_entity_linker", "window", 0),
        ("graph_entity_linker", "min_score", 2),
        ("headline_generator", "length", [3, 1]),
        ("headline_generator", "contiguity", float("nan")),
    ],
)
def test_values_out_of_range_are_refused(factory, name, value):
    pipe = spacy.blank("en").add_pipe(factory)
    with pytest.raises(ProblemError, match=rf"^{name}"):
        setattr(pipe, name, value)


@pytest.mark.parametrize(
    ("component", "options", "seen"),
    [
        ("tagger", {"margins": True}, lambda doc: doc[0]._.tag_margin),
        ("tagger", {"k_best": 2}, lambda doc: len(doc._.taggings)),
        (
            "tagger",
            {"decoder": ChainBeam(1)},
            lambda doc: doc._.certificates["tagger"][0]["decoder"],
        ),
        ("parser", {"head_margins": True}, lambda doc: doc[0]._.head_margin),
        ("parser", {"k_best": 2}, lambda doc: len(doc._.parses)),
        (
            "parser",
            {"beam": 0.0, "factors": ["siblings"]},
            lambda doc: doc._.certificates["parser"][0]["scope"],
        ),
        (
            "parser",
            {"factors": [], "decoder": Eisner()},
            lambda doc: doc._.certificates["parser"][0]["decoder"],
        ),
        ("linker", {"mentions": "ents"}, lambda doc: len(doc.spans.get("concepts", ()))),
        ("linker", {"min_margin": 1e9}, lambda doc: {ent.kb_id_ for ent in doc.ents}),
        ("linker", {"window": 2}, lambda doc: len(doc._.certificates["linker"])),
        ("linker", {"decoder": Greedy()}, lambda doc: doc._.certificates["linker"][0]["decoder"]),
        ("headline", {"length": 3}, lambda doc: len(doc._.headlines[0]["tokens"])),
        ("headline", {"n_best": 3}, lambda doc: len(doc._.headlines)),
        ("headline", {"max_chars": 5}, lambda doc: len(doc._.headline) <= 5),
        ("headline", {"mode": "words"}, lambda doc: doc._.headlines[0]["kind"]),
        ("headline", {"min_prob": 1.0}, lambda doc: doc._.headline),
    ],
)
def test_the_next_document_is_decoded_by_the_new_value(nlp, component, options, seen):
    before = seen(nlp(TEXT))
    pipe = nlp.get_pipe(component)
    pipe.configure(**options)
    for name, value in options.items():
        assert getattr(pipe, name) == (tuple(value) if isinstance(value, list) else value)
    assert seen(nlp(TEXT)) != before


@pytest.mark.parametrize("component", ["parser", "linker", "headline"])
def test_budgets_reach_the_decoder(nlp, component):
    pipe = nlp.get_pipe(component)
    if component == "headline":
        pipe.mode = "words"  # the one that decodes paths
    given = []

    class Noting(type(pipe.decoder)):
        def decode(self, problem, *args, budget, **kwargs):
            given.append(budget)
            return super().decode(problem, *args, budget=budget, **kwargs)

        def decode_lengths(self, problem, lengths, *, budget):
            given.append(budget)
            return super().decode_lengths(problem, lengths, budget=budget)

    pipe.decoder = Noting()
    nlp(TEXT)
    pipe.iterations, pipe.seconds = 7, 5000.0
    nlp(TEXT)
    assert given[0].iterations not in (None, 7)
    assert given[0].seconds is None
    assert given[-1].iterations == 7
    assert given[-1].seconds >= 5000.0


@pytest.mark.parametrize("factory", FACTORIES)
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


def test_all_or_none(nlp):
    parser = nlp.get_pipe("parser")
    before = dict(parser._options)
    with pytest.raises(ProblemError, match="k_best"):
        parser.configure(certain=3.0, k_best=0)
    with pytest.raises(ProblemError, match="projective"):
        parser.configure(factors=[], decoder=Eisner(), projective=False)
    with pytest.raises(ProblemError, match="Eisner scores arcs alone"):
        parser.configure(factors=["siblings"], decoder=Eisner())
    assert parser._options == before
    parser.configure(factors=[], decoder=ChuLiuEdmonds(), projective=False)
    with pytest.raises(ProblemError, match="projective"):
        parser.projective = True


def test_what_needs_another_model_says_so():
    nlp = spacy_decoders.load(enable=["tagger", "parser"])
    tagger, parser = nlp.get_pipe("tagger"), nlp.get_pipe("parser")
    with pytest.raises(ProblemError, match=r"target: a trained model has the labels"):
        tagger.target = "ent"
    tagger.target = "tag"
    with pytest.raises(
        ProblemError, match=r"factors\[0\]: input should be 'arcs', 'grandparents' or 'siblings'"
    ):
        parser.factors = ["tri_siblings"]


WRONG = {
    "exact_tagger": Eisner(),
    "branch_and_bound_parser": ForwardDominance(),
    "graph_entity_linker": ExactPath(),
    "headline_generator": BranchAndBound(),
}


@pytest.mark.parametrize("factory", FACTORIES)
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
    for wrong in (WRONG[factory], None, "Viterbi", type(own)):
        with pytest.raises(ProblemError, match=r"^decoder: "):
            pipe.decoder = wrong
    assert pipe.decoder is own


def test_a_decoder_of_ones_own_needs_its_methods_only():
    class Mine:
        def decode(self, model, emissions):
            raise NotImplementedError

    pipe = spacy.blank("en").add_pipe("exact_tagger")
    with pytest.raises(ProblemError, match="with decode and decode_batch; got"):
        pipe.decoder = Mine()
    Mine.decode_batch = Mine.decode
    pipe.decoder = mine = Mine()
    assert pipe.decoder is mine


def test_a_linker_is_refused_what_its_knowledge_base_lacks():
    from spacy.kb import InMemoryLookupKB

    pipe = spacy.blank("en").add_pipe("graph_entity_linker")
    pipe.decoder = Degree()
    with pytest.raises(ProblemError, match="decoder: Degree needs a knowledge base"):
        pipe.set_kb(lambda vocab: InMemoryLookupKB(vocab, entity_vector_length=3))
    with pytest.raises(ProblemError, match=r"kb: expected a spacy.kb.KnowledgeBase"):
        pipe.kb = "folder"
    config = {"decoder": {"@decoders": "spacy-decoders.Decomposable.v1"}}
    with pytest.raises(ProblemError, match="decoder: Decomposable"):
        spacy.blank("en").add_pipe("graph_entity_linker", config=config)


CHANGES = {
    "tagger": {"margins": True, "k_best": 3},
    "parser": {"beam": 8.0, "head_margins": True, "factors": ("arcs", "siblings")},
    "linker": {"min_score": 0.25, "labels_discard": ("GPE",), "seconds": 3.0},
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
    with pytest.warns(UserWarning, match="tagger: its decoder was changed and is not saved"):
        nlp.to_disk(tmp_path / "nlp")
    with pytest.warns(UserWarning, match="tagger: its decoder was changed and is not saved"):
        nlp.to_bytes()
    linker = nlp.get_pipe("linker")
    linker.set_kb(lambda vocab: type(linker.kb)(vocab, linker.kb.base))
    with pytest.warns(UserWarning, match="linker: its kb was changed"):
        linker.to_disk(tmp_path / "linker")
    linker.store_kb = True
    linker.to_disk(tmp_path / "stored")
    assert (tmp_path / "stored" / "kb").is_dir()


def test_a_config_edited_after_saving_prevails(nlp, tmp_path):
    nlp.get_pipe("tagger").configure(k_best=3, margins=True)
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp", config={"components.tagger.k_best": 5})
    assert again.get_pipe("tagger").k_best == 5
    assert again.get_pipe("tagger").margins


def test_dollars_survive_saves(tmp_path):
    demand = {"phrases": ["US$", "$$", "$"], "labels": ["CUR"]}
    nlp = spacy.blank("en")
    nlp.add_pipe("exact_tagger", config={"constraints": [demand]}).add_label("CUR")
    nlp.initialize()
    for _ in range(2):
        nlp.to_disk(tmp_path)
        nlp = spacy.load(tmp_path)
        assert nlp.get_pipe("exact_tagger").constraints == (demand,)
