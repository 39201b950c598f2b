"""Each component once as users have it: trained for a step, and annotating."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..bundled import FOLDER
from ..errors import ProblemError

__all__ = ["PIPELINES", "WHOLE", "parts_of", "run_part"]

#: The last round of compiling what a pipeline needs: all its components, one after the other.
WHOLE = "the whole pipeline"

#: The name of the pipeline that ships.
SHIPPED = "en"
#: Our factories, by how long their code takes to compile.
LONGEST_FIRST = (
    "branch_and_bound_parser", "exact_tagger", "headline_generator", "graph_entity_linker"
)  # fmt: skip

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


def _trained(factory: str, config: dict[str, Any]) -> Any:
    """Return a pipeline of one component after a step of training."""
    import spacy
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe(factory, config=config)
    examples = [Example.from_dict(nlp.make_doc(" ".join(WORDS)), GOLD) for _ in range(2)]
    for example in examples:
        example.reference._.headline = "Cats in Rome"
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    nlp.evaluate(examples)
    return nlp


def _tagger() -> None:
    for loss in ("crf", "margin", "perceptron"):
        for target in ("tag", "ent", ["tag", "ent"]):
            config = {"loss": loss, "target": target, "margins": True, "k_best": 2}
            _trained("exact_tagger", config)(TEXTS[0])


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
            config = {"model": {**model, "gazetteer": lists}, "target": target}
            _trained("exact_tagger", config)(TEXTS[0])


def _parser() -> None:
    every = ["arcs", "grandparents", "siblings"]
    options = {"head_margins": True, "k_best": 2, "factors_start": 0}
    for factors in (["arcs"], every):
        for projective in (True, False):
            config = {**options, "factors": factors, "projective": projective}
            _trained("branch_and_bound_parser", config)(TEXTS[0])


def _headline() -> None:
    for mode in ("phrases", "words"):
        _trained("headline_generator", {"mode": mode, "n_best": 2})(TEXTS[0])


def _linker() -> None:
    _trained("graph_entity_linker", {"mentions": "aliases"})(TEXTS[1])


def _hard_choice() -> None:
    """Choose among candidates of which the first ones that are found are not proven best."""
    from ..decoders.representatives import ExactRepresentatives, RepresentativesProblem

    random = np.random.default_rng(0)
    distances = random.random((80, 80))
    sets = np.split(np.arange(80, dtype=np.int32), 10)
    local = [random.random(8) for _ in sets]
    problem = RepresentativesProblem(distances + distances.T, sets, local)
    ExactRepresentatives().decode(problem)


def _knowledge_base() -> None:
    from ..knowledge.concept_base import ConceptBase
    from .knowledge import build_from_file

    with TemporaryDirectory() as folder:
        source, output = Path(folder, "concepts.tsv"), Path(folder, "kb")
        source.write_text(
            "id\ttitle\taliases\tlinks\n"
            "rome\tRome\tRoma;Urbe=3\titaly\n"
            "italy\tItaly\tItalia\trome\n"
            "cat\tCat\tcats\t\n",
            encoding="utf8",
        )
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            build_from_file(source, output, hubs=2)
        base = ConceptBase.open(output)
        base.aliases.candidates("Roma")
        base.graph.distances(np.arange(len(base)))


def _shipped() -> None:
    from ..bundled import load

    nlp = load()
    for text in TEXTS:
        nlp(text)
    # labels are decoded together with the arcs only where a rule or a demand is at stake
    doc = nlp.make_doc(TEXTS[0])
    doc[0]._.fixed_dep = "nsubj:outer"
    nlp(doc.copy())
    # unlikely arcs get labels only where a tree needs them, or more trees are wanted
    nlp.get_pipe("parser").k_best = 2  # type: ignore[attr-defined]
    nlp(doc)


def parts_of(pipeline: str) -> list[str]:
    """Return the factories of a pipeline whose code is compiled side by side, longest first.

    Components of one factory share most of their code.
    """
    used = {str(of["factory"]) for of in _config_of(pipeline)["components"].values()}
    return [factory for factory in LONGEST_FIRST if factory in used]


def run_part(pipeline: str, part: str) -> None:
    """Annotate a text by the components of one factory, or by the :data:`WHOLE`.

    First as they are configured, then with the margins, probabilities and alternatives that the
    demo's page shows.
    """
    import spacy
    from spacy.tokens import Doc

    from ..bundled import load
    from .demo import keep_alternatives

    config = _config_of(pipeline)
    names = [
        name
        for name in config["nlp"]["pipeline"]
        if part in (WHOLE, config["components"][name]["factory"])
        or config["components"][name]["factory"] not in LONGEST_FIRST
    ]
    nlp = load(enable=names) if pipeline == SHIPPED else spacy.load(pipeline, enable=names)
    for text in TEXTS:
        nlp(text)
    if part == "graph_entity_linker":  # which may wait for others' entities
        nlp(Doc(nlp.vocab, words=["Jaguar", "in", "Brazil"], ents=["B-ORG", "O", "B-LOC"]))
        _hard_choice()
    keep_alternatives(nlp)
    for text in TEXTS:
        nlp(text)


def _config_of(pipeline: str) -> dict[str, Any]:
    """Read the config of a pipeline, by its name or folder."""
    from spacy.util import get_package_path, is_package, load_config

    folder = Path(pipeline)
    if pipeline == SHIPPED:
        folder = FOLDER
    elif is_package(pipeline):
        (folder,) = (path.parent for path in get_package_path(pipeline).rglob("config.cfg"))
    if not (folder / "config.cfg").exists():
        raise ProblemError(
            f"pipeline: {pipeline!r} is no installed pipeline and no folder of one; "
            f"{SHIPPED!r} is the one that is shipped."
        )
    return dict(load_config(folder / "config.cfg"))


#: What is run of each core's components, after its decoders.
PIPELINES: dict[str, dict[str, Callable[[], object]]] = {
    "chain": {"exact_tagger": _tagger, "exact_tagger without a network": _fast_tagger},
    "tree": {"branch_and_bound_parser": _parser, "the shipped pipeline": _shipped},
    "path": {"headline_generator": _headline},
    "representatives": {
        "graph_entity_linker": _linker,
        "a choice that takes a search": _hard_choice,
        "kb build": _knowledge_base,
    },
}
