"""Results that do something only where they are used, and are dropped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from guard.lint.python_rules import Found, PythonRule

if TYPE_CHECKING:
    import libcst

_FUNCTIONAL = re.compile(
    r"torch\.distributed\.(nn(\.functional)?|_functional_collectives)\."
    r"(all_reduce|all_gather\w*|reduce_scatter\w*|all_to_all\w*|broadcast|reduce|gather|scatter|permute_tensor)"
)


class DroppedResult(PythonRule):
    """`Function.apply(x)` and a functional collective as a whole statement."""

    code = "GRD140"
    name = "dropped-functional-result"
    severity = "warning"
    status = "preview"
    summary = "The result of an autograd function or of a functional collective is used."
    why = """
        `Function.apply` puts its backward on the graph of what it returns, and a functional collective returns what it
        reduced. Neither writes its argument: as a statement of its own the call has no effect on loss or gradients.
    """
    words = (("apply", "torch.distributed", "functional_collectives"), (".apply(", "functional", "distributed.nn"))
    text = r"^[ \t]*[\w.]+(\.apply|all_reduce|all_gather\w*|reduce_scatter\w*|all_to_all\w*|broadcast|reduce|gather|scatter|permute_tensor)\("
    bad = (
        "import torch\n\nclass AuxLoss(torch.autograd.Function):\n    pass\n\n"
        "def route(scores, loss):\n    AuxLoss.apply(scores, loss)\n    return scores\n",
        "import torch.distributed.nn.functional as dist_nn\n\ndef reduce(x, group):\n"
        "    dist_nn.all_reduce(x, group=group)\n    return x\n",
        "from torch.distributed._functional_collectives import all_reduce\n\n"
        "def total(count, group):\n    all_reduce(count, 'sum', group)\n    return count\n",
        "from moe.losses import MoEAuxLossAutoScaler\n\ndef forward(weights, aux_loss):\n"
        "    MoEAuxLossAutoScaler.apply(weights, aux_loss)\n    return weights\n",
    )
    good = (
        "import torch\n\nclass AuxLoss(torch.autograd.Function):\n    pass\n\n"
        "def route(scores, loss):\n    scores = AuxLoss.apply(scores, loss)\n    return scores\n",
        "import torch.distributed as dist\n\ndef reduce(x, group):\n    dist.all_reduce(x, group=group)\n    return x\n",
        "def prepare(model, init):\n    model.apply(init)\n",
        "from plugins import Patch\n\ndef load():\n    Patch.apply()\n",
        "import torch\n\nclass AuxLoss(torch.autograd.Function):\n    pass\n\n"
        "def test():\n    import pytest\n    with pytest.raises(ValueError):\n        AuxLoss.apply(1)\n",
    )

    def visit_With(self, node: libcst.With) -> bool:
        import libcst

        # What has to raise is not meant to give anything.
        heads = (item.item for item in node.items)
        return not any(isinstance(h, libcst.Call) and self.file.qualified(h.func).endswith("raises") for h in heads)

    def visit_Expr(self, node: libcst.Expr) -> None:
        import libcst

        call = node.value
        if not isinstance(call, libcst.Call):
            return
        name = self.file.qualified(call.func)
        if _FUNCTIONAL.fullmatch(name):
            self.report(call, f"{name} returns what it reduced and leaves its argument as it is: use the result")
        elif name.endswith(".apply") and call.args and self._is_function(name.removesuffix(".apply"), call):
            self.report(call, f"the result of {name} is dropped, and its backward with it: use what it returns")

    def _is_function(self, name: str, call: libcst.Call) -> bool:
        last = name.rpartition(".")[2]
        own = self.file.facts.names.classes.get(last)
        if own is not None:
            around = self.file.facts.hierarchy(own.node)
            return any(base.endswith("autograd.Function") or base == "Function" for base, _ in around)
        project = self.file.facts.project
        if project is not None:
            bases = [base for base, _ in project.bases(project.canonical(name) or name)]
            if len(bases) > 1 or any(known for _, known in project.bases(project.canonical(name) or name)):
                return any(base.endswith("autograd.Function") for base in bases)
        # A class that is not in the tree: told by what the field calls such functions, and by two tensors or more.
        return bool(re.search(r"(AutoScaler|LossScaler|AutogradFunction)$", last)) and len(call.args) > 1


class CopyWrittenInPlace(PythonRule):
    """`x.to(d).mul_(y)` as a whole statement, or on a name that nothing reads."""

    code = "GRD141"
    name = "in-place-on-dropped-copy"
    severity = "warning"
    status = "preview"
    summary = "What is written in place is the tensor itself, not a converted copy that is dropped."
    why = """
        `.float()`, `.half()`, `.clone()` and boolean or list indexing return a new tensor, `.to()` does whenever dtype or
        device differ. An in-place operation on it leaves the original as it was: gradients are not clipped, weights are
        not scaled, in exactly those runs where the dtype differs.
    """
    words = (("_(",), (".to(", ".float()", ".half()", ".bfloat16()", ".clone()", ".cpu()", ".cuda()", ".double()"))
    text = r"\)\s*\.\w+_\(|^[ \t]*[\w.]*_foreach_\w+_\("
    bad = (
        "def clip(parameters, scale):\n    for p in parameters:\n        p.grad.to(scale.dtype).mul_(scale)\n",
        "def clip(grads, coefficient):\n    for grad in grads:\n        grad.detach().float().mul_(coefficient)\n",
        "def load(weight, saved):\n    weight.data.clone().copy_(saved)\n",
        "import torch\n\ndef clip(grads, c):\n    torch._foreach_mul_([g.to(torch.float32) for g in grads], c)\n",
    )
    good = (
        "def clip(parameters, scale):\n    for p in parameters:\n        p.grad.mul_(scale.to(p.grad.dtype))\n",
        "def norm(grad, c):\n    total = grad.float().mul_(c)\n    return total.norm()\n",
        "def load(weight, saved):\n    weight.data.copy_(saved.to(weight.dtype))\n",
        "def move(module, x):\n    module.to('cuda').requires_grad_(False)\n    return module\n",
        "def record(x, stream):\n    x.to('cuda').record_stream(stream)\n",
    )
    _copies = frozenset({"float", "half", "double", "bfloat16", "clone", "to", "cpu", "cuda", "int", "long", "type"})
    _views = frozenset({"view", "reshape", "detach", "flatten", "squeeze", "unsqueeze", "transpose", "t"})
    _in_place = re.compile(
        r"(mul|add|sub|div|clamp|clamp_min|clamp_max|copy|zero|fill|masked_fill|index_add|scatter_add|scatter|normal"
        r"|uniform|neg|sqrt|pow|lerp|addcmul|addcdiv|clip|nan_to_num|triu|tril)_"
    )

    def visit_Expr(self, node: libcst.Expr) -> None:
        import libcst

        call = node.value
        if not isinstance(call, libcst.Call) or not isinstance(call.func, libcst.Attribute):
            return
        if self._in_place.fullmatch(call.func.attr.value):
            copy = self._copy(call.func.value)
            if copy is not None:
                self.report(
                    call,
                    f"{call.func.attr.value} writes the copy that .{copy}() returns, and the copy is dropped"
                    + (" wherever dtype or device differ" if copy != "clone" else ""),
                )
        elif re.fullmatch(r"torch\._foreach_\w+_", self.file.qualified(call.func)) and call.args:
            first = call.args[0].value
            if isinstance(first, libcst.ListComp | libcst.GeneratorExp) and (copy := self._copy(first.elt)):
                self.report(call, f"the list holds copies made by .{copy}(): what they were made from stays as it was")

    def _copy(self, value: libcst.BaseExpression) -> str | None:
        """The method that made the copy which an expression is, or is a view of."""
        import libcst

        while isinstance(value, libcst.Call) and isinstance(value.func, libcst.Attribute):
            name = value.func.attr.value
            if name in self._copies and not (name == "to" and self._device_only(value)):
                return name
            if name not in self._views:
                return None
            value = value.func.value
        return None

    def _device_only(self, call: libcst.Call) -> bool:
        """`.to("cuda")` of a tensor that may be there already; a module gives itself."""
        import libcst

        return len(call.args) == 1 and isinstance(call.args[0].value, libcst.SimpleString)


def _is_100(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 100


class LabelsAreInputs(PythonRule):
    """`labels=input_ids` beside an attention mask."""

    code = "GRD142"
    name = "padding-in-labels"
    severity = "warning"
    summary = "Labels are masked where the input is padding."
    why = """
        With `labels=input_ids` the padding is a target like any other token: the loss learns it, and its mean is over a
        count that depends on how much a batch was padded. The attention mask does not change that.
    """
    words = (("labels",), ("input_ids",), ("pad",))
    text = r"labels[\"']?\]?\s*[:=]\s*[^\n]*input_ids"
    bad = (
        "def step(model, tokenizer, texts):\n"
        "    batch = tokenizer(texts, padding=True, return_tensors='pt')\n"
        "    return model(input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=batch.input_ids).loss\n",
        "def step(model, tokenizer, texts):\n"
        "    batch = tokenizer(texts, padding='max_length', return_tensors='pt')\n"
        "    batch['labels'] = batch['input_ids'].clone()\n"
        "    return model(**batch).loss\n",
        "def collate(rows, tokenizer):\n    batch = tokenizer.pad(rows, padding=True)\n"
        "    return {'input_ids': batch['input_ids'], 'labels': batch['input_ids']}\n",
    )
    good = (
        "def step(model, tokenizer, texts):\n"
        "    batch = tokenizer(texts, padding=True, return_tensors='pt')\n"
        "    labels = batch.input_ids.masked_fill(batch.attention_mask == 0, -100)\n"
        "    return model(input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=labels).loss\n",
        "def step(model, tokenizer, texts):\n"
        "    batch = tokenizer(texts, padding='max_length', return_tensors='pt')\n"
        "    batch['labels'] = batch['input_ids'].clone()\n"
        "    batch['labels'][batch['labels'] == tokenizer.pad_token_id] = -100\n"
        "    return model(**batch).loss\n",
        "def step(model, tokenizer, text):\n    batch = tokenizer(text, return_tensors='pt')\n"
        "    return model(input_ids=batch.input_ids, labels=batch.input_ids).loss\n",
    )

    def check(self) -> Iterator[Found]:
        """Functions that pad and give the inputs as labels without masking anything."""
        lines = self.file.facts.text.split("\n")
        for function in self.file.functions:
            text = "\n".join(lines[function.lineno - 1 : function.end_lineno])
            if "labels" not in text or "input_ids" not in text or not self._pads(function) or self._masks(function):
                continue
            for node in ast.walk(function):
                for name, value in self._given(node):
                    if name == "labels" and self._is_input(value):
                        yield Found(
                            value, f"labels are {ast.unparse(value)}: the padding of this batch is a target too"
                        )

    @staticmethod
    def _pads(function: ast.AST) -> bool:
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                for keyword in node.keywords:
                    if keyword.arg == "padding" and not (
                        isinstance(keyword.value, ast.Constant) and keyword.value.value in (False, None, "do_not_pad")
                    ):
                        return True
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name == "pad_sequence":
                    return True
        return False

    @staticmethod
    def _masks(function: ast.AST) -> bool:
        """Whether the function sets anything to the ignored label, or names what does."""
        for node in ast.walk(function):
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _is_100(node.operand):
                return True
            name = getattr(node, "id", "") or getattr(node, "attr", "") or getattr(node, "arg", "") or ""
            if re.search(r"ignore_(index|token|id)|label_pad|label_ignore|mask_label|IGNORE", name):
                return True
        return False

    @staticmethod
    def _given(node: ast.AST) -> Iterator[tuple[object, ast.expr]]:
        """Names and values of keywords, of a dictionary's entries, of an assigned item."""
        if isinstance(node, ast.Call):
            yield from ((keyword.arg, keyword.value) for keyword in node.keywords)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant):
                    yield key.value, value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            key = node.targets[0].slice
            if isinstance(key, ast.Constant):
                yield key.value, node.value

    @staticmethod
    def _is_input(value: ast.expr) -> bool:
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not value.args:
            if value.func.attr not in {"clone", "detach", "copy", "contiguous", "long"}:
                return False
            value = value.func.value
        if isinstance(value, ast.Subscript):
            return isinstance(value.slice, ast.Constant) and value.slice.value == "input_ids"
        return getattr(value, "attr", getattr(value, "id", "")) == "input_ids"
