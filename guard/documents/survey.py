"""Read the syntax tree of a segment once and note what linking needs (see `guard.documents.outline`)."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from guard.documents.bindings import Ledger, Methods, arity, value_root
from guard.documents.expressions import class_of, decorator_name, last_name
from guard.documents.outline import Flag, FunctionOutline, Import, Root, Segment
from guard.documents.scopes import NO_NAME, UNKNOWN, Scope, global_root
from guard.documents.signatures import parameters
from guard.documents.walk import Walk


def survey(tree: ast.Module, text: str) -> Segment:
    """The facts of one parsed segment. `text` is the source that was parsed."""
    reader = _Reader(text)
    for statement in tree.body:
        reader.visit(statement)
    return reader.ledger.segment(reader.scope)


def survey_methods(body: list[ast.stmt], text: str, owner: str) -> Methods:
    """The facts of some methods of a top-level class, read without the rest of it.

    Arguments:
        body: their definitions, parsed.
        text: the source that was parsed.
        owner: name of the class.
    """
    reader = _Reader(text)
    inside = reader.scope = Scope("class", owner, reader.scope)
    reader.each(body)
    reader.leave(inside)
    members = {statement.name: statement.lineno for statement in reversed(body) if hasattr(statement, "name")}
    return reader.ledger.methods(reader.scope, owner, members)


class _Reader(Walk):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ledger = Ledger(text)
        self.returns: set[int] = set()  # of the function that is being read, see `FunctionOutline`
        self.generator = False

    # names

    def _Name(self, node: ast.Name) -> None:  # noqa: N802
        name, scope = node.id, self.scope
        if isinstance(node.ctx, ast.Store):
            scope.bind(name)
        elif scope.kind != "function" or name not in scope.bound or name in scope.outer:
            scope.reads.append((name, scope.qualname, node.lineno, self.flags))

    def _Attribute(self, node: ast.Attribute) -> None:  # noqa: N802
        root, path = self._chain(node)
        if isinstance(node.ctx, ast.Store):
            self.ledger.store(root, path, node.lineno, self.lookup)
            path = path[:-1]
        if path:
            self._accessed(root, path, node)

    def _chain(self, node: ast.expr) -> tuple[Root, tuple[str, ...]]:
        """Where a chain of attributes starts and what follows; reads the start on the way."""
        path: tuple[str, ...] = ()
        while isinstance(node, ast.Attribute):
            path = (node.attr, *path)
            node = node.value
        return self._root(node), path

    def _accessed(self, root: Root, path: tuple[str, ...], node: ast.expr, extra: int = 0) -> None:
        scope = self.scope
        scope.accesses.append((root, path, scope.qualname, node.end_lineno or 0, self.flags | extra))

    def _root(self, node: ast.expr) -> Root:
        """Where a chain starts; reads the node on the way."""
        if isinstance(node, ast.Name):
            self._Name(node)
            return global_root(node.id)
        self._used(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
            return Root("super", self.owner())
        return value_root(node, self.lookup) if isinstance(node, ast.Call) else NO_NAME

    def lookup(self, name: str) -> Root | None:
        """What a name means here, as far as it is bound by now."""
        scope: Scope | None = self.scope
        while scope is not None:
            if name in scope.bound and (scope is self.scope or scope.kind != "class"):
                return scope.bound[name] if scope.kind != "module" else None
            scope = scope.parent
        return None

    def owner(self) -> str:
        """The class whose method is being read, or empty."""
        scope: Scope | None = self.scope
        while scope is not None:
            if scope.owner:
                return scope.owner
            scope = scope.parent
        return ""

    # calls

    def _Call(self, node: ast.Call, unpacked: int = 0, extra: int = 0) -> None:  # noqa: N802
        root, path = self._chain(node.func)
        if path:
            self._accessed(root, path, node.func, Flag.CALLED)
        self.each(node.args)
        names = tuple([last_name(argument) for argument in node.args if not isinstance(argument, ast.Starred)])
        keywords: tuple[str, ...] = ()
        spread: tuple[str, ...] | None = ()
        if node.keywords:
            self.each([keyword.value for keyword in node.keywords])
            keywords = tuple([keyword.arg for keyword in node.keywords if keyword.arg])
            if len(keywords) < len(node.keywords):
                spread = self.ledger.spread(node, self.scope)
        scope = self.scope
        scope.calls.append(
            (
                root,
                path,
                scope.qualname,
                node.lineno,
                names,
                keywords + spread if spread else keywords,
                spread is None or len(names) < len(node.args),
                unpacked,
                self.flags | extra,
            )
        )
        self.ledger.special_call(node, root, path, scope, self.lookup)

    def _used(self, *nodes: ast.expr) -> None:
        """Read expressions whose values are worked with where they stand."""
        for node in nodes:
            if isinstance(node, ast.Call):
                self._Call(node, extra=Flag.USED)
            else:
                self.visit(node)

    def _Await(self, node: ast.Await) -> None:  # noqa: N802
        if isinstance(node.value, ast.Call):
            self._Call(node.value, extra=Flag.AWAITED)
        else:
            self.visit(node.value)

    def _BinOp(self, node: ast.BinOp) -> None:  # noqa: N802
        self._used(node.left, node.right)

    def _UnaryOp(self, node: ast.UnaryOp) -> None:  # noqa: N802
        self._used(node.operand)

    def _Compare(self, node: ast.Compare) -> None:  # noqa: N802
        self._used(node.left, *node.comparators)

    def _Subscript(self, node: ast.Subscript) -> None:  # noqa: N802
        self._used(node.value)
        self.visit(node.slice)

    def _Expr(self, node: ast.Expr) -> None:  # noqa: N802
        if isinstance(node.value, ast.Call):
            self._Call(node.value, extra=Flag.STATEMENT)
        else:
            self._yielded(node.value)
            self.visit(node.value)

    def _yielded(self, value: ast.expr) -> None:
        """A statement that only yields, or keeps what was sent, makes a generator of its function."""
        if isinstance(value, ast.Yield | ast.YieldFrom):
            self.generator = True

    def _Return(self, node: ast.Return) -> None:  # noqa: N802
        self.returns.add(arity(node.value))
        if node.value is not None:
            self.visit(node.value)

    def _Dict(self, node: ast.Dict) -> None:  # noqa: N802
        self.ledger.dict_display(node, self.scope)
        self.children(node)

    # assignments

    def _Assign(self, node: ast.Assign) -> None:  # noqa: N802
        value, target = node.value, node.targets[0]
        if isinstance(value, ast.Call) and isinstance(target, ast.Tuple):
            starred = any(isinstance(item, ast.Starred) for item in target.elts)
            self._Call(value, unpacked=0 if starred else len(target.elts))
        else:
            self._yielded(value)
            self.visit(value)
        root = value_root(value, self.lookup)
        for goal in node.targets:
            if isinstance(goal, ast.Name):
                self._assigned(goal.id, node, root, "assign")
            else:
                self.visit(goal)
                if isinstance(goal, ast.Attribute) and isinstance(goal.value, ast.Name):
                    self.ledger.typed(self.lookup(goal.value.id), goal.attr, root)
        if len(node.targets) == 1 and isinstance(target, ast.Name):
            self.ledger.known_keys(target.id, value, self.scope)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:  # noqa: N802
        self._annotation(node.annotation)
        if node.value is not None:
            self.visit(node.value)
        kind = class_of(node.annotation)
        root = Root("instance", kind) if kind else UNKNOWN
        if isinstance(node.target, ast.Name):
            self._assigned(node.target.id, node, root, "field")
            if self.scope.kind == "class":
                self.ledger.annotated(self.scope.qualname, node.target.id, node, kind)
        else:
            self.visit(node.target)
            if isinstance(node.target, ast.Attribute) and isinstance(node.target.value, ast.Name):
                self.ledger.typed(self.lookup(node.target.value.id), node.target.attr, root)

    def _assigned(self, name: str, node: ast.stmt, root: Root, kind: str) -> None:
        self.scope.bind(name, root)
        if self.scope.kind != "function":
            self.ledger.binding(self.scope, self.block, name, kind, node, self.flags)

    def _AugAssign(self, node: ast.AugAssign) -> None:  # noqa: N802
        self.visit(node.value)
        self.visit(node.target)
        if isinstance(node.target, ast.Name):
            self.scope.reads.append((node.target.id, self.scope.qualname, node.lineno, self.flags))

    def _NamedExpr(self, node: ast.NamedExpr) -> None:  # noqa: N802
        self.visit(node.value)
        scope = self.scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        scope.bind(node.target.id)

    def _Global(self, node: ast.Global) -> None:  # noqa: N802
        for name in node.names:
            self.scope.outer[name] = "global"
            self.ledger.module_names.add(name)

    def _Nonlocal(self, node: ast.Nonlocal) -> None:  # noqa: N802
        for name in node.names:
            self.scope.outer[name] = "nonlocal"

    # imports

    def _Import(self, node: ast.Import) -> None:  # noqa: N802
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            module = alias.name if alias.asname else bound
            self._imported(Import(alias.name, 0, None, bound, self.scope.qualname, node.lineno, self.flags), node)
            self.scope.bind(bound, Root("import", f"0|{module}|"))

    def _ImportFrom(self, node: ast.ImportFrom) -> None:  # noqa: N802
        module, level = node.module or "", node.level
        for alias in node.names:
            bound = alias.asname or alias.name
            line = alias.lineno
            self._imported(Import(module, level, alias.name, bound, self.scope.qualname, line, self.flags), node)
            self.scope.bind(bound, Root("import", f"{level}|{module}|{alias.name}"))

    def _imported(self, fact: Import, node: ast.stmt) -> None:
        self.ledger.imports.append(fact)
        self.ledger.binding(self.scope, self.block, fact.bound, "import", node, self.flags, _import_text(fact))

    # definitions

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:  # noqa: N802
        self.each(node.decorator_list)
        arguments = node.args
        self.each(arguments.defaults)
        self.each(default for default in arguments.kw_defaults if default)
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra]
        for argument in every:
            if argument.annotation:
                self._annotation(argument.annotation)
        if node.returns:
            self._annotation(node.returns)
        decorators = tuple(decorator_name(item) for item in node.decorator_list)
        outside = self.scope
        outside.bind(node.name, Root("def", _join(outside.qualname, node.name)))
        self.ledger.binding(outside, self.block, node.name, "def", node, self.flags, " ".join(decorators))
        owner = outside.qualname if outside.kind == "class" else ""
        inside = self._enter("function", node.name, owner, getattr(node, "type_params", ()))
        for index, argument in enumerate(every):
            kind = class_of(argument.annotation) if argument.annotation else ""
            root = Root("instance", kind) if kind else UNKNOWN
            if owner and index == 0 and "staticmethod" not in decorators and argument is not arguments.vararg:
                root = Root("class" if "classmethod" in decorators or node.name == "__new__" else "self", owner)
            inside.bind(argument.arg, root)
        saved = self.block, self.flags, self.returns, self.generator
        self.block, self.flags, self.returns, self.generator = "", self.flags & Flag.TYPING, set(), False
        self.each(node.body)
        returns, generator = tuple(sorted(self.returns)), self.generator
        self.block, self.flags, self.returns, self.generator = saved
        self.leave(inside)
        shape = parameters(arguments, self.ledger.text_of)
        self.ledger.functions.append(
            FunctionOutline(
                inside.qualname,
                owner,
                shape,
                decorators,
                node.lineno,
                returns,
                self.flags | (Flag.CONDITIONAL if self.block else 0),
                generator,
                isinstance(node, ast.AsyncFunctionDef),
            )
        )

    _AsyncFunctionDef = _FunctionDef

    def _Lambda(self, node: ast.Lambda) -> None:  # noqa: N802
        arguments = node.args
        self.each(arguments.defaults)
        self.each(default for default in arguments.kw_defaults if default)
        inside = self._enter("comprehension", "", "")
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            inside.bind(argument.arg)
        for extra in (arguments.vararg, arguments.kwarg):
            if extra:
                inside.bind(extra.arg)
        self.visit(node.body)
        self.leave(inside)

    def _ClassDef(self, node: ast.ClassDef) -> None:  # noqa: N802
        self.each(node.decorator_list)
        self.each(node.bases)
        self.each(keyword.value for keyword in node.keywords)
        outside = self.scope
        outside.bind(node.name, Root("def", _join(outside.qualname, node.name)))
        decorators = tuple(decorator_name(item) for item in node.decorator_list)
        self.ledger.binding(outside, self.block, node.name, "class", node, self.flags, " ".join(decorators))
        inside = self._enter("class", node.name, "", getattr(node, "type_params", ()))
        saved = self.block, self.flags
        self.block = ""
        self.each(node.body)
        self.block, self.flags = saved
        self.leave(inside)
        self.ledger.class_outline(node, inside, decorators, self.flags)

    def _enter(self, kind: str, name: str, owner: str, type_parameters: Iterable[ast.AST] = ()) -> Scope:
        for parameter in type_parameters:
            self.scope.bind(getattr(parameter, "name", ""))
        qualname = _join(self.scope.qualname, name) if name else self.scope.qualname
        self.scope = Scope(kind, qualname, self.scope, owner)
        return self.scope

    def leave(self, scope: Scope) -> None:
        """Close a scope and go back to the one around it."""
        scope.close(self.ledger.keep)
        self.scope = scope.parent or scope

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        self.visit(node.generators[0].iter)
        inside = self._enter("comprehension", "", "")
        for index, generator in enumerate(node.generators):
            if index:
                self.visit(generator.iter)
            self.visit(generator.target)
            self.each(generator.ifs)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)
        self.leave(inside)

    _ListComp = _SetComp = _GeneratorExp = _DictComp = _comprehension

    # annotations

    def _annotation(self, node: ast.expr) -> None:
        saved = self.flags
        self.flags |= Flag.TYPING
        self.visit(node)
        self.flags = saved


def _join(outer: str, name: str) -> str:
    return f"{outer}.{name}" if outer else name


def _import_text(fact: Import) -> str:
    return f"{'.' * fact.level}{fact.module}" + (f":{fact.name}" if fact.name else "")
