"""How a global batch is cut, and what is refused, without running a step."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install -e '.[frameworks]'")

from guard.invariance import Cut, check, padded_batch  # noqa: E402
from guard.invariance.training.batches import CutError, accumulation, default_cuts, indices_of  # noqa: E402


def never(_share):
    raise AssertionError("a step ran")


@pytest.mark.parametrize("total", [2, 3, 6, 8, 12])
def test_every_cut_sees_every_sample_once(total: int) -> None:
    for cut in default_cuts(total):
        seen = [i for rank in range(cut.dp) for part in indices_of(cut, total, rank) for i in part]
        assert sorted(seen) == list(range(total))
        assert accumulation(cut, total) * cut.dp * cut.mbs == total


def test_labels_are_the_ids_where_a_token_is_and_ignored_where_none_is() -> None:
    batch = padded_batch([3, 1], length=4)
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 0], [1, 0, 0, 0]]
    valid = batch["attention_mask"].bool()
    assert torch.equal(batch["labels"][valid], batch["input_ids"][valid])
    assert set(batch["labels"][~valid].tolist()) == {-100}


@pytest.mark.parametrize(
    ("batch", "cuts"),
    [
        ({"x": torch.zeros(4, 2)}, [Cut(mbs=3)]),
        ({"x": torch.zeros(4, 2)}, [Cut(dp=3, mbs=1)]),
        ({"x": torch.zeros(4, 2)}, [Cut(cp=2, mbs=1)]),
        ({"x": torch.zeros(4, 2)}, [Cut(mbs=0)]),
        ({"x": torch.zeros(4, 2)}, []),
        ({"x": torch.zeros(4, 2), "y": torch.zeros(3)}, None),
        ({}, None),
        ([], None),
    ],
)
def test_a_batch_that_cannot_be_cut_so_is_refused_before_anything_runs(batch, cuts) -> None:
    with pytest.raises(CutError):
        check(never, batch, cuts)
