"""What a shortened sentence cannot lose without saying something else than the text."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.tokens import Token

__all__ = ["NEGATIONS", "needed_tokens"]

#: Relations, before any colon, whose word a sentence needs with its head: arguments, auxiliaries
#: and copulas, the parts of one name or verb, what marks the head's own role, negation.
REQUIRED = frozenset({
    "nsubj", "csubj", "nsubjpass", "obj", "dobj", "iobj", "attr", "acomp", "oprd", "agent",
    "cop", "aux", "auxpass", "xcomp", "ccomp", "expl", "case", "mark", "pobj", "pcomp", "prt",
    "fixed", "flat", "compound", "goeswith", "neg", "nummod", "quantmod", "poss",
    "nmod:poss", "obl:agent",
})  # fmt: skip
#: Words under which a sentence no longer follows from its shorter version.
NEGATIONS = frozenset({
    "not", "n't", "n’t", "never", "no", "nor", "neither", "none", "nobody", "nothing", "nowhere",
    "without", "few", "fewer", "little", "less", "hardly", "barely", "scarcely", "seldom",
    "rarely", "only", "cannot",
})  # fmt: skip
#: Words that limit what they modify, or say which or how many.
LIMITS = frozenset({
    "more", "least", "most", "almost", "nearly", "some", "many", "several", "half", "all", "both",
    "part", "partly", "mostly", "sometimes", "roughly", "approximately", "virtually", "just",
    "perhaps", "maybe", "possibly", "probably", "likely", "unlikely", "allegedly", "reportedly",
    "apparently", "supposedly", "former", "late", "alleged", "suspected", "accused", "fake",
    "false", "supposed", "potential", "possible", "proposed", "planned", "attempted", "failed",
    "acting", "vice", "non", "impossible", "too", "yet", "over", "up", "about", "around", "last",
    "next", "this", "that", "these", "those", "any", "every", "each", "either", "another",
})  # fmt: skip
KEPT = NEGATIONS | LIMITS
#: Words that make an exception or a condition of what they mark: "all but two", "if it rains".
EXCEPTIONS = frozenset({
    "but", "except", "excluding", "barring", "if", "unless", "provided", "lest",
})  # fmt: skip
#: Relations of conjunctions, and of whatever says what its head is to others.
JOINTS = frozenset({"cc", "preconj"})
FUNCTIONS = JOINTS | {"mark", "case", "prep", "advmod"}
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
COMPLETE = frozenset({"cop", "obj", "dobj", "iobj", "xcomp", "ccomp", "attr", "acomp", "oprd"})
#: Kinds of pronouns that ask or begin a relative clause.
ASKING = frozenset({"Int", "Rel"})
#: Relations of what the parser may take the main clause for, under a condition before it.
CLAUSES = frozenset({"advcl", "ccomp", "parataxis"})
#: Marks that stay with what they set off.
MARKS = frozenset({",", ":", ";", "–", "—", "--", "(", ")"})
#: What may join two words to one.
HYPHENS = frozenset("-–/")


def needed_tokens(tokens: Sequence[Token], heads: list[int], root: int) -> list[bool]:
    """Tokens that a shorter sentence cannot lose as long as it has their heads.

    Parameters
    ----------
    tokens
        The sentence.
    heads
        The place of each token's head; conjunctions and the parts of compounds are attached to
        each other here.
    root
        The place of the root.
    """
    words = [token.lower_ for token in tokens]
    relations = [token.dep_ for token in tokens]
    plain = [relation.partition(":")[0] for relation in relations]
    needed = [
        word in KEPT
        or relation in REQUIRED
        or full in REQUIRED
        or (word in MARKS and head != root)
        for word, full, relation, head in zip(words, relations, plain, heads, strict=True)
    ]
    for place, word in enumerate(words):
        if word in HYPHENS:
            _keep_compound(place, tokens, heads, needed)
        elif plain[place] in JOINTS and _join(place, heads, plain, needed):
            continue
        elif word in EXCEPTIONS and plain[place] in FUNCTIONS:
            _keep_exception(place, words, heads, plain, needed)
    children: list[list[int]] = [[] for _ in tokens]
    for place, head in enumerate(heads):
        if place != head:
            children[head].append(place)
    for place, (token, head, below) in enumerate(zip(tokens, heads, children, strict=True)):
        if plain[place] == "advcl" or place == root:
            for other in _inverted(place, root, tokens, plain, below):
                needed[other] = True
        if plain[place] in ("amod", "nmod"):
            needed[place] |= _names_or_ranks(token, tokens[head])
        if words[place] in NEGATIONS or plain[place] == "neg":
            needed[head] |= plain[head] in ("advmod", "det")  # "no longer", "not every"
            for other in _reached(_way_up(place, heads, plain)[-1], plain, children):
                needed[other] = True
        if not ASKING.isdisjoint(token.morph.get("PronType", [])):
            clauses = [child for child in below if plain[child] in ("acl", "relcl")]
            # "in which", "how long"; but "He laughed at what he saw" needs what he saw
            for other in clauses or _way_up(place, heads, plain)[:-1] or [place]:
                needed[other] = True
        if below:
            for child in _complements(place, below, words, plain, children):
                needed[child] = True
    return needed


def _inverted(
    place: int, root: int, tokens: Sequence[Token], plain: Sequence[str], children: list[int]
) -> list[int]:
    """What must stay of a condition that begins with its verb: "*Had the dam burst*, ..."."""
    first = min([place, *children])
    verb = tokens[first].morph
    opens = first == place or plain[first] in ("aux", "auxpass", "cop")
    if not opens or "Fin" not in verb.get("VerbForm", []) or "Imp" in verb.get("Mood", []):
        return []
    if place != root:
        return [place]
    asked = any(token.text == "?" for token in tokens)
    return [] if asked else [child for child in children if plain[child] in CLAUSES]


def _join(place: int, heads: list[int], plain: Sequence[str], needed: list[bool]) -> bool:
    """Attach a conjunction to the conjunct after it, if any, wherever the parser puts it."""
    head = heads[place]
    for other in range(place + 1, len(heads)):
        if plain[other] == "conj" and head in (other, heads[other]):
            heads[place] = other
            needed[place] = True
            return True
    return False


def _keep_exception(
    place: int, words: Sequence[str], heads: list[int], plain: Sequence[str], needed: list[bool]
) -> None:
    """Keep what is excepted or supposed: "anything *but* honest", "will rise *if* it passes"."""
    head, joint = heads[place], plain[place] in JOINTS
    if joint and (place == 0 or words[place - 1] in MARKS):  # ", but he resigned"
        return
    needed[place] = True
    needed[head] |= not joint
    if place and head == heads[place - 1]:
        needed[place - 1] = True


def _keep_compound(
    place: int, tokens: Sequence[Token], heads: list[int], needed: list[bool]
) -> None:
    """Make a hyphen and the words around it depend on each other, to stay together."""
    left, right = place - 1, place + 1
    if not 0 < place < len(tokens) - 1 or tokens[left].whitespace_ or tokens[place].whitespace_:
        return
    if heads[left] == heads[right] and left != heads[left]:
        heads[left] = right
    needed[place] |= heads[place] in (left, right)  # "cost-of-living": "of" is no part of "cost"
    for one, other in ((left, right), (right, left)):
        if heads[one] == other:
            heads[place] = one
            needed[one] = needed[place] = True


def _names_or_ranks(token: Token, head: Token) -> bool:
    """Whether it is a part of its head's name, or says which of several: "highest"."""
    named = token.text[:1].isupper() and head.text[:1].isupper() and 0 < head.i - token.i <= 3
    morph = token.morph
    return named or morph.get("Degree", []) == ["Sup"] or morph.get("NumType", []) == ["Ord"]


def _way_up(place: int, heads: list[int], plain: Sequence[str]) -> list[int]:
    """The tokens from one to the predicate that it is, or is in, an argument of."""
    way = [place, heads[place]]
    while plain[way[-1]] in ARGUMENTS and heads[way[-1]] != way[-1]:
        way.append(heads[way[-1]])
    return way


def _reached(predicate: int, plain: Sequence[str], children: list[list[int]]) -> list[int]:
    """What a negation restricts: all that is below its predicate."""
    found, stack = [], [predicate]
    while stack:
        below = [child for child in children[stack.pop()] if plain[child] not in OUTSIDE]
        found += below
        stack += below
    return found


def _complements(
    head: int,
    below: list[int],
    words: Sequence[str],
    plain: Sequence[str],
    children: list[list[int]],
) -> list[int]:
    """What a noun or a verb says little without: "tomb *of a scribe*", "went *on strike*"."""
    relations = {plain[child] for child in below}
    # a verb without an object says enough with the first of these after it
    lacking = not relations.isdisjoint(("nsubj", "nsubjpass")) and relations.isdisjoint(COMPLETE)
    found = []
    for child in below:
        word, relation = words[child], plain[child]
        first = words[children[child][0]] if children[child] else ""
        if child < head:
            if word == "the" and "cop" in relations:
                found.append(child)
        elif lacking and (relation in ("obl", "prep") or (relation == "advcl" and first == "to")):
            found.append(child)
            lacking = False
        elif (relation == "prep" and word == "of") or (relation == "nmod" and first == "of"):
            found.append(child)
    return found
