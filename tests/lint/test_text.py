"""Source files as Python reads them."""

from __future__ import annotations

import pytest

from guard.documents.decoding import decode
from guard.errors import NotAnalysedError


@pytest.mark.parametrize(
    ("data", "text", "encoding", "newline"),
    [
        (b"x = 1\n", "x = 1\n", "utf-8", "\n"),
        (b"", "", "utf-8", ""),
        (b"x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n", "utf-8", "\r\n"),
        (b"x = 1\ry = 2\r", "x = 1\ny = 2\n", "utf-8", "\r"),
        (b"\x0cx = 1\n", "\x0cx = 1\n", "utf-8", "\n"),
        ("# coding: latin-1\nx = 'é'\n".encode("latin-1"), "# coding: latin-1\nx = 'é'\n", "iso8859-1", "\n"),
        (b"\n# -*- coding: cp1252 -*-\nx = '\x80'\n", "\n# -*- coding: cp1252 -*-\nx = '€'\n", "cp1252", "\n"),
    ],
)
def test_decoded_as_python_would(data: bytes, text: str, encoding: str, newline: str) -> None:
    source = decode(data)
    assert (source.text, source.encoding, source.newline) == (text, encoding, newline)
    assert source.encode(source.text) == data


def test_byte_order_mark_is_taken_off_and_put_back() -> None:
    source = decode(b"\xef\xbb\xbfx = 1\n")
    assert source.text == "x = 1\n"
    assert source.encode(source.text) == b"\xef\xbb\xbfx = 1\n"


def test_a_coding_line_below_code_means_nothing() -> None:
    assert decode(b"x = 1\n# coding: nonsense\n").encoding == "utf-8"


def test_mixed_line_ends_are_told() -> None:
    assert not decode(b"x = 1\r\ny = 2\n").uniform


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = '\xff'\n", "not utf-8"),
        (b"# coding: klingon\nx = 1\n", "unknown encoding 'klingon'"),
        (b"x = 1\0\n", "NUL byte"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "byte order mark says utf-8"),
        (b"# coding: base64\nx = 1\n", "base64"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(NotAnalysedError) as caught:
        decode(data)
    assert reason in caught.value.reason
