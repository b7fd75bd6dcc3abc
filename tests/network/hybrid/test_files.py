"""Files of networks with numbers that were changed by hand: a network, or a named error."""

import copy
import json
import random
import warnings

import numpy as np
import pytest

import bayeslearn as bl
from bayeslearn.errors import BayeslearnError, FormatError
from bayeslearn.network import fit_parameters
from tests.network.hybrid.examples import random_network

STRANGE = [None, True, -1, 0, 1e308, 10**30, "", "x", "s0", [], {}, [[]], [1, 2], {"a": 1}, 0.5, "log", "numeric"]


def places(part, path=()):
    """Every place of a document."""
    yield path
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    network = random_network(4)
    path = tmp_path_factory.mktemp("files") / "m.json"
    fit_parameters(network, network.sample(50, random_state=0), prior="unit").save(path)
    return json.loads(path.read_text())


@pytest.mark.parametrize("seed", range(4))
def test_strange_values(document, tmp_path, seed):
    luck, every, opened = random.Random(seed), [p for p in places(document) if p], 0
    for number in range(150):
        changed = copy.deepcopy(document)
        *path, last = luck.choice(every)
        part = changed
        for key in path:
            part = part[key]
        if luck.random() < 0.2:
            del part[last]
        else:
            part[last] = luck.choice(STRANGE)
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(changed))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = bl.load(file).query()
                opened += 1
            means = [belief.mean for belief in found.beliefs.values() if hasattr(belief, "mean")]
            assert not np.isnan(means).any()
        except BayeslearnError:
            pass
    assert opened < 150


@pytest.mark.parametrize(("part", "value", "match"), [
    ("parents", ["nobody"], "parent 'nobody' is not declared"),
    ("scale", "cubic", "expected the scale 'linear' or 'log'"),
    ("var", -1.0, "not negative"),
    ("intercept", "many", "expected"),
    ("variable", "nobody", "there is no numeric variable 'nobody'"),
])  # fmt: skip
def test_errors_name_the_part(document, tmp_path, part, value, match):
    changed = copy.deepcopy(document)
    node = next(n for n in changed["numeric_nodes"] if not isinstance(n["var"], list))
    node[part] = value
    (tmp_path / "m.json").write_text(json.dumps(changed))
    with pytest.raises(FormatError, match=match):
        bl.load(tmp_path / "m.json")
