"""The linter: YAML rules over Python sources; no analysed code is ever imported."""
