"""JSON read strictly, and places in it.

Repeated keys, NaN, Infinity, whole numbers beyond 64 bits, and texts of too many parts are refused. Where something is
wrong is looked for only when it is: a second walk through the text finds the offset.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import count
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

from bayeslearn.capacity import require_parsed_room

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayeslearn.source_text import Source

#: One step into a document: a key or a position.
Step = str | int

#: Bytes of a list, an object, an item and half a text; see :func:`require_parsed_room`.
COSTS = {"[": 80, "{": 140, ",": 48, '"': 30}

STRING = r'"(?:[^"\\]|\\[\s\S])*"'
PIECES = re.compile(rf"{STRING}(?P<key>\s*:)?|[{{}}]|(?P<constant>NaN|-?Infinity)|(?P<large>-?\d{{19,}}(?![\d.eE]))")
DECODER = json.JSONDecoder()
BLANKS = re.compile(r"[ \t\r\n]*")


class RefusedError(ValueError):
    """Something that Python's parser takes and we do not."""


def loaded(source: Source) -> Any:
    """The document of a JSON text."""
    require_parsed_room(source.text, COSTS, source.path or "this text")
    try:
        return json.loads(source.text, object_pairs_hook=unique, parse_constant=refused, parse_int=small)
    except JSONDecodeError as error:
        message = error.msg[0].lower() + error.msg[1:]
        raise source.error(f"this is not JSON: {message}", error.pos) from None
    except RefusedError as error:
        raise source.error(str(error), offence(source.text)) from None
    except RecursionError:
        raise source.error("lists or objects are nested too deeply", 0) from None


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ."""
    entry = dict(pairs)
    if len(entry) < len(pairs):
        key = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise RefusedError(f"the key {key!r:.60} stands twice in an object")
    return entry


def refused(constant: str) -> Any:
    """NaN and Infinity are no JSON."""
    raise RefusedError(f"expected a number, found {constant}")


def small(digits: str) -> int:
    """A whole number of 64 bits."""
    if len(digits) > 20 or abs(int(digits)) >= 2**63:
        raise RefusedError(f"the whole number {digits:.24} is beyond 64 bits")
    return int(digits)


def offence(text: str) -> int:
    """The offset of the first repeated key, constant or large number."""
    keys: list[set[str]] = []
    for piece in PIECES.finditer(text):
        word = piece.group()
        if word == "{":
            keys.append(set())
        elif word == "}":
            keys.pop()
        elif piece["key"]:
            key = DECODER.raw_decode(text, piece.start())[0]
            if key in keys[-1]:
                return piece.start()
            keys[-1].add(key)
        elif piece["constant"] or (piece["large"] and abs(int(word[:24])) >= 2**63):
            return piece.start()
    return 0


def locate(text: str, path: Iterable[Step]) -> int:
    """The offset of a part of a document that was read before."""
    at = blanks(text, 0)
    for step in path:
        opening, at = text[at], blanks(text, at + 1)
        for position in count():
            name: Step = position
            if opening == "{":
                name, at = DECODER.raw_decode(text, at)
                at = blanks(text, blanks(text, at) + 1)
            if name == step:
                break
            at = blanks(text, DECODER.raw_decode(text, at)[1])
            at = blanks(text, at + 1)
    return at


def blanks(text: str, at: int) -> int:
    """The offset behind blanks."""
    found = BLANKS.match(text, at)
    return found.end() if found else at
