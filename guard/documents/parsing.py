"""Whether a file is Python that can be analysed at all."""

from __future__ import annotations

import ast
import warnings

from guard.documents.decoding import decode
from guard.errors import NotAnalysedError


def require_parses(data: bytes) -> None:
    """Parse a file and drop the result.

    Raises:
        NotAnalysedError: it cannot be decoded or parsed by the running Python.
    """
    text = decode(data).text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as problem:
        raise NotAnalysedError(f"line {problem.lineno or 1}: {problem.msg}") from None
    except (ValueError, RecursionError, MemoryError) as problem:
        raise NotAnalysedError(f"cannot be parsed: {problem or type(problem).__name__}") from None
