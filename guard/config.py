"""`[tool.guard]` in pyproject.toml, or the same table at the top of guard.toml. Unknown keys are errors."""

from __future__ import annotations

import datetime
import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from guard.errors import ConfigError

# Of a settings, rule or baseline file.
MOST_BYTES = 16 * 1024 * 1024
FILE_NAMES = ("guard.toml", "pyproject.toml")
CHOICES = {"fail_on": ("error", "warning", "note", "never"), "persona": ("maintainer", "reviewer", "audit")}


@dataclass(frozen=True, slots=True)
class SidePolicy:
    """Files that are to be taken whole from one side, as a team decided. Losses inside them are still reported.

    Attributes:
        paths: glob patterns, as in `.gitignore`.
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
class FileIgnores:
    """Codes, prefixes or names that are not reported in some files."""

    paths: tuple[str, ...]
    ignore: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one run.

    Attributes:
        target: branch that `--since merge-base` is relative to; else the upstream, else the remote's default.
        sync_from: revision that squashed syncs bring in (`theirs` for a sync commit with one parent).
        select, ignore: codes or prefixes of codes to report, or not to.
        per_file_ignores: what is not reported where: a table of `pattern = [codes]`, or entries with `paths`, `ignore`
            and `reason`.
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
    per_file_ignores: tuple[FileIgnores, ...] = ()
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
    given: tuple[str, ...] = field(default=(), metadata={"internal": True})


def read_regular(file: Path) -> bytes:
    """The bytes of a settings, rule or baseline file.

    Raises:
        OSError: it cannot be read.
        ConfigError: it is a pipe, a device or a folder, which may have no end, or larger than `MOST_BYTES`.
    """
    # A pipe that nobody writes to must not hold the run up before it is known for what it is.
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ConfigError(f"{file}:1: a pipe, device or folder, and no regular file")
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{file}:1: larger than {MOST_BYTES} bytes")
    return data


def load(directory: Path) -> Config:
    """The configuration of a repository root; the defaults where it has none.

    Raises:
        ConfigError: the file is no TOML, has an unknown key, or a value of the wrong type.
    """
    for name in FILE_NAMES:
        file = directory / name
        if file.exists():
            config = parse(read_regular(file), str(file), whole=name == "guard.toml")
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
    except RecursionError:
        raise ConfigError(f"{origin}:1: nested too deeply") from None
    except ValueError as error:  # no TOML, no UTF-8, or a number that Python refuses to read
        raise ConfigError(f"{origin}: {error}") from error
    table = document if whole else document.get("tool", {}).get("guard")
    if table is None:
        return None
    config: Config = _build(Config, table, origin, data.decode("utf-8"), "tool.guard")
    object.__setattr__(config, "source", origin)
    object.__setattr__(config, "given", tuple(sorted(key.replace("-", "_") for key in table)))
    for key, allowed in CHOICES.items():
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
        if element is FileIgnores and isinstance(value, Mapping):
            # As other linters have it: `"tests/**" = ["GRD101"]`, one pattern a key.
            value = [{"paths": [pattern], "ignore": codes} for pattern, codes in value.items()]
        if not isinstance(value, list):
            raise ConfigError(f"{_place(origin, text, key)}: {crumb} must be a list")
        return tuple(_value(element, item, origin, text, f"{crumb}") for item in value)
    if hasattr(hint, "__dataclass_fields__"):
        return _build(hint, value, origin, text, crumb)
    if not isinstance(value, hint) or isinstance(value, bool) is not (hint is bool):
        raise ConfigError(f"{_place(origin, text, key)}: {crumb} must be of type {hint.__name__}")
    return value


def place_of(config: Config, name: str, root: Path) -> str:
    """Where a setting of a configuration stands, as `file:line`; the file alone where its text is not at hand."""
    origin = config.source or ""
    file = Path(origin)
    if not file.is_file():
        return origin
    shown = str(file.relative_to(root)) if file.is_relative_to(root) else origin
    return _place(shown, file.read_text("utf-8"), name)


def json_schema() -> dict[str, Any]:
    """The JSON schema of `[tool.guard]` and of `guard.toml`, from the classes above; for editors."""
    kinds = (SidePolicy, CoupledFiles, FileIgnores)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:merge-regression-guard:config:1",
        "title": "Settings of guard: [tool.guard] in pyproject.toml, or guard.toml",
        **_schema_of(Config),
        "$defs": {kind.__name__: _schema_of(kind) for kind in kinds},
    }
    codes = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}
    ignores = schema["properties"]["per-file-ignores"]
    schema["properties"]["per-file-ignores"] = {"anyOf": [codes, ignores], "description": ignores.pop("description")}
    return schema


def _schema_of(kind: type) -> dict[str, Any]:
    hints, meanings = get_type_hints(kind), _meanings(kind)
    listed = [item for item in fields(kind) if not item.metadata.get("internal")]
    properties = {}
    for item in listed:
        described = _schema_of_value(hints[item.name])
        if kind is Config and item.name in CHOICES:
            described = {"enum": list(CHOICES[item.name])}
        if item.name in meanings:
            described["description"] = meanings[item.name]
        properties[item.name.replace("_", "-")] = described
    needed = [item.name.replace("_", "-") for item in listed if item.default is MISSING]
    needs = {"required": needed} if needed else {}
    return {"type": "object", "additionalProperties": False, **needs, "properties": properties}


def _schema_of_value(hint: Any) -> dict[str, Any]:
    if get_origin(hint) is UnionType:
        hint = next(option for option in get_args(hint) if option is not type(None))
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _schema_of_value(get_args(hint)[0])}
    if hasattr(hint, "__dataclass_fields__"):
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if hint is datetime.date:
        return {"type": "string", "format": "date", "description": "a date of TOML, without quotes"}
    return {"type": "string"}


def _meanings(kind: type) -> dict[str, str]:
    """What the docstring of a class says of its fields."""
    found: dict[str, str] = {}
    last: list[str] = []
    for line in (kind.__doc__ or "").partition("Attributes:")[2].splitlines():
        names, colon, meaning = line.strip().partition(": ")
        if line.startswith("        ") and not line.startswith("         ") and colon:
            last = [name.strip() for name in names.split(",")]
            found.update(dict.fromkeys(last, meaning))
        elif line.strip():
            found.update({name: f"{found[name]} {line.strip()}" for name in last})
    return found


def _place(origin: str, text: str, key: str) -> str:
    for number, line in enumerate(text.splitlines(), 1):
        name = line.partition("=")[0].strip().strip("[]").rsplit(".", 1)[-1].strip().strip("\"'")
        if name.replace("-", "_") == key.replace("-", "_"):
            return f"{origin}:{number}"
    return f"{origin}:1"
