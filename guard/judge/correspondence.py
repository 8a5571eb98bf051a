"""How four forms of one definition correspond: which statement of one is which statement of another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from guard.documents.statements import Statement
from guard.judge import tokens
from guard.judge.alignment import align, hunks, inverse

Statements = tuple[Statement, ...]
ALIKE = 0.5  # at least this similar: one statement became the other
SAME_HEAD = 0.2  # or this similar, where both assign or call the same name


class Alignment:
    """One definition as base, side, the other side and merged have it, and how the four correspond."""

    def __init__(
        self,
        base: Statements,
        side: Statements,
        other: Statements,
        merged: Statements,
        went: Callable[[str], bool] = lambda _text: False,
        flat: bool = False,
        reads: Callable[[str], bool] = lambda _name: False,
    ) -> None:
        """Align the four forms.

        Arguments:
            reads: whether merged's file reads a name, imports aside, and the side's does not.
            flat: they are the statements of a module or a class, which run once and in order.
            went: whether a statement of the side stands in merged outside this definition, brought there.
        """
        self.went, self.flat, self.reads = went, flat, reads
        self.fitted: dict[int, int] = {}  # statements of the side that merged has in a form made by hand
        self.base, self.side, self.other, self.merged = base, side, other, merged
        texts = [[statement.text for statement in form] for form in (base, side, other, merged)]
        self.base_side = align(texts[0], texts[1])
        self.base_merged = align(texts[0], texts[3])
        self.side_merged = align(texts[1], texts[3])
        self.base_other = align(texts[0], texts[2])
        self.other_merged = align(texts[2], texts[3])
        self.side_base = inverse(self.base_side, len(side))
        self.counts = [Counter(form) for form in texts]
        self._compose()
        self._settle()
        self.merged_base = inverse(self.base_merged, len(merged))
        self.merged_side = inverse(self.side_merged, len(merged))
        self.fresh = [k for k in range(len(merged)) if self.merged_base[k] < 0 and self.merged_side[k] < 0]
        self._by_text: dict[str, list[int]] = defaultdict(list)
        for k in self.fresh:
            self._by_text[merged[k].text].append(k)
        self._became: dict[int, int] | None = None

    @property
    def fresh_of_other(self) -> set[int]:
        """Statements of merged that the other side has, and neither the base nor the side."""
        from_other = set(self.other_merged)
        return {k for k in from_other if k >= 0 and self.merged_base[k] < 0 and self.merged_side[k] < 0}

    @property
    def became(self) -> dict[int, int]:
        """Which statement of the base became which of the other side, where both differ but are alike."""
        if self._became is None:
            self._became = pairs_of(self.base, self.other, self.base_other)
        return self._became

    def _compose(self) -> None:
        """A statement that the base and the side have, and the base and merged, is the same in the side and merged.

        Of two statements that changed places either may be called the one that stayed. Each alignment chooses by
        itself, and two that chose otherwise would hide that merged has the base's order again.
        """
        for i, j in enumerate(self.base_side):
            k = self.base_merged[i]
            if j < 0 or k < 0 or self.side_merged[j] == k or not self._is_known(self.side[j]):
                continue
            crossing = [n for n, m in enumerate(self.side_merged) if m >= 0 and n != j and (n - j) * (m - k) <= 0]
            if all(self.side_base[n] < 0 and self.side[n].kind != "import" for n in crossing):
                for n in crossing:
                    self.side_merged[n] = -1
                self.side_merged[j] = k

    def _is_known(self, statement: Statement) -> bool:
        """Whether a statement, no import, stands once in the base, the side and merged: its place is no guess."""
        base, side, _, merged = (counts[statement.text] for counts in self.counts)
        return statement.kind != "import" and base == side == merged == 1

    def _settle(self) -> None:
        """Of two equal statements, one the base's and one put in, the base's is the one that merged has."""
        at = inverse(self.side_merged, len(self.merged))
        for i, j in enumerate(self.base_side):
            if j < 0 or self.side_merged[j] >= 0:
                continue
            k = self.base_merged[i]
            taken = at[k] if k >= 0 else -1
            if taken >= 0 and taken != j and self.side_base[taken] < 0:
                self.side_merged[j], self.side_merged[taken] = k, -1
                at[k] = j

    def too_many(self, statement: Statement) -> bool:
        """Whether merged has more statements like this one than either side has."""
        _, side, other, merged = (counts[statement.text] for counts in self.counts)
        return merged > max(side, other)

    def too_few(self, statement: Statement) -> bool:
        """Whether merged has fewer statements like this one than the base and both sides have."""
        base, side, other, merged = (counts[statement.text] for counts in self.counts)
        return merged < min(base, side, other)

    def take_equal(self, text: str) -> int:
        """A statement of merged with this text that neither the base nor the side accounts for, or -1; once each."""
        left = self._by_text.get(text)
        if not left:
            return -1
        k = left.pop(0)
        self.fresh.remove(k)
        return k

    def repeats(self, j: int) -> bool:
        """Whether statement `j` of the side binds a name as merged does elsewhere: imports, or twice in one block."""
        statement = self.side[j]
        if statement.kind == "import" and not self.counts[3].keys().isdisjoint(
            (statement.text, statement.text.removeprefix("import "))
        ):
            return True
        if not self.flat or not (statement.kind == "import" or statement.tokens[1:2] in (("=",), (":",))):
            return False
        name = head(statement)
        alike = [n for n, other in enumerate(self.side) if other.kind == statement.kind and head(other) == name]
        return any(self.side_merged[n] >= 0 for n in alike) and all(
            self.side[n].text == statement.text and self.side[n].parent == statement.parent for n in alike
        )

    def holding(self, statement: Statement) -> int:
        """A fresh statement of merged that gives the same name a collection with all of this one in it, or -1."""
        name = head(statement)
        start = statement.tokens[len(name) : len(name) + 2]
        if start not in {("=", "["), ("=", "("), ("=", "{")}:
            return -1
        want = tokens.bag(statement)
        for k in self.fresh:
            there = self.merged[k]
            if there.tokens[: len(name) + 2] == (*name, *start) and want <= tokens.bag(there):
                return k
        return -1

    def answered(self, j: int) -> int:
        """The `return` or `raise` that merged has in the place of the side's statement `j`, or -1.

        The block is there, and the other side took statements like this one out of the whole definition.
        """
        statement = self.side[j]
        word, parent = statement.tokens[:1], statement.parent
        block = self.side_merged[parent] if parent >= 0 else -1
        if block < 0:
            block = self.fitted.get(parent, -1)
        if word not in {("return",), ("raise",)} or block < 0:
            return -1
        base, _, other, _ = (counts[statement.text] for counts in self.counts)
        if other >= base:
            return -1
        return next((k for k in self.fresh if self.merged[k].parent == block and self.merged[k].tokens[:1] == word), -1)

    def most_alike(self, statement: Statement, least: float, near: int = -1) -> int:
        """The fresh statement of merged that is most like this one, or -1."""
        best, found = least, -1
        bag = tokens.bag(statement)
        for k in self.fresh:
            candidate = self.merged[k]
            if candidate.kind != statement.kind:
                continue
            score = tokens.overlap(bag, tokens.bag(candidate))
            if score > best or (score == best and found >= 0 and near >= 0 and abs(k - near) < abs(found - near)):
                best, found = score, k
        return found


def pairs_of(base: Statements, other: Statements, partners: Sequence[int]) -> dict[int, int]:
    """Which statement of the base became which of the other form, where both differ but are alike."""
    found = {}
    for start, end, new_start, new_end in hunks(partners, len(other)):
        for i, j in pair(base[start:end], other[new_start:new_end]):
            found[start + i] = new_start + j
    return found


def head(statement: Statement) -> tuple[str, ...]:
    """What a statement begins with: the name it assigns or calls."""
    found: list[str] = []
    for token in statement.tokens:
        if token in ("(", "=", ":", "["):
            break
        found.append(token)
    return tuple(found)


def pair(old: Statements, new: Statements) -> list[tuple[int, int]]:
    """Statements of two runs that are forms of one another, best first, in order and one to one."""
    if not old or not new or len(old) * len(new) > 40_000:
        return []
    bags = [tokens.bag(statement) for statement in new]
    scored = []
    for i, statement in enumerate(old):
        bag = tokens.bag(statement)
        for j, other in enumerate(new):
            if statement.kind != other.kind:
                continue
            if tokens.most_overlap(bag, bags[j]) < SAME_HEAD:
                continue
            score = tokens.overlap(bag, bags[j])
            if score < ALIKE and score >= SAME_HEAD and head(statement) == head(other):
                score = ALIKE
            if score >= ALIKE:
                scored.append((-score, abs(i - j), i, j))
    scored.sort()
    chosen: list[tuple[int, int]] = []
    for _, _, i, j in scored:
        if all((i - a) * (j - b) > 0 for a, b in chosen):
            chosen.append((i, j))
    return chosen
