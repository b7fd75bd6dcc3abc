"""The small files of the verbs: hypotheses, classes of concepts, examples, experts, case bases, schemas.

Each verb runs in this process, as the command does; it answers, or refuses by a named error or a sentence of usage.
"""

from __future__ import annotations

import io
import json
import warnings
from contextlib import redirect_stderr
from pathlib import Path
from random import Random

from typer.testing import CliRunner

import bayeslearn
from bayeslearn.case_based.case_base import CaseBase
from bayeslearn.cli.app import app
from tests.fuzz.mutations import mutate_bytes, mutate_json, mutate_json_text, mutate_numbers
from tests.fuzz.trials import Target, refused, scratch

DATA = Path(bayeslearn.__file__).with_name("datasets")

HYPOTHESES = {
    "prior": {"cancer": 0.008, "healthy": 0.992},
    "likelihood": {
        "cancer": {"positive": 0.98, "negative": 0.02},
        "healthy": {"positive": 0.03, "negative": 0.97},
    },
}
CONCEPTS = b"h,a,b,c,d\nh1,0,1,0,1\nh2,1,1,0,0\nh3,0,0,1,1\nh4,1,0,1,0\nh5,0,0,0,0\n"
EXPERTS = b"one,two,label\nyes,no,yes\nno,no,no\nyes,yes,yes\nno,yes,no\nyes,no,yes\nno,no,no\n" * 4


def verb(*words: str) -> None:
    """Run a verb; it answers, or refuses what it is given."""
    with refused(), warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore", UserWarning)
        CliRunner().invoke(app, list(words), catch_exceptions=False)


### hypotheses


def toml_of(document: object) -> bytes:
    """Tables of TOML, as far as a document of hypotheses has them."""
    lines = []
    tables = document if isinstance(document, dict) else {"likelihood": document}
    for name, table in tables.items():
        rows = {name: table} if name == "prior" else {f"{name}.{key}": row for key, row in pairs(table)}
        for head, row in rows.items():
            quoted = ".".join(json.dumps(part) for part in str(head).split("."))
            lines += [f"[{quoted}]", *(f"{json.dumps(str(key))} = {json.dumps(value)}" for key, value in pairs(row))]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def pairs(value: object) -> list[tuple[object, object]]:
    """The entries of a mapping; of anything else one."""
    return list(value.items()) if isinstance(value, dict) else [("value", value)]


def hypotheses_toml(rng: Random) -> bytes:
    """A file of hypotheses as TOML."""
    data = toml_of(mutate_json(rng, HYPOTHESES))
    return mutate_bytes(rng, data) if rng.random() < 0.3 else data


def hypotheses_json(rng: Random) -> bytes:
    """A file of hypotheses as JSON."""
    return mutate_json_text(rng, json.dumps(HYPOTHESES).encode())


def ask_hypotheses(data: bytes, name: str) -> None:
    """Posteriors after two pieces of evidence."""
    with scratch(data, name) as path:
        verb("bayes", str(path), "-e", "positive", "-e", "negative", "--json")
        verb("bayes", str(path), "-e", "positive")


### tables of the small verbs


def numbers_or_bytes(rng: Random, data: bytes) -> bytes:
    """Another number, or other bytes."""
    return mutate_numbers(rng, data.decode()).encode() if rng.random() < 0.4 else mutate_bytes(rng, data)


def ask_class(data: bytes) -> None:
    """The VC dimension of a class, and its mistakes."""
    with scratch(data, "class.csv") as path:
        verb("bound", "vc-dimension", str(path), "--max-points", "3")
        verb("bound", "mistakes", "--concepts", str(path))


def ask_examples(data: bytes) -> None:
    """Concepts that examples leave."""
    with scratch(data, "examples.csv") as path:
        verb("concept", str(path), "--target", "enjoy_sport", "--drop-missing", "--drop-conflicts")
        verb("bound", "pac", "--data", str(path), "--target", "enjoy_sport", "--json")


def ask_experts(data: bytes) -> None:
    """Experts that vote."""
    with scratch(data, "experts.csv") as path:
        verb("online", str(path), "--target", "label")
        verb("online", str(path), "--target", "label", "--expert-columns", "one,two", "--json")


### case bases


def cases_json(rng: Random) -> bytes:
    """A case base."""
    return mutate_json_text(rng, (DATA / rng.choice(["plumbing.cases.json", "support.cases.json"])).read_bytes())


def cases_yaml(rng: Random) -> bytes:
    """A case base as YAML, of which JSON is a part."""
    data = cases_json(rng)
    odd = rng.choice(
        [b"&a [*a]", b"!!python/object/apply:os.system ['true']", b"<<: {}", b"- *x", b"--- ", b"? []", b"&b"]
    )
    at = rng.randrange(len(data) + 1)
    return data[:at] + odd + data[at:] if rng.random() < 0.5 else data


def ask_cases(data: bytes, name: str) -> None:
    """Cases as they are shown."""
    with scratch(data, name) as path, refused():
        base = CaseBase.load(path)
        for case in base:
            assert isinstance(str(case), str)
        verb("case-based", "show", str(path), "--json")


### schemas

ROWS = b"wind,hours\nweak,1.5\nstrong,2.5\nweak,3.25\n"
SCHEMA = {
    "variables": [
        {"name": "wind", "kind": "discrete", "states": ["strong", "weak"]},
        {
            "name": "hours",
            "kind": "discrete",
            "states": ["<= 2", "> 2"],
            "cuts": [2.0],
            "interval_values": [[1.5], [2.5]],
        },
    ]
}


def schema_json(rng: Random) -> bytes:
    """A schema as scan writes it."""
    return mutate_json_text(rng, json.dumps({"format": "bayeslearn schema", "version": 1, **SCHEMA}).encode())


def ask_schema(data: bytes) -> None:
    """Rows under a schema."""
    with scratch(data, "schema.json") as path:
        (path.parent / "rows.csv").write_bytes(ROWS)
        verb("scan", str(path.parent / "rows.csv"), "--schema", str(path), "--json")


TARGETS = [
    Target("small_inputs/bayes_toml", hypotheses_toml, lambda data: ask_hypotheses(data, "tests.toml")),
    Target("small_inputs/bayes_json", hypotheses_json, lambda data: ask_hypotheses(data, "tests.json")),
    Target("small_inputs/classes", lambda rng: numbers_or_bytes(rng, CONCEPTS), ask_class),
    Target(
        "small_inputs/examples",
        lambda rng: mutate_bytes(rng, (DATA / "enjoy-sport.csv").read_bytes()),
        ask_examples,
    ),
    Target("small_inputs/experts", lambda rng: mutate_bytes(rng, EXPERTS), ask_experts),
    Target("small_inputs/cases_json", cases_json, lambda data: ask_cases(data, "base.json")),
    Target("small_inputs/cases_yaml", cases_yaml, lambda data: ask_cases(data, "base.yaml")),
    Target("small_inputs/schemas", schema_json, ask_schema),
]
