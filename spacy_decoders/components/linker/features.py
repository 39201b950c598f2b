"""The features of candidates and of NIL, except those of pairs, read from the Doc."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_PUNCT, IS_SPACE, IS_STOP, LEMMA, LOWER, ORTH, SPACY
from spacy.tokens import Doc, Span

from ...arrays import Booleans, Floats, Floats32, Integers
from ...knowledge.texts import distinct_words
from ...models.linker.evidence import of_types, shared_words, type_agreement
from ...models.linker.weights import FEATURES, Feature

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["IDLE", "MATCH_LABEL", "TOKEN_COLUMNS", "common_nouns", "features_of", "singular"]

#: The label of mentions that are known aliases but no entities.
MATCH_LABEL = "CONCEPT"

#: The token attributes that are read at once, and the column of each.
TOKEN_COLUMNS = {
    kind: column
    for column, kind in enumerate((IS_STOP, IS_PUNCT, IS_SPACE, LOWER, LEMMA, ORTH, SPACY))
}

#: The columns of stop words, punctuation and white space, with which no alias begins or ends.
IDLE = slice(TOKEN_COLUMNS[IS_STOP], TOKEN_COLUMNS[IS_SPACE] + 1)
#: The number of tokens on either side of a mention that are its context.
_AROUND = 30
#: The smallest share of a candidate's uses that is assumed for its spelling: in lower case, where
#: names are rare, and with capitals, which may be due to the beginning of a sentence.
_RARELY, _SELDOM = 0.02, 0.3
#: That of names of people that are words in lower case (jobs, woods, gates) or somebody else's.
_WORD = 1e-9
#: The smallest and the largest log-odds of a text not being a link.
_ODDS = (-4.0, 8.0)
#: The number of characters of a concept's text that are read.
_READ = 600
#: The weight of a word in a title relative to one in the text: titles often share words by chance.
_TITLES = 0.3


def features_of(
    parts: Sequence[tuple[Doc, NDArray[np.uint64], range]],
    spans: Sequence[Span],
    texts: Sequence[str],
    common: Sequence[bool],
    table: CandidateTable,
    types: Sequence[str] | None = None,
) -> Floats32:
    """Return the features of each candidate and, after the candidates of each mention, of NIL.

    `parts` has each document, the `TOKEN_COLUMNS` of its tokens, and its mentions in the table.
    For each mention there are its span, its text and whether it is a common noun. `types` are
    those that may be linked, None for all. **Shape:** ``(candidates + mentions, 14)``; the columns
    of pairs are 0.
    """
    features = np.zeros((table.with_nothing[-1], len(FEATURES)), np.float32)
    if not spans:
        return features
    parts = [(doc, tokens, mentions) for doc, tokens, mentions in parts if mentions]
    rows, own, nothing = table.places, table.own_mention, table.with_nothing[1:] - 1
    contexts: list[set[str]] = []
    small: list[bool] = []
    for doc, tokens, mentions in parts:
        some = slice(mentions.start, mentions.stop)
        contexts += _contexts(doc, tokens, spans[some], table.mentions[some])
        is_small = tokens[:, TOKEN_COLUMNS[LOWER]] == tokens[:, TOKEN_COLUMNS[ORTH]]
        small += [bool(is_small.all())] * len(mentions)
        if table.vectors.shape[1] and table.vectors.shape[1] == doc.vocab.vectors_length:
            at = slice(*table.offsets[[mentions.start, mentions.stop]].tolist())
            vectors, vector = table.vectors[at], np.asarray(doc.vector)
            lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector)
            near = (vectors @ vector) / np.maximum(lengths, 1e-12)
            features[rows[at], Feature.CONTEXT] = near
    labels = [span.label_ for span in spans]
    features[rows, Feature.PRIOR] = np.log(np.maximum(table.priors, 1e-6))
    features[rows, Feature.POPULARITY] = np.log1p(table.popularity)
    kinds = [known.type for known in table.known]
    allowed = np.ones(len(kinds), np.bool_) if types is None else of_types(kinds, types)
    people = np.array([type_agreement("person", kind) > 0 for kind in kinds]) & allowed
    agrees = np.array(
        [
            type_agreement(labels[mention], kind) if labels[mention] != MATCH_LABEL else 0.0
            for mention, kind in zip(own.tolist(), kinds, strict=True)
        ]
    )
    features[rows, Feature.TYPE] = agrees
    others = _other_bearers(parts, labels, people, table)
    others |= people & _contradicted(agrees, allowed, table)
    matched, lower = np.array(labels) == MATCH_LABEL, np.array([*map(str.islower, texts)])
    # without capitals anywhere, lower case has no meaning
    least = np.where(lower & small, 1.0, _SELDOM)
    words = lower & ~np.array(small) & (np.array([*map(len, spans)]) == 1)
    least[words] = _RARELY
    features[rows, Feature.CASE] = _case(least, words & matched, people, others, table)
    features[rows, Feature.TITLE] = [
        title.casefold() == table.mentions[mention]
        for mention, title in zip(own.tolist(), table.titles, strict=True)
    ]
    if table.base is not None:
        around = [*map(contexts.__getitem__, own.tolist())]
        read = [known.text[:_READ] for known in table.known]
        surprise = table.base.title_words.surprise
        of_texts, of_titles = shared_words(around, [read, table.titles], surprise)
        features[rows, Feature.WORDS] = of_texts + _TITLES * of_titles
    # NIL competes with the most frequent of the candidates whose spelling fits best
    frequencies = [Feature.PRIOR, Feature.POPULARITY]
    (prior, popularity), case = features[rows][:, frequencies].T, features[rows, Feature.CASE]
    best = np.maximum.reduceat(case.astype(np.float64), table.offsets[:-1])
    fit = case >= best[own] - 1.0
    usual = np.lexsort((popularity, prior, fit, own))[table.offsets[1:] - 1]
    features[nothing[:, None], frequencies] = features[rows[usual]][:, frequencies]
    features[nothing, Feature.NONE] = 1.0
    features[nothing, Feature.UNNAMED] = _unnamed(table, np.flatnonzero(fit))
    linked = np.clip(table.linked.astype(np.float64), 1e-9, 1.0 - 1e-9)
    odds = np.clip(np.log((1.0 - linked) / linked), *_ODDS)
    unknown = np.isnan(linked)
    features[nothing, Feature.MATCHED] = matched & unknown
    features[nothing, Feature.UNLINKED] = np.where(matched & ~unknown, odds, 0.0)
    features[nothing, Feature.PARTIAL] = _parts_of_names(spans, texts)
    features[nothing, Feature.COMMON] = common
    # the bearer of a name is a person, whether in the knowledge base or not
    agree = features[rows, Feature.TYPE].astype(np.float64)
    agreed = np.maximum.reduceat(np.where(fit, agree, -1.0), table.offsets[:-1])
    fit &= agree >= agreed[own]
    for mention in _bare_names(parts, texts, people, fit, table):
        bare = features[nothing[mention]]
        bare[Feature.COMMON], bare[Feature.TYPE] = 1.0, max(0.0, agreed[mention])
    return features


def _contexts(
    doc: Doc, tokens: NDArray[np.uint64], spans: Sequence[Span], names: Sequence[str]
) -> list[set[str]]:
    """The content words around each mention: forms and lemmas in lower case."""
    strings = doc.vocab.strings
    words: list[Sequence[str]] = [()] * len(tokens)
    content = np.flatnonzero(~tokens[:, IDLE].any(axis=1))
    kinds = content[:, None], [TOKEN_COLUMNS[LOWER], TOKEN_COLUMNS[LEMMA]]
    for place, (lower, lemma) in zip(content.tolist(), tokens[kinds].tolist(), strict=True):
        words[place] = strings[lower], strings[lemma].casefold()
    contexts = []
    for span, name in zip(spans, names, strict=True):
        before = words[max(0, span.start - _AROUND) : span.start]
        around = set().union(*before, *words[span.end : span.end + _AROUND])
        # without the words of the mention itself
        contexts.append(around.difference(distinct_words(name), ("",)))
    return contexts


def _case(
    least: Floats, is_word: Booleans, people: Booleans, others: Booleans, table: CandidateTable
) -> Floats:
    """The log-share of the uses of each candidate with this spelling; 0 where unknown.

    `least` is the least that is assumed for each mention; `is_word` says which mentions are words
    in lower case, `people` which candidates are persons, `others` which of these do not bear the
    name. **Shape:** ``(candidates,)``
    """
    written, own = table.written.astype(np.float64), table.own_mention
    shares = np.maximum(written, np.where(people & is_word[own], _WORD, least[own]))
    return np.where(others, np.log(_WORD), np.where(np.isnan(written), 0.0, np.log(shares)))


def _other_bearers(
    parts: Sequence[tuple[Doc, NDArray[np.uint64], range]],
    labels: Sequence[str],
    people: Booleans,
    table: CandidateTable,
) -> Booleans:
    """Which candidates are people, but not those with this family name in the document.

    If a document has somebody's full name, the family name alone refers to that person.
    **Shape:** ``(candidates,)``
    """
    others = np.zeros(len(people), np.bool_)
    for doc, _, mentions in parts:
        if not people[slice(*table.offsets[[mentions.start, mentions.stop]].tolist())].any():
            continue
        family: set[str] = set()  # what follows each space of a full name
        for ent in doc.ents:
            if type_agreement(ent.label_, "person") > 0:
                full = ent.text.casefold()
                family.update(full[space.end() :] for space in re.finditer(" ", full))
        longer = _longer_names(mentions, table)
        for mention in mentions:
            name = table.mentions[mention]
            is_match = labels[mention] == MATCH_LABEL
            agrees = 0.0 if is_match else type_agreement(labels[mention], "person")
            if agrees >= 0 and name in family:
                rows = slice(*table.offsets[mention : mention + 2].tolist())
                meant = [*_meant_by(longer, name, _is_end)]
                others[rows] = ~np.isin(table.keys[rows], meant) & (people[rows] | (agrees > 0))
    return others


def _longer_names(mentions: range, table: CandidateTable) -> dict[str, dict[str, set[int]]]:
    """For each word the names of several words with it, and the keys of their candidates."""
    names: dict[str, dict[str, set[int]]] = {}
    for mention in mentions:
        name = table.mentions[mention]
        if " " in name:
            keys = table.keys[slice(*table.offsets[mention : mention + 2].tolist())].tolist()
            for word in name.split(" "):
                names.setdefault(word, {}).setdefault(name, set()).update(keys)
    return names


def _meant_by(
    longer: Mapping[str, Mapping[str, set[int]]], name: str, within: Callable[[str, str], bool]
) -> set[int]:
    """What the names may mean that a name is `within`, of those that `_longer_names` returned."""
    others = longer.get(name.partition(" ")[0], {})
    return set().union(*(keys for other, keys in others.items() if within(name, other)))


def _contradicted(agrees: Floats, allowed: Booleans, table: CandidateTable) -> Booleans:
    """Which candidates have a type excluded by the label of a mention that others agree with.

    "Paris Hilton stayed in *Paris*": labelled as a place, and with a place among its candidates,
    it is no person. **Shape of all:** ``(candidates,)``
    """
    named = np.logical_or.reduceat(allowed & (agrees > 0), table.offsets[:-1])
    return np.asarray((agrees < 0) & named[table.own_mention])


def _unnamed(table: CandidateTable, places: Integers) -> list[bool]:
    """Whether each mention is the title of none of some of its candidates.

    Titles are compared without a qualifier ("mercury" of "Mercury (planet)") and up to their
    endings.
    """
    unnamed = [True] * len(table.mentions)
    for place, mention in zip(places.tolist(), table.own_mention[places].tolist(), strict=True):
        if unnamed[mention]:
            name = table.mentions[mention]
            title = re.sub(r"\s*[(,].*", "", table.titles[place].casefold())
            stem = title[: max(3, len(title) - 1)]
            is_longer = name.startswith(stem) and len(name) <= len(title) + 3
            unnamed[mention] = not (is_longer or name == title)
    return unnamed


def _bare_names(
    parts: Sequence[tuple[Doc, NDArray[np.uint64], range]],
    texts: Sequence[str],
    people: Booleans,
    fit: Booleans,
    table: CandidateTable,
) -> Iterator[int]:
    """Yield the mentions that are bare given or family names.

    All candidates that `fit` are people, and the document has no longer name of any of them. Such
    a name is nearly always borne by more people than a knowledge base lists.
    """
    keys = table.keys.tolist()
    more = np.bincount(table.own_mention[fit & ~people], minlength=len(texts))
    for _, _, mentions in parts:
        longer = _longer_names(mentions, table)
        for mention in mentions:
            if more[mention] or texts[mention].islower():
                continue
            name = table.mentions[mention]
            first, end = table.offsets[mention : mention + 2].tolist()
            known = first + np.flatnonzero(fit[first:end])
            if not all(_is_part(name, table.titles[place].casefold()) for place in known):
                continue
            meant = _meant_by(longer, name, _is_part)
            if meant.isdisjoint(map(keys.__getitem__, known.tolist())):
                yield mention


def _is_end(name: str, longer: str) -> bool:
    """Whether a name is the last words of a longer one."""
    return longer.endswith(f" {name}")


def _is_part(name: str, longer: str) -> bool:
    """Whether a name is some of the words of a longer one."""
    return name != longer and f" {name} " in f" {longer} "


def common_nouns(spans: Sequence[Span], texts: Sequence[str]) -> list[bool]:
    """Which mentions are common nouns: no entities, and in lower case within sentences."""
    common = [False] * len(spans)
    for place, (span, text) in enumerate(zip(spans, texts, strict=True)):
        if not text[1:].islower() or span.label_ != MATCH_LABEL:
            continue
        first = span[0]
        begins = first.i == 0 or bool(first.is_sent_start)
        noun = begins and span.root.pos_ in ("", "NOUN", "ADJ")
        common[place] = text[0].islower() or noun
    return common


def singular(span: Span, text: str) -> str:
    """The normalised text of a mention that is a common noun, in the singular.

    Two inflections of a noun are no evidence for each other's sense.

    Examples
    --------
    >>> import spacy
    >>> doc = spacy.blank("en")("bodies in boxes on shelves near volcanoes and glass")
    >>> [singular(doc[i : i + 1], doc[i].text) for i in (0, 2, 6, 8)]
    ['body', 'box', 'volcano', 'glass']
    """
    last = span[-1]
    *words, noun = text.split(" ")
    if last.lemma and last.pos_ == "NOUN":
        noun = last.lemma_.casefold()
    elif len(noun) > 4 and noun.endswith("ies"):
        noun = noun[:-3] + "y"
    elif noun.endswith(("ches", "shes", "sses", "xes", "zes", "oes")):
        noun = noun[:-2]
    elif noun.endswith("s") and not noun.endswith(("ss", "us", "is")):
        noun = noun[:-1]
    return " ".join([*words, noun])


def _parts_of_names(spans: Sequence[Span], texts: Sequence[str]) -> list[bool]:
    """Which aliases are parts of longer names: next to a capitalised word."""
    parts = [False] * len(spans)
    for place, (span, text) in enumerate(zip(spans, texts, strict=True)):
        if not text[:1].isupper() or text.isupper() or span.label_ != MATCH_LABEL:
            continue
        doc = span.doc
        after = doc[span.end] if span.end < len(doc) else None
        parts[place] = after is not None and after.is_title and not after.is_stop
        # not by the first word of the document or after punctuation; sentence boundaries that a
        # parser finds between two capitalised words are mostly wrong
        if span.start > 1 and not doc[span.start - 2].is_punct:
            before = doc[span.start - 1]
            parts[place] |= before.is_title and not before.is_stop
    return parts
