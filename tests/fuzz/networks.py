"""Networks from others: whatever the file, a named error or a network that answers, is written and is read again."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from random import Random

import numpy as np

from bayeslearn import read_network, write_network
from bayeslearn.network import BayesianNetwork, fit_parameters
from bayeslearn.network.cpt import CPT
from bayeslearn.network.formats import FORMATS, format_network, parse_network
from tests.fuzz import mutations
from tests.fuzz.trials import Target, refused, scratch
from tests.network.formats.texts import TEXTS

#: Words that mean something to one format or another.
WORDS = [
    *'{}()[]|;,"\\%=<>/&#:', "//", "/*", "*/", "default", "table", "property", "node", "potential", "data", "states",
    "&x;", "&amp;", "<!--", "-->", "<![CDATA[", "]]>", "<?", "null", "true", "NaN", "A", "B", "C", "yes", "no", "BAYES",
    "MARKOV", "١", "1_0", ".5", "5.", "1e-400", "+1", "0x1", "type", "discrete", "network", "variable", "probability",
    "<deterministic", "<resultingstates>", "<parents>", "<!DOCTYPE x [", "<!ENTITY a 'b'>", 'app="aGrUM"',
]  # fmt: skip

PIECE = re.compile(r"[A-Za-z_][\w+]*|-?\d+\.?\d*(?:[eE][+-]?\d+)?|\s+|.")

### trials


@cache
def examples(label: str) -> list[bytes]:
    """Valid files of a format: those of other programs, and our own of networks with every feature."""
    texts = [text for name, text in TEXTS if name == label.removesuffix("_agrum")]
    return [text.encode() for text in (*texts, *(format_network(network, label) for network in networks()))]


@cache
def networks() -> list[BayesianNetwork]:
    """Small networks: one that ships, one with counts, a prior and a lineage, one of odd names."""
    asia = read_network("asia")
    learned = fit_parameters(asia.dag, asia.sample(30, random_state=0), prior="bdeu:1")
    names = {"A": "a b", "B": 'é"\\', "C": "<&>"}
    odd = parse_network(dict(TEXTS)["json"], "json")
    odd = BayesianNetwork([replaced(cpt, names) for cpt in odd], "odd 'name'")
    return [asia, learned, learned.update(asia.sample(10, random_state=1)), odd]


def replaced(cpt: CPT, names: dict[str, str]) -> CPT:
    """A table with other names of its variables."""
    child, *parents = (replace(v, name=names.get(v.name, v.name)) for v in (cpt.variable, *cpt.parents))
    return CPT(child, tuple(parents), cpt.probabilities)


def make(label: str, rng: Random) -> bytes:
    """A valid file with a few changes of words, numbers, lines or bytes; at times packed."""
    data = rng.choice(examples(label))
    kind = rng.randrange(5)
    if kind == 0:
        data = mutations.mutate_bytes(rng, data)
    elif kind == 1:
        data = mutations.mutate_numbers(rng, data.decode()).encode("utf-8", "surrogatepass")
    elif kind == 2 and label == "json":
        data = mutations.mutate_json_text(rng, data)
    elif kind == 3:
        data = mutate_lines(rng, data.decode()).encode()
    else:
        data = mutate_words(rng, data.decode()).encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        data = gzip.compress(data, mtime=0)
        data = mutations.mutate_bytes(rng, data) if rng.random() < 0.5 else data * rng.choice([1, 2])
    return data


def mutate_words(rng: Random, text: str) -> str:
    """Replace, repeat, remove or swap a few words."""
    pieces = PIECE.findall(text)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, other = rng.randrange(len(pieces)), rng.randrange(len(pieces))
        kind = rng.randrange(5)
        if kind == 0:
            pieces[at] = rng.choice([*WORDS, mutations.hostile_text(rng)])
        elif kind == 1:
            pieces[at] = pieces[other]
        elif kind == 2:
            pieces[at], pieces[other] = pieces[other], pieces[at]
        elif kind == 3:
            pieces[at] = ""
        else:
            pieces[at : at + 1] = pieces[at : at + 3] * rng.choice([2, 3, 200])
    return "".join(pieces)


def mutate_lines(rng: Random, text: str) -> str:
    """Repeat, remove or move some lines."""
    lines = text.splitlines(keepends=True)
    at, to = sorted(rng.randrange(len(lines) + 1) for _ in range(2))
    some = lines[at:to]
    if rng.random() < 0.5:
        del lines[at:to]
    where = rng.randrange(len(lines) + 1)
    lines[where:where] = some * rng.choice([0, 1, 1, 30])
    return "".join(lines)


### laws


def run(label: str, data: bytes) -> None:
    """Read a file; what is read answers, and is the same when it was written and read again."""
    ending = FORMATS[label].endings[0] + (".gz" if data[:2] == b"\x1f\x8b" else "")
    with scratch(data, f"a{ending}") as path:
        network = None
        with refused():
            network = read_network(path, format=label)
        if network is None:
            return
        again = path.with_name("again.json")
        with refused():
            write_network(network, again)
            assert read_network(again) == network
        with refused():
            same(network, parse_network(format_network(network, label), label), names="uai" not in label)
    answers(network)


def same(network: BayesianNetwork, other: BayesianNetwork, *, names: bool) -> None:
    """The same tables, in the same order but for the formats that put parents first."""
    if not names:
        assert [cpt.probabilities.size for cpt in network] == [cpt.probabilities.size for cpt in other]
        return
    assert set(network.variables) == set(other.variables)
    for cpt in network:
        assert list(map(str, cpt.variable.states)) == list(map(str, other[cpt.name].variable.states))
        np.testing.assert_allclose(other[cpt.name].probabilities, cpt.probabilities, rtol=1e-12, atol=1e-15)


def answers(network: BayesianNetwork) -> None:
    """Beliefs that are probabilities, with nothing and with something observed."""
    first = network[network.variables[0]].variable
    for evidence in ({}, {first.name: first.states[-1]}):
        with refused():
            found = network.query(evidence)
            for name, belief in found.beliefs.items():
                total = math.fsum(belief.values())
                assert abs(total - 1) < 1e-6, f"the belief of {name!r} sums to {total}"
                assert all(-1e-12 <= p <= 1 + 1e-9 for p in belief.values())
            assert found.log_evidence <= 1e-6
    with refused():
        assert network.sample(3, random_state=0).n_rows == 3


def target(label: str) -> Target:
    """The target of one format."""
    trial: Callable[[Random], bytes] = partial(make, label)
    return Target(f"networks/{label}", trial, partial(run, label))


TARGETS = [target(label) for label in FORMATS]
