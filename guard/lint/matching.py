"""One rule against one file: candidates, conditions, and what did not hold."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from guard.lint.arms import agree
from guard.lint.calls import Calls, Certainty
from guard.lint.definitions import Definitions
from guard.lint.expressions import Expression
from guard.lint.facts import FileFacts
from guard.lint.language import Clause, Condition, Has, Rule, ValueTest, flat
from guard.lint.patterns import dotted
from guard.lint.surroundings import Surroundings, position
from guard.lint.tree import TreeQuestions
from guard.lint.unify import Bindings, Unifier
from guard.lint.values import Values


@dataclass(frozen=True, slots=True)
class Hit:
    """A place where a rule does not hold, and what its holes stand for there.

    Attributes:
        rule, clause: what does not hold.
        node, at: what was matched, and where the finding stands.
        bindings: what the holes stand for.
        sure: whether the callee and its arguments are told by the source.
        known: whether what the clause says of the callee's parameters was read from its definition.
    """

    rule: Rule
    clause: Clause
    node: ast.AST
    at: ast.AST
    bindings: Bindings
    sure: bool
    known: bool = True


class Matcher:
    """Applies rules to one file. `tick` is called often and may raise to end a file that takes too long."""

    def __init__(self, facts: FileFacts, tick: Callable[[], None]) -> None:
        self.facts = facts
        self.tick = tick
        self.definitions = Definitions(facts)
        self.unifier = Unifier(facts)
        self.calls = Calls(facts, self.definitions)
        self.values = Values(facts, self.definitions, self.unifier, tick)
        self.tree = TreeQuestions(facts)
        self.surroundings = Surroundings(facts, self.definitions, self.unifier)

    def hits(self, rule: Rule, clauses: Iterable[Clause] | None = None) -> Iterator[Hit]:
        """All places where the rule does not hold; each place once, by the first clause that finds it.

        Args:
            rule: the rule.
            clauses: those of its clauses that can match here, in order, where that is known.
        """
        seen: set[ast.AST] = set()
        for clause in rule.match if clauses is None else clauses:
            places = [place for place in (rule.in_, clause.in_) if place is not None]
            if not all(place.takes(self.facts.path) for place in places):
                continue
            functions: set[ast.AST | None] = set()
            for node, env, certainty in sorted(self.candidates(clause), key=lambda row: position(row[0])):
                self.tick()
                if not all(self.surroundings.in_place(place, node) for place in places):
                    continue
                for hit in self._judge(rule, clause, node, env, certainty):
                    around = self.facts.function(node)
                    if hit.at in seen or (clause.once and around in functions):
                        continue
                    seen.add(hit.at)
                    functions.add(around)
                    yield hit

    def candidates(self, clause: Clause) -> Iterator[tuple[ast.AST, Bindings, Certainty]]:
        """Nodes that a clause looks at, with what is bound there and how sure the callee is."""
        index = self.facts.index(self.facts.tree)
        for spec in clause.call:
            for node in index.calls(spec.rpartition(".")[2]):
                certainty = self.calls.means(node, spec) if isinstance(node, ast.Call) else Certainty.NO
                if certainty is not Certainty.NO:
                    yield node, {}, certainty
        for pattern in clause.pattern:
            for node in index.for_pattern(pattern):
                self.tick()
                bound = self.unifier.match(pattern, node, {})
                if bound is not None:
                    yield node, bound, Certainty.YES

    def _judge(self, rule: Rule, clause: Clause, node: ast.AST, env: Bindings, certainty: Certainty) -> Iterator[Hit]:
        around = self.facts.function(node)
        if around is not None:
            env = {**env, "FUNCTION": ast.Constant(around.name)}
        for bound in self._all(clause.where, clause, node, env):
            if clause.require and any(True for _ in self._all(clause.require, clause, node, bound)):
                continue
            sure = certainty is Certainty.YES and not self._hidden(clause, node)
            at = bound.get(clause.at, node) if clause.at else node
            if not hasattr(at, "lineno"):
                at = node
            yield Hit(rule, clause, node, at, bound, sure, self._known(clause, node))

    def _known(self, clause: Clause, node: ast.AST) -> bool:
        """Whether the callee's definition was read, where the clause asks which parameters it has."""
        asked = any(condition.accepts for condition in flat((*clause.where, *clause.require)))
        return not (asked and isinstance(node, ast.Call)) or self.calls.signature(node) is not None

    def _hidden(self, clause: Clause, node: ast.AST) -> bool:
        """Whether `*args` or `**kwargs` may carry an argument that the clause asks about."""
        asked = any(c.passes or (c.value is not None and c.value.argument) for c in flat(clause.require))
        return asked and isinstance(node, ast.Call) and self.calls.arguments(node, clause.parameters).hidden

    def _all(
        self, conditions: tuple[Condition, ...], clause: Clause, node: ast.AST, env: Bindings
    ) -> Iterator[Bindings]:
        if not conditions:
            yield env
            return
        for bound in self._one(conditions[0], clause, node, env):
            yield from self._all(conditions[1:], clause, node, bound)

    def _one(self, condition: Condition, clause: Clause, node: ast.AST, env: Bindings) -> Iterator[Bindings]:
        self.tick()
        around = self.surroundings
        if condition.not_:
            if not any(True for _ in self._all(condition.not_, clause, node, env)):
                yield env
        elif condition.any_:
            for option in condition.any_:
                yield from self._one(option, clause, node, env)
        elif condition.all_:
            yield from self._all(condition.all_, clause, node, env)
        elif condition.value is not None:
            yield from self._value(condition.value, clause, node, env)
        elif condition.before:
            for pattern in condition.before:
                yield from around.before(pattern, node, env)
        elif condition.after:
            for pattern in condition.after:
                yield from around.after(pattern, node, env)
        elif condition.earlier:
            for pattern in condition.earlier:
                yield from around.earlier(pattern, node, env)
        elif condition.then is not None:
            yield from around.then(condition.then, node, env)
        elif condition.reaches is not None:
            yield from around.reaches(condition.reaches, node, env)
        elif condition.unreferenced is not None:
            yield from self.tree.unreferenced(condition.unreferenced, env)
        elif condition.under is not None:
            yield from around.under(condition.under, node, env)
        elif condition.has is not None:
            yield from self._has(condition.has, node, env)
        elif condition.named is not None:
            bound = env.get(condition.named.of)
            if bound is not None and Expression(condition.named.like).found(
                text_of(bound).encode("utf-8", "surrogatepass")
            ):
                yield env
        elif self._plain(condition, clause, node, env):
            yield env

    def _plain(self, condition: Condition, clause: Clause, node: ast.AST, env: Bindings) -> bool:
        """Conditions that bind nothing."""
        if condition.held:
            return self.surroundings.held(condition.held, node)
        if condition.dropped is not None:
            dropped = isinstance(self.facts.parents.get(node), ast.Expr)
            return dropped is condition.dropped
        if condition.parameter is not None:
            return self.surroundings.is_parameter(node, env.get(condition.parameter))
        if condition.arms:
            return not isinstance(node, ast.If) or agree(node, condition.arms, self.calls)
        if condition.defined is not None:
            return self.tree.defined(condition.defined, node, env)
        if not isinstance(node, ast.Call):
            return False
        if condition.passes:
            arguments = self.calls.arguments(node, clause.parameters)
            return any(arguments.passed(name) is not None for name in condition.passes)
        signature = self.calls.signature(node)
        if signature is None:
            return any(name in clause.parameters for name in condition.accepts)
        return any(signature.accepts(name) for name in condition.accepts)

    def _value(self, test: ValueTest, clause: Clause, node: ast.AST, env: Bindings) -> Iterator[Bindings]:
        value: ast.AST | None
        if test.of is not None:
            value = env.get(test.of)
        elif not test.argument:
            value = node
        else:
            value = None
            if isinstance(node, ast.Call):
                arguments = self.calls.arguments(node, clause.parameters)
                name = next((n for n in test.argument if arguments.passed(n) is not None), None)
                if name is not None:
                    value = arguments.passed(name)
                    env = {**env, "ARGUMENT": ast.Constant(name)}
        if not isinstance(value, ast.expr):
            if test.missing == "holds":
                yield env
            return
        if test.bind is not None:
            env = {**env, test.bind: value}
        kinds = (
            (test.is_, self.values.is_),
            (test.factor, self.values.factor),
            (test.divisor, self.values.divisor),
            (test.contains, self.values.contains),
        )
        results = [env]
        for patterns, follow in kinds:
            if patterns:
                results = [found for e in results for pattern in patterns for found in follow(value, pattern, e)]
        if test.through:
            before = self.surroundings.candidates_before
            results = [
                found for e in results for p in test.through for found in self.values.through(value, p, e, before)
            ]
        yield from results

    def _has(self, test: Has, node: ast.AST, env: Bindings) -> Iterator[Bindings]:
        if test.in_ == "tree":
            if any(self.tree.holds(pattern) for pattern in test.pattern):
                yield env
            return
        if test.in_ == "arm":
            indexes = self.surroundings.arm(node)
        else:
            scope: ast.AST | None = self.facts.tree
            if test.in_ == "class":
                scope = self.facts.class_(node)
            elif test.in_ == "function":
                scope = self.facts.outermost(node)
            indexes = [self.facts.index(scope)] if scope is not None else []
        for pattern in test.pattern:
            for index in indexes:
                for _, bound in self.unifier.search(pattern, index, env):
                    yield bound


def text_of(node: ast.AST) -> str:
    """Source text of a node, as Python writes it; of a string its value."""
    # Most are names and numbers; the general way makes a writer for each.
    name = dotted(node)
    if name is not None:
        return name
    try:
        if isinstance(node, ast.Constant) and isinstance(node.value, str | int | None):
            return str(node.value)
        return ast.unparse(node)
    except (RecursionError, AttributeError, ValueError):
        return type(node).__name__
