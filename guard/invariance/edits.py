"""Known-bad and known-good edits of Megatron-Core, each with the case that must notice it.

The texts are those of release 0.16.1; in another tree an edit whose text is not there exactly once is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass

ROUTER = "megatron/core/transformer/moe/router.py"
MOE = "megatron/core/transformer/moe/moe_utils.py"
SCHEDULES = "megatron/core/pipeline_parallel/schedules.py"
FINALIZE = "megatron/core/distributed/finalize_model_grads.py"
DDP = "megatron/core/distributed/distributed_data_parallel.py"
ENTROPY = "megatron/core/tensor_parallel/cross_entropy.py"
LAYERS = "megatron/core/tensor_parallel/layers.py"
ATTENTION = "megatron/core/transformer/dot_product_attention.py"
GPT = "megatron/core/models/gpt/gpt_model.py"
MTP = "megatron/core/transformer/multi_token_prediction.py"


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement in one file; the old text occurs exactly once."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of a tree and the case that must turn.

    Attributes:
        name: what the change does.
        case, cut: the case that must notice, and the label of one of its cuts.
        edits: the change.
        turns: `differs` for damage, `ok` for a known fix of a tree in which the case differs.
        after: the name of a fix that is applied first, for damage that undoes it.
    """

    name: str
    case: str
    cut: str
    edits: tuple[Edit, ...]
    turns: str = "differs"
    after: str | None = None


_SEQ = '"seq_load_balancing_loss",\n            self.tp_cp_group,\n            valid_token_count=local_num_tokens'
_COUNTS = "all_reduce({0}, group=parallel_state.get_data_parallel_group(with_context_parallel=True))"
_MTP_LOCAL = """rolled = num_tokens.clone().float()
                valid = original_num_tokens.clone().float()
"""
_MTP_GROUP = f"""{_MTP_LOCAL}                torch.distributed.{_COUNTS.format("rolled")}
                torch.distributed.{_COUNTS.format("valid")}
"""
_MTP_SCALE = "                mtp_loss_scale = self.config.mtp_loss_scaling_factor / self.config.mtp_num_layers\n"
_CLAMPED = "output_tensor /= torch.clamp(num_tokens, min=1)"
_BY_CONTEXT = """counted = num_tokens.clone()
                    torch.distributed.all_reduce(counted, group=parallel_state.get_context_parallel_group())
                    output_tensor *= parallel_state.get_context_parallel_world_size()
                    output_tensor /= torch.clamp(counted, min=1)"""

FIXES: tuple[Mutation, ...] = (
    Mutation(
        "multiply the per-sequence token count by the batch (#5798)",
        "seq_aux_mbs",
        "mbs1",
        (Edit(ROUTER, _SEQ, _SEQ + " * bsz"),),
        turns="ok",
    ),
    Mutation(
        "scale the auxiliary loss by the size of the TP×CP group (#5047)",
        "aux_shards",
        "cp2 mbs2",
        (Edit(ROUTER, "aux_loss * num_tokens)", "aux_loss * num_tokens * self.tp_cp_group.size())"),),
        turns="ok",
    ),
    Mutation(
        "scale the z-loss by the size of the TP×CP group (#5047)",
        "z_loss_shards",
        "cp2 mbs2",
        (Edit(ROUTER, "z_loss * num_tokens)", "z_loss * num_tokens * self.tp_cp_group.size())"),),
        turns="ok",
    ),
    Mutation(
        "weigh the MTP loss by main over rolled tokens, counted over DP×CP (#3159, #7570)",
        "mtp_dense_tail_depth1",
        "mbs4",
        (
            Edit(
                GPT,
                "                loss_mask = torch.ones_like(mtp_labels)\n",
                "                loss_mask = torch.ones_like(mtp_labels)\n"
                "            original_num_tokens = loss_mask.sum()\n",
            ),
            Edit(GPT, _MTP_SCALE, f"                {_MTP_GROUP}{_MTP_SCALE}"),
            Edit(
                GPT,
                "mtp_loss_scale * mtp_loss\n",
                "mtp_loss_scale * mtp_loss * (valid / rolled.clamp(min=1))\n",
            ),
        ),
        turns="ok",
    ),
    Mutation(
        "count the tokens of a mean loss over the context-parallel group (#7513)",
        "lm_mean_cp_one",
        "cp2 mbs1",
        (Edit(SCHEDULES, _CLAMPED, _BY_CONTEXT),),
        turns="ok",
    ),
    Mutation(
        "smooth over the whole vocabulary (#7466)",
        "label_smoothing_gradient",
        "tp2 mbs1",
        (
            Edit(
                ENTROPY,
                "vocab_size = exp_logits.size(-1)",
                "vocab_size = exp_logits.size(-1) * get_tensor_model_parallel_world_size()",
            ),
        ),
        turns="ok",
    ),
    Mutation(
        "mark the learnable softmax offset as sharded (#7530)",
        "grad_norm_sink",
        "tp2 mbs1",
        (
            Edit(
                ATTENTION,
                "                self.softmax_offset = config.init_method(self.softmax_offset)\n",
                "                self.softmax_offset = config.init_method(self.softmax_offset)\n"
                "            self.softmax_offset.tensor_model_parallel = True\n"
                "            self.softmax_offset.partition_dim = 0\n",
            ),
        ),
        turns="ok",
    ),
    Mutation(
        "scatter the padding mask over the given group (#7452)",
        "padding_mask_group",
        "dp2 tp2 mbs2",
        (
            Edit(
                GPT,
                "padding_mask.transpose(0, 1).contiguous()\n                    )\n",
                "padding_mask.transpose(0, 1).contiguous(), group=self.pg_collection.tp\n                    )\n",
            ),
        ),
        turns="ok",
    ),
)

DAMAGE: tuple[Mutation, ...] = (
    Mutation(
        "drop the batch factor of the token count",
        "seq_aux_mbs",
        "mbs1",
        (Edit(ROUTER, _SEQ + " * bsz", _SEQ),),
        after=FIXES[0].name,
    ),
    Mutation(
        "drop the TP·CP factor of the auxiliary loss",
        "aux_shards",
        "cp2 mbs2",
        (Edit(ROUTER, "aux_loss * num_tokens * self.tp_cp_group.size())", "aux_loss * num_tokens)"),),
        after=FIXES[1].name,
    ),
    Mutation(
        "count MTP tokens on this rank only",
        "mtp_data_parallel_tail",
        "dp2 mbs2",
        (Edit(GPT, _MTP_GROUP, _MTP_LOCAL),),
        after=FIXES[3].name,
    ),
    Mutation(
        "drop the division of seq_aux_loss by the batch",
        "seq_aux_mbs_mean",
        "mbs1",
        (Edit(ROUTER, "            )\n            / bsz\n        )\n", "            )\n        )\n"),),
    ),
    Mutation(
        "sum the token count over data-parallel ranks without the context-parallel ones",
        "lm_per_token_tail",
        "cp2 mbs1",
        (
            Edit(
                FINALIZE,
                "all_reduce(num_tokens, group=dp_cp_group)",
                "all_reduce(num_tokens, group=parallel_state.get_data_parallel_group())",
            ),
        ),
    ),
    Mutation(
        "do not sum the token count over ranks",
        "lm_per_token_tail",
        "dp2 mbs1",
        (Edit(FINALIZE, "        torch.distributed.all_reduce(num_tokens, group=dp_cp_group)\n", ""),),
    ),
    Mutation(
        "divide by an unclamped token count",
        "lm_mean_empty_micro_batch",
        "dp2 mbs1",
        (Edit(SCHEDULES, _CLAMPED, "output_tensor /= num_tokens"),),
    ),
    Mutation(
        "drop the CP factor of the auxiliary loss scale",
        "aux_shards_mean",
        "cp2 mbs2",
        (Edit(SCHEDULES, "loss_scale * cp_group_size / num_microbatches", "loss_scale / num_microbatches"),),
    ),
    Mutation(
        "drop the CP factor of a loss of two values",
        "lm_two_tuple_reduced_mean",
        "cp2 mbs1",
        (Edit(SCHEDULES, "                output_tensor *= cp_group_size\n", ""),),
    ),
    Mutation(
        "average gradients over DP instead of DP×CP",
        "lm_two_tuple_reduced_mean",
        "cp2 mbs1",
        (
            Edit(
                DDP,
                "data_parallel_world_size = self.dp_cp_group.size()",
                "data_parallel_world_size = self.dp_cp_group.size() // config.context_parallel_size",
            ),
            Edit(
                DDP,
                "target_gradient_scaling_factor = 1.0 / self.dp_cp_group.size()",
                "target_gradient_scaling_factor = config.context_parallel_size / self.dp_cp_group.size()",
            ),
        ),
    ),
    Mutation(
        "keep the sum of exponentials on its shard",
        "cross_entropy_loss",
        "tp2 mbs1",
        (
            Edit(
                ENTROPY,
                "            sum_exp_logits,\n            op=torch.distributed.ReduceOp.SUM,",
                "            sum_exp_logits.clone(),\n            op=torch.distributed.ReduceOp.SUM,",
            ),
        ),
    ),
    Mutation(
        "count replicated parameters once per tensor-parallel rank",
        "grad_norm",
        "tp2 mbs1",
        (
            Edit(
                LAYERS,
                'if hasattr(param, "tensor_model_parallel") and param.tensor_model_parallel:\n        return True\n',
                "if param is not None:\n        return True\n",
            ),
        ),
    ),
    Mutation(
        "average sequence-parallel gradients instead of adding them",
        "model_lm",
        "tp2 mbs4",
        (
            Edit(
                FINALIZE,
                "[torch.distributed.ReduceOp.SUM, torch.distributed.ReduceOp.AVG]",
                "[torch.distributed.ReduceOp.AVG, torch.distributed.ReduceOp.AVG]",
            ),
        ),
    ),
    Mutation(
        "drop the share of each TP×CP rank in the z-loss",
        "z_loss_shards_mean",
        "cp2 mbs2",
        (Edit(ROUTER, "self.config.moe_z_loss_coeff / self.tp_cp_group.size()", "self.config.moe_z_loss_coeff"),),
    ),
    Mutation(
        "roll labels inside a context-parallel rank only",
        "mtp_per_token_cp_none",
        "cp2 mbs4",
        (Edit(MTP, "        rolled_tensor_list[i][tuple(index)] = tensor_recv_list[i]\n", "        pass\n"),),
    ),
    Mutation(
        "keep per-expert token counts on their rank",
        "aux_shards_mean",
        "cp2 mbs2",
        (
            Edit(
                MOE,
                "    global_tokens_per_expert = reduce_from_tensor_model_parallel_region(\n"
                "        local_tokens_per_expert, reduce_group\n    )\n",
                "    global_tokens_per_expert = local_tokens_per_expert\n",
            ),
        ),
    ),
    Mutation(
        "average expert gradients that a token count divides later",
        "expert_gradient",
        "dp2 ep2 mbs2",
        (
            Edit(
                DDP,
                "            gradient_scaling_factor = 1.0\n            expert_gradient_scaling_factor = 1.0\n",
                "            gradient_scaling_factor = 1.0\n"
                "            expert_gradient_scaling_factor = 1.0 / self.dp_cp_group.size()\n",
            ),
        ),
    ),
)
