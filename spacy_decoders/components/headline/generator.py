"""``headline_generator``: a headline from the document's own words, certified."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_get_examples
from spacy.util import get_lang_class
from spacy.vocab import Vocab
from thinc.api import Optimizer

from ...arrays import Floats
from ...certificate import Certificate, Scope
from ...decoders import tree
from ...errors import ProblemError
from ...models.headline.features import vertex_features
from ...models.headline.judge import KINDS, judge_facts, probabilities_of
from ...models.headline.knowledge import AUXILIARIES, HeadlineKnowledge, TitledText
from ...models.headline.selection import (
    HeadlineModel,
    check_weights,
    feature_columns,
    fit_logistic,
    fit_phrases,
)
from ...models.headline.stems import Stemmer, word_keys
from .. import extensions
from ..decoding_pipe import DecodingPipe
from ..factories.headline_generator import HeadlineOptions
from .headlines import Headline, ScoredTexts, ScoredUnit, headlines_of_phrases, scored_units
from .reading import Texts
from .scorer import rouge, rouge_of_words, title_words, words_of
from .sentences import headlines_of_sentences
from .single_words import headlines_of_words

__all__ = ["HeadlineGenerator"]

#: From this ROUGE-L on, a headline counts as good as the title.
CLOSE = 0.5
#: The L2 penalty of the judge's weights.
RIDGE = 10.0
#: The training texts are divided into so many parts; the features of a text are made from counts
#: of the other parts.
PARTS = 4

#: A document or span with its headlines.
Decoded: TypeAlias = tuple[ScoredUnit, list[Headline]]
#: A text as read from its document, and with its title.
Titled: TypeAlias = tuple[Texts, TitledText]


class HeadlineGenerator(HeadlineOptions, DecodingPipe):
    """Makes the headline of highest score from a document's own words.

    The options are documented in
    :class:`~spacy_decoders.components.factories.headline_generator.HeadlineOptions`; each can be
    given as a keyword. It works untrained. Training counts a corpus of titled texts and fits the
    scores to the titles, which the reference documents have in ``doc._.headline``.

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
        self, vocab: Vocab, model: HeadlineModel, name: str = "headline_generator", **options: Any
    ) -> None:
        language = vocab.lang or "xx"
        super().__init__(vocab, model, name, cfg={"language": language}, **options)
        # checked only here and when decoding: `required` may be set before the mode
        self._check_required(self.mode in ("phrases", "words"))
        self.knowledge = HeadlineKnowledge(auxiliaries=AUXILIARIES.get(language, ()))
        self._stemmer = Stemmer(language)

    def _check_required(self, refused: bool) -> None:
        if refused and self.required:
            raise ProblemError(
                f"required: mode {self.mode!r} cannot promise words; use mode 'sentence', or "
                "required=None."
            )

    @property
    def knowledge(self) -> HeadlineKnowledge:
        """The counts of the training corpus, which are saved with the model."""
        return self.model.attrs["knowledge"]

    @knowledge.setter
    def knowledge(self, knowledge: HeadlineKnowledge) -> None:
        self.model.attrs["knowledge"] = knowledge

    # --- decoding ----------------------------------------------------------------

    def predict(self, docs: Iterable[Doc]) -> list[list[ScoredUnit]]:
        """Read the units of each document and score their words."""
        of_docs = [self._units(doc) for doc in docs]
        units = [*chain.from_iterable(of_docs)]
        scored = iter(scored_units(units, self._stemmer, self.model))
        return [list(islice(scored, len(own))) for own in of_docs]

    def decode_together(
        self, docs: Sequence[Doc], scores: Sequence[list[ScoredUnit]]
    ) -> list[list[Decoded]]:
        """Find the best headlines of each unit."""
        self._check_required(self.mode != "sentence")
        decoded = [[(scored, self._found(scored, self.mode)) for scored in of] for of in scores]
        pairs = [(scored, x) for of in decoded for scored, found in of for x in found]
        # single words have no probability
        for of, own in groupby(pairs if self.mode != "words" else [], lambda pair: pair[0].batch):
            judged = list(own)
            kinds = [headline.kind for _, headline in judged]
            probs = probabilities_of(self.model.get_param("judge"), kinds, _facts(of, judged))
            for (_, headline), prob in zip(judged, probs, strict=True):
                headline.prob = prob
        return [[(scored, self._ranked(found)) for scored, found in of] for of in decoded]

    def _ranked(self, found: list[Headline]) -> list[Headline]:
        """Rank headlines, best first, without duplicates.

        In mode "best" the first is the more probable of the best phrase and the best sentence,
        whatever `n_best` is, since the judge was fitted to these.
        """
        if self.mode == "best" and found:
            firsts = {headline.kind: headline for headline in reversed(found)}
            best = max(firsts.values(), key=attrgetter("prob"))
            found.sort(key=lambda headline: (headline is best, headline.prob), reverse=True)
        by_text: dict[str, Headline] = {}  # a phrase and a sentence may have the same words
        for headline in found:
            by_text.setdefault(headline.text.lower(), headline)
        return list(by_text.values())[: self.n_best]

    def _found(self, scored: ScoredUnit, mode: str) -> list[Headline]:
        """Return the best headlines of each kind, as yet without probabilities."""
        if mode == "words":
            return headlines_of_words(scored, self)
        found = headlines_of_phrases(scored, self) if mode != "sentence" else []
        if mode == "sentence" or (mode == "best" and scored.unit.doc.has_annotation("DEP")):
            of = scored.batch
            code = of.texts.kinds["code"]
            named = of.texts.kinds["lettered"] & ~of.texts.addresses
            for sentence in headlines_of_sentences(scored, self):
                places = scored.positions_of(sentence)
                if named[places].any() and not code[places].any():
                    found.append(sentence)
        return found

    def annotate(self, doc: Doc, decoded: list[Decoded]) -> None:
        """Write headlines and certificates to the document, or to its spans."""
        certificates = []
        for scored, headlines in decoded:
            owner: Any = scored.unit
            own = [headline.as_dict() for headline in headlines]
            extensions.record_list(owner, self.name, "headlines", own)
            headline = ""
            if headlines:
                best = headlines[0]
                certificates.append(best.certificate)
                if best.prob is None or best.prob >= self.min_prob:
                    headline = best.text
            # a unit without words gets no certificate
            elif scored.has_words:
                # with `max_chars`, only some of the headlines are tried
                scope: Scope = "full" if self.max_chars is None else "pruned"
                decoder = type(self.decoder).__name__ if self.mode == "words" else "BestPhrase"
                decoder = "TreeKnapsack" if self.mode == "sentence" else decoder
                failed = Certificate.infeasible if scored.is_decided else Certificate.undecided
                certificates.append(failed(decoder, scope=scope))
                self._warn_of_none(doc, scored.is_decided)
            owner._.headline = headline  # once, since `doc._` takes microseconds
        extensions.record_certificates(doc, self.name, certificates)

    def _warn_of_none(self, doc: Doc, is_decided: bool) -> None:
        """Warn once that options, or the lack of a parser, leave a text without a headline."""
        # a parser that found no tree, or none that is probable, has left its certificates
        decoders = {certificate["decoder"] for certificate in extensions.certificates_of(doc)}
        parsed = doc.has_annotation("DEP") or not decoders.isdisjoint(dir(tree))
        names = ("required", "max_chars", "length")
        given = {x: value for x in names if (value := getattr(self, x)) not in (None, "auto")}
        values = ", ".join(f"{name}={value!r}" for name, value in given.items())
        if self.mode == "sentence" and not parsed:
            self.warn_once(
                "a text has no headline (later ones are not reported): mode 'sentence' shortens "
                "sentences along their trees, and it is not parsed; add a parser before this "
                "component, or use mode 'best'.",
                topic="parser",
            )
        elif not is_decided:
            self.warn_once(
                "a text has no headline (later ones are not reported): the budget ended before "
                "one was found; allow more seconds or iterations.",
                topic="budget",
            )
        elif given:
            self.warn_once(
                "a text has no headline (later ones are not reported; their certificates are "
                f"infeasible): nothing in it fits {values}; relax {' or '.join(given)}.",
                topic=values,
            )

    def _units(self, doc: Doc) -> Sequence[Doc | Span]:
        if self.spans_key is None:
            return [doc]
        return list(doc.spans[self.spans_key]) if self.spans_key in doc.spans else []

    # --- training ----------------------------------------------------------------

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        more: Any = None,  # spaCy checks types, and does not know `Example` there
    ) -> None:
        """Count the corpus, and fit the scores of words and phrases.

        All examples are read. Documents without a title (``doc._.headline`` of the reference) only
        add to the language model. If there are no titles, the default weights are kept. `more`
        returns titled texts of other kinds, to which the scores of phrases are fitted as well;
        their titles are not counted.
        """
        validate_get_examples(get_examples, "HeadlineGenerator.initialize")
        self.model.initialize()
        texts = [_titled_text(example, self._stemmer) for example in get_examples()]
        others = [_titled_text(example, self._stemmer) for example in (more or list)()]
        others = [text for text in others if len(text[1].title)]
        self.knowledge = _learn(self.model, texts, self.cfg["language"], more=others)

    def calibrate(self, examples: Iterable[Example]) -> None:
        """Fit the probability that a headline is good, on titled texts not used in training.

        A headline with a ROUGE-L of 0.5 or more, by stems, counts as good, one with less in
        proportion. The predicted documents should be parsed if those in use will be.
        """
        known: dict[str, list[tuple[Any, float]]] = {kind: [] for kind in KINDS}
        for example in examples:
            title = self._stemmed(example.reference._.headline)
            (scored,) = scored_units([example.predicted], self._stemmer, self.model)
            found = self._found(scored, "best")
            facts = _facts(scored.batch, [(scored, headline) for headline in found])
            for headline, own in zip(found, facts, strict=True):
                share = rouge(title, self._stemmed(headline.text)).rougeL
                known[headline.kind].append((own, min(1.0, share / CLOSE)))
        judge: Any = self.model.get_param("judge")
        for place, pairs in enumerate(known.values()):
            if len({label for _, label in pairs}) > 1:
                table, labels = map(np.array, zip(*pairs, strict=True))
                judge[place] = fit_logistic(table, labels, ridge=RIDGE)
        self.model.set_param("judge", judge)

    def _stemmed(self, text: str) -> str:
        return " ".join(self._stemmer.stems(words_of(text)))

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Return the losses unchanged: :meth:`initialize` has fitted everything."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        return losses

    # --- files ---------------------------------------------------------------------

    def check_settings(self) -> None:
        """Raise if the loaded weights do not fit this component."""
        super().check_settings()
        check_weights(self.model)


def _facts(of: ScoredTexts, pairs: Sequence[tuple[ScoredUnit, Headline]]) -> Floats:
    """The features by which the judge estimates how good headlines of a batch are."""
    places = [scored.positions_of(headline) for scored, headline in pairs]
    scores = [headline.certificate.score or 0.0 for _, headline in pairs]
    occurrences = [headline.occurrences for _, headline in pairs]
    return judge_facts(of.tokens, of.chances, places, scores, occurrences)


def _titled_text(example: Example, stemmer: Stemmer) -> Titled:
    """Read the text of an example, and the title of its reference document."""
    title = example.reference._.headline
    if not isinstance(title, str):
        raise ProblemError(f"reference: doc._.headline must be a string, got {title!r}.")
    titled = title_words(title, get_lang_class(stemmer.language).Defaults.stop_words)
    rest = iter(stemmer.stems([word for word, content in titled if content]))
    keys = word_keys([next(rest) if content else word for word, content in titled])
    texts = Texts.of([example.predicted])
    return texts, TitledText(texts.tokens(stemmer), titled, keys)


def _learn(
    model: Any, given: Sequence[Titled], language: str, *, more: Sequence[Titled] = ()
) -> HeadlineKnowledge:
    """Count texts and titles, and fit the model to them; that of phrases to `more` as well.

    The features of a text depend on counts of other texts. In training these are taken from the
    other parts of the corpus: neighbouring texts are often sections of one book, whose titles
    share words that no other book has.
    """
    knowledge = HeadlineKnowledge.count([text for _, text in given], language)
    titled = [text for text in given if len(text[1].title)]
    if not titled:
        return knowledge
    size = -(-len(titled) // PARTS)
    examples = []
    for low in range(0, len(titled), size):
        others = [text for _, text in titled[:low] + titled[low + size :]]
        counts = HeadlineKnowledge.count(others, language, bigrams=False) if others else knowledge
        examples += [(*text, counts) for text in titled[low : low + size]]
    _fit_words(model, examples)
    known = []
    for texts, text, counts in [*((*text, knowledge) for text in more), *examples]:
        table, rewards = _phrases(ScoredTexts.of(texts, text.tokens, model, counts), text.keys)
        if rewards.max(initial=0.0) > 0:
            known.append((table, rewards))
    if known:
        weights = fit_phrases(*map(list, zip(*known, strict=True)))
        model.set_param("phrases", weights.astype(np.float32))
    return knowledge


def _fit_words(
    model: Any, examples: Sequence[tuple[Texts, TitledText, HeadlineKnowledge]]
) -> None:
    """Fit the log-odds of words being in the title, which are features of phrases."""
    tables, chosen = [], []
    for texts, text, counts in examples:
        of = ScoredTexts.of(texts, text.tokens, model, counts)
        if len(text.content) and len(of.vertices):
            table = vertex_features(of.vertices, of.features)
            tables.append(table[:, feature_columns(model)])
            chosen.append(np.isin(of.vertices.stems, text.content))
    if any(labels.any() for labels in chosen):
        weights = fit_logistic(np.concatenate(tables), np.concatenate(chosen))
        model.set_param("weights", model.ops.asarray1f(weights.tolist()))


def _phrases(of: ScoredTexts, title: NDArray[np.uint64]) -> tuple[Floats, Floats]:
    """Return the features of a text's phrases, and how close each is to the title."""
    phrases, tokens, wanted = of.phrases, of.tokens, title.tolist()
    # by stems, so that "graph" is close to "Graphs"
    given = [
        tokens.stems[low:high][tokens.word[low:high]].tolist()
        for low, high in zip(phrases.starts, phrases.ends, strict=True)
    ]
    return phrases.features, np.array([np.mean(rouge_of_words(wanted, stems)) for stems in given])
