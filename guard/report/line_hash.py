"""The identity by which GitHub's code scanning follows an alert from run to run: a hash of a line and what follows it.

The method is that of github/codeql-action (`src/fingerprints.ts`): a polynomial in 37, modulo 2**64, over the first
hundred characters from the start of the line, blanks and tabs left out and line ends made equal; an end mark and zeros
stand behind the last character. Lines with equal hashes are numbered in order.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Collection

_BASE = 37
_WINDOW = 100
_END_MARK = 0xFFFF
_WORD = (1 << 64) - 1
_POWERS = tuple(pow(_BASE, _WINDOW - 1 - place, 1 << 64) for place in range(_WINDOW))


def line_hashes(data: bytes, wanted: Collection[int]) -> dict[int, str]:
    """The hashes of some lines of a file.

    Args:
        data: its bytes; what is no UTF-8 counts as the replacement character.
        wanted: line numbers, from 1.

    Returns:
        `hash:occurrence` by line number, without lines that the file does not have.
    """
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    kept = text.replace(" ", "").replace("\t", "")
    # The method counts UTF-16 units, as JavaScript does.
    encoded = kept.encode("utf-16-le")
    units = [*struct.unpack(f"<{len(encoded) // 2}H", encoded), _END_MARK]
    starts = [0, *(place + 1 for place, unit in enumerate(units[:-1]) if unit == ord("\n"))]
    units += [0] * _WINDOW
    last = max(wanted, default=0)
    seen: Counter[int] = Counter()
    found = {}
    for number, start in enumerate(starts[:last], start=1):
        value = sum(unit * power for unit, power in zip(units[start : start + _WINDOW], _POWERS, strict=True)) & _WORD
        seen[value] += 1
        if number in wanted:
            found[number] = f"{value:x}:{seen[value]}"
    return found
