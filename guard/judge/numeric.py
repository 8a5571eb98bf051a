"""Whether a change can alter a computed number: arithmetic, scales, counts, reductions, groups, dtypes, losses."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ARITHMETIC = frozenset(["*", "/", "//", "%", "**", "@", "+=", "-=", "*=", "/=", "//=", "**=", "@=", "+", "-"])
_OPENERS = frozenset(["[", "(", ",", "=", ":", "return"])  # after one of these a sign is no operation
_PARTS = re.compile(
    r"(^|_)("
    r"loss(es)?|grads?|gradients?|norm|scal(e|es|ed|ing|er)|unscale|eps|epsilon|dtype|b?float(16|32|64)|half|[bf]p?16|"
    r"fp(32|8|4)|mxfp8|nvfp4|(all)?reduce|allgather|mean|sum|cumsum|softmax|logsumexp|logits?|r?sqrt|clip|clamp|"
    r"coeff?|coefficient|lr|momentum|betas?|dropout|flops?|microbatch(es)?|bsz|std|variance|(de)?quantize|amax|divisor|"
    r"denominator|normalize|averag(e|ing)|precision|ratio|temperature|entropy|weighted|decay|numel|backward|autocast|"
    r"tolerance|[ar]tol|(mat)?mul|einsum)(_|$)"
)
_PAIRS = re.compile(
    r"(num|n|total|local|valid|global)_?tokens?|tokens?_?(count|per)|token_num|world_size|batch_size|seq_?len|"
    r"(cp|tp|dp|ep|pp|tp_cp|dp_cp|reduce|process|parallel|expert|loss)_groups?$|pg_collection|all_(reduce|gather)|"
    r"reduce_scatter|all_to_all|(^|_)ranks?$|init_method|aux_|weight_decay|main_params?$|iteration_skip"
)
_WORD = re.compile(r"[A-Za-z_]\w*$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_numeric(tokens: Iterable[str]) -> bool:
    """Whether the tokens of an edit bear on a computed number.

    Arguments:
        tokens: the tokens that an edit put in or took out, not the whole statement's.
    """
    words = list(tokens)
    texts = any(token[:1] in "'\"" or token == 'f"' for token in words)
    before = ""
    for token in words:
        if token in _ARITHMETIC and not texts and not (token in "+-*" and before in _OPENERS and len(words) > 2):
            return True
        before = token
        if _WORD.match(token) and _names_number(token):
            return True
    return False


def _names_number(word: str) -> bool:
    lowered = _CAMEL.sub("_", word).lower()
    return bool(_PAIRS.search(lowered) or _PARTS.search(lowered))


def is_test(path: str) -> bool:
    """Whether a file holds tests: what stands there alters no number that a user sees."""
    return bool(re.search(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$", path))
