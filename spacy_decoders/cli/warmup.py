"""Compiling everything once: each decoder decodes a tiny problem, each component trains a step."""

import os
import warnings
from collections.abc import Callable
from concurrent.futures import as_completed
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from spacy.training import Example

from ..budget import Budget
from ..bundled import SHIPPED, place_of
from ..errors import DecodersError, NotDecomposableError, ProblemError
from ..kernel_cache import progress
from ..process_pool import spawned_pool
from ..registry import decoders
from .arguments import CONSOLE
from .demo import keep_alternatives

__all__ = ["CORES", "run_pipeline", "tasks_of", "warmup"]

Task = Callable[[], object]

WORDS = ["Cats", "in", "Rome", "chase", "small", "mice", "."]
GOLD = {
    "words": WORDS,
    "tags": ["NNS", "IN", "NNP", "VBP", "JJ", "NNS", "."],
    "heads": [3, 0, 1, 3, 5, 3, 3],
    "deps": ["nsubj", "prep", "pobj", "ROOT", "amod", "obj", "punct"],
    "entities": ["O", "O", "U-CITY", "O", "O", "O", "O"],
}
TEXTS = (
    "Cats in Rome chase small mice. Mice flee.",
    "The jaguar hunts in the jungle of Brazil, said Mary Smith of IBM.",
)


def _trained(factory: str, text: str = TEXTS[0], **config: Any) -> None:
    """Train a pipeline of one component for a step, and annotate a text."""
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, config=config)
    examples = [Example.from_dict(nlp.make_doc(" ".join(WORDS)), GOLD) for _ in range(2)]
    for example in examples:
        example.reference._.headline = "Cats in Rome"
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    nlp.evaluate(examples)
    nlp(text)


# --- chains -------------------------------------------------------------------------


def _chain_models() -> list[Any]:
    """A small model, one of the size of joint labels, and one with a forbidden transition."""
    from ..decoders.chain import ChainModel

    forbidding = np.zeros((3, 3), dtype=np.float32)
    forbidding[0, 1] = -np.inf
    sizes = [np.zeros((size, size), dtype=np.float32) for size in (3, 130)]
    return [ChainModel(transitions) for transitions in (*sizes, forbidding)]


def _chain(decoder: Any) -> None:
    for model in _chain_models():
        emissions = np.zeros((5, model.size), dtype=np.float32)
        decoder.decode_batch(model, emissions, [3, 2])
        decoder.decode(model, emissions)


def _chain_functions() -> None:
    from ..decoders import chain

    for model in _chain_models():
        emissions = np.zeros((3, model.size), dtype=np.float32)
        chain.k_best(model, emissions, 2)
        chain.max_marginal_margins(model, emissions)
        chain.zero_one_oracle(model, emissions, np.zeros(3, dtype=np.int32))
        chain.marginals(model, emissions)
        kinds = chain.RunKinds(np.zeros(model.size, int), np.ones((model.size,) * 2, bool))
        found = chain.posteriors(model, emissions)
        found.likely_runs(kinds, 0.5)
        found.of_runs(kinds, [0], [1], [0])


def _tagger() -> None:
    for loss in ("crf", "margin", "perceptron"):
        for target in ("tag", "ent", ["tag", "ent"]):
            _trained("exact_tagger", loss=loss, target=target, margins=True, k_best=2)


def _fast_tagger() -> None:
    model = {
        "@architectures": "spacy-decoders.SparseChainScorer.v1",
        "templates": ["lower[-1..1]", "lower[-1] | lower[0]", "mention_case[0]", "gazetteer[0]"],
        "lowered": 0.5,
    }
    with TemporaryDirectory() as folder:
        cities = Path(folder, "cities.txt")
        cities.write_text("Rome\n", encoding="utf8")
        lists = {"@misc": "spacy-decoders.Gazetteer.v1", "paths": {"city": str(cities)}}
        for target in ("tag", "ent"):
            _trained("exact_tagger", model={**model, "gazetteer": lists}, target=target)


# --- trees --------------------------------------------------------------------------


def _tree(decoder: Any) -> None:
    from ..decoders.tree import TreeProblem

    arcs, labels = np.zeros((4, 4)), np.zeros((4, 4, 2))
    arcs[0, 1:] = -1.0  # greedy heads form no tree
    for projective in (True, False):
        with suppress(ProblemError):  # the decoder is for the other kind of trees
            decoder.decode(TreeProblem(arcs, projective=projective))
            several = TreeProblem(
                arcs, labels=labels, boundaries=np.zeros(3), projective=projective
            )
            decoder.decode(several)


def _parser() -> None:
    options: Any = {"head_margins": True, "k_best": 2, "probabilities": True, "factors_start": 0}
    for factors in (["arcs"], ["arcs", "grandparents", "siblings"]):
        for projective in (True, False):
            _trained("branch_and_bound_parser", factors=factors, projective=projective, **options)


# --- paths and representatives --------------------------------------------------------


def _path(decoder: Any) -> None:
    from ..decoders.path import PathProblem

    zeros = np.zeros(3)
    problem = PathProblem(zeros, np.zeros((3, 3)), zeros, np.arange(3))
    decoder.decode(problem, 2)
    # with a time limit, some use other kernels, which work in smaller steps
    decoder.decode(problem, 2, budget=Budget(seconds=60.0))
    decoder.k_best(problem, 2, 2)


def _headline() -> None:
    for mode in ("phrases", "words"):
        _trained("headline_generator", mode=mode, n_best=2)


def _representatives(decoder: Any) -> None:
    from ..decoders.representatives import RepresentativesProblem
    from ..graph import ConceptGraph

    graph = ConceptGraph.from_edges(np.array([[0, 1], [1, 2], [2, 3]]))
    candidates = [np.array([0, 1]), np.array([2, 3])]
    # a decoder whose hypotheses do not hold here has been compiled as far as it is needed
    with suppress(NotDecomposableError):
        decoder.decode(RepresentativesProblem.from_graph(graph, candidates))


def _hard_choice() -> None:
    """Solve a problem that takes a search: the first incumbent is not proven optimal."""
    from ..decoders.representatives import ExactRepresentatives, RepresentativesProblem

    random = np.random.default_rng(0)
    distances = random.random((80, 80))
    sets = np.split(np.arange(80, dtype=np.int32), 10)
    local = [random.random(8) for _ in sets]
    problem = RepresentativesProblem(distances + distances.T, sets, local)
    ExactRepresentatives().decode(problem)


def _knowledge_base() -> None:
    from ..knowledge.concept_base import ConceptBase

    base = ConceptBase.build([{"id": "rome", "links": ["italy"]}, {"id": "italy"}], hubs=2)
    base.aliases.candidates("Rome")
    base.graph.distances(np.arange(len(base.ids)))


# --- pipelines ------------------------------------------------------------------------


def run_pipeline(pipeline: str) -> None:
    """Annotate texts by a pipeline, given by folder or name.

    First as configured, then with the margins, probabilities and alternatives that the demo's page
    shows.
    """
    nlp = spacy.load(place_of(pipeline))
    for text in TEXTS:
        nlp(text)
    for _ in nlp.pipe(TEXTS * 16):
        pass  # enough words for the processor's matrix unit
    if "graph_entity_linker" in {nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}:
        _hard_choice()
    if "parser" in nlp.pipe_names:
        # labels are decoded together with arcs only if a rule or a demand is at stake
        doc = nlp.make_doc(TEXTS[0])
        doc[0]._.fixed_dep = "nsubj:outer"
        nlp(doc)
    # unlikely arcs get labels only if a tree needs them, or several trees are wanted
    keep_alternatives(nlp)
    pipes: list[Any] = [component for _, component in nlp.pipeline]
    for pipe in pipes:
        if "ent" in getattr(pipe, "targets", ()):
            pipe.entity_alternatives = 0.05
    for text in TEXTS:
        nlp(text)


#: For each core how a decoder is run once, and by name what else is run; the longest first, since
#: cores are compiled in parallel. Hardly any function is compiled for two of them.
CORES: dict[str, tuple[Callable[[Any], None], dict[str, Task]]] = {
    "tree": (
        _tree,
        {
            "branch_and_bound_parser": _parser,
            "the shipped pipeline": partial(run_pipeline, SHIPPED),
        },
    ),
    "chain": (
        _chain,
        {
            "k-best, margins and marginals of chains": _chain_functions,
            "exact_tagger": _tagger,
            "exact_tagger without a network": _fast_tagger,
        },
    ),
    "path": (_path, {"headline_generator": _headline}),
    "representatives": (
        _representatives,
        {
            "graph_entity_linker": partial(
                _trained, "graph_entity_linker", TEXTS[1], mentions="aliases"
            ),
            "a choice that takes a search": _hard_choice,
            "kb build": _knowledge_base,
        },
    ),
}


def tasks_of(core: str) -> dict[str, Task]:
    """Return the tasks of a core: its registered decoders, functions and components."""
    decode_once, others = CORES[core]
    ours = {
        name: partial(decode_once, build())
        for name, build in sorted(decoders.get_all().items())
        if getattr(build, "home", "") == f"decoders.{core}"
    }
    return {**ours, **others}


# --- the command ----------------------------------------------------------------------


def warmup(
    pipeline: Annotated[
        str,
        typer.Option(
            "--pipeline",
            "--model",
            help="Compile what this pipeline needs, a folder or a name; en for the shipped one.",
        ),
    ] = "",
) -> None:
    """Compile all decoders once, or what a pipeline needs, so that no later run has to."""
    started = perf_counter()
    groups = [pipeline] if pipeline else list(CORES)
    outcomes: dict[str, str] = {}
    with spawned_pool(os.cpu_count() or 1) as pool:
        running = {pool.submit(_run, group, bool(pipeline)): group for group in groups}
        CONSOLE.print("Compiling: a dot is a function.")
        for future in as_completed(running):
            error = future.exception()  # of the pipeline, or the process itself ended
            if isinstance(error, (DecodersError, OSError)):
                raise error
            outcomes |= {running[future]: repr(error)} if error else future.result()
    failures = [f"failed {name}: {reason}" for name, reason in outcomes.items() if reason]
    CONSOLE.print(*["", *failures], sep="\n", style="red")
    CONSOLE.print(
        f"{len(outcomes) - len(failures)} of {len(outcomes)} are compiled and ready "
        f"({perf_counter() - started:.1f} s)."
    )
    raise typer.Exit(len(failures))


def _run(group: str, is_pipeline: bool) -> dict[str, str]:
    """Run the tasks of a core, or a pipeline; return for each why it failed, or ""."""
    progress.is_dotted = True
    tasks = {group: partial(run_pipeline, group)} if is_pipeline else tasks_of(group)
    outcomes = {}
    for name, task in tasks.items():
        try:
            with warnings.catch_warnings():
                # warnings about the tiny training data, which no user can do anything about
                warnings.simplefilter("ignore", UserWarning)
                task()
            outcomes[name] = ""
        except Exception as error:
            if is_pipeline:
                raise
            outcomes[name] = repr(error)
    return outcomes
