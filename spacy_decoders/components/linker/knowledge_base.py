"""A concept base with the interface of spaCy's ``KnowledgeBase``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.kb import Candidate, KnowledgeBase
from spacy.tokens import Span
from spacy.vocab import Vocab

from ...arrays import Floats32, Integers32
from ...errors import ProblemError, StorageError

if TYPE_CHECKING:
    from ...knowledge.concept_base import ConceptBase
    from ...knowledge.texts import Known

__all__ = ["ConceptKnowledgeBase"]

#: The length of random vectors, if the vocabulary has none.
_MADE_UP_LENGTH = 64


class ConceptKnowledgeBase(KnowledgeBase):
    """A concept base behind spaCy's interface for entity linking.

    It works in spaCy's ``entity_linker`` and in ``graph_entity_linker``, reads its database in
    place, and is sent to worker processes as the path of its folder.

    Parameters
    ----------
    vocab
        The pipeline's vocabulary.
    base
        The concept base; None until `from_disk` opens one.
    missing
        Why there is none; any use before raises it as a `StorageError`.

    Notes
    -----
    A concept's vector is the mean of the word vectors of its title and description. If the
    vocabulary has no vectors, it is a random direction, the same in every process, by which a
    linker that learns from examples can tell concepts apart.
    """

    def __init__(self, vocab: Vocab, base: ConceptBase | None, missing: str = "") -> None:
        super().__init__(vocab, vocab.vectors_length or _MADE_UP_LENGTH)
        self.missing = missing
        if base is not None:
            self.base = base

    @cached_property
    def base(self) -> ConceptBase:
        """The concept base; raises if there is none."""
        raise StorageError(self.missing)

    def get_candidates(self, mention: Span) -> list[Candidate]:
        """Candidates of a mention by its text, the most frequent first."""
        return self.get_candidates_batch([mention])[0]

    def get_candidates_batch(self, mentions: Iterable[Span]) -> list[list[Candidate]]:
        """Candidates of several mentions, looked up at once."""
        texts = [mention.text for mention in mentions]
        return [
            [] if found is None else self._candidates(text, found.concepts, found.priors)
            for text, found in zip(texts, self.base.aliases.find(texts), strict=True)
        ]

    def get_vector(self, entity: str) -> list[float]:
        """Vector of a concept by its identifier; zeros for an unknown one."""
        concept = self.base.number(entity)
        if concept < 0:
            return [0.0] * self.entity_vector_length
        return self.concept_vector(*self.base.known([concept]))

    def to_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> None:
        """Save the concept base, unless its own folder has it as it is."""
        if self.base.changed or Path(path).resolve() != self.base.folder.resolve():
            self.base.save(path)

    def from_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> ConceptKnowledgeBase:
        """Replace the concept base by that of a folder."""
        from ...knowledge.concept_base import ConceptBase

        self.base = ConceptBase.open(path)
        self.missing = ""
        return self

    def to_bytes(self, **kwargs: Any) -> bytes:
        """Return the path of the folder, since a knowledge base may be larger than memory."""
        if self.base.changed:
            raise ProblemError(
                "knowledge base: it was changed since it was opened; save it and open what was "
                "saved, or use to_disk."
            )
        return str(self.base.folder.resolve()).encode("utf8")

    def from_bytes(
        self, bytes_data: bytes, *, exclude: Iterable[str] = ()
    ) -> ConceptKnowledgeBase:
        """Open the folder whose path `to_bytes` gave."""
        path = Path(bytes_data.decode("utf8"))
        if not path.exists():
            raise ProblemError(
                f"knowledge base: {path} is not on this machine; save with to_disk instead."
            )
        return self.from_disk(path)

    def __reduce__(self) -> tuple[Any, tuple[Vocab, ConceptBase]]:
        return type(self), (self.vocab, self.base)

    def concept_vector(self, known: Known) -> list[float]:
        """Vector of a concept, by its record."""
        if self.vocab.vectors_length:
            words = f"{known.title} {known.description}".split()
            vectors = [self.vocab.get_vector(word) for word in words]
            return np.asarray(np.mean(vectors, axis=0), np.float64).tolist()
        digest = hashlib.blake2b((known.id or "").encode("utf8"), digest_size=8).digest()
        rng = np.random.default_rng(int.from_bytes(digest, "little"))
        direction = rng.standard_normal(_MADE_UP_LENGTH)
        return (direction / np.linalg.norm(direction)).tolist()

    def _candidates(self, alias: str, concepts: Integers32, priors: Floats32) -> list[Candidate]:
        alias_hash = self.vocab.strings.add(alias)
        degrees = self.base.graph.degree
        return [
            Candidate(
                kb=self,
                entity_hash=self.vocab.strings.add(known.id or ""),
                entity_freq=float(degrees[known.number]),
                entity_vector=self.concept_vector(known),
                alias_hash=alias_hash,
                prior_prob=prior,
            )
            for known, prior in zip(
                self.base.known(concepts.tolist()), priors.tolist(), strict=True
            )
        ]
