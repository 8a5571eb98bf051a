"""Names that a file of a tree may not have in a work tree. Trees can be made by hand and hold any name."""

from __future__ import annotations

import re

# HFS+ leaves these characters out when it compares names (git's `next_hfs_char`).
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


def is_git_directory(name: str) -> bool:
    """Whether some file system takes one part of a path for `.git`, as git itself refuses it (`verify_path`).

    Case, what HFS+ leaves out, the blanks and dots that NTFS drops from the end, its short name, its streams after a
    colon, and the backslash, which parts a path on Windows, are looked through.
    """
    pieces = (piece.partition(":")[0] for piece in name.split("\\"))
    return any(_IGNORED.sub("", piece).lower().rstrip(". ") in {".git", "git~1"} for piece in pieces)
