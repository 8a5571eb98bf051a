"""A router whose loss was fixed on main and whose branch dev lives on, as in the seed case."""

from __future__ import annotations

import pytest

from tests.conftest import Workshop

ROUTER = """
class Router:
    def attach(self, probs, loss, valid_token_count=None, scale_num_tokens=None):
        if scale_num_tokens is None:
            scale_num_tokens = valid_token_count if valid_token_count is not None else probs.shape[0]
        return scale(probs, loss * scale_num_tokens)

    def seq_aux_loss(self, probs, count, bsz):
        loss = balance(probs, count) / bsz
        total = count.sum()
        probs = self.attach(probs, loss, valid_token_count=count)
        return probs


def clip(grads, limit):
    norm = grads.norm()
    return grads * limit / norm
"""
FIXED = ROUTER.replace("valid_token_count=count)", "valid_token_count=count * bsz)")
DEAD = ROUTER.replace("valid_token_count=count)", "valid_token_count=count * bsz, scale_num_tokens=total)")
SUBJECT = "Fix the sequence loss scale for several micro-batches (#58)"


@pytest.fixture
def forked(workshop: Workshop) -> Workshop:
    """main and dev fork at the unfixed router; main gets the fix (tag `fix`)."""
    workshop.commit("start", {"router.py": ROUTER, "other.py": "VALUE = 1\n"})
    workshop.branch("dev")
    workshop.commit("dev's own work", {"dev.py": "DEV = 1\n"})
    workshop.switch("main")
    workshop.commit(SUBJECT, {"router.py": FIXED, "tests/test_router.py": "def test_router():\n    assert True\n"})
    workshop.git("tag", "fix")
    return workshop
