"""A folder with all data of some concepts, opened in milliseconds, and changed while in use."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ..arrays import checked_whole
from ..errors import ProblemError, StorageError
from ..graph import ConceptGraph
from ..graph.storage import StoredArrays
from ..graph.strings import StringTable
from .aliases import AliasTable
from .concepts import QID, Concept, checked
from .contents import Contents, write_concept_base
from .edits import Edits
from .layout import FOLDER
from .saving import concepts_of, contents_of
from .string_index import StringIndex
from .text_index import TextIndex
from .title_words import TitleWords

__all__ = ["ConceptBase", "Contents", "write_concept_base"]


@dataclass(eq=False)
class ConceptBase:
    """Concepts with their identifiers, names, aliases, graph and words.

    Concepts are numbered, in the order of a hash of their identifiers; those that are added
    later follow. Arrays are mapped into memory, not read. Changes by :meth:`add`,
    :meth:`update` and :meth:`remove` take effect at once, on this object; :meth:`save` writes
    them.

    Attributes
    ----------
    folder
        Where it lies.
    manifest
        Version, counts and checksums.
    ids
        Identifiers; a row is a concept number.
    titles, descriptions
        By concept number.
    title_words
        How rare the words of titles are.
    aliases
        Mentions and the concepts that they may mean.
    text
        Finds concepts by words; None where it was built without.
    texts
        By concept number, None where it was built without, or they are the descriptions.
    type_names
        The types that there are.

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

    folder: Path
    manifest: dict[str, Any]
    ids: StringIndex
    titles: StringTable
    descriptions: StringTable
    title_words: TitleWords
    aliases: AliasTable
    text: TextIndex | None
    texts: StringTable | None
    urls: StringTable | None
    type_names: list[str]
    type_numbers: NDArray[np.int16]
    qid_numbers: NDArray[np.int64] | None
    _graph: ConceptGraph
    _edits: Edits | None = field(default=None, repr=False)

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
        contents, _ = Contents.of(map(_concept, concepts))
        if folder is not None:
            return write_concept_base(folder, contents, **options)
        parent = tempfile.mkdtemp(prefix="concepts-")
        base = write_concept_base(Path(parent) / "base", contents, **options)
        weakref.finalize(base, shutil.rmtree, parent, ignore_errors=True)
        return base

    @classmethod
    def open(cls, folder: str | Path) -> ConceptBase:
        """Open a folder that `write_concept_base` made.

        Its contents are checked: sizes and types, and that all indices are within their arrays.
        The indices of its graph are read for that; :meth:`verify` compares all files with their
        checksums.

        Raises
        ------
        StorageError
            If it is no such folder, of another version, or a file is missing, foreign, cut
            short, or holds what can't be.
        """
        stored = FOLDER.read(folder)
        ids = StringIndex.of_stored(stored, "ids")
        count = len(ids)
        graph = ConceptGraph.open(stored.folder / "graph")
        if len(graph) != count or graph.vertices[[0, -1]].tolist() != [0, count - 1]:
            raise StorageError(
                f"folder: {stored.folder / 'graph'} is no graph of the {count} concepts of the "
                "knowledge base; build it again."
            )
        url = stored.header.get("url", "")
        if not isinstance(url, str) or (url and not url.startswith(("http://", "https://"))):
            raise StorageError(f"folder: the url of {stored.folder} is none of the web: {url!r}.")
        text = "text.sqlite" in stored.header["files"]
        names, types = _types(stored, count)
        return cls(
            folder=stored.folder,
            manifest=dict(stored.header),
            ids=ids,
            titles=_required(stored, "titles", count),
            descriptions=_required(stored, "descriptions", count),
            title_words=TitleWords.of_stored(stored),
            aliases=AliasTable.of_stored(stored, count),
            text=TextIndex(stored.folder / "text.sqlite", concepts=count) if text else None,
            texts=_strings(stored, "texts", count),
            urls=_strings(stored, "urls", count),
            type_names=names,
            type_numbers=types,
            qid_numbers=_qids(stored, count),
            _graph=graph,
        )

    def verify(self) -> None:
        """Compare every file with its checksum.

        Raises
        ------
        StorageError
            If a file was changed.
        """
        FOLDER.read(self.folder, verify=True)
        ConceptGraph.open(self.folder / "graph", verify=True)

    def save(self, folder: str | Path, *, hubs: int = 0) -> ConceptBase:
        """Write the base with all its changes, and open what was written.

        Concepts may have other numbers there; saved into its own folder, the base itself is
        then what was written, and returned. Changed contents pass through memory.

        Parameters
        ----------
        folder
            Where to put it; a knowledge base that is there already is replaced.
        hubs
            As for :func:`write_concept_base`.
        """
        source, url = (str(self.manifest.get(name, "")) for name in ("source", "url"))
        contents = contents_of(self)
        saved = write_concept_base(folder, contents, source=source, url=url, hubs=hubs)
        if saved.folder.resolve() != self.folder.resolve():
            return saved
        # the changes that would be repeated in another process are part of the folder now
        vars(self).update(vars(saved))
        return self

    # --- one concept ------------------------------------------------------------

    def __len__(self) -> int:
        """The number of concepts; numbers of removed ones are not used again."""
        return len(self.ids)

    def __contains__(self, identity: object) -> bool:
        return isinstance(identity, str) and self.number(identity) >= 0

    def __iter__(self) -> Iterator[Concept]:
        """The concepts, removed ones left out."""
        return concepts_of(self)

    @property
    def graph(self) -> ConceptGraph:
        """Links between concepts; a vertex is a concept number.

        After a change of links it is built anew when it is next needed, a second for some ten
        million links, without an index of hubs.
        """
        return self._graph if self._edits is None else self._edits.graph

    def number(self, identity: str) -> int:
        """Number of the concept with an identifier, -1 if there is none."""
        return self.ids.find_one(identity)

    def id(self, concept: int) -> str:
        """Identifier of a concept."""
        if concept < 0:
            raise IndexError(concept)
        return self.ids.table[concept]

    def type(self, concept: int) -> str | None:
        """What kind of thing a concept is, None where unknown."""
        number = int(self.type_numbers[concept])
        return self.type_names[number] if number >= 0 else None

    def qid(self, concept: int) -> str | None:
        """The Wikidata item of a concept, None where unknown."""
        if self.qid_numbers is not None and self.qid_numbers[concept] > 0:
            return f"Q{self.qid_numbers[concept]}"
        identity = self.id(concept)
        return identity if QID.fullmatch(identity) else None

    def numbers_of_qid(self, qid: str) -> list[int]:
        """The concepts that are an item of Wikidata, by its name such as ``"Q925"``."""
        if not QID.fullmatch(qid):
            return []
        found = {self.number(qid)}
        if self.qid_numbers is not None:
            found.update(np.flatnonzero(self.qid_numbers == int(qid[1:])).tolist())
        # a removed concept keeps its place
        return sorted(of for of in found if of >= 0 and self.number(self.id(of)) == of)

    def url(self, concept: int) -> str | None:
        """The page about a concept, None where unknown."""
        own = "" if self.urls is None else self.urls[concept]
        if own.startswith(("http://", "https://")):  # a folder may hold anything
            return own
        url: str = self.manifest.get("url") or ""
        qid = self.qid(concept)
        if not url or ("{qid}" in url and qid is None):
            return None
        for name, text in (
            ("id", self.id(concept)),
            ("title", self.titles[concept].replace(" ", "_")),
            ("qid", qid or ""),
        ):
            url = url.replace(f"{{{name}}}", quote(text, safe="(),:!*'@"))
        return url

    def names(self, concept: int) -> dict[str, float]:
        """The aliases of a concept, normalised, and how often each was counted.

        All candidates are searched: some milliseconds for a million.
        """
        table = self.aliases
        found: dict[str, float] = {}
        for row in table.rows_of(concept):
            place = table.row(row)[0].tolist().index(concept)
            found[table.name(row)] = float(table.counts(row)[place])
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

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
            "links": self.ids.table.take(self.graph.neighbours(number)),
            "text": (self.descriptions if self.texts is None else self.texts)[number],
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
        row = self.aliases.find_one(mention)
        concepts, priors = self.aliases.row(row)
        written = self.aliases.written(row, mention)
        return [
            {**self._shown(concept), "prior": prior, "written": None if np.isnan(share) else share}
            for concept, prior, share in zip(
                concepts[:limit].tolist(),
                priors[:limit].tolist(),
                written[:limit].tolist(),
                strict=True,
            )
        ]

    def link_probability(self, mention: str) -> float | None:
        """How often a text is a link where it occurs at all; None if that is not known."""
        return self.aliases.link_probability(mention)

    def _shown(self, concept: int) -> dict[str, Any]:
        return {
            "id": self.id(concept),
            "title": self.titles[concept],
            "description": self.descriptions[concept],
            "type": self.type(concept),
            "qid": self.qid(concept),
            "url": self.url(concept),
        }

    def _found(self, concept: int | str) -> int:
        if isinstance(concept, str):
            number = self.number(concept)
        else:
            number = concept if 0 <= concept < len(self) else -1
            number = -1 if number >= 0 and self.number(self.id(number)) < 0 else number
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
        """Whether it was changed since it was opened."""
        return self._edits is not None

    def _changing(self) -> Edits:
        if self._edits is None:
            self._edits = Edits(self, self._graph)
        return self._edits

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # the folder and what was changed travel to other processes, not the contents
        return _reopened, (self.folder, [] if self._edits is None else self._edits.journal)


def _reopened(folder: Path, journal: list[tuple[str, Any]]) -> ConceptBase:
    base = ConceptBase.open(folder)
    for step in journal:
        base._changing().repeat(step)
    return base


def _concept(given: Concept | Mapping[str, Any]) -> Concept:
    try:
        return checked(given) if isinstance(given, Concept) else Concept.of(given)
    except ProblemError:
        raise
    except (TypeError, ValueError) as error:
        raise ProblemError(f"concept: {error}.") from error


def _required(stored: StoredArrays, name: str, count: int) -> StringTable:
    return StringTable.of_stored(stored, f"{name}.data", f"{name}.offsets", count)


def _strings(stored: StoredArrays, name: str, count: int | None) -> StringTable | None:
    if f"{name}.data" not in stored or f"{name}.offsets" not in stored:
        return None
    return StringTable.of_stored(stored, f"{name}.data", f"{name}.offsets", count)


def _types(stored: StoredArrays, count: int) -> tuple[list[str], NDArray[np.int16]]:
    names = _strings(stored, "types", None)
    if names is None or "types.numbers" not in stored:
        return [], np.broadcast_to(np.int16(-1), (count,))
    numbers = stored["types.numbers"]
    stored.check_size("types.numbers", count)
    if numbers.min(initial=-1) < -1 or numbers.max(initial=-1) >= len(names):
        stored.refuse("types.numbers", f"an entry is not in the range from -1 to {len(names) - 1}")
    return list(names), numbers


def _qids(stored: StoredArrays, count: int) -> NDArray[np.int64] | None:
    if "qids" not in stored:
        return None
    stored.check_size("qids", count)
    return stored["qids"]
