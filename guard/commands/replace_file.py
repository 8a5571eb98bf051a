"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from guard.errors import GuardError


def replace_file(file: Path, content: str | bytes) -> None:
    """Put the content in place of the file in one step; a reader sees the old or the new one, with the old one's mode.

    A device, a pipe and a descriptor (`/dev/null`, `/dev/stdout`) are written to and stay what they are.

    Raises:
        GuardError: it cannot be written; the old file is untouched.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    try:
        if _is_stream(file):
            with file.open("ab") as stream:
                stream.write(data)
            return
        handle, partial = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as partly:
                partly.write(data)
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


def _is_stream(file: Path) -> bool:
    """Whether the path leads to what is no regular file, or to a descriptor, which may be one."""
    if file.exists() and not file.is_file():
        return True
    return file.is_symlink() and file.absolute().parts[1] in {"dev", "proc"}
