"""Comments that tools act on: they are units of their own, where other comments do not count."""

from __future__ import annotations

import re

_DIRECTIVE = re.compile(
    r"(?:#|//|/\*|<!--|;|--)[\s*]*("
    r"NOLINT\w*|clang-format\s+o(?:n|ff)|clang-tidy\b|cppcheck-suppress|LCOV_EXCL_\w+|GCOVR?_EXCL_\w+|IWYU\s+pragma"
    r"|shellcheck\s+\w+=|hadolint\s|yamllint\s|taplo:|yaml-language-server:|actionlint\b|zizmor:|checkov:|trivy:"
    r"|(?:syntax|escape|check)=\S"
    r"|markdownlint-\w+|prettier-ignore|vale\s+o|eslint-\w+|tslint:|stylelint-\w+|@ts-\w+|biome-ignore|istanbul\s+ignore"
    r"|noqa\b|type:\s*ignore|mypy:|pyright:|ruff:|flake8:|pylint:|pragma:|fmt:\s*\w+|isort:|nosec\b|yapf:|autopep8:"
    r"|cython:|distutils:|-\*-|vim?:|editorconfig|SPDX-License-Identifier:|guard:\s*allow"
    r"|cmake-format:|cmake-lint:|dprint-ignore|gitleaks:|nolint\b|go:\w+|\+build\b|lint:ignore|rustfmt::"
    r")[^\n]*"
)


def directive(comment: str) -> str:
    """What a comment tells a tool, with white space normalised; empty where it tells none.

    Arguments:
        comment: with its mark (`#`, `//`, `/*`, `<!--`), or a line that ends in it.
    """
    found = _DIRECTIVE.search(comment)
    return " ".join(found[0].removesuffix("*/").removesuffix("-->").split()) if found else ""
