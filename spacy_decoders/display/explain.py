"""Explaining Docs on one self-contained page, and the data that the page shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import TypeAdapter
from spacy.tokens import Doc, Span

from ..certificate import Certificate
from ..components import extensions
from ..components.linker.mentions import MATCH_LABEL
from ..errors import CONTROLS, ProblemError
from .arcs import TreeDrawing, Word
from .choices import Choice, head_choices, link_choices, mentions_in, tag_choices
from .words import cost_in_words, in_words, in_words_together, is_close, share_in_words

__all__ = ["Explanation", "explain", "headlines_by_component", "names_in"]

_CERTIFICATES = TypeAdapter(dict[str, list[Certificate]])


@dataclass(frozen=True)
class Explanation:
    """An HTML page. Jupyter shows it; ``str()`` gives the markup."""

    html: str

    def __str__(self) -> str:
        return self.html

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, in a folder that is made if missing, and return its path."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.html, encoding="utf8")
        return path

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame that isolates its styles."""
        from html import escape

        page = escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{page}" title="Explanation" '
            'style="width:100%;height:640px;border:0"></iframe>'
        )


def explain(docs: Doc | Iterable[Doc], *, title: str = "What was decoded") -> Explanation:
    """Explain what the components decoded, with alternatives and certificates.

    Shows the annotations first: headline, text, names with their types, links and the
    probabilities of both, and trees; then the alternatives of each tag, entity, head and link with
    their costs; then every certificate in plain words. Alternatives are shown if the components
    keep them (``k_best``, ``head_margins``, ``n_best``), and no tokens were merged since.

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

    Raises
    ------
    ProblemError
        If anything but documents is given, or their certificates are damaged.

    Examples
    --------
    >>> import spacy
    >>> page = explain(spacy.blank("en")("Nothing was decoded here."))
    >>> "Nothing was decoded here." in str(page)
    True
    """
    extensions.install()
    given = list(docs) if isinstance(docs, Iterable) and not isinstance(docs, Doc) else [docs]
    if not all(isinstance(doc, Doc) for doc in given):
        raise ProblemError("docs: expected a Doc or several; call nlp(text) first.")
    views = [DocumentView.of(doc, number) for number, doc in enumerate(given, start=1)]
    environment = Environment(
        loader=PackageLoader("spacy_decoders.display"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        in_words=in_words,
        in_words_together=in_words_together,
        cost=cost_in_words,
        share=share_in_words,
    )
    environment.tests["close"] = is_close
    page = environment.get_template("page.html").render(title=title, docs=views)
    return Explanation(page.translate(CONTROLS))


class Name(NamedTuple):
    """A name in the text: its type and its concept, with their probabilities; None if unknown.

    `others` are the other concepts that it could mean.
    """

    text: str
    type: str | None
    type_prob: float | None
    concept: str | None
    concept_prob: float | None
    others: list[str]

    @property
    def is_unknown(self) -> bool:
        """Whether the knowledge base has no candidate for this name.

        The probability of a name without a concept is that of being none of its candidates.
        """
        return self.concept is None and self.concept_prob is not None and not self.others

    @property
    def note(self) -> str:
        """The note that the page adds to the text, without a concept of the same name."""
        concept = self.concept or ""
        is_same = concept.casefold() == self.text.casefold()
        return " → ".join(filter(None, (self.type, "" if is_same else concept)))


@dataclass(frozen=True)
class SentenceView:
    """A sentence: its words with their tags, its tree, and the alternatives."""

    #: As in the document.
    text: str
    #: Without white space.
    words: list[Word]
    #: Its drawing, if it was parsed.
    tree: TreeDrawing | None
    #: A heading and the choices for heads, tags and entities, where there were any.
    choices: list[tuple[str, list[Choice]]]

    @classmethod
    def of(cls, doc: Doc, span: Span) -> SentenceView:
        """Collect what is shown of a sentence."""
        words = [
            Word(token.text, token.tag_ or token.pos_, token._.tag_margin)
            for token in span
            if not token.is_space
        ]
        tree = _tree(span, words) if words and doc.has_annotation("DEP") else None
        found = [("Heads", head_choices(doc, span) if tree else []), *tag_choices(doc, span)]
        choices = [(heading, given) for heading, given in found if given]
        return cls(span.text.strip(), words, tree, choices)

    @property
    def closest(self) -> Choice:
        """The choice with the cheapest alternative."""
        every = (choice for _, choices in self.choices for choice in choices)
        return min(every, key=lambda choice: choice.options[0].loss)


@dataclass(frozen=True)
class DocumentView:
    """A document: the text with its entities, sentences, links, headlines and certificates."""

    heading: str
    #: The text, cut at the names in it.
    pieces: list[str | Name]
    names: list[Name]
    sentences: list[SentenceView]
    links: list[Choice]
    headlines: Mapping[str, Sequence[Mapping[str, Any]]]
    certificates: Mapping[str, Sequence[Mapping[str, Any]]]

    @classmethod
    def of(cls, doc: Doc, number: int) -> DocumentView:
        """Collect what is shown of the `number`-th document."""
        spans = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
        headlines = headlines_by_component(doc)
        names = names_in(doc)
        first = next((ranked[0]["text"] for ranked in headlines.values()), f"Document {number}")
        return cls(
            heading=doc._.headline or first,
            pieces=list(_pieces(doc, names)),
            names=names,
            sentences=[SentenceView.of(doc, span) for span in spans] if len(doc) else [],
            links=link_choices(doc),
            headlines=headlines,
            certificates=_certificates_of(doc, number),
        )


def _certificates_of(doc: Doc, number: int) -> dict[str, list[dict[str, Any]]]:
    try:
        found = _CERTIFICATES.validate_python(doc._.certificates)
        written = {name: [one.as_dict() for one in of] for name, of in found.items()}
        for one in chain.from_iterable(written.values()):
            in_words(one)  # fails where a status lacks its number
        # what is missing must not count as its default; stored lists are tuples
        if written != {name: [*of] for name, of in doc._.certificates.items()}:
            raise ValueError("a field is missing")
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"docs: doc._.certificates of document {number} is damaged; annotate it again."
        ) from error
    return written


def headlines_by_component(doc: Doc) -> dict[str, list[Mapping[str, Any]]]:
    """The headlines that each generator of the pipeline has written, best first."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for headline in doc._.headlines:
        # documents of the first release do not record the component
        found.setdefault(headline.get("component", "headline"), []).append(headline)
    return found


def names_in(doc: Doc) -> list[Name]:
    """Each entity and mention, with the other concepts that it could mean."""
    found = []
    for ent in mentions_in(doc):
        link = ent._.link
        others = [
            c["title"] or c["id"] for c in link.get("candidates", ()) if c["id"] != link["id"]
        ]
        typed = ent.label_ != MATCH_LABEL
        # spaCy writes NIL for no link
        concept = link.get("title") or link.get("id") or ent.kb_id_.removeprefix("NIL")
        found.append(
            Name(
                ent.text,
                ent.label_ if typed else None,
                ent._.prob if typed else None,
                concept or None,
                link.get("prob"),
                others,
            )
        )
    return found


def _pieces(doc: Doc, names: Iterable[Name]) -> Iterator[str | Name]:
    position = 0
    for ent, name in zip(mentions_in(doc), names, strict=True):
        yield doc.text[position : ent.start_char]
        yield name
        position = ent.end_char
    yield doc.text[position:]


def _tree(span: Span, words: Sequence[Word]) -> TreeDrawing:
    tokens = [token for token in span if not token.is_space]
    at = {token.i: place for place, token in enumerate(tokens)}
    return TreeDrawing.of(
        words,
        {at[t.i]: (at.get(t.head.i, at[t.i]), t.dep_) for t in tokens},
        [token._.head_margin for token in tokens],
    )
