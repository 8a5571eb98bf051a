"""Files as units: what layout is, and what is not."""

from __future__ import annotations

from itertools import pairwise

import pytest

from guard.documents.units import document


def texts(path: str, content: str) -> list[tuple[str, str]]:
    return sorted(unit.key for unit in document(path, content.encode()).units)


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        ("a.json", '{"a": 1, "b": [1, 2]}', '{\n  "b": [2,\n 1],\n  "a": 1.0e0}'.replace("1.0e0", "1")),
        ("a.yaml", "a: 'x'\nb:\n- 1\n- 2\n", 'b: [2, 1]   # why\na:   "x"\n'),
        ("a.toml", 'x = 1\n[t]\nl = ["a", "b"]\n', 'x=1 # one\n\n[t]\nl = [\n  "b",\n  "a",\n]\n'),
        ("a.md", "One two\nthree. Four five.\n", "One\ntwo three.\nFour\nfive.\n"),
        ("a.cu", "int f(int a) { return a+1; }", "// doc\nint f(\n    int a)\n{\n  return a + 1;\n}\n"),
        ("run.sh", "python x.py \\\n    --a 1 \\\n", "# go\npython x.py \\\n\t--a 1\n"),
        ("a.cfg", "[s]\nk = 1\n", "[s]\r\n\r\n  k   =   1\r\n"),
    ],
)
def test_layout_is_no_part_of_a_file(path: str, one: str, other: str) -> None:
    assert texts(path, one) == texts(path, other)


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        ("a.yaml", "a: 1\n", 'a: "1"\n'),
        ("a.json", '{"a": true}', '{"a": "true"}'),
        ("a.toml", "[s]\nk = 1\n", "[t]\nk = 1\n"),
        ("a.cu", "void f() { a(); }", "void g() { a(); }"),
        ("a.md", "# A\n\nText.\n", "# B\n\nText.\n"),
        ("a.ini", "[a]\nx = 1\n[b]\n", "[a]\n[b]\nx = 1\n"),
    ],
)
def test_what_a_file_says_is_part_of_it(path: str, one: str, other: str) -> None:
    assert texts(path, one) != texts(path, other)


def test_lines_of_leaves() -> None:
    toml = '[project]\ndependencies = [\n  "numpy",\n  "torch>=2",\n]\n[tool.x]\ny = "z"\n'
    assert [(u.scope, u.text, u.line) for u in document("pyproject.toml", toml.encode()).units] == [
        ("project.dependencies", "numpy", 3),
        ("project.dependencies", "torch>=2", 4),
        ("tool.x.y", "z", 7),
    ]
    yaml = "jobs:\n  t:\n    run: |\n      one\n      two\n    if: yes\n"
    assert [(u.text, u.line) for u in document("w.yml", yaml.encode()).units] == [("one", 4), ("two", 5), ("yes", 6)]
    json = '{\n "a": {\n  "b": [\n   1,\n   {"name": "n", "v": "x\\ny"}\n]}}'
    assert [(u.scope, u.line) for u in document("a.json", json.encode()).units][:3] == [
        ("a.b", 4),
        ("a.b.[name=n].name", 5),
        ("a.b.[name=n].v", 5),
    ]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (
            "bomb.yaml",
            "a: &a [x, x]\n" + "".join(f"{n}: &{n} [*{p}, *{p}]\n" for p, n in pairwise("abcdefghij")),
        ),
        ("deep.yaml", "[" * 200_000),
        ("deep.json", "[" * 200_000 + "]" * 200_000),
        ("deep.toml", "a = " + "[" * 50_000 + "]" * 50_000),
        ("tag.yaml", "!!python/object/apply:os.system ['false']\n"),
        ("bad.toml", "= 3\n"),
        ("bad.json", '{"a": '),
    ],
)
def test_hostile_data_is_read_in_little_time_and_space(path: str, content: str) -> None:
    assert len(document(path, content.encode()).units) < 100


def test_bytes_that_are_no_text_are_kept() -> None:
    assert document("a.txt", b"caf\xe9 au lait\n").units != document("a.txt", b"caf\xe8 au lait\n").units
