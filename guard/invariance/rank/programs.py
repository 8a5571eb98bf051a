"""The rank programs by name: the module that holds each. No torch here, so that the list can be read anywhere."""

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "router": "guard.invariance.rank.router",
    "gpt": "guard.invariance.rank.gpt",
    "gpt_dense": "guard.invariance.rank.dense",
    "update": "guard.invariance.rank.update",
    "update_dense": "guard.invariance.rank.update",
    "mtp_dense": "guard.invariance.rank.mtp_dense",
    "padding": "guard.invariance.rank.padding",
    "delta_net": "guard.invariance.rank.delta_net",
    "experts": "guard.invariance.rank.experts",
    "norm": "guard.invariance.rank.norm",
    "entropy": "guard.invariance.rank.entropy",
}
