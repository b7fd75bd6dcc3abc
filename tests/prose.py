"""Words that prose avoids: in the README, the documentation, docstrings and messages.

    python -m tests.prose             lower the counts of prose.txt to what is found
    python -m tests.prose FOLDER      list what is found below a folder

``prose.txt`` lists how many of these words a file still has. The counts may only become smaller.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
LIST = Path(__file__).with_name("prose.txt")

#: Words that are wrong wherever they stand; the comment says what is written instead.
WORDS = (
    r"told|tells|(?<!cannot )tell|telling",  # reports, returns
    r"says?|said|saying|speaks?|spoke|spoken",  # states, predicts, supports
    r"hears?|heard|(?<!active )voices?",  # considers, neighbors
    r"doubt\w*",  # uncertainty, uncertain
    r"holes?",  # missing values
    r"rest(s|ed|ing)? on",  # is based on
    r"by (itself|themselves)",  # alone, marginal
    r"of no use",  # dropped
    r"so (many|much)",  # n
    r"in all(?=[.,;:)]|$)",  # total
    r"of (its|their) own",  # separate
    r"whole or not( at all)?",  # atomically
    r"people|nobody|whoever",  # users
    r"throws?|thrown|dice",  # random, stochastic
    r"dearest|faint",  # largest, weak
    r"beside",  # next to, in addition to
    r"(?<!hill.)(?<!hill_)climb(s|ed)?",  # optimize
    r"house(?!.votes)",  # package
    r"knows|wants?|looks? at|looked at",  # contains, requires, examines
    r"takes? back|taken back|took back",  # remove
    r"as (it is|they are)(?=[.,;:)]|$)",  # unchanged
    r"(per|fewest|most|many) cases?",  # rows
)
PATTERN = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"``.+?``|`[^`\n]+`")
EXAMPLE = re.compile(r"^ *(>>>|\.\.\.) .*$", re.MULTILINE)


def documents() -> list[Path]:
    """The README and the pages of the documentation."""
    pages = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *pages]


def modules() -> list[Path]:
    """The modules of the package."""
    return sorted((ROOT / "src").rglob("*.py"))


def text_of(node: ast.AST) -> str:
    """The text of a string; what an f-string inserts is a `0`."""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or "0" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings and messages of a module by line: strings with a blank."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        text = "" if id(node) in inner else text_of(node)
        if " " in text.strip():
            yield node.lineno, text


def passages(path: Path) -> Iterator[tuple[int, str]]:
    """The prose of a file by line, without code."""
    if path.suffix == ".py":
        yield from ((line, CODE.sub("``", EXAMPLE.sub("", text))) for line, text in strings(path))
    else:
        text = path.read_text(encoding="utf-8")
        blank = FENCE.sub(lambda block: "\n" * block.group().count("\n"), text)
        yield 1, CODE.sub("``", blank)


def found(path: Path) -> list[str]:
    """Words of a file that prose avoids, each with its line and its neighborhood."""
    hits = []
    for first, text in passages(path):
        for hit in PATTERN.finditer(text):
            if hit.group().endswith(("case", "cases")) and "case" in str(path.relative_to(ROOT)):
                continue  # cases of case-based reasoning
            line = first + text.count("\n", 0, hit.start())
            near = " ".join(text[max(hit.start() - 40, 0) : hit.end() + 40].split())
            hits.append(f"{path.relative_to(ROOT)}:{line}: {hit.group()!r} in {near!r}")
    return hits


def listed() -> dict[str, int]:
    """How many of these words each file may have; a file that a merge lists twice has the smaller count."""
    lines = [line.rpartition(" ") for line in LIST.read_text(encoding="utf-8").splitlines() if line]
    return {path: int(count) for path, _, count in sorted(lines, key=lambda line: -int(line[2]))}


def write(counts: dict[str, int]) -> None:
    """Write the list, in order, without the files that have none."""
    lines = [f"{path} {count}\n" for path, count in sorted(counts.items()) if count]
    LIST.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:
        below = [path for path in documents() + modules() if str(path.relative_to(ROOT)).startswith(sys.argv[1])]
        sys.stdout.writelines(f"{hit}\n" for path in below for hit in found(path))
    else:
        now = {str(path.relative_to(ROOT)): len(found(path)) for path in documents() + modules()}
        write({path: min(count, now.get(path, 0)) for path, count in listed().items()})
