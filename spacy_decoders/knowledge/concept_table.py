"""Looking up what a base knows of a concept, and the concepts that a mention may mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import numpy as np
from pydantic import ValidationError

from ..arrays import checked_indices
from ..errors import ProblemError
from ..graph import ConceptGraph
from .aliases import AliasTable, in_case, letter_case, normalise
from .concepts import QID, Concept
from .database import Database
from .texts import Column, Known, TextIndex, TitleWords, known_of

__all__ = ["ConceptTable"]


class ConceptTable:
    """The concepts of a base, by their numbers, and the aliases that mean them."""

    graph: ConceptGraph

    def __init__(self, manifest: Mapping[str, Any], database: Database) -> None:
        self.manifest = dict(manifest)
        self._database = database
        self.ids = Column(database, "id")
        self.titles = Column(database, "title")
        self.descriptions = Column(database, "description")
        self.title_words = TitleWords(database)
        self.aliases = AliasTable(database)
        self.text = TextIndex(database) if database.searched else None

    def __len__(self) -> int:
        """The number of concepts, without removed ones, whose numbers are not used again."""
        return self._database.count

    def __contains__(self, identity: object) -> bool:
        return isinstance(identity, str) and self.number(identity) >= 0

    def __iter__(self) -> Iterator[Concept]:
        """The concepts, removed ones left out."""
        neighbours = self.graph.neighbours
        for number in range(self._database.size):
            (known,) = self.known([number])
            if known.id is not None:
                try:
                    yield Concept(
                        known.id,
                        known.title,
                        self.names(number),
                        tuple(self.ids.take(neighbours(number))),
                        known.description,
                        known.text,
                        known.type,
                        known.qid or "",
                        known.url,
                    )
                except ValidationError as error:
                    raise self._database.damaged(error) from error

    def number(self, identity: str) -> int:
        """The number of the concept with an identifier, -1 if there is none."""
        return int(self.ids.find([identity])[0])

    def id(self, concept: int) -> str:
        """The identifier of a concept."""
        return self.known([concept])[0].id or ""

    def known(self, concepts: Sequence[int]) -> list[Known]:
        """What is known of some concepts, read at once."""
        size = self._database.size
        numbers = checked_indices("concepts", concepts, (None,), low=0, high=size)
        return known_of(self._database, numbers.tolist())

    @property
    def type_names(self) -> list[str]:
        """The types that there are."""
        return [name for (name,) in self._database.ask("SELECT type FROM types ORDER BY 1")]

    def numbers_of_qid(self, qid: str) -> list[int]:
        """The numbers of the concepts that are a Wikidata item, such as ``"Q925"``."""
        if not QID.fullmatch(qid):
            return []
        rows = self._database.ask(
            "SELECT number FROM concepts WHERE (id = ? OR qid = ?) AND id IS NOT NULL ORDER BY 1",
            qid,
            int(qid[1:]),
        )
        return [number for (number,) in rows]

    @property
    def has_items(self) -> bool:
        """Whether the Wikidata item of any concept is known."""
        return bool(self._database.ask("SELECT 1 FROM concepts WHERE qid IS NOT NULL LIMIT 1"))

    def url(self, concept: int | Known) -> str | None:
        """The address of the page about a concept, given by its number or fields; or None."""
        known = concept if isinstance(concept, Known) else self.known([concept])[0]
        if known.url.startswith(("http://", "https://")):  # a folder is untrusted input
            return known.url
        url: str = self.manifest.get("url") or ""
        if not url or ("{qid}" in url and known.qid is None):
            return None
        for name, text in (
            ("id", known.id or ""),
            ("title", known.title.replace(" ", "_")),
            ("qid", known.qid or ""),
        ):
            if f"{{{name}}}" in url:
                url = url.replace(f"{{{name}}}", quote(text, safe="(),:!*'@"))
        return url

    def names(self, concept: int) -> dict[str, float]:
        """The aliases of a concept, with their counts.

        Apart from the title, a base keeps which of :data:`~.aliases.CASES` they are written in.
        """
        (known,) = self.known([concept])
        rows = self._database.ask(
            "SELECT alias, count, lower, capitalised, upper, mixed FROM candidates "
            "WHERE concept = ? ORDER BY count DESC, alias",
            known.number,
        )
        title, found = known.title, dict[str, float]()
        name, own = normalise(title), letter_case(title)
        for alias, count, *cases in rows:
            for case, uses in enumerate(cases):
                if uses:
                    found[title if (alias, case) == (name, own) else in_case(alias, case)] = uses
            if (unknown := count - sum(cases)) > 1e-6 * count:
                found[alias] = found.get(alias, 0.0) + unknown
        return found

    def describe(self, concept: int | str) -> dict[str, Any]:
        """All that is known of a concept, as plain types.

        Parameters
        ----------
        concept
            Its identifier or its number.

        Raises
        ------
        ProblemError
            If there is no such concept.
        """
        number = self._found(concept)
        return {
            **self._shown(number),
            "aliases": self.names(number),
            "links": self.ids.take(self.graph.neighbours(number)),
            "text": self.known([number])[0].text,
        }

    def look_up(self, mention: str) -> list[dict[str, Any]]:
        """What a mention may mean, the most frequent first, as plain types.

        Parameters
        ----------
        mention
            A text; case makes no difference to what is found.

        Returns
        -------
        Of each candidate ``id``, ``title``, ``description``, ``type``, ``qid``, ``url``, and
        ``prior``, the share of the mention's uses that mean it; ``written``, the share of these
        that are in the letter case of the mention, None where unknown.

        Raises
        ------
        ProblemError
            If the mention is no string.
        """
        if not isinstance(mention, str):
            raise ProblemError(f"mention: expected a string; got {mention!r}.")
        found = self.aliases.all_of(mention)
        self.known(found.concepts.tolist())  # all at once
        return [
            {**self._shown(concept), "prior": prior, "written": None if np.isnan(share) else share}
            for concept, prior, share in zip(
                found.concepts.tolist(),
                found.priors.tolist(),
                found.written(mention).tolist(),
                strict=True,
            )
        ]

    def link_probability(self, mention: str) -> float | None:
        """The share of a text's occurrences that are links; None where unknown."""
        return self.aliases.all_of(mention).link

    def _shown(self, concept: int) -> dict[str, Any]:
        (known,) = self.known([concept])
        return {
            "id": known.id or "",
            "title": known.title,
            "description": known.description,
            "type": known.type or None,
            "qid": known.qid,
            "url": self.url(known),
        }

    def _found(self, concept: int | str) -> int:
        if isinstance(concept, str):
            number = self.number(concept)
        else:
            is_number = isinstance(concept, int | np.integer)
            is_known = is_number and 0 <= concept < self._database.size and self.id(concept)
            number = int(concept) if is_known else -1
        if number < 0:
            raise ProblemError(f"concept: there is no {concept!r} in this knowledge base.")
        return number
