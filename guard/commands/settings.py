"""Where the configuration of a run comes from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from guard.config import Config, load, parse, read_regular
from guard.errors import GuardError

if TYPE_CHECKING:
    from guard.git import Repository


def load_config(repository: Repository | None, file: str | None = None) -> Config:
    """The configuration: of `file`, else of the work tree, else (bare repository) of HEAD's tree.

    Raises:
        ConfigError: it is wrong.
        GuardError: `file` cannot be read.
    """
    if file is not None:
        try:
            data = read_regular(Path(file))
        except OSError as error:
            raise GuardError(f"configuration {file} cannot be read: {error.strerror}") from error
        return parse(data, file, whole=Path(file).name != "pyproject.toml") or Config()
    if repository is None:
        return load(Path.cwd())
    if repository.work_tree is not None:
        return load(repository.work_tree)
    if not repository.exists("HEAD"):
        return Config()
    entries = repository.entries(repository.resolve("HEAD"))
    for name in ("guard.toml", "pyproject.toml"):
        if name in entries:
            config = parse(repository.blob(entries[name].sha), f"HEAD:{name}", whole=name == "guard.toml")
            if config is not None:
                return config
    return Config()
