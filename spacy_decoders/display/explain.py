"""From a Doc to one self-contained page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from spacy.tokens import Doc

from ..components import extensions
from ..errors import ProblemError
from .views import DocumentView
from .words import cost_in_words, in_words, in_words_together, share_in_words

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
        """Show the page in a notebook, in a frame that isolates its styles."""
        from html import escape

        page = escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{page}" title="Explanation" '
            'style="width:100%;height:640px;border:0"></iframe>'
        )


def explain(docs: Doc | Iterable[Doc], *, title: str = "What was decoded") -> Explanation:
    """Explain what the components decoded, with alternatives and certificates.

    Shows the annotations first: headline, text, names with their types and links and how
    probable both are, and trees; then the alternatives of each tag, entity, head and link with
    their costs; then every certificate in plain words. Alternatives appear where
    the components keep them (``k_best``, ``head_margins``, ``n_best``).

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
        If something else than documents is given.

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
    return Explanation(environment.get_template("page.html").render(title=title, docs=views))
