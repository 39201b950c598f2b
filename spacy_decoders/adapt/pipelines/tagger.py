"""A trained tagger of spaCy's, with transitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spacy.language import Language
from spacy.pipeline import Tagger
from spacy.training import Example

from ..learning import ChainRules, LearnedChain
from .sample import component_of, learned_chain

__all__ = ["exact_tagger_from"]


def exact_tagger_from(
    nlp: Language,
    name: str = "tagger",
    examples: Iterable[Example] = (),
    *,
    l2: float = 1.0,
    learn_scale: bool = True,
    **config: Any,
) -> LearnedChain | None:
    """Put an ``exact_tagger`` with the same network in the place of a trained tagger.

    The scores of tags stay as they are. What is new are transitions between tags, learned in
    seconds from labelled texts; without such the tags stay the same, and gain margins,
    alternatives and certificates.

    Parameters
    ----------
    nlp
        The pipeline, which is changed.
    name
        Of the tagger in it, and afterwards of the ``exact_tagger``.
    examples
        Labelled texts; their predicted Docs are annotated by the components before the tagger.
    l2, learn_scale
        As for :func:`~spacy_decoders.adapt.learning.learn_chain`.
    **config
        Options of the ``exact_tagger``, such as ``margins=True``.

    Returns
    -------
    What was learned; None without examples.

    Raises
    ------
    ProblemError
        If the component is no trained tagger of spaCy's, or no text has known tags throughout.

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
    tagger = component_of(nlp, name, Tagger)
    labels = list(tagger.labels)
    numbers = {label: number for number, label in enumerate(labels)}

    def gold_of(example: Example) -> list[int]:
        return [numbers.get(tag, -1) for tag in example.get_aligned("TAG", as_string=True)]

    rules = ChainRules.none(len(labels))
    learned = learned_chain(nlp, name, examples, gold_of, rules, l2=l2, learn_scale=learn_scale)
    tok2vec = nlp.get_pipe_config(name)["model"]["tok2vec"]
    architecture = {"@architectures": "spacy-decoders.ChainScorer.v1", "tok2vec": tok2vec}
    options = {"overwrite": bool(tagger.cfg.get("overwrite", True)), **config}
    exact: Any = nlp.replace_pipe(name, "exact_tagger", config={**options, "model": architecture})
    for label in labels:
        exact.add_label(label)
    _take_weights(exact.model, tagger.model, learned)
    return learned


def _take_weights(model: Any, given: Any, learned: LearnedChain | None) -> None:
    """Give a chain scorer the weights of a tagger's model, and transitions."""
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
