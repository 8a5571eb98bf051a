"""JSON as all formats write it: valid UTF-8, no NaN, one key a line so that two reports can be compared."""

from __future__ import annotations

import json
import math
from typing import Any

from guard.report.plain import encodable

# DEL, the C1 controls and the bidirectional overrides, which JSON does not have to escape and a terminal obeys.
_CONTROL = {
    point: f"\\u{point:04x}"
    for point in (*range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def dump(document: Any) -> str:
    """The document as JSON text that ends in a newline."""
    text = json.dumps(safe(document), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    return harmless(text)


def harmless(text: str) -> str:
    """JSON that parses to the same and holds no command for a log or terminal (`plain.clean`)."""
    return text.replace("##", "#\\u0023").translate(_CONTROL)


def safe(value: Any) -> Any:
    """The same document with strings that UTF-8 can write, and null for numbers that JSON does not have."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: safe(item) for key, item in value.items()}
    if isinstance(value, list):
        return [safe(item) for item in value]
    return value
