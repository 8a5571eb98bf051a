"""What a call reaches in one tree: through constructors, dataclass fields, `forward` and `apply`."""

from __future__ import annotations

from dataclasses import dataclass

from guard.checks.breaks.modules import Target
from guard.checks.breaks.project_index import World
from guard.documents.outline import Call, FunctionOutline, Parameter

# A decorator that may replace the function makes the signature unknown; these do not.
_TRANSPARENT_DECORATORS = (
    {"abstractmethod", "asynccontextmanager", "cache", "cached_property", "classmethod", "compile", "contextmanager"}
    | {"custom_bwd", "custom_fwd", "deprecate_inference_params", "deprecated", "disable", "dynamo_disable"}
    | {"enable_grad", "experimental_api", "experimental_cls", "experimental_fn", "final", "inference_mode"}
    | {"internal_api", "jit_fuser", "lru_cache", "no_grad", "nvtx_decorator", "once_differentiable", "override"}
    | {"parametrize", "script", "skip", "skipif", "staticmethod", "wraps"}
)


@dataclass(frozen=True, slots=True)
class Callee:
    """One thing that a call may reach.

    Attributes:
        path, name: where it is defined; `name` is qualified.
        parameters: what the caller may fill, without `self` or `ctx`.
        line: of the definition.
        is_class: the call makes an object.
        apply: the call goes through an autograd function's `apply`.
    """

    path: str
    name: str
    parameters: tuple[Parameter, ...]
    line: int
    is_class: bool = False
    apply: bool = False
    returns: tuple[int, ...] = (-1,)


def callees(world: World, path: str, call: Call) -> list[Callee]:
    """All definitions that a call may reach; empty where that is not known.

    Several come back where a function is defined in branches: a call is wrong only if it fits none of them.
    """
    if call.path and call.path[-1] == "apply":
        through = world.resolve(path, call.root, call.path[:-1])
        if through.kind == "class":
            return _applied(world, through)
    return of_target(world, world.resolve(path, call.root, call.path))


def of_target(world: World, target: Target) -> list[Callee]:
    """The signatures of a function, a class or a callable object; worked out once a target."""
    known = world.signatures.get(target)
    if known is None:
        known = world.signatures[target] = _signatures(world, target)
    return known


def _signatures(world: World, target: Target) -> list[Callee]:
    if target.kind == "function":
        return _functions(world, target)
    if target.kind == "class":
        return _constructed(world, target)
    if target.kind == "object":
        forward = world.follow(target, ("forward",))
        call = world.follow(target, ("__call__",))
        if forward.kind == "function" and call.kind != "function":
            return _functions(world, forward)
        return _functions(world, call) if call.kind == "function" else []
    return []


def _functions(world: World, target: Target, *, skip: int | None = None) -> list[Callee]:
    view = world.view(target.path)
    found = []
    for function in world.functions_of(target):
        if not _plain(function):
            return []
        first = (1 if target.bound else 0) if skip is None else skip
        found.append(
            Callee(
                target.path,
                target.name,
                _without_first(function.parameters, first),
                view.line_of(function) if view else function.line,
                returns=() if function.generator or any(map(_is_manager, function.decorators)) else function.returns,
            )
        )
    return found


def _plain(function: FunctionOutline) -> bool:
    return all(decorator.rpartition(".")[2] in _TRANSPARENT_DECORATORS for decorator in function.decorators)


def _is_manager(decorator: str) -> bool:
    return decorator.rpartition(".")[2] in {"contextmanager", "asynccontextmanager"}


def _without_first(parameters: tuple[Parameter, ...], count: int) -> tuple[Parameter, ...]:
    if count and parameters and parameters[0].kind in {"p", "a"}:
        return parameters[1:]
    return parameters


def _applied(world: World, target: Target) -> list[Callee]:
    """`Function.apply(…)` calls `forward(ctx, …)`, and takes no keywords."""
    for path, kind in world.order(target.path, target.name)[0]:
        forward = f"{kind.qualname}.forward"
        if "forward" in kind.members:
            skip = 0 if "setup_context" in kind.members else 1
            found = _functions(world, Target("function", path, forward), skip=skip)
            return [
                Callee(one.path, one.name, one.parameters, one.line, apply=True, returns=one.returns) for one in found
            ]
    return []


def _constructed(world: World, target: Target) -> list[Callee]:
    order, complete = world.order(target.path, target.name)
    view = world.view(target.path)
    if not order or view is None or len(view.classes[target.name]) > 1:
        return []
    if any(_is_dataclass(kind.decorators) for _, kind in order):
        return _dataclass(world, target, order, complete)
    if any("__new__" in kind.members for _, kind in order):
        return []
    init = world.constructor(target)
    if init is None:
        return []
    return [
        Callee(target.path, target.name, one.parameters, one.line, is_class=True) for one in _functions(world, init)
    ]


def _is_dataclass(decorators: tuple[str, ...]) -> bool:
    return any(decorator.rpartition(".")[2] == "dataclass" for decorator in decorators)


def _dataclass(world: World, target: Target, order: tuple, complete: bool) -> list[Callee]:  # type: ignore[type-arg]
    fields: dict[str, Parameter] = {}
    for _, kind in reversed(order):
        if "__init__" in kind.members or not _is_dataclass(kind.decorators):
            if kind.fields or "__init__" in kind.members:
                return []
            continue
        for name, optional, _ in kind.fields:
            fields[name] = Parameter(name, "a", "…" if optional else None)
    if not complete and not all(_known_bases(world, path, kind) for path, kind in order):
        return []
    path, kind = order[0]
    view = world.view(path)
    return [
        Callee(path, kind.qualname, tuple(fields.values()), view.line_of(kind) if view else kind.line, is_class=True)
    ]


def _known_bases(world: World, path: str, kind) -> bool:  # type: ignore[no-untyped-def]
    return all(
        base in {"object", "ABC", "abc.ABC", "Generic"} or (base != "?" and world.dotted(path, base).kind == "class")
        for base in kind.bases
    )
