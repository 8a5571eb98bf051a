"""`[tool.guard]` in pyproject.toml, or the same table at the top of guard.toml. Unknown keys are errors."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from guard.errors import ConfigError

FILE_NAMES = ("guard.toml", "pyproject.toml")


@dataclass(frozen=True, slots=True)
class SidePolicy:
    """Files that are to be taken whole from one side, as a team decided. Losses inside them are still reported.

    Attributes:
        paths: glob patterns, as in `.gitignore` without negation.
        reason: why; an entry without one is a finding.
        expires: last day on which the entry holds.
    """

    paths: tuple[str, ...]
    reason: str = ""
    expires: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class CoupledFiles:
    """Files that change together or not at all."""

    paths: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one run.

    Attributes:
        target: branch that `--since merge-base` is relative to; else the upstream, else the remote's default.
        sync_from: revision that squashed syncs bring in (`theirs` for a sync commit with one parent).
        select, ignore: codes or prefixes of codes to report, or not to.
        fail_on: lowest severity that makes exit state 1.
        baseline: file of accepted findings, relative to the repository root.
        rules: further rule directories or files.
        ledger: file that `guard history --ledger` wrote, relative to the repository root: what earlier syncs lost.
        exclude: glob patterns of files never linted.
        protected: files that must equal ours after a sync.
        coupled: groups of files that must change together.
        take_theirs, keep_ours: side lists with reason and expiry.
        golden: patterns of golden values and lock files; their hunks are policy and no losses.
        persona: `maintainer`, `reviewer` or `audit`: how much the default view shows.
        docs_url: web address of the folder with `rules.md` and `codes.md`, for links; else where guard came from.
    """

    target: str | None = None
    sync_from: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str = "error"
    baseline: str | None = None
    rules: tuple[str, ...] = ()
    ledger: str | None = None
    exclude: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    coupled: tuple[CoupledFiles, ...] = ()
    take_theirs: tuple[SidePolicy, ...] = ()
    keep_ours: tuple[SidePolicy, ...] = ()
    golden: tuple[str, ...] = ("**/golden_values*", "*.lock", "**/package-lock.json", "**/go.sum")
    persona: str = "maintainer"
    docs_url: str | None = None
    source: str | None = field(default=None, metadata={"internal": True})


def load(directory: Path) -> Config:
    """The configuration of a repository root; the defaults where it has none.

    Raises:
        ConfigError: the file is no TOML, has an unknown key, or a value of the wrong type.
    """
    for name in FILE_NAMES:
        file = directory / name
        if file.is_file():
            config = parse(file.read_bytes(), str(file), whole=name == "guard.toml")
            if config is not None:
                return config
    return Config()


def parse(data: bytes, origin: str, *, whole: bool) -> Config | None:
    """Read one configuration file.

    Arguments:
        data: the file's bytes.
        origin: its name, for messages.
        whole: the settings stand at the top and not under `[tool.guard]`.

    Returns:
        None where the file has no table for guard.
    """
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{origin}: {error}") from error
    table = document if whole else document.get("tool", {}).get("guard")
    if table is None:
        return None
    config: Config = _build(Config, table, origin, data.decode("utf-8"), "tool.guard")
    object.__setattr__(config, "source", origin)
    choices = {"fail_on": ("error", "warning", "note", "never"), "persona": ("maintainer", "reviewer", "audit")}
    for key, allowed in choices.items():
        if getattr(config, key) not in allowed:
            raise ConfigError(f"{_place(origin, data.decode(), key)}: {key} must be one of {', '.join(allowed)}")
    return config


def _build(kind: type, table: Any, origin: str, text: str, crumb: str) -> Any:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{_place(origin, text, crumb.rsplit('.', 1)[-1])}: {crumb} must be a table")
    known = {item.name.replace("_", "-"): item for item in fields(kind) if not item.metadata.get("internal")}
    hints = get_type_hints(kind)
    values = {}
    for key, value in table.items():
        item = known.get(key.replace("_", "-"))
        if item is None:
            raise ConfigError(
                f"{_place(origin, text, key)}: unknown key {key!r} in {crumb}; known: {', '.join(sorted(known))}"
            )
        values[item.name] = _value(hints[item.name], value, origin, text, f"{crumb}.{key}")
    for item in known.values():
        if item.default is MISSING and item.default_factory is MISSING and item.name not in values:
            raise ConfigError(f"{origin}: {crumb} needs the key {item.name!r}")
    return kind(**values)


def _value(hint: Any, value: Any, origin: str, text: str, crumb: str) -> Any:
    key = crumb.rsplit(".", 1)[-1]
    if get_origin(hint) is UnionType:
        hint = next(option for option in get_args(hint) if option is not type(None))
    if get_origin(hint) is tuple:
        element = get_args(hint)[0]
        if not isinstance(value, list):
            raise ConfigError(f"{_place(origin, text, key)}: {crumb} must be a list")
        return tuple(_value(element, item, origin, text, f"{crumb}") for item in value)
    if hasattr(hint, "__dataclass_fields__"):
        return _build(hint, value, origin, text, crumb)
    if not isinstance(value, hint) or isinstance(value, bool) is not (hint is bool):
        raise ConfigError(f"{_place(origin, text, key)}: {crumb} must be of type {hint.__name__}")
    return value


def _place(origin: str, text: str, key: str) -> str:
    for number, line in enumerate(text.splitlines(), 1):
        name = line.partition("=")[0].strip().strip("[]").rsplit(".", 1)[-1].strip().strip("\"'")
        if name.replace("-", "_") == key.replace("-", "_"):
            return f"{origin}:{number}"
    return f"{origin}:1"
