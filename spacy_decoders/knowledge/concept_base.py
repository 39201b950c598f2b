"""A folder with all data of some concepts, opened in milliseconds and editable in use."""

from __future__ import annotations

import os
import tempfile
import warnings
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..arrays import checked_list, checked_type
from ..errors import StorageError
from ..graph import ConceptGraph
from .concepts import Concept
from .contents import finish, lost_links, write_concept_base
from .database import FOLDER, NAME, Database
from .edits import EditableConcepts, checked_concept, remove_folder

__all__ = ["ConceptBase", "write_concept_base"]


class ConceptBase(EditableConcepts):
    """Concepts with their identifiers, names, aliases, graph and words.

    Concepts are numbered in the order of a hash of their identifiers; those that are added
    later follow, and numbers of removed ones are not used again. A base can be shared by
    threads; other processes open its folder.

    :meth:`add`, :meth:`update` and :meth:`remove` never change the folder: the first of them makes
    a copy, which the processes that the object was sent to share, and which :meth:`save` writes. A
    base that was opened `live` is changed in place; all who have it open see each change at once.

    Attributes
    ----------
    folder
        Its folder.
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

    @classmethod
    def build(
        cls,
        concepts: Iterable[Concept | Mapping[str, Any]],
        folder: str | Path | None = None,
        **options: Any,
    ) -> ConceptBase:
        """Write a base of concepts and open it.

        Links to concepts that do not exist are left out, with a warning.

        Parameters
        ----------
        concepts
            Concepts, or mappings with their fields: ``id`` and, as far as known, ``title``,
            ``aliases`` (a list, or an object of counts), ``links``, ``description``,
            ``text``, ``type``, ``qid`` and ``url``.
        folder
            Where to put it; None for a temporary folder, which goes with the object.
        **options
            Of :func:`write_concept_base`: ``source``, ``url``, ``hubs``.

        Raises
        ------
        ProblemError
            If a concept has no identifier or a wrong field, or there is no concept.
        """
        given = map(checked_concept, checked_list("concepts", concepts, "concepts"))
        parent = tempfile.mkdtemp(prefix="concepts-") if folder is None else ""
        place = Path(parent) / "base" if folder is None else folder
        base = cls.open(write_concept_base(place, given, **options))
        if parent:
            weakref.finalize(base, remove_folder, parent, os.getpid())
        if lost := base.manifest["lost_links"]:
            said = lost_links(lost, *base.manifest["lost_link"])
            warnings.warn(f"{said}; add these to the concepts.", stacklevel=2)
        return base

    @classmethod
    def open(cls, folder: str | Path, *, live: bool = False) -> ConceptBase:
        """Open a folder that `write_concept_base` made.

        The version, the sizes of files, the schema of the tables and the indices of the graph are
        checked now, rows of tables when they are read. :meth:`verify` reads everything.

        Parameters
        ----------
        folder
            The folder.
        live
            Whether changes are written to it, and changes by others seen. All who read the folder
            must open it after it was first opened like this.

        Raises
        ------
        StorageError
            If the folder is of another kind or version, or a file is missing, foreign, truncated
            or invalid.
        """
        checked_type("live", live, bool, "True or False")
        stored = FOLDER.read(folder)
        url = stored.header.get("url", "")
        if not isinstance(url, str) or (url and not url.startswith(("http://", "https://"))):
            raise StorageError(f"folder: the url of {stored.folder} is no web address: {url!r}.")
        header = dict(stored.header)
        if live and NAME in header["files"]:  # a file that changes has no checksum
            header["files"] = {k: v for k, v in header["files"].items() if k != NAME}
            FOLDER.write_header(stored.folder, header)
        path = (stored.folder / NAME).resolve()
        if path.parent != stored.folder:
            raise StorageError(f"folder: {path} is a link that leads out of the folder.")
        database = Database(path, live=NAME not in header["files"])
        graph = ConceptGraph.open(stored.folder / "graph")
        base = cls(stored.folder, header, database, graph, in_place=live)
        base.check_graph()
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
        """Write the base with all its changes to a folder, and open that.

        If it is the base's own folder, the base itself is returned, which then reads that.

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
        header = dict(self.manifest)

        def write(inside: Path) -> None:
            graph.save(inside / "graph")
            self._database.copy_to(inside / NAME)
            header.update(finish(inside / NAME))

        FOLDER.write(folder, {}, header, write)
        saved = ConceptBase.open(folder)
        if saved.folder != self.folder:
            return saved
        # the changes, which were in a copy, are now in the folder
        vars(self).update(vars(saved))
        return self

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # other processes are sent the path of the folder, not the contents
        copy = self._database.file.path if self.changed else None
        return _reopened, (self.folder, self._in_place, copy)


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
