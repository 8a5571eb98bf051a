"""Importing Megatron-Core from the tree under test, and from nowhere else."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType


class TreeError(Exception):
    """The tree cannot be imported, or another copy of megatron was imported instead."""


class UnavailableError(Exception):
    """The tree or machine lacks what a case needs; the case is skipped with this reason."""


def enter(tree: Path) -> str:
    """Put `tree` first on the path, import `megatron.core` from it and assert where it came from.

    `megatron` has no `__init__.py`: a second installed copy would mix in silently, so its path is narrowed to the tree.

    Returns:
        The version that `megatron.core` states.

    Raises:
        TreeError: with what went wrong.
    """
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(tree))
    try:
        package = importlib.import_module("megatron")
        if getattr(package, "__file__", None) is None:
            package.__path__ = [str(tree / "megatron")]
        core = importlib.import_module("megatron.core")
    except Exception as error:
        reason = f"{type(error).__name__}: {error}{remedy(error)}"
        raise TreeError(f"megatron.core of {tree} does not import: {reason}") from error
    check_origin(tree)
    return str(getattr(core, "__version__", "unknown"))


def remedy(error: BaseException) -> str:
    """How to get the package that an import lacks; empty where nothing outside the tree is missing."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if not name or name.split(".")[0] == "megatron":
        return ""
    return f"; install it: {sys.executable} -m pip install {name.split('.')[0]}"


def check_origin(tree: Path) -> None:
    """Assert that every loaded `megatron` module lies in the tree.

    Raises:
        TreeError: naming the module that does not.
    """
    root = (tree / "megatron").resolve()
    for name, module in list(sys.modules.items()):
        place = getattr(module, "__file__", None)
        if name.split(".")[0] == "megatron" and place and not Path(place).resolve().is_relative_to(root):
            raise TreeError(f"{name} was imported from {place}, not from the tree {tree}")


def module(name: str) -> ModuleType:
    """A module of the tree.

    Raises:
        UnavailableError: if this tree has no such module, or it lacks a package it imports.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UnavailableError(f"the tree has no importable {name}: {error}{remedy(error)}") from error


def member(name: str, attribute: str) -> object:
    """A member of a module of the tree.

    Raises:
        UnavailableError: if there is none.
    """
    loaded = module(name)
    if not hasattr(loaded, attribute):
        raise UnavailableError(f"{name} of this tree has no {attribute}")
    return getattr(loaded, attribute)
