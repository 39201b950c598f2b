"""``headline_generator``: a headline from the document's own words, certified."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, groupby
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Optimizer

from ...certificate import Certificate, Scope
from ...errors import ProblemError
from ...models.headline.judge import KINDS
from ...models.headline.knowledge import HeadlineKnowledge
from ...models.headline.selection import HeadlineModel, check_weights, fit_logistic
from ...models.headline.stems import Stemmer
from .. import extensions
from ..decoding_pipe import DecodingPipe
from ..factories.headline_generator import HeadlineOptions
from .decoding import DECODE, DECODERS, judged, known_of, scored_units
from .headlines import Headline, ScoredUnit
from .learning import learn, titled_text
from .reading import Texts
from .scorer import rouge, words_of

__all__ = ["HeadlineGenerator"]

#: A headline of at least this ROUGE-L is as good as the title; the penalty of what is learnt.
CLOSE, RIDGE = 0.5, 10.0


class HeadlineGenerator(HeadlineOptions, DecodingPipe):
    """Selects and orders a document's words into the headline of highest score.

    Its options are documented in
    :class:`~spacy_decoders.components.factories.headline_generator.HeadlineOptions`, and each can
    be given as a keyword. It works untrained; training counts a corpus of titled texts and fits
    the selection. The reference documents of training examples carry their title in
    ``doc._.headline``.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> pipe = nlp.add_pipe("headline_generator", config={"length": 2})
    >>> doc = nlp("Binary search halves a sorted array. Each step of binary search compares.")
    >>> doc._.headline, doc._.headlines[0]["certificate"]["status"]
    ('Binary search', 'optimal')
    """

    def __init__(
        self,
        vocab: Vocab,
        model: HeadlineModel,
        name: str = "headline_generator",
        **options: Any,
    ) -> None:
        language = vocab.lang or "xx"
        super().__init__(vocab, model, name, cfg={"language": language}, **options)
        self._kind = _kind_of(model)
        self.knowledge = HeadlineKnowledge.untrained(language)
        self._stemmer = Stemmer(language)
        self._warned_of: dict[str, Any] = {}

    @property
    def knowledge(self) -> HeadlineKnowledge:
        """The counts of training, which are saved with the model."""
        knowledge: HeadlineKnowledge = self.model.attrs["knowledge"]
        return knowledge

    @knowledge.setter
    def knowledge(self, knowledge: HeadlineKnowledge) -> None:
        self.model.attrs["knowledge"] = knowledge

    # --- decoding ----------------------------------------------------------------

    def predict(self, docs: Iterable[Doc]) -> list[list[ScoredUnit]]:
        """Read the units of each document and score their words and phrases."""
        of_docs = [self._units(doc) for doc in docs]
        scored: list[ScoredUnit] = []
        for _, group in groupby(chain.from_iterable(of_docs), lambda unit: id(unit.vocab)):
            scored += self._score_units(list(group), phrases=self.mode in ("phrases", "best"))
        rest = iter(scored)
        return [[next(rest) for _ in units] for units in of_docs]

    def decode(self, doc: Doc, scores: list[ScoredUnit]) -> list[list[Headline]]:
        """Find the best headlines of each unit."""
        if self.required and self.mode != "sentence":
            raise ProblemError(
                f"required: mode {self.mode!r} cannot promise words; use mode 'sentence', or "
                "required=None."
            )
        weights: Any = self.model.get_param("judge")
        decoded = []
        for scored in scores:
            found = DECODE[self.mode](scored, self.knowledge, self)
            if self.mode != "words":
                found = judged(scored, found, weights, ranked=self.mode == "best")
            by_text: dict[str, Headline] = {}  # a sentence may have the words of a phrase
            for headline in found:
                by_text.setdefault(headline.text.lower(), headline)
            decoded.append(list(by_text.values())[: self.n_best])
        return decoded

    def annotate(self, doc: Doc, decoded: list[list[Headline]]) -> None:
        """Write headlines and certificates to the document, or to its spans."""
        owners: Sequence[Any] = self._units(doc)
        # with a limit of characters, only so many headlines are looked at
        scope: Scope = "full" if self.max_chars is None else "pruned"
        decoder = DECODERS.get(self.mode, type(self.decoder).__name__)
        missing = Certificate.infeasible(decoder, scope=scope)
        certificates = []
        for owner, headlines in zip(owners, decoded, strict=True):
            own = [headline.as_dict() for headline in headlines]
            extensions.record_list(owner, self.name, "headlines", own)
            owner._.headline = ""
            if headlines:
                best = headlines[0]
                certificates.append(best.certificate)
                if best.prob is None or best.prob >= self.min_prob:
                    owner._.headline = best.text
            # an empty unit is not counted as one without proof
            elif Texts.of([owner]).read.any():
                certificates.append(missing)
                self._warn_of_none()
        extensions.record_certificates(doc, self.name, certificates)

    def _warn_of_none(self) -> None:
        """Say once which options may leave a text without a headline."""
        limits: dict[str, Any] = {"required": self.required, "max_chars": self.max_chars}
        if self.mode == "sentence" and self.length != "auto":
            limits["length"] = self.length
        given = {name: value for name, value in limits.items() if value}
        if not given or self._warned_of == given:
            return
        self._warned_of = given
        values = ", ".join(f"{name}={value!r}" for name, value in given.items())
        warnings.warn(
            f"{self.name}: a text has no headline (others may follow unsaid; their certificates "
            f"are infeasible): nothing in it fits {values}; relax {' or '.join(given)}.",
            UserWarning,
            stacklevel=2,
        )

    def _units(self, doc: Doc) -> Sequence[Doc | Span]:
        if self.spans_key is None:
            return [doc]
        if self.spans_key not in doc.spans:
            return []
        return list(doc.spans[self.spans_key])

    def _score_units(self, units: Sequence[Doc | Span], *, phrases: bool) -> list[ScoredUnit]:
        texts, model, knowledge = Texts.of(units), self.model, self.knowledge
        return scored_units(texts, self._stemmer, model, knowledge, phrases=phrases)

    # --- training ----------------------------------------------------------------

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        more: Any = None,  # spaCy checks types, and does not know `Example` there
    ) -> None:
        """Count the corpus, and fit the scores of words and phrases.

        Documents without a title, in the reference's ``doc._.headline``, count for the language
        model alone. Without any title the default weights are kept.

        Parameters
        ----------
        get_examples
            Returns the training examples; all are read.
        nlp
            The pipeline.
        more
            Returns titled texts of other kinds: phrases are fitted to them, too, but what titles
            look like is counted without them.
        """
        validate_get_examples(get_examples, "HeadlineGenerator.initialize")
        self.model.initialize()
        texts = [titled_text(example, self._stemmer) for example in get_examples()]
        others = [titled_text(example, self._stemmer) for example in (more or list)()]
        others = [text for text in others if len(text.title)]
        self.knowledge = learn(self.model, texts, self.cfg["language"], more=others)

    def calibrate(self, examples: Iterable[Example]) -> None:
        """Fit the probability that a headline is good to titled texts that were not trained on.

        A headline whose ROUGE-L with the title, by stems, is 0.5 or more counts as good, and less
        in proportion.

        Parameters
        ----------
        examples
            Their predicted documents are parsed if those to come are.
        """
        facts: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        closeness: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for example in examples:
            title = self._closeness_of(example.reference._.headline)
            (scored,) = self._score_units([example.predicted], phrases=True)
            found = DECODE["best"](scored, self.knowledge, self)
            for headline in found:
                facts[headline.kind].append(known_of(scored, headline))
                closeness[headline.kind].append(title(headline.text))
        judge: Any = self.model.get_param("judge")
        for place, kind in enumerate(KINDS):
            if len(set(closeness[kind])) > 1:
                table, labels = np.array(facts[kind]), np.array(closeness[kind])
                judge[place] = fit_logistic(table, labels, ridge=RIDGE)
        self.model.set_param("judge", judge)

    def _closeness_of(self, title: str) -> Callable[[str], float]:
        def stemmed(text: str) -> str:
            return " ".join(self._stemmer.stems(words_of(text)))

        wanted = stemmed(title)
        return lambda text: min(1.0, rouge(wanted, stemmed(text)).rougeL / CLOSE)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Return the losses as they are: all is counted and fitted by :meth:`initialize`."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        return losses

    # --- files ---------------------------------------------------------------------

    def check_settings(self) -> None:
        """Raise if what was loaded is not of this component's kind, or cannot be its model."""
        super().check_settings()
        if _kind_of(self.model) != self._kind:
            raise ProblemError(
                f"model: it was saved as {_kind_of(self.model)}, and the config makes "
                f"{self._kind}; use the config that it was saved with."
            )
        check_weights(self.model)


def _kind_of(model: HeadlineModel) -> str:
    """What a model is, and by which features it selects words."""
    return f"{model.name} of {', '.join(model.attrs.get('features', ()))}"
