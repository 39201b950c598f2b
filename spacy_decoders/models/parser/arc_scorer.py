"""The network of the parser: one encoder, and an output layer for each kind of score."""

from collections.abc import Callable, Sequence
from typing import Any

from spacy.tokens import Doc
from thinc.api import Dropout, Linear, Model, Relu, chain
from thinc.types import Floats2d

from ..bilstm import BiLSTM
from ..inference.products import with_own_products
from ..inference.tok2vec import Tok2VecInference
from .biaffine import BiaffineArcs
from .factors import FactorWeights
from .label_templates import LabelTemplates
from .labels import BiaffineLabels
from .relatives import Relatives, Tagged

__all__ = ["ArcScorer", "set_sizes"]

#: Initial dropout; ``spacy train`` sets its own.
DROPOUT = 0.2


def ArcScorer(
    tok2vec: Model[list[Doc], list[Floats2d]],
    *,
    lstm_width: int | None = None,
    arc_width: int = 128,
    label_width: int = 128,
    label_rows: int | None = None,
    label_dropout: float = 0.0,
    tag_width: int | None = None,
    relatives_width: int | None = None,
    boundary_width: int = 32,
    factor_rows: int = 2**18,
) -> Model[list[Doc], Floats2d]:
    """Build the parser's network on any token-to-vector layer.

    The model itself maps documents to token vectors, shape (tokens of all documents, width).
    Its references ``arcs``, ``labels``, ``boundaries`` and ``tags`` are the layers on those
    vectors, and ``factors`` holds the weights of the non-local factors.

    Parameters
    ----------
    tok2vec
        Documents to a list of token vectors; spaCy's own layers, listeners included.
    lstm_width
        State size of each direction of a BiLSTM on top; None for none.
    arc_width, label_width, boundary_width
        Hidden sizes of the arc, label and sentence-boundary layers.
    tag_width
        Size of the embedding of each token's likely tag, which is appended to its vector for the
        other layers (:func:`.Tagged`); None for none.
    relatives_width
        Size of the messages that each token receives from its likely head and dependents
        (:func:`.Relatives`) before labels are scored, and arcs are scored a second time, to be
        added to the first scores; None for none.
    label_rows
        Size of the table into which templates of words, suffixes and tags at both ends of an arc
        are hashed, whose weights are added to label scores (:func:`.LabelTemplates`): they help
        most on small treebanks. None for none.
    label_dropout
        The least dropout of these templates in training, whatever that of the other layers: many
        templates apply to each arc, and would memorise a small treebank.
    factor_rows
        Size of the table into which the templates of each factor family are hashed; a power
        of two.
    """
    steps: list[Model[Any, Any]] = [tok2vec]
    width = tok2vec.get_dim("nO")
    if lstm_width:
        steps += [BiLSTM(width, lstm_width), Dropout(DROPOUT)]
        width = 2 * lstm_width
    encoder: Model[list[Doc], list[Floats2d]] = chain(*steps) if len(steps) > 1 else tok2vec
    seen, tagged = width, None
    if tag_width:
        tagged = Tagged(tag_width, width)
        seen = tagged.get_dim("nO")
    arcs = BiaffineArcs(arc_width, seen, DROPOUT)
    relatives = arcs_again = None
    of_labels = seen
    if relatives_width:
        relatives = Relatives(relatives_width, seen, DROPOUT)
        of_labels = relatives.get_dim("nO")
        arcs_again = BiaffineArcs(arc_width, of_labels, DROPOUT)
    labels = BiaffineLabels(label_width, of_labels, dropout=DROPOUT)
    label_templates = None
    if label_rows:
        label_templates = LabelTemplates(label_rows, dropout=DROPOUT, least_dropout=label_dropout)
    # to the log-odds that each token is the first of a sentence
    boundaries: Model[Floats2d, Floats2d] = chain(
        Relu(boundary_width, nI=seen, dropout=DROPOUT), Linear(1, boundary_width)
    )
    tags: Model[Floats2d, Floats2d] = Linear(nI=width)
    factors = FactorWeights(factor_rows)
    # in the order in which they are saved
    layers: dict[str, Model[Any, Any] | None] = {
        "encoder": encoder,
        "arcs": arcs,
        "labels": labels,
        "boundaries": boundaries,
        "tags": tags,
        "factors": factors,
        "relatives": relatives,
        "arcs_again": arcs_again,
        "tagged": tagged,
        "label_templates": label_templates,
    }
    model: Model[list[Doc], Floats2d] = Model(
        "arc_scorer",
        _Encoding(),
        init=_init,
        dims={"nO": width},
        layers=[layer for layer in layers.values() if layer],
        refs={"tok2vec": tok2vec, **layers},
    )
    return with_own_products(model)


def set_sizes(model: Model[list[Doc], Floats2d], labels: int, tags: int) -> None:
    """Set the numbers of labels and tags of a network that is not initialized yet.

    Both layers have at least one output, so that a treebank without labels or tags needs no other
    architecture.
    """
    sizes = {"labels": labels, "label_templates": labels, "tags": tags, "tagged": tags}
    for name, size in sizes.items():
        layer = model.maybe_get_ref(name)
        if layer is not None:
            layer.set_dim("nT" if name == "tagged" else "nO", max(size, 1))


def _init(model: Model[list[Doc], Floats2d], X: list[Doc] | None = None, Y: object = None) -> None:
    model.get_ref("encoder").initialize(X=X)
    for layer in model.layers[1:]:
        layer.initialize()


class _Encoding:
    """Encodes documents: in training layer by layer, otherwise with compiled kernels."""

    def __init__(self) -> None:
        self._inference = Tok2VecInference()

    def __call__(
        self, model: Model[list[Doc], Floats2d], X: Sequence[Doc], is_train: bool
    ) -> tuple[Floats2d, Callable[[Floats2d], list[Doc]]]:
        ops: Any = model.ops
        lengths = [len(doc) for doc in X]
        encoder, tok2vec = model.get_ref("encoder"), model.get_ref("tok2vec")
        if is_train:
            vectors, backprop_encoder = encoder(list(X), is_train)
        else:
            vectors = self._inference.predict(tok2vec, X)
            for layer in encoder.layers[1:] if encoder is not tok2vec else ():
                vectors = layer.predict(vectors)

        def backprop(d_vectors: Floats2d) -> list[Doc]:
            return backprop_encoder(ops.unflatten(d_vectors, lengths))

        if not sum(lengths):
            return ops.alloc2f(0, model.get_dim("nO")), backprop
        return ops.flatten(vectors), backprop
