"""A file read beside its other versions says the same as the file read alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple

import pytest

from guard.documents.outline import ModuleOutline
from guard.documents.segments import SegmentMemo, outline, outlines, speaking, words

PLAIN = '''
class Router(Base):
    """Sends tokens
    to experts.
    """

    __slots__ = ("seen",)
    scale: float = 1.0
    names: list = field(default_factory=list)

    # a comment of the method below
    @property
    def group(self) -> Group:
        return self._group

    @group.setter
    def group(self, value):
        if value:
            import late
        self._group = value

    async def step(self, loss, *, weight=one.two(3)):
        """Doc."""
        args = {"a": 1}
        self.kind = Kind()
        setattr(self, "made", loss.item)
        call(**args)
        def inner():
            return self.kind.name, loss
        return inner(), 2

    if FAST:
        def forward(self): return step(self)
    else:
        def forward(self): yield 1

    @decorated(
        several=1,
    )
    class Inner:
        def method(self): self.kind = 1

    def last(self):
        self.kind = Other()
        text = """
            of several lines
            """
        return [x.y for x in self.seen if x in text]
'''

VERSIONS = {
    "a method changed": PLAIN.replace("return inner(), 2", "return inner()"),
    "a method is new": PLAIN + "\n    def more(self, a=1): return a.b\n",
    "a default of the class's body": PLAIN + "\n    def more(self, a=scale, f=last): return a.b\n",
    "a decorator of the class's body": PLAIN + "\n    @last\n    def more(self): pass\n",
    "the body asks for a method": PLAIN + "\n    alias = last\n",
    "attributes from anywhere": PLAIN + "\n    def __getattr__(self, name): return getattr(self.x, name)\n",
    "only methods": "class Router:\n    def a(self): return self.b\n    def b(self): return 1\n",
    "no methods": "class Router(Base): scale = 1\n",
    "another indent": "@dec\nclass Router:\n  def a(self):\n    return b\n  x = 1\n  @d\n  @d\n  def b(self): pass\n",
    "a method in a string": PLAIN.replace("            of several", "    def of(self): several"),
    "a function in a string": PLAIN.replace("    to experts", "def to_experts(): text"),
    "a method in the class's own string": PLAIN.replace(
        "    to experts", "    def experts(self): return to.them\n    x"
    ),
    "a head that seems to end earlier": "class Router(  # of:\n        Base):\n"
    "    def a(self):\n        def inner(): return self.b\n        return inner\n",
    "annotated below": PLAIN + "\n    kind: Third\n",
    "a method of a branch below": PLAIN + "\n    if FAST:\n        def last(self, more): pass\n",
    "does not parse": PLAIN + "\n    def more(self:\n",
}


def _facts(found: ModuleOutline) -> Counter[object]:
    """All facts with lines of the file, whatever segments they came in."""
    return Counter(_listed(found))


def _listed(found: ModuleOutline) -> Iterator[object]:
    for offset, segment in found.parts:
        for kind in ("imports", "reads", "accesses", "calls"):
            yield from ((kind, fact._replace(line=offset + fact.line)) for fact in getattr(segment, kind))
        for binding in segment.bindings:
            yield "binding", binding._replace(line=offset + binding.line, block=str(bool(binding.block)))
        for function in segment.functions:
            yield "function", offset + function.line, astuple(function)[:4], function.returns, function.generator
        for kind in segment.classes:
            places = [sorted((name, offset + at) for name, at in held.items()) for held in (kind.members, kind.stored)]
            fields = [(name, optional, offset + at) for name, optional, at in kind.fields]
            said = (kind.qualname, kind.bases, kind.decorators, kind.dynamic, offset + kind.line, kind.flags)
            yield "class", said, str(places), str(fields), str(sorted(kind.types.items()))
    for kind in ("module_names", "attributes", "probed"):
        yield kind, frozenset().union(*(getattr(segment, kind) for _, segment in found.parts))


@pytest.mark.parametrize("name", VERSIONS)
def test_versions_of_a_file_say_what_each_says_alone(name: str) -> None:
    versions = [text.encode() for text in (PLAIN, VERSIONS[name])]
    for data, together in zip(versions, outlines(versions, SegmentMemo()), strict=True):
        alone = outline(data, SegmentMemo())
        assert _facts(together) == _facts(alone)
        assert (together.error, together.words) == (alone.error, alone.words)


def test_versions_share_the_methods_that_they_have_in_common() -> None:
    first, second = outlines([PLAIN.encode(), VERSIONS["a method changed"].encode()], SegmentMemo())
    shared = {id(segment) for _, segment in first.parts} & {id(segment) for _, segment in second.parts}
    scopes = {
        function.qualname for _, segment in first.parts if id(segment) in shared for function in segment.functions
    }
    assert {"Router.group", "Router.last"} <= scopes
    assert "Router.step" not in scopes


def test_only_what_speaks_of_a_name_is_surveyed() -> None:
    text = "def one():\n    self.x = 1\n\n\ndef two():\n    self.y = 2\n"
    ((offset, segment),) = speaking(text.encode(), "y", SegmentMemo())
    assert (offset, segment.attributes) == (4, {"y"})
    assert words(text.encode()) == {"def", "one", "two", "self", "x", "y"}


def test_a_definition_inside_a_string_is_no_definition() -> None:
    text = 'TEXT = """\ndef two():\n    self.y = 2\n"""\n'
    assert all("y" not in segment.attributes for _, segment in speaking(text.encode(), "y", SegmentMemo()))
