"""What a component of a pipeline says of labelled texts, and what is right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ...components.tagger.decoding import unit_lengths
from ...errors import ProblemError
from ..learning import ChainRules, LearnedChain, learn_chain

__all__ = ["component_of", "learned_chain"]


def component_of(nlp: Language, name: str, kind: type[Any]) -> Any:
    """Return a component of a pipeline, which must be of a kind of spaCy's.

    Raises
    ------
    ProblemError
        If there is none of that name, it is of another kind, or not trained.
    """
    if name not in nlp.pipe_names:
        raise ProblemError(f"name: the pipeline has no component {name!r}, only {nlp.pipe_names}.")
    pipe = _pipe(nlp, name)
    if type(pipe) is not kind:
        raise ProblemError(
            f"name: expected spaCy's {kind.__name__}, but {name!r} is a {type(pipe).__name__}."
        )
    if not pipe.model.get_ref("softmax").has_param("W"):
        raise ProblemError(f"name: {name!r} is not trained.")
    return pipe


def learned_chain(
    nlp: Language,
    name: str,
    examples: Iterable[Example],
    gold_of: Callable[[Example], Sequence[int]],
    rules: ChainRules,
    *,
    l2: float,
    learn_scale: bool,
) -> LearnedChain | None:
    """Learn transitions from units: sentences where the Doc has them; None from no examples.

    The components before the one of the `name` annotate the predicted Docs. `gold_of` takes an
    example and returns the number of the right label of each predicted token, -1 where it is not
    known: units with such a token are left out. The rest is as for
    :func:`~spacy_decoders.adapt.learning.learn_chain`.
    """
    given = list(examples)
    if not given:
        return None
    stream: Iterable[Doc] = [example.predicted for example in given]
    for before in nlp.pipe_names[: nlp.pipe_names.index(name)]:
        stream = _pipe(nlp, before).pipe(stream)
    docs = list(stream)
    model = _pipe(nlp, name).model
    scores, gold = [], []
    for example, doc, rows in zip(given, docs, model.predict(docs), strict=True):
        right = gold_of(example)
        begin = 0
        for length in unit_lengths(doc):
            part = slice(begin, begin + length)
            begin += length
            if min(right[part]) >= 0:
                scores.append(np.asarray(model.ops.to_numpy(rows[part]), dtype=np.float32))
                gold.append(np.array(right[part], dtype=np.int64))
    return learn_chain(scores, gold, rules, l2=l2, learn_scale=learn_scale)


def _pipe(nlp: Language, name: str) -> Any:
    return nlp.get_pipe(name)
