"""Which families of factors help: those without which held-out trees are as good are left out."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from spacy.language import Language
from spacy.training import Example

from ...errors import ProblemError
from ...models.parser.tree_scores import DocumentScores
from ..probabilities import annotated

if TYPE_CHECKING:
    from ...models.parser.factor_weights import Family
    from .parser import BranchAndBoundParser

__all__ = ["choose_factors", "choose_factors_of_pipeline"]

#: Where spaCy's training writes its messages.
_LOGGER = logging.getLogger("spacy")


def choose_factors(
    parser: BranchAndBoundParser, examples: Sequence[Example]
) -> dict[tuple[Family, ...], float]:
    """Switch off the families of factors that do not help, one after the other.

    Of all families left, the one without which LAS is highest is switched off if LAS is then not
    lower; until none is.

    Parameters
    ----------
    parser
        Its option `factors` is changed; the weights are kept.
    examples
        Held-out examples, annotated by the components before the parser.

    Returns
    -------
    dict
        LAS by the families that were tried, in the order of trials; empty while no factor has been
        trained.

    Raises
    ------
    ProblemError
        If the examples have no trees.
    """
    if not parser.templates.is_trained:
        return {}
    scores = parser.predict([example.predicted for example in examples])
    families = tuple(parser.factors)
    best = _las(parser, families, examples, scores)
    tried = {families: best}
    while families:
        fewer = {
            family: tuple(other for other in families if other != family) for family in families
        }
        found = {family: _las(parser, rest, examples, scores) for family, rest in fewer.items()}
        tried |= {fewer[family]: las for family, las in found.items()}
        least = max(found, key=found.__getitem__)
        if found[least] < best:
            break
        _LOGGER.info(
            "%s: the factor family %r is switched off: without it LAS on held-out trees is %.2f, "
            "with it %.2f.",
            parser.name,
            least,
            100 * found[least],
            100 * best,
        )
        families, best = fewer[least], found[least]
    parser.configure(factors=list(families))
    return tried


def _las(
    parser: BranchAndBoundParser,
    families: Sequence[Family],
    examples: Sequence[Example],
    scores: Sequence[DocumentScores],
) -> float:
    parser.configure(factors=list(families))
    parsed = []
    for example, of_doc in zip(examples, scores, strict=True):
        doc = example.predicted.copy()
        parser.annotate(doc, parser.decode(doc, of_doc))
        parsed.append(Example(doc, example.reference))
    las = parser.score(parsed).get("dep_las")
    if las is None:
        raise ProblemError(
            f"corpus: {parser.name} finds no trees to compare its own with; give held-out "
            "examples with heads and labels, and leave the component its scorer."
        )
    return float(las)


def choose_factors_of_pipeline(
    nlp: Language, examples: Iterable[Example], components: Sequence[str] = ()
) -> Language:
    """Return a copy of a pipeline whose parsers have the families that help.

    A copy, because the pipeline may be in training, which goes on with all families. Each parser
    is judged on what the components before it wrote.

    Raises
    ------
    ProblemError
        If a name is not that of such a parser, or there is none.
    """
    from .parser import BranchAndBoundParser

    known = [name for name, pipe in nlp.pipeline if isinstance(pipe, BranchAndBoundParser)]
    unknown = [name for name in components if name not in known]
    if unknown or not known:
        raise ProblemError(
            f"components: {', '.join(unknown) or 'the pipeline'} has no factors to choose; those "
            f"of this pipeline that have: {', '.join(known) or 'none'}."
        )
    chosen = nlp.__class__.from_config(nlp.config, vocab=nlp.vocab)
    chosen.from_bytes(nlp.to_bytes(exclude=["vocab"]), exclude=["vocab"])
    given = list(examples)
    docs = [example.predicted for example in given]
    for name, pipe in chosen.pipeline:
        if isinstance(pipe, BranchAndBoundParser) and name in (components or known):
            found = [Example(doc, of.reference) for doc, of in zip(docs, given, strict=True)]
            choose_factors(pipe, found)
        docs = list(annotated(pipe, docs))
    return chosen
