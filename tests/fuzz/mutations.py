"""Mutations that all fuzzers share: of bytes, of text, of JSON documents, and hostile values."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any

#: Whole numbers at which something wraps, overflows or is refused.
WHOLE = [
    0,
    -1,
    1,
    2,
    3,
    7,
    255,
    256,
    65_535,
    2**31 - 1,
    2**31,
    2**32,
    2**53 + 1,
    2**62,
    2**63 - 1,
    2**63,
    2**64,
    10**20,
]
#: Numbers at which something overflows, underflows or is undefined.
REAL = [0.0, -0.0, 1e-320, 5e-324, 1e-300, 1e-12, 0.1, 0.999999, 1.0, 1.5, 1e12, 1e160, 1e300, 1.7e308, -1e300]
#: Numbers that are none.
NOT_FINITE = [float("nan"), float("inf"), float("-inf")]
#: Texts that break names, terminals and encodings; no half characters, which bytes cannot hold.
TEXTS = [
    "", " ", "\t", "\n", "a\x00b", "\x1b[2J\x1b]0;x\x07", "\u202etxt", "\x9b31m", "é", "中", "𝒳", "\ufeff", "²",
    "1e400", "nan", "-0", "yes", "true", "null", "__proto__", "../../etc/passwd", "%s%n", "{0}", "a,b", "a;b", '"', "'",
    "<b>", "x" * 300, "=1+1",
]  # fmt: skip


def hostile_value(rng: Random) -> Any:
    """A value of any JSON type, one that breaks something more often than not."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice(WHOLE)
    if kind == 1:
        return rng.choice(REAL)
    if kind == 2:
        return rng.choice(NOT_FINITE)
    if kind == 3:
        return rng.choice(TEXTS)
    return rng.choice([None, True, False, [], {}, [[]], [None], {"": 0}, "\ud800", [[[[[[]]]]]]])


def mutate_bytes(rng: Random, data: bytes, n: int | None = None) -> bytes:
    """Change a few bytes: flip, remove, repeat, move, cut off, or put in what breaks parsers."""
    content = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8]) if n is None else n):
        at = rng.randrange(len(content) + 1)
        to = min(len(content), at + rng.choice([1, 1, 2, 4, 16, 200]))
        kind = rng.randrange(7)
        if kind == 0 and at < len(content):
            content[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del content[at:to]
        elif kind == 2:
            content[at:at] = content[at:to] * rng.choice([1, 2, 50])
        elif kind == 3:
            other = rng.randrange(len(content) + 1)
            content[other:other] = content[at:to]
        elif kind == 4:
            del content[at:]
        elif kind == 5:
            content[at:to] = bytes(rng.randrange(256) for _ in range(to - at))
        else:
            content[at:at] = hostile_text(rng).encode("utf-8", "surrogatepass")
    return bytes(content)


def hostile_text(rng: Random) -> str:
    """A number or a text that breaks something."""
    return str(rng.choice([rng.choice(WHOLE), rng.choice(REAL), rng.choice(NOT_FINITE), rng.choice(TEXTS)]))


def mutate_numbers(rng: Random, text: str) -> str:
    """Replace one number of a text."""
    import re

    found = list(re.finditer(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", text))
    if not found:
        return text
    one = rng.choice(found)
    return text[: one.start()] + hostile_text(rng) + text[one.end() :]


### JSON


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of a document: the keys and positions that lead to each value."""
    here = [path] if path else []
    if isinstance(document, dict):
        return here + [place for key, value in document.items() for place in places(value, (*path, key))]
    if isinstance(document, list):
        return here + [place for i, value in enumerate(document[:50]) for place in places(value, (*path, i))]
    return here


def mutate_json(rng: Random, document: Any) -> Any:
    """Change a few places of a document: other values, types and lengths, missing or further entries."""
    changed = deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        known = places(changed)
        if known:
            mutate_place(rng, changed, rng.choice(known))
    return changed


def mutate_place(rng: Random, document: Any, place: tuple[Any, ...]) -> None:
    """Change the value at one place of a document."""
    *way, last = place
    parent = document
    for key in way:
        parent = parent[key]
    value = parent[last]
    kind = rng.randrange(7)
    if kind == 0:
        del parent[last]
    elif kind == 1 and isinstance(value, list) and value:
        parent[last] = value[: rng.randrange(len(value))]
    elif kind == 2 and isinstance(value, list):
        parent[last] = value + [value[0] if value else 0] * rng.choice([1, 2, 1000])
    elif kind == 3 and isinstance(parent, dict):
        parent[rng.choice([*TEXTS, f"{last} "])] = parent.pop(last)
    elif kind == 4 and isinstance(value, int | float):
        parent[last] = rng.choice([-value, value + 1, value * 1e9, rng.choice(WHOLE), rng.choice(REAL)])
    elif kind == 5:
        parent[last] = [value]
    else:
        parent[last] = hostile_value(rng)


def mutate_json_text(rng: Random, text: bytes) -> bytes:
    """Mutate a JSON document, as a document most often, else as bytes."""
    if rng.random() < 0.2:
        return mutate_bytes(rng, text)
    return json.dumps(mutate_json(rng, json.loads(text))).encode()
