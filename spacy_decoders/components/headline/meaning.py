"""What a shortened sentence cannot lose without saying something else than the text."""

from __future__ import annotations

from collections import defaultdict

from spacy.tokens import Span

__all__ = ["HYPHENS", "MARKS", "NEGATIONS", "DependencyTree"]

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
#: Features of pronouns that ask or begin a relative clause, and of superlatives and ordinals.
ASKING = frozenset({"PronType=Int", "PronType=Rel", "PronType=Int,Rel"})
RANKING = frozenset({"Degree=Sup", "NumType=Ord"})
#: Relations of what the parser may take the main clause for, under a condition before it.
CLAUSES = frozenset({"advcl", "ccomp", "parataxis"})
#: Marks that stay with what they set off.
MARKS = frozenset({",", ":", ";", "–", "—", "--", "(", ")"})
#: What may join two words to one.
HYPHENS = frozenset("-–/")


class DependencyTree:
    """A sentence as a tree, and what a shorter one cannot lose as long as it has its head.

    Parameters
    ----------
    span
        The sentence; what depends on tokens outside of it depends on its root here.
    """

    def __init__(self, span: Span) -> None:
        self.tokens = list(span)
        self.root = span.root.i - span.start
        self.words = [token.lower_ for token in self.tokens]
        self.features = [{*str(token.morph).split("|")} for token in self.tokens]
        full = [token.dep_ for token in self.tokens]
        self.relations = [relation.partition(":")[0] for relation in full]
        self.heads = [token.head.i - span.start for token in self.tokens]
        for place, head in enumerate(self.heads):  # one tree, whatever the parser made of it
            if head == place or not 0 <= head < len(self.tokens):
                self.heads[place] = self.root
        #: Which tokens stay with their heads.
        self.needed = [
            word in KEPT or word in MARKS or relation in REQUIRED or whole in REQUIRED
            for word, relation, whole in zip(self.words, self.relations, full, strict=True)
        ]
        for place, word in enumerate(self.words):
            if word in HYPHENS:
                self._keep_compound(place)
            elif self.relations[place] in JOINTS:
                self._join(place)
        self.children: list[list[int]] = [[] for _ in self.tokens]
        #: The tokens that others depend on, by the relation.
        self.having: defaultdict[str, set[int]] = defaultdict(set)
        for place, head in enumerate(self.heads):
            if place != self.root:
                self.children[head].append(place)
                self.having[self.relations[place]].add(head)
        every = zip(self.words, self.relations, self.features, strict=True)
        for place, (word, relation, features) in enumerate(every):
            if relation == "advcl" or place == self.root:
                self._keep_inverted(place)
            elif relation == "conj":  # "*Ann and Bob* are twins"
                self.needed[place] |= self.relations[self.heads[place]].startswith("nsubj")
            elif relation in ("amod", "nmod"):
                self.needed[place] |= bool(RANKING & features) or self._names(place)
            if word in EXCEPTIONS and relation in FUNCTIONS:
                self._keep_exception(place)
            elif word in NEGATIONS or relation == "neg" or ASKING & features:
                self._keep_clause(place)
        self._keep_complements()

    def groups(self, wanted: tuple[int, ...] = ()) -> tuple[list[list[int]], list[int]]:
        """The tokens that stay or go together, and the parent of each group, -1 of the first.

        The first group, which always stays, has the root and the `wanted` places.
        """
        needed = self.needed.copy()
        for place in wanted:
            for other in self._above(place):
                needed[other] = True
        groups, parents, number, order = [[self.root]], [-1], {self.root: 0}, [self.root]
        for head in order:
            for place in self.children[head]:
                own = number[head]
                if not needed[place]:
                    parents.append(own)
                    groups.append([])
                    own = len(parents) - 1
                number[place] = own
                groups[own].append(place)
                order.append(place)
        return list(map(sorted, groups)), parents

    def _above(self, place: int) -> list[int]:
        """A token and all that it depends on, up to the root."""
        way = [place]
        while way[-1] != self.root:
            way.append(self.heads[way[-1]])
        return way

    def _join(self, place: int) -> None:
        """Attach a conjunction to the conjunct after it, if any, wherever the parser puts it."""
        head = self.heads[place]
        for other in range(place + 1, len(self.heads)):
            if self.relations[other] == "conj" and head in (other, self.heads[other]):
                self.heads[place] = other
                self.needed[place] = True
                return

    def _keep_compound(self, place: int) -> None:
        """Make a hyphen and the words around it depend on each other, to stay together."""
        left, right, heads, tokens = place - 1, place + 1, self.heads, self.tokens
        inside = 0 < place < len(tokens) - 1
        if not inside or tokens[left].whitespace_ or tokens[place].whitespace_:
            return
        if heads[left] == heads[right] and left != heads[left]:
            heads[left] = right
        if heads[place] in (left, right):  # "cost-of-living": "of" is no part of "cost"
            self.needed[place] = True
        for one, other in ((left, right), (right, left)):
            if heads[one] == other and place not in self._above(other):
                heads[place] = one
                self.needed[one] = self.needed[place] = True

    def _keep_inverted(self, place: int) -> None:
        """Keep a condition that begins with its verb with the rest: "*Had the dam burst*, ..."."""
        first = min([place, *self.children[place]])
        features = self.features[first]
        opens = first == place or self.relations[first] in ("aux", "auxpass", "cop")
        if not opens or "VerbForm=Fin" not in features or "Mood=Imp" in features:
            return
        if place != self.root:
            self.needed[place] = True
        elif "?" not in self.words:
            for child in self.children[place]:
                self.needed[child] |= self.relations[child] in CLAUSES

    def _names(self, place: int) -> bool:
        """Whether it is a part of its head's name."""
        head = self.heads[place]
        named = self.tokens[place].text[:1].isupper() and self.tokens[head].text[:1].isupper()
        return named and 0 < head - place <= 3

    def _keep_exception(self, place: int) -> None:
        """Keep what a word excepts or supposes: "all *but* useless", "rises *if* it passes"."""
        head, before = self.heads[place], self.words[place - 1] if place else ","
        # unlike "but he resigned"
        if self.relations[place] in JOINTS and (before in MARKS or self.relations[head] == "conj"):
            return
        self.needed[self._keep_clause(place)] = True

    def _keep_clause(self, place: int) -> int:
        """Keep all of the clause that a word denies, asks or makes a condition; its predicate."""
        predicate = self.heads[place]
        while self.relations[predicate] in ARGUMENTS and predicate != self.root:
            predicate = self.heads[predicate]
        self.needed[place] = True
        stack = [predicate]
        while stack:
            for child in self.children[stack.pop()]:
                if self.relations[child] not in OUTSIDE:
                    self.needed[child] = True
                    stack.append(child)
        return predicate

    def _keep_complements(self) -> None:
        """Keep what nouns and verbs say little without: "tomb *of a scribe*", "on strike"."""
        words, having = self.words, self.having.__getitem__
        # a verb without an object says enough with the first of these after it
        lacking = (having("nsubj") | having("nsubjpass")).difference(*map(having, COMPLETE))
        for place, (head, relation) in enumerate(zip(self.heads, self.relations, strict=True)):
            first = words[self.children[place][0]] if self.children[place] else ""
            if place < head:
                self.needed[place] |= words[place] == "the" and head in having("cop")
            elif head in lacking and (
                relation in ("obl", "prep") or (relation == "advcl" and first == "to")
            ):
                self.needed[place] = True
                lacking.remove(head)
            elif (relation, words[place]) == ("prep", "of") or (relation, first) == ("nmod", "of"):
                self.needed[place] = True
