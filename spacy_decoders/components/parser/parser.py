"""``branch_and_bound_parser``: dependency trees that are proven to be the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ...arrays import checked_type
from ...budget import Budget
from ...errors import ProblemError
from ...models.parser.arc_scorer import set_sizes
from ...models.parser.boundaries import BoundaryLimits
from ...models.parser.decoding import FirstTree, TreeParser
from ...models.parser.factors import FAMILIES, FactorTemplates, add_families
from ...models.parser.losses import learn, sentences_of, train_factors
from ...models.parser.patterns import Patterns
from ...models.parser.tree_scores import DocumentScores, score_documents
from ..constraints.constraint import check_known
from ..constraints.matches import WithConstraints
from ..extensions import record, record_certificates, record_list, record_margins
from ..factories.branch_and_bound_parser import ParserOptions
from ..tree_rules import rules_over
from .decoding import DocumentDecoder, check_decoder
from .demands import TreeDemands, wishes_of
from .gold import collect_labels
from .parsed_doc import DEPS, HEADS, NO_LABEL, STARTS, ParsedDoc
from .probabilities import CalibratedParser
from .trees import CROSSING, SPACE_LABEL, write_trees

if TYPE_CHECKING:
    from ...decoders.tree import Rule

__all__ = ["BranchAndBoundParser"]


class BranchAndBoundParser(WithConstraints, ParserOptions, CalibratedParser):
    """Parses dependencies: a network scores the parts of trees, a decoder finds the best tree.

    A drop-in for spaCy's ``parser``. Existing sentence boundaries are kept; if there are none, the
    parser's boundary layer sets them. Each sentence gets one root, and one certificate in
    ``doc._.certificates[name]``.

    The model is an :func:`~spacy_decoders.models.parser.arc_scorer.ArcScorer`; the options are
    those of :class:`~spacy_decoders.components.factories.branch_and_bound_parser.ParserOptions`.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], Floats2d],
        name: str = "branch_and_bound_parser",
        **options: Any,
    ) -> None:
        cfg = {"labels": [], "tags": [], "root": "ROOT", "updates": 0}
        super().__init__(vocab, model, name, cfg=cfg, **options)

    # --- options ---

    def configure(self, **values: Any) -> None:
        """Set several options at once, all or none."""
        super().configure(**values)
        self._forget()

    def _forget(self) -> None:
        """Drop what was derived from options and labels."""
        for name in ("tree_rules", "_patterns"):
            self.__dict__.pop(name, None)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise for options that would fail at every document."""
        given = [options[name] for name in ("factors", "patterns", "projective")]
        check_decoder(type(options["decoder"]).__name__, *given)
        if self.cfg["labels"]:
            rules_over(options["rules"], self.labels)
            if options["patterns"]:
                Patterns.of(options["patterns"], self.labels, self.cfg["tags"])
            check_known(options["constraints"], dict.fromkeys(("deps", "not_deps"), self.labels))
        weights = self.model.get_ref("factors")
        learnt = [family for family in FAMILIES if weights.has_param(family)]
        unknown = [family for family in options["factors"] if family not in learnt]
        if learnt and unknown:
            raise ProblemError(
                f"factors: the model has no weights of {', '.join(unknown)}, only of "
                f"{', '.join(learnt)}; train a parser with these factors."
            )

    @cached_property
    def tree_rules(self) -> tuple[Rule, ...]:
        """The rules that trees must satisfy, over the labels."""
        return rules_over(self.rules, self.labels)

    @cached_property
    def _patterns(self) -> Patterns:
        return Patterns.of(self.patterns, self.labels, self.cfg["tags"])

    @property
    def parser(self) -> TreeParser:
        """The parser of sentences, without patterns; by arcs alone until factors are trained."""
        templates = FactorTemplates(self.model.get_ref("factors"), tuple(self.factors))
        return TreeParser(
            self.decoder,
            templates if templates.is_trained else None,
            projective=self.projective,
            beam=self.beam,
            budget=Budget(self.seconds, self.iterations),
        )

    # --- labels ---

    @property
    def label_data(self) -> dict[str, Any]:
        """The data that ``spacy init labels`` stores and `initialize` takes."""
        return {name: self.cfg[name] for name in ("labels", "tags", "root")}

    def add_label(self, label: str) -> int:
        """Add a dependency label before the network is initialized."""
        if not isinstance(label, str) or not label:
            raise ProblemError(f"label: expected a string, not empty; got {label!r}.")
        if label in self.labels:
            return 0
        if self.model.get_ref("labels").has_dim("nO"):
            raise ProblemError(
                f"label: a model of {len(self.labels)} labels can't learn {label!r} as well; "
                "train a new parser on examples of all labels."
            )
        self.cfg["labels"] = [*self.cfg["labels"], label]
        self._forget()
        self.vocab.strings.add(label)
        return 1

    # --- prediction ---

    def predict(self, docs: Iterable[Doc]) -> list[DocumentScores]:
        """Score the trees of each document's sentences."""
        docs = list(docs)
        if not self.cfg["labels"]:
            raise ProblemError(
                f"{self.name}: there are no labels; train the component, call nlp.initialize() "
                "with examples, or load a trained one."
            )
        demands = [
            TreeDemands(
                doc,
                self.tree_rules,
                self.labels,
                wishes_of(doc, self.overwrite, self.matches_in(doc), self.labels),
                bool(self.paragraphs),
            )
            for doc in docs
        ]
        by_arcs = set(self.factors) <= {"arcs"}
        # whether more than the best trees is wanted, or they depend on labels in other ways
        more = self.probabilities or self.min_prob or self.head_margins or self.k_best > 1
        scores = score_documents(
            self.model,
            docs,
            [demanded.starts() for demanded in demands],
            [demanded.columns.blank for demanded in demands],
            self._limits,
            # with a limit of time, scoring the labels of all arcs counts as decoding
            partly=by_arcs and (self.seconds is not None or not (more or self.patterns)),
        )
        return [replace(of, demands=own) for of, own in zip(scores, demands, strict=True)]

    def decode_together(
        self, docs: Sequence[Doc], scores: Sequence[DocumentScores]
    ) -> list[ParsedDoc]:
        """Find the best trees of the documents of a batch."""
        blocks = [block for of in scores for block in of.blocks]
        found: list[FirstTree | None] = [None] * len(blocks)
        parser = self.parser
        if not self.patterns:  # these differ from document to document
            found = parser.first_trees(blocks, self.tree_rules)
        first = iter(found)
        return [
            self._decoded(doc, of, parser, list(islice(first, len(of.blocks))))
            for doc, of in zip(docs, scores, strict=True)
        ]

    def _decoded(
        self,
        doc: Doc,
        scores: DocumentScores,
        parser: TreeParser,
        first: Sequence[FirstTree | None],
    ) -> ParsedDoc:
        """Find the best tree of each sentence, given the best trees without rules."""
        if self.patterns:
            parser = replace(parser, patterns=self._patterns.within(doc))
        parsed = DocumentDecoder(
            scores,
            parser,
            scores.demands,
            self.model,
            self._limits,
            self.head_margins,
            self.k_best,
            first,
        ).decode()
        if parsed.warning:
            self.warn_once(
                "a sentence has no tree (later ones are not reported; doc._.conflicts lists all): "
                f"{parsed.warning}",
                topic="rules",
            )
        parsed.vectors = scores.vectors if self.tensor else None
        if self.probabilities or self.min_prob:
            parsed.probabilities = self._probabilities(scores, parsed)
        return parsed

    @property
    def _limits(self) -> BoundaryLimits:
        return BoundaryLimits(self.certain, self.boundary_weight, offset=self.boundary_offset)

    def annotate(self, doc: Doc, decoded: ParsedDoc) -> None:
        """Write heads, labels and boundaries at once, then the extension attributes."""
        # indexed by label numbers: -1 is the root's label, -2 that of white space, -3 none
        labels = (*self.cfg["labels"], "", SPACE_LABEL, self.cfg["root"])
        hashes = np.zeros(len(labels), dtype=np.uint64)
        for number in set(decoded.labels.tolist()) - {NO_LABEL}:
            hashes[number] = doc.vocab.strings.add(labels[number])
        deps = hashes[decoded.labels]
        found = decoded.probabilities
        if found is not None and self.min_prob is not None:
            improbable = found.deps < self.min_prob
            for wish in decoded.wishes:
                improbable[wish.token] &= wish.forbidden
            deps = np.where(improbable, np.uint64(0), deps)
        kept = None if self.overwrite or not decoded.treeless.any() else decoded.treeless
        trees = (decoded.heads, deps, decoded.starts, kept)
        if not write_trees(doc, *trees, projective=self.projective):
            self.warn_once(CROSSING, topic="crossing")
        record_certificates(doc, self.name, decoded.certificates)
        record_list(doc, self.name, "conflicts", decoded.conflicts)
        rows, vectors = doc.tensor.shape[:1], decoded.vectors
        # a copy, lest each document keep the vectors of the whole batch alive
        if vectors is not None and (rows != (len(doc),) or doc.tensor.shape == vectors.shape):
            doc.tensor = vectors.copy()
        margins = decoded.margins.tolist() if self.head_margins else None
        record_margins(doc, self.name, "head_margin", margins)
        written = None if found is None else found.as_dict()
        names = {"head_prob": HEADS, "dep_prob": DEPS, "sent_start_prob": STARTS}
        values = {name: None if written is None else written[kind] for name, kind in names.items()}
        record(doc, self.name, "probabilities", written, values)
        record_list(doc, self.name, "parses", decoded.parses if self.k_best > 1 else [])

    # --- training ---

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, Any] | None = None,
    ) -> None:
        """Initialise the model with the labels of gold-standard examples.

        With `labels`, the value of :attr:`label_data`, the pass over all examples is skipped.
        """
        validate_get_examples(get_examples, "BranchAndBoundParser.initialize")
        if labels is not None:
            self.cfg.update(checked_type("labels", labels, dict, f"{self.name}.label_data"))
            self.check_settings()
        else:
            found, tags, root = collect_labels(get_examples())
            for label in found:
                self.add_label(label)
            if not self.model.get_ref("labels").has_dim("nO"):  # else the model keeps its tags
                self.cfg.update({"tags": tags, "root": root})
        if not self.cfg["labels"]:
            raise ProblemError(
                f"{self.name}: the examples have no labelled arcs to learn; give trees (heads "
                "and labels), or add labels with add_label()."
            )
        for label in self.labels:
            self.vocab.strings.add(label)
        self._forget()
        sample = [example.predicted for example in islice(get_examples(), 10)]
        add_families(self.model.get_ref("factors"), self.factors)
        self.check_options(self._options)
        set_sizes(self.model, len(self.cfg["labels"]), len(self.cfg["tags"]))
        self.model.initialize(X=sample)

    def get_loss(self, examples: Iterable[Example], scores: Floats2d) -> tuple[float, Any]:
        """Return the loss, and its gradient with respect to the vectors of all tokens.

        Gradients of the factors and of all layers after the encoder are accumulated.
        """
        given = list(examples)
        docs, gold = [example.predicted for example in given], self._read_gold(given)
        loss, gradient, outputs = learn(self.model, docs, scores, gold)
        self.cfg["updates"] += 1
        if self.factors and self.cfg["updates"] > self.factors_start:
            templates = FactorTemplates(self.model.get_ref("factors"), tuple(self.factors))
            sentences = sentences_of(self.model, docs, gold, outputs)
            train_factors(templates, self.decoder, self.projective, sentences, gold)
        return loss, gradient
