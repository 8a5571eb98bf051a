"""Units of prose: headings, sentences, list items, table rows and the lines of code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guard.documents.units import Unit

_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:])\1{2,}\s*$")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_ITEM = re.compile(r"\s*([-*+]|\d+[.)])\s+")
_LINK = re.compile(r"\s*(\[[^\]]+\]:\s|\.\. )")  # the target of a link; a directive of reStructuredText
_TABLE_RULE = re.compile(r"[\s|:+=-]+")
_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z`*_\[(\"0-9])")


def prose_units(text: str) -> Iterator[Unit]:
    """Headings, sentences, list items, table rows and the lines of code blocks; wrapping does not count."""
    headings: list[str] = []
    block: list[tuple[int, str]] = []
    fence = ""
    lines = text.split("\n")

    def flush() -> Iterator[Unit]:
        if block:
            yield from _sentences(block, _scope(headings))
            block.clear()

    for number, line in enumerate(lines, 1):
        opened = _FENCE.match(line)
        if fence or opened:
            yield from flush()
            if not fence and opened:
                fence = opened[1]
            elif opened and opened[1].startswith(fence):
                fence = ""
            elif line.strip():
                yield _unit(_scope(headings), line, number)
            continue
        heading = _HEADING.match(line)
        underlined = number < len(lines) and line.strip() and not block and _UNDERLINE.match(lines[number])
        if heading or (underlined and not _UNDERLINE.match(line)):
            yield from flush()
            level, title = (len(heading[1]), heading[2]) if heading else (2, line.strip())
            del headings[level - 1 :]
            headings.extend("" for _ in range(level - 1 - len(headings)))
            headings.append(" ".join(title.split()))
            yield _unit(_scope(headings[:-1]), title, number)
        elif not line.strip() or (_UNDERLINE.match(line) and not block):
            yield from flush()
        elif line.lstrip().startswith("|"):
            yield from flush()
            if not _TABLE_RULE.fullmatch(line):
                yield _unit(_scope(headings), line, number)
        else:
            if _ITEM.match(line) or _LINK.match(line):
                yield from flush()
            block.append((number, line))
    yield from flush()


def _sentences(block: list[tuple[int, str]], scope: str) -> Iterator[Unit]:
    """The sentences of one paragraph or list item, each with the lines that it spans."""
    words = [(word, number) for number, line in block for word in line.split()]
    joined = " ".join(word for word, _ in words)
    start = 0
    for sentence in _SENTENCE_END.split(joined):
        count = len(sentence.split())
        span = words[start : start + count]
        start += count
        if span and any(character.isalnum() for character in sentence):
            yield Unit(scope, sentence, "", span[0][1], span[-1][1])


def _scope(headings: list[str]) -> str:
    return " / ".join(title for title in headings[1:] or headings if title)


def _unit(scope: str, line: str, number: int) -> Unit:
    return Unit(scope, " ".join(line.split()), "", number, number)
