"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from guard.errors import GuardError


def replace_file(file: Path, content: str | bytes) -> None:
    """Put the content in place of the file in one step; a reader sees the old or the new one, with the old one's mode.

    Raises:
        GuardError: it cannot be written; the old file is untouched.
    """
    try:
        handle, partial = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))
            # mkstemp makes a private file; this one is as readable as any other that its writer makes.
            mask = os.umask(0)
            os.umask(mask)
            Path(partial).chmod(file.stat().st_mode & 0o777 if file.exists() else 0o666 & ~mask)
            Path(partial).replace(file)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise GuardError(f"cannot write {file}: {error.strerror or error}") from error
