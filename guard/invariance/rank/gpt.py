"""The tree's `GPTModel`, small: every parameter's gradient, from the real loss callback, schedule and finalisation."""

from __future__ import annotations

from typing import Any

import torch

from guard.invariance.rank import adapt, batch
from guard.invariance.rank.attention import GatheredAttention, TokenLocalAttention
from guard.invariance.rank.shard import Shard, install
from guard.invariance.rank.step import LossFunction, Plan, train_step
from guard.invariance.rank.tree import UnavailableError, member
from guard.invariance.rank.world import World

SEQUENCES, WIDTH, HEADS, VOCABULARY = 4, 32, 4, 64


ATTENTIONS: dict[str, type[torch.nn.Module] | None] = {
    "local": TokenLocalAttention,
    "gathered": GatheredAttention,
    "tree": None,
}


def configuration(world: World, settings: dict[str, Any]) -> Any:
    """The configuration of the small model."""
    cut = world.cut
    fields: dict[str, Any] = {
        "num_layers": settings.get("layers", 1),
        "hidden_size": WIDTH,
        "ffn_hidden_size": 2 * WIDTH,
        "num_attention_heads": HEADS,
        "calculate_per_token_loss": settings["ptl"],
        "tensor_model_parallel_size": cut.tp,
        "context_parallel_size": cut.cp,
        "expert_model_parallel_size": cut.ep,
        "sequence_parallel": cut.tp > 1 and settings.get("sequence_parallel", True),
        "add_bias_linear": False,
        "hidden_dropout": 0.0,
        "attention_dropout": 0.0,
        "bias_dropout_fusion": False,
        "bias_activation_fusion": False,
        "gradient_accumulation_fusion": False,
    }
    if cut.etp is not None:
        fields["expert_tensor_parallel_size"] = cut.etp
    if settings.get("mtp"):
        fields |= {"mtp_num_layers": settings["mtp"], "mtp_loss_scaling_factor": 1.0}
    if settings.get("experts"):
        fields |= {
            "num_moe_experts": settings["experts"],
            "moe_router_topk": 2,
            "moe_router_dtype": "fp32",
            "moe_token_dispatcher_type": "allgather",
            "moe_ffn_hidden_size": WIDTH,
            **router_fields(settings),
        }
    if cut.pp > 1:
        fields |= {"pipeline_model_parallel_size": cut.pp, "pipeline_dtype": torch.float32}
        # Between two stages that are neighbours on both sides, batched messages of one size would be confused.
        interleaved = {"virtual_pipeline_model_parallel_size": cut.vpp, "overlap_p2p_comm": True}
        fields |= {**interleaved, "batch_p2p_comm": False} if cut.vpp else {}
    return adapt.config(fields | settings.get("config", {}), _class(settings))


def router_fields(settings: dict[str, Any]) -> dict[str, Any]:
    """Fields of the router's losses."""
    kind = settings.get("router_loss", "none")
    return {
        "moe_router_load_balancing_type": kind,
        "moe_aux_loss_coeff": 0.0 if kind == "none" else 1e-1,
        "moe_z_loss_coeff": settings.get("z_loss"),
    }


def _class(settings: dict[str, Any]) -> Any:
    """The class of the configuration: latent attention has its own."""
    latent = settings.get("config", {}).get("multi_latent_attention")
    name = "MLATransformerConfig" if latent else "TransformerConfig"
    return member("megatron.core.transformer.transformer_config", name)


def build(world: World, config: Any, settings: dict[str, Any], groups: Any = None, chunk: int = 0) -> Any:
    """A chunk of the model with installed weights; `groups` is an explicit collection of process groups."""
    cls: Any = member("megatron.core.models.gpt.gpt_model", "GPTModel")
    specs = "megatron.core.models.gpt.gpt_layer_specs"
    layer_spec: Any = member(specs, "get_gpt_layer_local_spec")
    wanted: dict[str, Any] = {
        name: True for name in ("qk_layernorm", "multi_latent_attention") if getattr(config, name, False)
    }
    wanted |= {"normalization": config.normalization} if config.normalization != "LayerNorm" else {}
    spec = layer_spec(num_experts=settings.get("experts"), moe_grouped_gemm=False, **wanted)
    core = ATTENTIONS[settings.get("attention", "local")]
    if core is not None:
        spec.submodules.self_attention.submodules.core_attention = core
    mtp_spec = None
    if settings.get("mtp") and world.is_last(chunk):
        mtp_block: Any = member(specs, "get_gpt_mtp_block_spec")
        mtp_spec = mtp_block(config, spec, use_transformer_engine=False)
    tied = settings.get("tied", False)
    stage: dict[str, Any] = {"pre_process": world.is_first(chunk), "post_process": world.is_last(chunk)}
    stage |= {"vp_stage": chunk} if world.cut.vpp else {}
    model = cls(
        config=config,
        transformer_layer_spec=spec,
        vocab_size=VOCABULARY,
        max_sequence_length=settings["length"],
        position_embedding_type=settings.get("positions", "none"),
        share_embeddings_and_output_weights=tied,
        mtp_block_spec=mtp_spec,
        parallel_output=settings.get("parallel_output", True),
        **stage,
        **({} if groups is None else adapt.accepted(cls, {"pg_collection": groups})),
    )
    model.to(world.device).train()
    each = settings.get("layers", 1) // (world.cut.pp * world.chunks)
    install(world, model, settings.get("scale", 0.2), each * (chunk * world.cut.pp + world.pp_rank), tied)
    return model


def chunks(world: World, config: Any, settings: dict[str, Any]) -> list[Any]:
    """All chunks of the model that this rank holds."""
    return [build(world, config, settings, chunk=number) for number in range(world.chunks)]


def tokens(length: int, draw: int = 0) -> torch.Tensor:
    """Token ids [sequences, length + 1]; inputs are the first `length`, labels the last."""
    return torch.randint(0, VOCABULARY, (SEQUENCES, length + 1), generator=torch.Generator().manual_seed(7 + draw))


def share(world: World, settings: dict[str, Any], sequences: list[int]) -> dict[str, Any]:
    """One micro-batch of this rank: inputs, labels, positions, masks."""
    length = settings["length"]
    text = tokens(length, settings.get("draw", 0))
    valid = batch.mask(settings["mask"], SEQUENCES, length)
    columns = world.positions(length, settings.get("layout", "zigzag"))
    counted = torch.ones(SEQUENCES, length, dtype=torch.bool) if valid is None else valid
    return {
        "input_ids": batch.pick(world, text[:, :-1], sequences, columns),
        "labels": batch.pick(world, text[:, 1:], sequences, columns),
        "position_ids": batch.pick(world, torch.arange(length).expand(SEQUENCES, length), sequences, columns),
        "loss_mask": batch.pick(world, counted, sequences, columns).float(),
        "padding_mask": batch.pick(world, ~counted, sequences, columns) if settings.get("pad") else None,
    }


def loss_callback(world: World, settings: dict[str, Any], loss_mask: torch.Tensor) -> LossFunction:
    """The user's loss function. `callback`: 3 (sum and count), 2 (mean of the rank's tokens, averaged over CP by hand
    if `reduced`)."""
    weight = settings.get("main", 1.0)

    def loss_function(losses: torch.Tensor) -> tuple[Any, ...]:
        total, count = (losses * loss_mask).sum() * weight, loss_mask.sum().to(torch.int)
        if settings.get("callback", 3) == 3:
            return total, count, {}
        count = count.clone()
        if settings.get("reduced"):
            state: Any = member("megatron.core", "parallel_state")
            torch.distributed.all_reduce(count, group=state.get_context_parallel_group())
        return total / count.clamp(min=1), {}

    return loss_function


def forward(world: World, settings: dict[str, Any], chunk: Any, item: dict[str, Any]) -> tuple[Any, LossFunction]:
    """Call the model on one micro-batch."""
    inputs = {name: item[name] for name in ("input_ids", "position_ids", "labels", "loss_mask")}
    if item["padding_mask"] is not None:
        inputs["padding_mask"] = item["padding_mask"]
    return chunk(attention_mask=None, **inputs), loss_callback(world, settings, item["loss_mask"])


def gpt(world: World, settings: dict[str, Any]) -> list[Shard]:
    """Gradients of the small model.

    Settings: `length`, `ptl`, `mask`; `layers`, `mtp` (depths), `experts`, `router_loss`, `z_loss`; `main` (weight of
    the language-model loss, 0 leaves the auxiliary ones), `callback`, `reduced`, `pad` (mask goes to the router too),
    `layout`; `draw` (number of the token draw); `attention` (`local`, `gathered` or the `tree`'s own), `positions`
    (kind of position embedding), `tied`; `config` (fields of the configuration), `ddp` (of the DDP configuration),
    `steps` (the gradient of which step).
    """
    if settings["length"] % (2 * world.cut.cp):
        raise UnavailableError(f"a sequence of {settings['length']} does not divide into {2 * world.cut.cp} chunks")
    config = configuration(world, settings)
    models = chunks(world, config, settings)
    batches = [share(world, settings, sequences) for sequences in world.sequences(SEQUENCES)]
    return train_step(
        world,
        config,
        models,
        batches,
        lambda chunk, item: forward(world, settings, chunk, item),
        Plan(length=settings["length"], steps=settings.get("steps", 1), ddp=settings.get("ddp", {})),
    )
