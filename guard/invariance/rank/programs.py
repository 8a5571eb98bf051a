"""The rank programs by name: the module that holds each. No torch here, so that the list can be read anywhere."""

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "router": "guard.invariance.rank.router",
    "gpt": "guard.invariance.rank.gpt",
    "gpt_dense": "guard.invariance.rank.dense",
    "update": "guard.invariance.rank.update",
    "update_dense": "guard.invariance.rank.update",
    "linear": "guard.invariance.rank.linear",
    "linear_dense": "guard.invariance.rank.linear",
    "seeds": "guard.invariance.rank.seeds",
    "packed": "guard.invariance.rank.packed",
    "routing": "guard.invariance.rank.routing",
    "routing_dense": "guard.invariance.rank.routing",
    "scores": "guard.invariance.rank.routing",
    "mtp_dense": "guard.invariance.rank.mtp_dense",
    "padding": "guard.invariance.rank.padding",
    "delta_net": "guard.invariance.rank.delta_net",
    "experts": "guard.invariance.rank.experts",
    "norm": "guard.invariance.rank.norm",
    "entropy": "guard.invariance.rank.entropy",
}
