"""``exact_tagger``: tag sequences by exact, certified decoding."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice, repeat
from typing import Any, get_args

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_get_examples
from spacy.util import check_lexeme_norms
from spacy.vocab import Vocab
from thinc.api import Model

from ...arrays import Floats32, checked_list
from ...errors import ProblemError
from ...models.calibration import Answers
from ...models.saved import damaged
from ...models.tagger.losses import LOSSES, ChainBatch
from ...models.tagger.scorer import ChainScores
from ..constraints.constraint import DEMANDS, check_known
from ..constraints.labels import LabelLimits, conflicts_in, limited
from ..constraints.matches import WithConstraints
from ..extensions import record_certificates, record_list, record_margins
from ..factories.exact_tagger import TaggerOptions, Target
from ..probabilities import CalibratedPipe, Fitted
from .decoding import NO_LABEL, Tagging, decode_units, unit_lengths
from .gold_layers import aligned_labels, gold_labels, labels_in
from .label_space import LabelSpace
from .probabilities import (
    KINDS,
    LEAST,
    add_probabilities,
    blank_improbable,
    gold_loss,
    tagging_answers,
    write_probabilities,
)

__all__ = ["ExactTagger"]

#: The score of each target.
SCORES = {"tag": "tag_acc", "pos": "pos_acc", "morph": "morph_acc", "ent": "ents_f"}
#: The suffix of kinds of answers in documents without the token vectors that the model reads.
WITHOUT = "_without_vectors"


class ExactTagger(WithConstraints, TaggerOptions, CalibratedPipe):
    """Tags by a linear chain that is decoded exactly.

    The options are documented in
    :class:`~spacy_decoders.components.factories.exact_tagger.TaggerOptions`; each can be given as
    a keyword. It decodes sentence by sentence, or the whole Doc if it has no boundaries; each unit
    gets a certificate in ``doc._.certificates[name]``.

    Examples
    --------
    >>> import spacy
    >>> from spacy.training import Example
    >>> nlp = spacy.blank("en")
    >>> tagger = nlp.add_pipe("exact_tagger")
    >>> gold = {"tags": ["NNP", "VBZ"]}
    >>> examples = [Example.from_dict(nlp.make_doc("Mercury shines"), gold)]
    >>> optimizer = nlp.initialize(lambda: examples)
    >>> for _ in range(20):
    ...     _ = nlp.update(examples, sgd=optimizer)
    >>> doc = nlp("Mercury shines")
    >>> [token.tag_ for token in doc], doc._.certificates["exact_tagger"][0]["status"]
    (['NNP', 'VBZ'], 'optimal')
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], ChainScores],
        name: str = "exact_tagger",
        **options: Any,
    ) -> None:
        super().__init__(vocab, model, name, cfg={"labels": []}, **options)
        # the weights of the last call, and the chain model that was made from them
        self._chain: tuple[list[Floats32], Any] | None = None

    # --- options and labels -------------------------------------------------------

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise if options concern entities or labels that the component does not tag."""
        super().check_options(options)
        target = options["target"]
        needing = [
            f"constraints[{number}].{key}"
            for number, given in enumerate(options["constraints"])
            for key in DEMANDS["entities"]
            if key in given
        ]
        if options["entity_alternatives"] is not None:
            needing.append("entity_alternatives")
        if needing and "ent" not in ((target,) if isinstance(target, str) else target):
            raise ProblemError(
                f"{needing[0]}: the target is {target!r}; only a component with the target 'ent' "
                "writes entities."
            )
        if self.cfg["labels"]:
            names = set(self.labels).union(*self.space.parts)
            types = self.space.scheme.types if "ent" in self.targets else ()
            keys = {"labels": names, "not_labels": names, "entity": types, "not_entity": types}
            check_known(options["constraints"], keys)

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The targets: one, or several that are tagged jointly."""
        return (self.target,) if isinstance(self.target, str) else tuple(self.target)

    @cached_property
    def kind(self) -> str:
        """The prefix of token attributes, such as ``tag`` of ``tag_prob`` and ``tag_margin``."""
        return next(kind for kind in ("tag", "morph", "pos", "ent") if kind in self.targets)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels; those of several targets are values joined by blanks."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> list[str]:
        """The data that ``spacy init labels`` saves."""
        return list(self.cfg["labels"])

    @cached_property
    def space(self) -> LabelSpace:
        """The meanings of the labels."""
        return LabelSpace(self.vocab, self.targets, self.cfg["labels"])

    def add_label(self, label: str) -> int:
        """Add a label before the model is initialised; return 0 if it is known already.

        Of entities, a type such as "ORG" stands for both labels, B-ORG and I-ORG.
        """
        if not isinstance(label, str):
            raise ProblemError(f"label: expected a string, got {label!r}.")
        if self.targets == ("ent",) and label != "O" and label[:2] not in ("B-", "I-"):
            return max([self.add_label(f"{prefix}-{label}") for prefix in "BI"])
        if label in self.space.index:
            return 0
        if self.model.get_ref("output_layer").has_dim("nO"):
            raise ProblemError(
                f"label: a model of {len(self.labels)} labels can't learn {label!r} as well; "
                "train a new component on examples of all labels."
            )
        # raises if the label does not fit the targets
        _ = LabelSpace(self.vocab, self.targets, [label]).values
        self.cfg["labels"].append(label)
        self._forget()
        return 1

    def check_settings(self) -> None:
        """Raise if the loaded settings are invalid."""
        super().check_settings()
        outputs = self.model.get_ref("output_layer").maybe_get_dim("nO")
        if outputs is not None and outputs != len(self.labels):
            raise damaged("cfg, labels", f"{len(self.labels)} for a model of {outputs}")
        self._forget()
        self._describe_labels()

    def _describe_labels(self) -> None:
        """Pass the parts of the labels to the model, if it wants them."""
        describe = self.model.attrs.get("describe_labels")
        if describe is not None:
            describe(self.model, self.space.parts)

    def _forget(self) -> None:
        """Drop everything derived from labels and weights."""
        self.__dict__.pop("space", None)
        self._chain = None

    # --- decoding ----------------------------------------------------------------

    def predict(self, docs: Iterable[Doc]) -> list[tuple[Floats32, Any]]:
        """Score documents: the emissions of each, **shape (n, L)**, and the chain model."""
        docs = list(docs)
        if not self.cfg["labels"]:
            raise ProblemError(
                f"{self.name}: there are no labels; train the component, call nlp.initialize() "
                "with examples, or load a trained one."
            )
        if not any(map(len, docs)):
            return [(np.zeros((0, len(self.labels)), dtype=np.float32), None) for _ in docs]
        scores = self.model.predict(docs)
        emissions = map(self.model.ops.to_numpy, scores.emissions)
        return list(zip(emissions, repeat(self._chain_model(scores))))

    def decode_together(
        self, docs: Sequence[Doc], scores: Sequence[tuple[Floats32, Any]]
    ) -> list[Tagging]:
        """Decode all units of several documents in one call, since many are short."""
        if not docs:
            return []
        model = scores[0][1]  # the same for all
        limits = [
            LabelLimits.of(doc, self.space, self.overwrite, self.matches_in(doc)) for doc in docs
        ]
        emissions = [
            limited(plain, limit) if any(limit) else plain
            for (plain, _), limit in zip(scores, limits, strict=True)
        ]
        units = list(map(unit_lengths, docs))
        taggings = decode_units(self.decoder, model, emissions, units)
        for place, tagging in enumerate(taggings):
            limit = limits[place]
            if any(limit):
                failed = [own for own in tagging.spans if tagging.labels[own[0]] == NO_LABEL]
                plain = scores[place][0]
                tagging.conflicts = list(conflicts_in(docs[place], failed, limit, plain, model))
                tagging.demanded = limit.demanded
            if self.margins:
                tagging.margins = tagging.margins_by(model)
            if self.k_best > 1:
                tagging.ranked = tagging.ranked_by(model, self.k_best, self.labels)
        if self.probabilities or self.entity_alternatives or self.min_prob:
            self._add_probabilities(docs, model, taggings, self.entity_alternatives)
        found = set[int]().union(*(tagging.labels.tolist() for tagging in taggings))
        for vocab in {id(doc.vocab): doc.vocab for doc in docs}.values():
            self.space.add_to(vocab, found)
        return taggings

    def _add_probabilities(
        self, docs: Sequence[Doc], model: Any, taggings: Sequence[Tagging], least: float | None
    ) -> None:
        lacking = self.lack_vectors(docs)
        for case in set(lacking):
            add_probabilities(
                self.space,
                model,
                [one for one, lacks in zip(taggings, lacking, strict=True) if lacks == case],
                calibrations={kind: self.calibration_of(kind + WITHOUT * case) for kind in KINDS},
                least=least,
            )

    def annotate(self, doc: Doc, decoded: Tagging) -> None:
        """Write the labels, then margins, probabilities and so on."""
        found, kind = decoded.probabilities, self.kind
        if len(doc):
            space = self.space
            values = space.values[decoded.labels]
            if self.min_prob is not None and found is not None:
                blank_improbable(space, values, found, self.min_prob, decoded.demanded)
            if not self.overwrite:
                present, is_set = space.present(doc)
                values = np.where(is_set, present, values)
            space.write(doc, values)
        record_certificates(doc, self.name, decoded.certificates)
        self.record_conflicts(doc, decoded.conflicts)
        record_margins(doc, self.name, f"{kind}_margin", decoded.margins)
        record_list(doc, self.name, "taggings", decoded.ranked)
        write_probabilities(doc, self.name, self.targets, f"{kind}_prob", found)
        least, listed = self.entity_alternatives, []
        if found is not None and least is not None:
            listed = [entity.as_dict() for entity in found.likely(least)]
        record_list(doc, self.name, "entity_alternatives", listed)

    def _chain_model(self, scores: ChainScores) -> Any:
        """The chain model of the current weights, rebuilt only when they have changed."""
        from ...decoders.chain import ChainModel

        given = scores.transitions, scores.start, scores.end
        transitions, start, end = weights = [*map(self.model.ops.to_numpy, given)]
        if self._chain is None or not all(map(np.array_equal, self._chain[0], weights)):
            made_of = [of.copy() for of in weights]  # training changes them in place
            if "ent" in self.targets:
                scheme = self.space.scheme
                start = np.where(scheme.can_start, start, np.float32(-np.inf))
                transitions = np.where(scheme.can_follow, transitions, np.float32(-np.inf))
            self._chain = made_of, ChainModel(transitions, start, end)
        return self._chain[1]

    # --- training ----------------------------------------------------------------

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
    ) -> None:
        """Initialise the model with the labels of gold-standard examples.

        With `labels`, as ``spacy init labels`` saves them, those are used instead.
        """
        validate_get_examples(get_examples, "ExactTagger.initialize")
        check_lexeme_norms(self.vocab, "tagger")
        found = labels_in(get_examples(), self.targets) if labels is None else labels
        for label in checked_list("labels", found, "strings"):
            self.add_label(label)
        if not self.labels or ("ent" in self.targets and not self.space.scheme.types):
            kinds = get_args(Target)
            found = [kind for kind in kinds if {*labels_in(get_examples(), (kind,))} - {"O"}]
            raise ProblemError(
                f"{self.name}: no example has a value for {', '.join(self.targets)}; they have "
                f"{', '.join(found) or 'nothing'}. Check the training data or the target. As "
                "entities, Example.from_dict takes offsets or BILUO (U-PER), and none from BIO."
            )
        weights = nlp.config["training"]["score_weights"] if nlp is not None else {}
        weighed = {target for target, score in SCORES.items() if weights.get(score)}
        if weighed and not weighed & set(self.targets):
            own = " or ".join(SCORES[target] for target in self.targets)
            self.warn_once(f"training.score_weights has no weight for {own}.", topic="weights")
        self._describe_labels()
        sample = [example.x for example in islice(get_examples(), 10)]
        ops, size = self.model.ops, len(self.labels)
        shape = ChainScores([], ops.alloc2f(size, size), ops.alloc1f(size), ops.alloc1f(size))
        self.model.initialize(X=sample, Y=shape)
        self._forget()
        self.check_options(self._options)

    def get_loss(
        self, examples: Iterable[Example], scores: ChainScores
    ) -> tuple[float, ChainScores]:
        """Return the loss, summed over tokens and sentences, and its gradient."""
        examples = list(examples)
        docs = [example.predicted for example in examples]
        if all(self.lack_vectors(docs)):  # some may, see `absent` of the model
            self.warn_of_missing_vectors(docs)
        ops = self.model.ops
        emissions = [ops.to_numpy(rows) for rows in scores.emissions]
        gold, strange = gold_labels(examples, self.space)
        self.warn_of_unknown_labels(strange)
        lengths = [n for doc in docs for n in unit_lengths(doc)]
        batch = ChainBatch(
            self._chain_model(scores),
            np.concatenate(emissions),
            np.array(lengths, dtype=np.int64),
            gold,
        )
        loss, gradient = LOSSES[self.loss](batch)
        cuts = np.cumsum([len(rows) for rows in emissions])[:-1]
        as_floats: Any = partial(ops.asarray, dtype="float32")
        return loss, ChainScores(
            [as_floats(rows) for rows in np.split(gradient.emissions, cuts)],
            as_floats(gradient.transitions),
            as_floats(gradient.start),
            as_floats(gradient.end),
        )

    # --- calibration -------------------------------------------------------------

    @property
    def annotation(self) -> str:
        """The annotation that examples need to calibrate the component."""
        return " and ".join("entities" if target == "ent" else target for target in self.targets)

    def loss_at(
        self, examples: Sequence[Example], scores: Sequence[Any], decoded: Any, heat: float
    ) -> float:
        """Return the mean of -log probability of the gold labels, at a temperature."""
        gold = [label for example in examples for label in aligned_labels(example, self.targets)]
        # without limits: constraints or existing annotation may be contradictory
        rows = np.concatenate([emissions for emissions, _ in scores])
        lengths = [length for tagging in decoded for length in tagging.units]
        return gold_loss(self.space, scores[0][1], rows, lengths, gold, heat)

    def answers(
        self, examples: Sequence[Example], scores: Sequence[Any], decoded: list[Tagging]
    ) -> dict[str, Answers]:
        """Return the labels of tokens, entities and sentences as answers."""
        docs = [example.predicted for example in examples]
        self._add_probabilities(docs, scores[0][1], decoded, LEAST)
        answers = tagging_answers(self.space, decoded, examples)
        without = any(self.lack_vectors(docs))
        return {kind + WITHOUT * without: found for kind, found in answers.items()}

    def calibrate(self, examples: Iterable[Example]) -> dict[str, Fitted]:
        """Fit the calibration of every kind of answer, and keep it.

        If the model reads the vectors of another component, a second calibration is fitted for
        documents without them. See
        :meth:`~spacy_decoders.components.probabilities.CalibratedPipe.calibrate`.
        """
        given = list(examples)
        fitted = super().calibrate(given)
        if fitted and self._tensor_width is not None:
            plain = [Example(Doc.copy(one.predicted), one.reference) for one in given]
            for example in plain:
                example.predicted.tensor = np.zeros((0,), dtype="float32")
            fitted |= super().calibrate(plain)
        return fitted

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score examples by spaCy's keys for the targets, and ``certified``."""
        return super().score(examples, **{"targets": self.targets, **kwargs})
