"""What a shortened sentence cannot lose without saying something else than the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEGATIONS", "TIMES", "attach_conjuncts", "set_off", "words_of_meaning"]

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

#: Words under which a sentence no longer follows from its shorter version.
NEGATIONS = frozenset({
    "not", "n't", "n’t", "never", "no", "nor", "neither", "none", "nobody", "nothing", "nowhere",
    "without", "few", "fewer", "little", "less", "hardly", "barely", "scarcely", "seldom",
    "rarely", "only", "cannot", "deny", "denies", "denied", "refuse", "refuses", "refused",
})  # fmt: skip
#: Words that limit what they modify.
LIMITS = frozenset({
    "more", "least", "most", "almost", "nearly", "some", "many", "several", "half", "all",
    "part", "partly", "mostly", "sometimes", "roughly", "approximately", "virtually", "just",
    "perhaps", "maybe", "possibly", "probably", "likely", "unlikely", "allegedly", "reportedly",
    "apparently", "supposedly", "former", "ex", "late", "alleged", "suspected", "accused",
    "fake", "false", "mock", "counterfeit", "would-be", "so-called", "self-styled", "supposed",
    "purported", "potential", "possible", "proposed", "planned", "attempted", "failed", "acting",
    "deputy", "vice", "non", "anti", "pseudo", "quasi", "too", "yet", "under", "over", "up",
    "impossible", "last", "next", "about", "around",
})  # fmt: skip
#: Determiners that say which or how many, beside those above.
DETERMINERS = frozenset({
    "this", "that", "these", "those", "any", "every", "each", "both", "either", "another",
})  # fmt: skip
#: Words that join a clause to what it is about, whatever the parser calls them.
JOINING = frozenset({"when", "where", "while", "why", "how", "whether", "than", "because"})
#: Relations that a negation does not reach beyond.
OUTSIDE = frozenset({
    "conj", "cc", "parataxis", "appos", "discourse", "vocative", "det", "punct", "dep", "preconj",
})  # fmt: skip
#: Relations of what a predicate is about.
ARGUMENTS = frozenset({
    "nsubj", "nsubjpass", "csubj", "obj", "dobj", "iobj", "obl", "nmod", "pobj", "prep", "attr",
    "agent", "advmod", "nummod", "det", "amod",
})  # fmt: skip
#: Relations of what a verb says enough with.
OBJECTS = frozenset({"obj", "dobj", "iobj", "xcomp", "ccomp", "attr", "acomp", "oprd"})
#: Words for times: these can be left out even under a negation.
TIMES = frozenset({
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january",
    "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december", "today", "yesterday", "tomorrow", "morning", "afternoon", "evening",
    "night", "week", "month", "year",
})  # fmt: skip
#: Nouns that say how much of what follows.
QUANTITIES = frozenset({
    "number", "numbers", "part", "parts", "lot", "lots", "dozens", "hundreds", "thousands",
    "millions", "billions", "majority", "rest", "kind", "kinds", "piece", "pieces", "couple",
})  # fmt: skip
#: Heads whose "of" phrase says what is counted.
COUNTS = (
    NEGATIONS
    | LIMITS
    | QUANTITIES
    | {"one", "number", "majority", "minority", "percent", "%", "third"}
)

_MEANT = NEGATIONS | LIMITS | JOINING


def words_of_meaning(
    words: Sequence[str],
    heads: Integers,
    relations: Sequence[str],
    numbers: Booleans,
    asking: Booleans,
) -> Booleans:
    """Tokens that their heads cannot lose: negations, limits, what a negation restricts, pronouns.

    So are complements without which a noun or a verb says little.

    Parameters
    ----------
    words
        Lower-cased tokens.
    heads
        The head of each token, itself for the root. **Shape:** ``(n,)``
    relations
        The relation of each to its head.
    numbers
        Which tokens are numbers. **Shape:** ``(n,)``
    asking
        Which tokens ask or begin a relative clause. **Shape:** ``(n,)``
    """
    n = len(words)
    plain = [relation.partition(":")[0] for relation in relations]
    needed = np.array([word in _MEANT for word in words], dtype=bool)
    children: list[list[int]] = [[] for _ in range(n)]
    for token, head in enumerate(heads.tolist()):
        if token != head:
            children[head].append(token)
    for token, head in enumerate(heads.tolist()):
        counted = numbers[head] or words[head] in COUNTS
        if counted and plain[token] in ("nmod", "obl", "prep"):
            needed[token] = True
        if plain[token] == "det" and words[token] in DETERMINERS:
            needed[token] = True
        if plain[token] == "conj":
            between = [*children[head], int(heads[head])]
            needed[token] |= any(words[place] == "between" for place in between)
            needed[token] |= bool(numbers[token] and numbers[head])  # "one or two"
        if plain[token] == "mark" and words[token] in ("if", "unless"):
            needed[head] = True
        if words[token] in NEGATIONS or plain[token] == "neg":
            needed[head] |= plain[head] == "advmod"  # "no longer"
            for top, way in _governors(token, heads, plain):
                _reach(top, way, words, plain, children, needed)
        if asking[token]:
            _keep_asking(token, heads, plain, children, needed)
    for head in range(n):
        needed[_complements(head, words, plain, children)] = True
    return needed


def _complements(
    head: int, words: Sequence[str], plain: Sequence[str], children: list[list[int]]
) -> list[int]:
    """What a noun or a verb says little without: "tomb *of a scribe*", "went *on strike*"."""
    below = children[head]
    relations = {plain[child] for child in below}
    found = [
        child
        for child in below
        if child > head
        and plain[child] in ("nmod", "prep")
        and words[min(children[child], default=child) if plain[child] == "nmod" else child] == "of"
    ]
    if "cop" in relations:
        found += [child for child in below if plain[child] == "det" and words[child] == "the"]
    elif {"nsubj", "nsubjpass"} & relations and not OBJECTS & relations:
        places = [
            child
            for child in below
            if child > head and words[child] not in TIMES
            if plain[child] in ("obl", "prep")
            or (plain[child] == "advcl" and any(words[place] == "to" for place in children[child]))
        ]
        found += places[:1]
    return found


def _keep_asking(
    token: int,
    heads: Integers,
    plain: Sequence[str],
    children: list[list[int]],
    needed: Booleans,
) -> None:
    """Mark what joins a clause to "which", or what makes it a question: "in which", "how long".

    A pronoun that is itself in the clause above, as in "He laughed at what he saw", needs what
    is below it instead.
    """
    below = [child for child in children[token] if plain[child] in ("acl", "relcl")]
    if below:
        needed[below] = True
        return
    for _, way in _governors(token, heads, plain):
        needed[way] = True


def _governors(token: int, heads: Integers, plain: Sequence[str]) -> Iterable[tuple[int, int]]:
    """What a negation or a pronoun is in the arguments of, and the child on the way to it."""
    way, top = token, int(heads[token])
    yield token, token
    while top != way:
        yield top, way
        if plain[top] not in ARGUMENTS:
            return
        way, top = top, int(heads[top])


def _reach(
    top: int,
    way: int,
    words: Sequence[str],
    plain: Sequence[str],
    children: list[list[int]],
    needed: Booleans,
) -> None:
    """Mark what restricts the negated word, but for another subject."""
    stack = [top]
    while stack:
        head = stack.pop()
        for child in children[head]:
            if head == top and child != way and plain[child].startswith(("nsubj", "csubj")):
                continue
            if plain[child] in OUTSIDE or words[child] in TIMES:
                continue
            if child != way:
                needed[child] = True
                stack.append(child)


def attach_conjuncts(heads: Integers, relations: Sequence[str]) -> Booleans:
    """Attach conjunctions to the conjunct after them, and conjuncts without one to the last.

    `heads` is changed. Returns which tokens their head needs: conjunctions of a conjunct, and
    conjuncts before a complement.
    """
    plain = [relation.partition(":")[0] for relation in relations]
    tied = np.zeros(len(heads), dtype=bool)
    places = [token for token, relation in enumerate(plain) if relation == "conj"]
    for token, relation in enumerate(plain):
        if relation not in ("cc", "preconj"):
            continue
        if plain[heads[token]] == "conj" and heads[token] > token:
            tied[token] = True
            continue
        after = [c for c in places if c > token and heads[c] == heads[token]]
        if after and heads[token] < token:
            heads[token] = after[0]
            tied[token] = True
    joined = {int(heads[token]) for token in np.flatnonzero(tied).tolist()}
    for token in places:
        # a complement after a conjunct may be the conjunct's own
        later = heads[token + 1 :] == heads[token]
        others = {plain[token + 1 + step] for step in np.flatnonzero(later).tolist()}
        tied[token] |= bool({"xcomp", "obj", "dobj"} & others)
        if token not in joined:
            last = [c for c in places if c > token and heads[c] == heads[token] and c in joined]
            if last:
                heads[token] = last[0]
    return tied


#: Relations whose word may stand between commas with what is below it.
ASIDE = frozenset({
    "conj", "appos", "acl", "relcl", "advcl", "parataxis", "nmod", "obl", "advmod", "npadvmod",
    "prep", "discourse", "vocative", "amod",
})  # fmt: skip


#: Quotation marks, which do not stay.
QUOTES = frozenset({'"', "''", "”", "“", "’", "»"})
#: Marks that stay before what they set off.
MARKS = frozenset({",", ":", ";", "–", "—", "--"})


def set_off(
    kept: Sequence[int],
    words: Sequence[str],
    heads: Integers,
    relations: Sequence[str],
    read: Booleans,
) -> list[int]:
    """The commas, brackets and such around kept words, where the text sets them off by these.

    Parameters
    ----------
    kept
        Kept tokens, ascending.
    words, heads, relations
        Of all tokens of the sentence, as parsed.
    read
        Which of these are no punctuation. **Shape:** ``(n,)``
    """
    children: list[list[int]] = [[] for _ in words]
    for token, head in enumerate(heads.tolist()):
        if token != head and read[token]:
            children[head].append(token)
    commas: list[int] = []
    for token in kept:
        relation = relations[token].partition(":")[0]
        if relation not in ASIDE:
            continue
        below, stack = [token], [token]
        while stack:
            found = children[stack.pop()]
            below += found
            stack += found
        left, right = min(below) - 1, max(below) + 1
        if words[right : right + 1] and words[right] in QUOTES:
            right += 1
        if left > kept[0] and words[left] == "(" and words[right : right + 1] == [")"]:
            commas += [left, right]
        if left > kept[0] and words[left] in MARKS:
            commas.append(left)
        if relation != "conj" and right < kept[-1] and words[right] == ",":
            commas.append(right)
    return sorted(set(commas))
