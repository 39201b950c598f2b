"""Exact decoding for spaCy's own trained components, whose networks stay as they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from spacy.language import Language
from spacy.pipeline import SentenceRecognizer, Tagger
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..arrays import Floats32, checked_list
from ..certificate import Certificate
from ..components import extensions
from ..components.tagger.decoding import unit_lengths
from ..errors import ProblemError
from .learning import LearnedChain, learn_chain
from .spans import log_odds, select

if TYPE_CHECKING:
    from ..decoders.chain import ChainSolution

__all__ = ["ExactSenter", "beam_entities", "exact_senter_from", "exact_tagger_from"]


def exact_tagger_from(
    nlp: Language,
    name: str = "tagger",
    examples: Iterable[Example] = (),
    **config: Any,
) -> LearnedChain | None:
    """Replace a trained tagger by an ``exact_tagger`` with the same network.

    The scores of tags stay as they are; transitions between tags are learned in seconds from
    labelled texts. Without these the tags stay the same, and gain margins, alternatives and
    certificates.

    Parameters
    ----------
    nlp
        The pipeline, which is changed.
    name
        The name of the tagger, which the ``exact_tagger`` takes.
    examples
        Labelled texts, whose predicted Docs the components before the tagger annotate.
    **config
        Options of the ``exact_tagger``, such as ``margins=True``.

    Returns
    -------
    What was learned; None without examples.

    Raises
    ------
    ProblemError
        If the component is not a trained tagger of spaCy, or no text has known tags.

    Examples
    --------
    >>> import spacy
    >>> from spacy.training import Example
    >>> nlp = spacy.blank("en")
    >>> _ = nlp.add_pipe("tagger")
    >>> gold = [Example.from_dict(nlp.make_doc("a b a b"), {"tags": ["A", "B", "A", "B"]})]
    >>> _ = nlp.initialize(lambda: gold)
    >>> learned = exact_tagger_from(nlp, "tagger", gold, margins=True)
    >>> doc = nlp("a b a")
    >>> [token.tag_ for token in doc], doc._.certificates["tagger"][0]["status"]
    (['A', 'B', 'A'], 'optimal')
    """
    tagger = _trained(nlp, name, Tagger)
    labels = list(tagger.labels)
    numbers = {label: number for number, label in enumerate(labels)}

    def gold_of(example: Example) -> list[int]:
        return [numbers.get(tag, -1) for tag in example.get_aligned("TAG", as_string=True)]

    learned = _learned(nlp, name, examples, gold_of, np.zeros(len(labels), np.float32))
    # a listener's width may be a variable, which a new component's config can't have
    tok2vec = nlp.config.interpolate()["components"][name]["model"]["tok2vec"]
    architecture = {"@architectures": "spacy-decoders.ChainScorer.v1", "tok2vec": tok2vec}
    options = {"overwrite": bool(tagger.cfg.get("overwrite", True)), **config}
    exact: Any = nlp.replace_pipe(name, "exact_tagger", config={**options, "model": architecture})
    for label in labels:
        exact.add_label(label)
    _take_weights(exact.model, tagger.model, learned)
    return learned


def _take_weights(model: Any, given: Any, learned: LearnedChain | None) -> None:
    """Copy the weights of a tagger's model, and transitions, into a chain scorer."""
    softmax, chain = given.get_ref("softmax"), model.get_ref("chain")
    output = model.get_ref("output_layer")
    scale = 1.0 if learned is None else learned.scale
    for layer in (output, chain):
        layer.set_dim("nO", softmax.get_dim("nO"))
    output.set_dim("nI", softmax.get_dim("nI"))
    for name in ("W", "b"):
        output.set_param(name, softmax.get_param(name) * scale)
    chain.initialize()
    if learned is not None:
        for name in ("transitions", "start", "end"):
            chain.set_param(name, model.ops.asarray(getattr(learned, name)))
    # a listener has no weights of its own
    model.get_ref("tok2vec").from_bytes(given.get_ref("tok2vec").to_bytes())


class ExactSenter(SentenceRecognizer):  # type: ignore[misc]
    """A sentence recognizer whose boundaries are decoded as a chain.

    The first token of a text begins a sentence. The certificate of each text is in
    ``doc._.certificates[name]``.
    """

    def set_chain(self, learned: LearnedChain) -> None:
        """Set the transitions, which are saved with the component."""
        parts = {name: getattr(learned, name).tolist() for name in ("transitions", "end")}
        # the start of the other label is always -inf, which JSON does not have
        self.cfg["chain"] = {**parts, "start": float(learned.start[1]), "scale": learned.scale}

    def predict(self, docs: Iterable[Doc]) -> list[ChainSolution]:
        """Score and decode a batch."""
        from ..decoders.chain import ChainModel, ForwardDominance

        given = list(docs)
        lengths = [len(doc) for doc in given]
        rows = np.zeros((0, 2))
        if any(lengths):
            rows = np.concatenate(list(map(self.model.ops.to_numpy, self.model.predict(given))))
        chain: dict[str, Any] = self.cfg.get("chain", {})  # empty if it has learned nothing
        transitions, end = chain.get("transitions", np.zeros((2, 2))), chain.get("end")
        start = np.array([-np.inf, chain.get("start", 0.0)], np.float32)
        model = ChainModel(transitions, start, end)
        rows = rows * chain.get("scale", 1.0)
        return list(ForwardDominance().decode_batch(model, rows, lengths))

    def set_annotations(self, docs: Iterable[Doc], solutions: Sequence[ChainSolution]) -> None:
        """Write the boundaries and their certificates."""
        given = list(docs)
        super().set_annotations(given, [solution.labels for solution in solutions])
        for doc, solution in zip(given, solutions, strict=True):
            extensions.record_certificates(doc, self.name, [solution.certificate])


def exact_senter_from(
    nlp: Language,
    name: str = "senter",
    examples: Iterable[Example] = (),
) -> LearnedChain | None:
    """Replace a trained senter by an ``exact_senter`` with the same network.

    Arguments, result and errors are as for :func:`exact_tagger_from`; the examples have sentence
    boundaries.
    """
    senter = _trained(nlp, name, SentenceRecognizer)
    start = np.array([-np.inf, 0.0], np.float32)
    learned = _learned(nlp, name, examples, _boundaries, start)
    config = nlp.config.interpolate()["components"][name]
    options = {key: config[key] for key in ("model", "overwrite") if key in config}
    exact: Any = nlp.replace_pipe(name, "exact_senter", config=options)
    exact.model.from_bytes(senter.model.to_bytes())
    if learned is not None:
        exact.set_chain(learned)
    return learned


def _boundaries(example: Example) -> list[int]:
    """The labels of an example's tokens: 1 for the first of a sentence, 0 for others."""
    values = example.get_aligned("SENT_START")
    return [-1 if value is None else int(value == 1) for value in values]


def _trained(nlp: Language, name: str, kind: type[Any]) -> Any:
    """Return a component of a pipeline after checking that it is of a class, and trained."""
    if not isinstance(nlp, Language):
        raise ProblemError(f"nlp: expected a pipeline of spaCy; got {type(nlp).__name__}.")
    if name not in nlp.pipe_names:
        raise ProblemError(f"name: the pipeline has no component {name!r}, only {nlp.pipe_names}.")
    pipe: Any = nlp.get_pipe(name)
    if type(pipe) is not kind:
        raise ProblemError(
            f"name: expected spaCy's {kind.__name__}; the class of {name!r} is "
            f"{type(pipe).__name__}."
        )
    if not pipe.model.get_ref("softmax").has_param("W"):
        raise ProblemError(f"name: {name!r} is not trained.")
    return pipe


def _learned(
    nlp: Language,
    name: str,
    examples: Iterable[Example],
    gold_of: Callable[[Example], Sequence[int]],
    start: Floats32,
) -> LearnedChain | None:
    """Learn transitions from units, which are sentences if Docs have them; None without examples.

    The components before `name` annotate the predicted Docs. `gold_of` returns the numbers of the
    right labels of an example's predicted tokens, -1 if unknown; `start` is ``-inf`` for labels
    that can't begin a unit.
    """
    from ..decoders.chain import ChainModel

    given = checked_list("examples", examples, "spaCy's Examples")
    if not given:
        return None
    with nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index(name)]):
        docs = list(nlp.pipe(example.predicted for example in given))
    pipe: Any = nlp.get_pipe(name)
    scores: list[ArrayLike] = []
    gold: list[ArrayLike] = []
    for example, doc, rows in zip(given, docs, pipe.model.predict(docs), strict=True):
        ends = np.cumsum(unit_lengths(doc)[:-1], dtype=np.int64)
        scores += np.split(pipe.model.ops.to_numpy(rows), ends)
        gold += np.split(np.array(gold_of(example), dtype=np.int64), ends)
    rules = ChainModel(np.zeros((len(start), len(start)), np.float32), start)
    return learn_chain(scores, gold, rules)


def beam_entities(
    ner: Any,
    docs: Iterable[Doc],
    *,
    beam_width: int = 16,
    beam_density: float = 1e-4,
    threshold: float = 0.5,
) -> list[tuple[list[tuple[Span, float]], Certificate]]:
    """Return for each Doc the best set of entities, each with its probability in the beam.

    Parameters
    ----------
    ner
        A trained ``beam_ner`` or ``ner`` of spaCy.
    docs
        Annotated by the components before it; they are not changed.
    beam_width, beam_density
        As for ``beam_parse``: the most analyses, and their least probability relative to the best.
    threshold
        The probability above which an entity is worth choosing.

    Notes
    -----
    The probability is the share of the weights of the beam's analyses that have the entity;
    analyses outside the beam do not count. The best set has the largest sum of log-odds.
    """
    if not hasattr(ner, "beam_parse"):
        raise ProblemError(f"ner: expected a ner or beam_ner of spaCy; got {ner!r}.")
    given = checked_list("docs", docs, "Docs")
    beams = ner.beam_parse(given, beam_width=beam_width, beam_density=beam_density)
    found = []
    for doc, beam in zip(given, beams, strict=True):
        shares: dict[tuple[int, int, str], float] = defaultdict(float)
        analyses = ner.moves.get_beam_parses(beam)
        total = sum(weight for weight, _ in analyses) or 1.0
        for weight, entities in analyses:
            for start, end, label in entities:
                shares[start, end, label] += weight / total
        likely = np.minimum(1.0, list(shares.values()))
        numbers, certificate = select([(a, b) for a, b, _ in shares], log_odds(likely, threshold))
        spans = [Span(doc, start, end, label=label) for start, end, label in shares]
        found.append(([(spans[n], float(likely[n])) for n in numbers], certificate))
    return found
