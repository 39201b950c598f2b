"""``graph_entity_linker``: links all mentions of a document jointly, with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from spacy.kb import KnowledgeBase
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Optimizer

from ...arrays import Floats32, Integers
from ...errors import ProblemError, StorageError
from ...models.calibration import Answers, sigmoid
from ...models.linker.evidence import check_types
from ...models.linker.together import scaled_pairs
from ...models.linker.weights import Feature, LinkWeights, conditional_gradient, weights_of
from .. import extensions
from ..constraints.matches import WithConstraints
from ..factories.graph_entity_linker import LinkerOptions
from ..probabilities import CalibratedPipe
from .decoding import OF_GRAPHS, Links, decode_links
from .features import MATCH_LABEL
from .knowledge_base import ConceptKnowledgeBase
from .mentions import Mentions, annotated_mentions, find_mentions

__all__ = ["GraphEntityLinker"]

#: The only kind of answer that is calibrated.
LINKS = "links"


class GraphEntityLinker(WithConstraints, LinkerOptions, CalibratedPipe):
    """Links the mentions of a document to concepts that fit each other.

    Untrained, it weighs how often a mention means a concept against how close the concepts of all
    mentions are in the graph; the weights can be learnt from examples. The options are documented
    in :class:`~spacy_decoders.components.factories.graph_entity_linker.LinkerOptions`; each can be
    given as a keyword, `kb` as a function that loads it.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> linker = nlp.add_pipe("graph_entity_linker", config={"mentions": "aliases"})
    >>> doc = nlp("The jaguar hunts in the jungle along the Amazon.")
    >>> [(ent.text, ent.kb_id_) for ent in doc.ents]
    [('jaguar', 'jaguar'), ('jungle', 'jungle'), ('Amazon', 'amazon_rainforest')]
    >>> doc._.certificates["graph_entity_linker"][0]["status"]
    'optimal'
    """

    annotation = "links (kb_id)"

    def __init__(
        self,
        vocab: Vocab,
        model: LinkWeights,
        name: str = "graph_entity_linker",
        *,
        kb: Callable[[Vocab], KnowledgeBase],
        **options: Any,
    ) -> None:
        if not callable(kb):
            raise ProblemError(
                "kb: expected a loader; for a folder give {'@misc': "
                f"'spacy-decoders.ConceptBase.v1', 'path': {str(kb)!r}}}."
            )
        super().__init__(vocab, model, name, cfg={}, kb=kb(vocab), **options)

    def configure(self, **values: Any) -> None:
        """Set several options at once, all or none; `kb` may be a concept base itself."""
        from ...knowledge.concept_base import ConceptBase

        if isinstance(values.get("kb"), ConceptBase):
            values["kb"] = ConceptKnowledgeBase(self.vocab, values["kb"])
        super().configure(**values)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise for options that would fail at every document."""
        decoder = type(options["decoder"]).__name__
        if decoder == "Decomposable":
            raise ProblemError(
                "decoder: Decomposable needs candidates that bridges of a graph keep apart, "
                "which those of mentions are not; decode by ExactRepresentatives."
            )
        if not isinstance(options["kb"], ConceptKnowledgeBase):
            needing = {
                "decoder": decoder in OF_GRAPHS,
                "types": options["types"] is not None,
                "mentions": options["mentions"] == "aliases",
            }
            for name in (name for name, needs in needing.items() if needs):
                raise ProblemError(
                    f"{name}: {options[name]!r} needs a knowledge base with a graph, made by "
                    "`python -m spacy decoders kb build`."
                )
        elif options["kb"].missing:
            if not self._configured:
                return  # the component is being made: its own folder may have a copy
            raise StorageError(options["kb"].missing)
        elif options["types"] is not None:
            check_types(options["types"], options["kb"].base.type_names)
        if options["constraints"]:
            from ..constraints.candidates import check_concepts

            check_concepts(options["kb"], options["constraints"])

    def unsaved_changes(self, *, on_disk: bool) -> dict[str, str]:
        """The changes that are not saved: also of a knowledge base, unless a folder gets it."""
        found = super().unsaved_changes(on_disk=on_disk)
        kb = self.kb
        edited = isinstance(kb, ConceptKnowledgeBase) and not kb.missing and kb.base.changed
        if self.store_kb and on_disk:
            found.pop("kb", None)
        elif edited or "kb" in found:
            found["kb"] = (
                "save to a folder with store_kb = True, or save the base and name its path in the "
                "config"
            )
        return found

    # --- decoding -------------------------------------------------------------------

    def predict(self, docs: Iterable[Doc]) -> list[Mentions]:
        """Find the mentions of each document and their candidates."""
        given = [*docs]
        unread = self.mentions == "ents" and any(map(len, given))
        if unread and not any(doc.has_annotation("ENT_IOB") for doc in given):
            self.warn_once(
                "nothing is linked, as the documents have no entities: put a component that finds "
                'them before it, or set mentions = "aliases".',
                topic="entities",
            )
        return find_mentions(given, self, [*map(self.matches_in, given)]) if given else []

    def decode_together(self, docs: Sequence[Doc], scores: Sequence[Mentions]) -> list[Links]:
        """Choose the best concepts of each document together."""
        weights = weights_of(self.model, self.name)
        return decode_links(scores, weights, self, self.calibration_of(LINKS))

    def annotate(self, doc: Doc, decoded: Links) -> None:
        """Write identifiers to entities as spaCy does, and ``span._.link``."""
        self.record_conflicts(doc, decoded.mentions.conflicts)
        user_data: dict[Any, Any] = doc.user_data  # `span._` takes microseconds
        ents = doc.ents if decoded.mentions.spans else ()
        present = {(ent.start, ent.end) for ent in ents}
        names, aside = [], []
        for span, link in zip(decoded.mentions.spans, decoded.links, strict=True):
            is_new = self.mentions == "aliases" and (span.start, span.end) not in present
            if is_new and not link["id"]:
                continue  # an alias that is linked to nothing is no mention
            identifier = (self.kb_id == "qid" and link["qid"]) or link["id"]
            linked = Span(
                doc,
                span.start,
                span.end,
                label=span.label,
                kb_id=doc.vocab.strings.add(identifier),
                span_id=span.id,
            )
            place = span.start_char, span.end_char
            user_data[("._.", "link", *place)] = {"component": self.name, **link}
            if is_new and self.concepts_key is not None and span.label_ == MATCH_LABEL:
                aside.append(linked)
                continue
            names.append(linked)
            if is_new:  # it has no probability as an entity
                user_data.pop(("._.", "prob", *place), None)
        if self.mentions == "spans":
            own = {(span.start, span.end, span.label): span for span in names}
            group = doc.spans.get(self.spans_key, ())
            if own:
                doc.spans[self.spans_key] = [
                    own.get((span.start, span.end, span.label), span) for span in group
                ]
        else:
            if self.mentions == "aliases" and self.concepts_key is not None:
                doc.spans[self.concepts_key] = aside
            if names:
                places = {(span.start, span.end) for span in names}
                others = [ent for ent in ents if (ent.start, ent.end) not in places]
                doc.set_ents([*others, *names], default="unmodified")
        extensions.record_certificates(doc, self.name, decoded.certificates)

    # --- calibration ---

    def answers(
        self, examples: Sequence[Example], scores: Sequence[Mentions], decoded: list[Links]
    ) -> dict[str, Answers]:
        """Return the choices for mentions that have a gold identifier, which may be ``"NIL"``."""
        rows: list[tuple[float, bool, int]] = []
        for number, (example, links) in enumerate(zip(examples, decoded, strict=True)):
            reference = annotated_mentions(example.reference, self)
            gold = {(span.start_char, span.end_char): span.kb_id_ for span in reference}
            spans = links.mentions.spans
            for span, link, found in zip(spans, links.links, links.odds, strict=True):
                identity = gold.get((span.start_char, span.end_char), "")
                if not identity or found is None:
                    continue
                odds, is_nothing = found
                known = link["candidates"] if is_nothing else link["candidates"][:1]
                ids = {one[key] for one in known for key in ("id", "qid")}
                rows.append((odds, (identity in ids) != is_nothing, number))
        answers = Answers.of(rows)
        likely = sigmoid(answers.probabilities / self.temperature)
        return {LINKS: answers._replace(probabilities=likely)}

    # --- training ----------------------------------------------------------------------

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        kb_loader: Any = None,  # spaCy validates it and can't resolve a callable's types
    ) -> None:
        """Prepare for training; `kb_loader` replaces the knowledge base, as in spaCy."""
        validate_get_examples(get_examples, "GraphEntityLinker.initialize")
        # assigned in any case, so that a missing knowledge base raises here
        self.kb = self.kb if kb_loader is None else kb_loader(self.vocab)
        self.model.initialize()

    def set_kb(self, kb_loader: Callable[[Vocab], KnowledgeBase]) -> None:
        """Take another knowledge base."""
        self.kb = kb_loader(self.vocab)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn the weights from entities with ``kb_id`` in the reference documents.

        The loss is the negative log-likelihood of each mention's gold candidate, given the gold
        links of the others. For mentions that are "NIL", or whose gold concept is no candidate,
        the gold choice is to link nothing; those without an identifier are ignored.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        for example in examples:
            mentions, gold = self._gold(example.reference)
            if not (gold >= 0).any():
                continue
            features = self._beside_gold(mentions, gold)
            scores, backprop = self.model.begin_update(
                self.model.ops.asarray2f(cast(Any, features))
            )
            loss, gradient = conditional_gradient(
                self.model.ops.to_numpy(scores), mentions.table.with_nothing, gold
            )
            backprop(self.model.ops.asarray1f(cast(Any, gradient / (gold >= 0).sum())))
            losses[self.name] += loss
        if sgd is not None:
            self.finish_update(sgd)
        return losses

    def _gold(self, doc: Doc) -> tuple[Mentions, Integers]:
        """The mentions of an annotated document, and the index of each one's gold candidate."""
        present = annotated_mentions(doc, self)
        identifiers = {(span.start, span.end): span.kb_id_ for span in present}
        (mentions,) = self.predict([doc.copy()])
        table = mentions.table
        gold = np.full(len(table.mentions), -1, np.int64)
        for span, unit in zip(mentions.spans, mentions.units, strict=True):
            identity = identifiers.get((span.start, span.end), "")
            if unit < 0 or not identity:
                continue
            own = table.known[slice(*table.offsets[unit : unit + 2].tolist())]
            names = [one.id for one in own]
            if identity not in names:
                names = [one.qid for one in own]
            # NIL comes after the candidates
            gold[unit] = names.index(identity) if identity in names else len(names)
        return mentions, gold

    def _beside_gold(self, mentions: Mentions, gold: Integers) -> Floats32:
        """The features of each candidate, given the gold candidates of all other mentions."""
        features = mentions.features.copy()
        offsets = mentions.table.with_nothing
        own = np.repeat(np.arange(len(gold)), np.diff(offsets))
        known = np.flatnonzero(gold >= 0)
        costs, far = scaled_pairs(mentions.table, self.pairs)
        near = far - costs[:, offsets[known] + gold[known]]
        # as in decoding, all mentions of one form count as one
        near *= mentions.table.shares[np.ix_(own, known)] * mentions.table.repeats[own, None]
        features[:, Feature.PAIRS] = near.sum(axis=1)
        return features

    # --- saving ----------------------------------------------------------------------------

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the weights, and the knowledge base if `store_kb` is set."""
        super().to_disk(path, exclude=tuple(exclude))
        if self.store_kb:
            self.kb.to_disk(Path(path) / "kb")

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> GraphEntityLinker:
        """Load what `to_disk` saved; a knowledge base in it replaces that of the config."""
        if (Path(path) / "kb").exists():  # first, since the options are checked against it
            self.kb.from_disk(Path(path) / "kb")
        super().from_disk(path, exclude=exclude)
        return self
