"""JSON as all formats write it: valid UTF-8, no NaN, one key a line so that two reports can be compared."""

from __future__ import annotations

import json
import math
from typing import Any

from guard.report.plain import encodable


def dump(document: Any) -> str:
    """The document as JSON text that ends in a newline."""
    return json.dumps(safe(document), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


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
