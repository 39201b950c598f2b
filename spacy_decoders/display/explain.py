"""From a Doc to one self-contained page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from spacy.tokens import Doc, Span

from ..components import extensions
from ..errors import ProblemError
from .arcs import TreeDrawing
from .lattice import Lattice
from .words import in_words

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True)
class Explanation:
    """An HTML page. Jupyter shows it; ``str()`` gives the markup."""

    html: str

    def __str__(self) -> str:
        return self.html

    def save(self, path: str | Path) -> Path:
        """Write the page to a file and return its path."""
        path = Path(path)
        path.write_text(self.html, encoding="utf8")
        return path

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own: its styles stay inside."""
        from html import escape

        page = escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{page}" title="Explanation" '
            'style="width:100%;height:640px;border:0"></iframe>'
        )


def explain(docs: Doc | Iterable[Doc], *, title: str = "What was decoded") -> Explanation:
    """Explain what the components decoded, what else was possible and how sure it is.

    Shows what the documents hold: the tree with margins and alternatives, the tag lattice of
    the k best taggings, the candidates of each link, the best headlines as a word graph, and
    every certificate in plain words. Alternatives appear where the components were told to
    keep them (``k_best``, ``head_margins``, ``n_best``).

    Parameters
    ----------
    docs
        One annotated document or several.
    title
        Heading of the page.

    Returns
    -------
    Explanation
        One self-contained page: no scripts, no network.

    Examples
    --------
    >>> import spacy
    >>> page = explain(spacy.blank("en")("Nothing was decoded here."))
    >>> "Nothing was decoded here." in str(page)
    True
    """
    extensions.install()
    given = [docs] if isinstance(docs, Doc) else list(docs)
    if not all(isinstance(doc, Doc) for doc in given):
        raise ProblemError("docs: expected a Doc or several; call nlp(text) first.")
    environment = Environment(
        loader=PackageLoader("spacy_decoders.display"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["in_words"] = in_words
    views = [_document(doc) for doc in given]
    return Explanation(environment.get_template("page.html").render(title=title, docs=views))


def _document(doc: Doc) -> dict[str, Any]:
    certificates: Mapping[str, Sequence[Mapping[str, Any]]] = doc._.certificates
    return {
        "pieces": list(_pieces(doc)),
        "certificates": [_summary(name, found) for name, found in certificates.items()],
        "sentences": [_sentence(doc, span, i) for i, span in enumerate(_sentences(doc))],
        "links": (links := [_link(ent) for ent in doc.ents if ent._.link]),
        "link_lattice": _link_lattice(links),
        "headlines": list(doc._.headlines),
        "headline_lattice": _headline_lattice(doc._.headlines),
    }


def _sentences(doc: Doc) -> list[Span]:
    if not len(doc):
        return []
    return list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]


def _pieces(doc: Doc) -> Iterator[tuple[str, Span | None]]:
    """The text in runs, each with its entity, if any."""
    position = 0
    for ent in doc.ents:
        yield doc.text[position : ent.start_char], None
        yield ent.text, ent
        position = ent.end_char
    yield doc.text[position:], None


def _summary(name: str, certificates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All certificates of a component, equal sayings counted together."""
    sayings = sorted(in_words(certificate) for certificate in certificates)
    proven = sum(certificate["status"] == "optimal" for certificate in certificates)
    return {
        "name": name,
        "decoders": ", ".join(sorted({c["decoder"] for c in certificates})),
        "units": len(certificates),
        "proven": proven,
        "sayings": [(saying, len(list(same))) for saying, same in groupby(sayings)],
        "detail": list(certificates),
    }


def _sentence(doc: Doc, span: Span, number: int) -> dict[str, Any]:
    parses = doc._.parses[number] if number < len(doc._.parses) else []
    return {
        "text": span.text,
        "tree": _tree(span) if doc.has_annotation("DEP") else None,
        "alternatives": [_alternative(doc, parses[0], parse) for parse in parses[1:]],
        "lattices": list(_tag_lattices(doc, span)),
        "tags": [(token.text, token.tag_ or token.pos_, token._.tag_margin) for token in span],
    }


def _tree(span: Span) -> TreeDrawing:
    inside = range(span.start, span.end)
    heads = [t.head.i if t.head.i in inside else t.i for t in span]
    return TreeDrawing.of(
        [token.text for token in span],
        [token.tag_ or token.pos_ for token in span],
        [head - span.start for head in heads],
        [token.dep_ for token in span],
        [token._.head_margin for token in span],
    )


def _alternative(doc: Doc, best: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """How another tree differs from the best one."""

    def name(head: int, token: int) -> str:
        return "the root" if head == token else f"“{doc[head].text}”"

    changes = []
    columns = (best["tokens"], best["heads"], other["heads"])
    for token, head, instead in zip(*columns, strict=True):
        if head != instead:
            words = f"{name(instead, token)} instead of {name(head, token)}"
            changes.append((doc[token].text, words))
    return {"loss": best["score"] - other["score"], "changes": changes}


def _tag_lattices(doc: Doc, span: Span) -> Iterator[tuple[str, Lattice]]:
    """A tagger's name and lattice for each unit of its taggings that begins in the sentence."""
    taggings = [t for t in doc._.taggings if span.start <= t["start"] < span.end]
    units = groupby(taggings, key=lambda t: (t["component"], t["start"], t["end"]))
    for (component, start, end), group in units:
        ranked = list(group)
        words = [token.text for token in doc[start:end]]
        labels, scores = [t["labels"] for t in ranked], [t["score"] for t in ranked]
        yield component, Lattice.of(labels, scores, words)


def _link(ent: Span) -> dict[str, Any]:
    link = ent._.link
    return {"mention": ent.text, "label": ent.label_, **link}


def _link_lattice(links: Sequence[Mapping[str, Any]]) -> Lattice | None:
    """The candidates of each mention, the chosen ones joined; the others by their score."""
    if not links:
        return None
    columns = []
    for link in links:
        chosen = [c for c in link["candidates"] if c["id"] == link["id"]]
        others = [c for c in link["candidates"] if c["id"] != link["id"]]
        best = chosen[0]["score"] if chosen else 0.0
        column = [(c["title"] or c["id"], best - c["score"]) for c in (*chosen, *others)]
        columns.append(column if chosen else [("no link", 0.0), *column])
    return Lattice.of_choices(columns, [link["mention"] for link in links])


def _headline_lattice(headlines: Sequence[Mapping[str, Any]]) -> Lattice | None:
    if not headlines:
        return None
    words = [headline["text"].split() for headline in headlines]
    return Lattice.of(words, [headline["score"] for headline in headlines], [])
