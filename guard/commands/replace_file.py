"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from guard.errors import GuardError


def replace_file(file: Path, text: str) -> None:
    """Put the text in place of the file in one step; a reader sees the old or the new one.

    Raises:
        GuardError: it cannot be written; the old file is untouched.
    """
    try:
        handle, partial = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text.encode("utf-8", "backslashreplace"))
            # mkstemp makes a private file; this one is as readable as any other that its writer makes.
            mask = os.umask(0)
            os.umask(mask)
            Path(partial).chmod(0o666 & ~mask)
            Path(partial).replace(file)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise GuardError(f"cannot write {file}: {error.strerror or error}") from error
