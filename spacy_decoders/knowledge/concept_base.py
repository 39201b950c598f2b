"""A folder with all data of some concepts, opened in milliseconds, and changed while in use."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from pydantic import ValidationError

from ..arrays import checked_whole
from ..errors import ProblemError, StorageError
from ..files import write_atomically
from ..graph import ConceptGraph
from .aliases import AliasTable
from .concepts import QID, Concept
from .contents import finish, write_concept_base
from .database import FOLDER, NAME, Database
from .edits import Edits
from .texts import Column, Known, TextIndex, TitleWords, known_of

__all__ = ["ConceptBase", "write_concept_base"]

#: Held while a base takes a copy of its file.
_COPYING = threading.Lock()


class ConceptBase:
    """Concepts with their identifiers, names, aliases, graph and words.

    Concepts are numbered, in the order of a hash of their identifiers; those that are added
    later follow, and numbers of removed ones are not used again. A base may be shared by
    threads, and travels to other processes by its folder.

    What is opened is never changed by :meth:`add`, :meth:`update` and :meth:`remove`: with the
    first of them the object takes a copy, which other processes that it travelled to share,
    and :meth:`save` writes it. A base that was opened `live` is changed where it lies; everybody
    who has opened it sees each change at once.

    Attributes
    ----------
    folder
        Where it lies.
    manifest
        Version, counts and checksums.
    ids, titles, descriptions
        By concept number.
    title_words
        How rare the words of titles are.
    aliases
        Mentions and the concepts that they may mean.
    text
        Finds concepts by words; None where it was built without.

    Examples
    --------
    >>> base = ConceptBase.build(
    ...     [
    ...         {"id": "sun", "title": "Sun", "type": "star", "links": ["venus"]},
    ...         {"id": "venus", "title": "Venus", "aliases": {"Venus": 40, "morning star": 3}},
    ...     ]
    ... )
    >>> base.look_up("Morning star")[0]["id"]
    'venus'
    >>> _ = base.add({"id": "mars", "title": "Mars", "aliases": ["red planet"], "links": ["sun"]})
    >>> base.look_up("the sun"), base.look_up("red planet")[0]["title"]
    ([], 'Mars')
    >>> base.update("sun", aliases=["the sun"])
    >>> base.remove("venus")
    >>> base.look_up("the sun")[0]["type"], base.look_up("venus"), base.number("venus")
    ('star', [], -1)
    """

    def __init__(
        self, folder: Path, manifest: Mapping[str, Any], database: Database, graph: ConceptGraph
    ) -> None:
        self.folder = folder
        self.manifest = dict(manifest)
        self._edits = Edits(database, graph)
        self._database = database
        self._in_place = False
        self.ids = Column(database, "id")
        self.titles = Column(database, "title")
        self.descriptions = Column(database, "description")
        self.title_words = TitleWords(database)
        self.aliases = AliasTable(database)
        self.text = TextIndex(database) if database.searched else None

    @classmethod
    def build(
        cls,
        concepts: Iterable[Concept | Mapping[str, Any]],
        folder: str | Path | None = None,
        **options: Any,
    ) -> ConceptBase:
        """Write a base of concepts and open it.

        Parameters
        ----------
        concepts
            Concepts, or mappings with their fields: ``id`` and, as far as known, ``title``,
            ``aliases`` (a list, or an object of counts), ``links``, ``description``,
            ``text``, ``type``, ``qid`` and ``url``.
        folder
            Where to put it; None for a temporary folder, which goes with the object.
        **options
            Of :func:`write_concept_base`: ``source``, ``url``, ``hubs``, ``progress``.

        Raises
        ------
        ProblemError
            If a concept has no identifier or a wrong field, or there is no concept.
        """
        given = map(_concept, concepts)
        if folder is not None:
            return cls.open(write_concept_base(folder, given, **options))
        parent = tempfile.mkdtemp(prefix="concepts-")
        base = cls.open(write_concept_base(Path(parent) / "base", given, **options))
        weakref.finalize(base, _remove, parent, os.getpid())
        return base

    @classmethod
    def open(cls, folder: str | Path, *, live: bool = False) -> ConceptBase:
        """Open a folder that `write_concept_base` made.

        Versions, sizes and the tables that there are are checked, and that all indices of the
        graph are within it; what a query finds is checked then. :meth:`verify` reads all.

        Parameters
        ----------
        folder
            The folder.
        live
            Whether changes are written to it, and changes by others seen. Everybody who reads
            the folder must open it after somebody has first opened it so.

        Raises
        ------
        StorageError
            If it is no such folder, of another version, or a file is missing, foreign, cut
            short, or holds what can't be.
        """
        stored = FOLDER.read(folder)
        url = stored.header.get("url", "")
        if not isinstance(url, str) or (url and not url.startswith(("http://", "https://"))):
            raise StorageError(f"folder: the url of {stored.folder} is none of the web: {url!r}.")
        header = dict(stored.header)
        if live and NAME in header["files"]:  # what changes has no checksum
            header["files"] = {k: v for k, v in header["files"].items() if k != NAME}
            write_atomically(stored.folder / FOLDER.header_name, json.dumps(header, indent=1))
        path = (stored.folder / NAME).resolve()
        if path.parent != stored.folder:
            raise StorageError(f"folder: {path} is a link that leads out of the folder.")
        database = Database(path, live=NAME not in header["files"])
        graph = ConceptGraph.open(stored.folder / "graph")
        base = cls(stored.folder, header, database, graph)
        base._edits.check_graph()
        base._in_place = live
        return base

    def verify(self) -> None:
        """Compare every file with its checksum.

        Raises
        ------
        StorageError
            If a file was changed.
        """
        FOLDER.read(self.folder, verify=True)
        self._database.check()
        ConceptGraph.open(self.folder / "graph", verify=True)

    def save(self, folder: str | Path, *, hubs: int = 0) -> ConceptBase:
        """Write the base with all its changes, and open what was written.

        Saved into its own folder, the base itself is then what was written, and returned.

        Parameters
        ----------
        folder
            Where to put it; a knowledge base that is there already is replaced.
        hubs
            As for :func:`write_concept_base`.
        """
        graph = self.graph
        if hubs:
            graph.index_hubs(hubs)
        header = {
            name: value
            for name, value in self.manifest.items()
            if name not in ("format", "version", "files")
        }

        def write(inside: Path) -> None:
            graph.save(inside / "graph")
            self._database.copy_to(inside / NAME)
            header.update(finish(inside / NAME))

        FOLDER.write(folder, {}, header, write)
        saved = ConceptBase.open(folder)
        if saved.folder != self.folder:
            return saved
        # the copy with the changes is part of the folder now
        vars(self).update(vars(saved))
        return self

    # --- one concept ------------------------------------------------------------

    def __len__(self) -> int:
        """The number of concepts; numbers of removed ones are not used again."""
        return self._database.size

    def __contains__(self, identity: object) -> bool:
        return isinstance(identity, str) and self.number(identity) >= 0

    def __iter__(self) -> Iterator[Concept]:
        """The concepts, removed ones left out; their aliases are normalised."""
        neighbours = self.graph.neighbours
        for number in range(len(self)):
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

    @property
    def graph(self) -> ConceptGraph:
        """Links between concepts; a vertex is a concept number.

        After a change of links it is built anew when it is next needed, a second for some ten
        million links, without an index of hubs.
        """
        return self._edits.graph

    def number(self, identity: str) -> int:
        """Number of the concept with an identifier, -1 if there is none."""
        return int(self.ids.find([identity])[0])

    def id(self, concept: int) -> str:
        """Identifier of a concept."""
        if concept < 0:
            raise IndexError(concept)
        return str(self.ids[concept])

    def known(self, concepts: Sequence[int]) -> list[Known]:
        """What is known of some concepts, read at once."""
        return known_of(self._database, concepts)

    def type(self, concept: int) -> str | None:
        """What kind of thing a concept is, None where unknown."""
        return self.known([concept])[0].type or None

    @property
    def type_names(self) -> list[str]:
        """The types that there are."""
        return [name for (name,) in self._database.ask("SELECT type FROM types ORDER BY 1")]

    def qid(self, concept: int) -> str | None:
        """The Wikidata item of a concept, None where unknown."""
        return self.known([concept])[0].qid

    def numbers_of_qid(self, qid: str) -> list[int]:
        """The concepts that are an item of Wikidata, by its name such as ``"Q925"``."""
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
        """Whether it is known of any concept which item of Wikidata it is."""
        return bool(self._database.ask("SELECT 1 FROM concepts WHERE qid IS NOT NULL LIMIT 1"))

    def url(self, concept: int | Known) -> str | None:
        """The page about a concept, by its number or what is known of it; None where unknown."""
        known = concept if isinstance(concept, Known) else self.known([concept])[0]
        if known.url.startswith(("http://", "https://")):  # a folder may hold anything
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
        """The aliases of a concept, normalised, and how often each was counted."""
        rows = self._database.ask(
            "SELECT alias, count FROM candidates WHERE concept = ? ORDER BY count DESC, alias",
            int(concept),
        )
        return dict(rows)

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

    def look_up(self, mention: str, limit: int | None = None) -> list[dict[str, Any]]:
        """What a mention may mean, the most frequent first, as plain types.

        Parameters
        ----------
        mention
            A text; case makes no difference to what is found.
        limit
            The most candidates.

        Returns
        -------
        Of each candidate ``id``, ``title``, ``description``, ``type``, ``qid``, ``url``, and
        ``prior``, the share of the mention's uses that mean it; ``written``, the share of its
        own uses that have the capitals of the mention, None where unknown.

        Raises
        ------
        ProblemError
            If the mention is no string, or the limit no whole number.
        """
        if not isinstance(mention, str):
            raise ProblemError(f"mention: expected a string; got {mention!r}.")
        if limit is not None:
            checked_whole("limit", limit, low=0)
        found = self.aliases.all_of(mention)
        self.known(found.concepts[:limit].tolist())  # all at once
        return [
            {**self._shown(concept), "prior": prior, "written": None if np.isnan(share) else share}
            for concept, prior, share in zip(
                found.concepts[:limit].tolist(),
                found.priors[:limit].tolist(),
                found.written(mention)[:limit].tolist(),
                strict=True,
            )
        ]

    def link_probability(self, mention: str) -> float | None:
        """How often a text is a link where it occurs at all; None if that is not known."""
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
            number = concept if 0 <= concept < len(self) else -1
            number = -1 if number >= 0 and not self.id(number) else number
        if number < 0:
            raise ProblemError(f"concept: there is no {concept!r} in this knowledge base.")
        return number

    # --- changes ----------------------------------------------------------------

    def add(self, concept: Concept | Mapping[str, Any]) -> int:
        """Add a concept, and return its number.

        Links to concepts that are not there are left out.

        Raises
        ------
        ProblemError
            If its identifier is taken, or a field is wrong.
        """
        concept = _concept(concept)
        if self.number(concept.id) >= 0:
            raise ProblemError(f"concept: {concept.id!r} is there already; update it instead.")
        return self._changing().add(concept)

    def update(self, identity: str, **fields: Any) -> None:
        """Replace fields of a concept; what is not named stays.

        Raises
        ------
        ProblemError
            If there is no such concept or field, or its value is wrong.
        """
        number = self._found(identity)
        if "id" in fields:
            raise ProblemError("id: it can't be changed; remove the concept and add another.")
        given = {"title": self.titles[number], **fields, "id": identity}
        self._changing().update(number, _concept(given), frozenset(fields))

    def remove(self, identity: str) -> None:
        """Take a concept out, with its aliases and links.

        Raises
        ------
        ProblemError
            If there is no such concept.
        """
        self._changing().remove(self._found(identity))

    @property
    def changed(self) -> bool:
        """Whether it has changes that a copy of its folder would not have."""
        return self._database.file.live

    def _changing(self) -> Edits:
        with _COPYING:
            if not self._in_place and self._database.file.path.parent == self.folder:
                place = tempfile.mkdtemp(prefix="concepts-")
                weakref.finalize(self._database, _remove, place, os.getpid())
                self._database.go_live(Path(place) / NAME)
        return self._edits

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # the folder travels to other processes, not the contents
        own = self._database.file.path.parent == self.folder
        return _reopened, (self.folder, self._in_place, None if own else self._database.file.path)


def _reopened(folder: Path, live: bool, copy: Path | None) -> ConceptBase:
    base = ConceptBase.open(folder, live=live)
    if copy is not None:
        if not copy.exists():
            raise StorageError(
                f"folder: the changes of the knowledge base of {folder} ended with the process "
                "that made them; save it to a folder of its own."
            )
        base._database.read_copy(copy)
    return base


def _remove(place: str, process: int) -> None:
    if os.getpid() == process:  # not in one that was forked
        shutil.rmtree(place, ignore_errors=True)


def _concept(given: Concept | Mapping[str, Any]) -> Concept:
    try:
        return given if isinstance(given, Concept) else Concept.of(given)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"concept: {error}.") from error
