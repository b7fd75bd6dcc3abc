"""Rules of the source code that no linter knows."""

from __future__ import annotations

import ast
from pathlib import Path

import bayeslearn

ROOT = Path(bayeslearn.__file__).parent

#: Classes of sources, and of what they are read as: a learner that asks for one does not take all data alike.
CLASSES = {
    "Scanned",
    "Source",
    "Folded",
    "FoldedRows",
    "FoldedSequences",
    "SummedRows",
    "Files",
    "Batches",
    "Relation",
    "Encoded",
    "RawSource",
}

#: Files that still ask which kind of data they have, and how often. A number may only become smaller.
ASKING = {
    "cli/regress_report.py": 3,
    "estimators.py": 5,
    "functions/estimators.py": 2,
    "functions/out_of_core.py": 1,
    "functions/reading.py": 1,
    "functions/regression.py": 2,
    "mixture/choosing.py": 2,
    "mixture/estimators.py": 4,
    "mixture/opening.py": 7,
    "naive_bayes/tables/aode.py": 1,
    "naive_bayes/tables/estimators.py": 2,
    "naive_bayes/tables/learning.py": 1,
    "naive_bayes/tables/out_of_fold.py": 1,
    "naive_bayes/tables/rows.py": 1,
    "naive_bayes/text/text_sources.py": 2,
    "neighbors/estimators.py": 1,
    "network/estimators.py": 2,
    "network/parameters/online_em.py": 1,
    "network/structure/fit_network.py": 1,
    "network/structure/preprocessing.py": 3,
    "sequence/learning.py": 1,
    "sequence/reading.py": 1,
    "sequence/sources.py": 1,
}


def asked(path: Path) -> list[int]:
    """The lines that ask whether data are a source, or a source of some kind."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and (is_call_of(node, "is_source") or asks_for_a_class(node))
    ]


def is_call_of(node: ast.Call, name: str) -> bool:
    """Whether this function is called, by itself or as part of a module."""
    return getattr(node.func, "id", getattr(node.func, "attr", None)) == name


def asks_for_a_class(node: ast.Call) -> bool:
    """Whether ``isinstance`` compares with a class of sources."""
    names = {getattr(part, "id", getattr(part, "attr", None)) for kind in node.args[1:] for part in ast.walk(kind)}
    return is_call_of(node, "isinstance") and bool(names & CLASSES)


def test_nobody_asks_which_kind_of_data_it_has() -> None:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(("sources/", "tables/")) and (lines := asked(path)):
            found[name] = lines
    more = {name: lines for name, lines in found.items() if len(lines) > ASKING.get(name, 0)}
    assert not more, f"use the methods of a source, which a table has too, in these lines: {more}"
    fewer = {name: len(found.get(name, [])) for name, n in ASKING.items() if len(found.get(name, [])) < n}
    assert not fewer, f"these ask less often now: write the smaller numbers into ASKING, or leave out a 0: {fewer}"


#: Distributions, their parameters and statistics: a learner that asks for one has a ladder over distributions.
DISTRIBUTIONS = {
    "Categorical", "Normal", "Poisson", "Bernoulli", "MultivariateNormal", "Exponential", "GammaDistribution",
    "HeavyTailed", "VonMises", "DispersedCounts", "Multinomial", "NormalInverseGamma", "NormalInverseWishart", "Gamma",
}  # fmt: skip


def test_no_learner_has_a_ladder_over_distributions() -> None:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        lines = [
            node.lineno
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Call) and is_call_of(node, "isinstance") and kinds_of(node) & DISTRIBUTIONS
        ]
        if lines and not name.startswith("distributions/"):
            found[name] = lines
    assert not found, f"ask the distribution itself, which has a method for it, in these lines: {found}"


def kinds_of(node: ast.Call) -> set[str | None]:
    """The names of the classes that ``isinstance`` compares with."""
    return {getattr(part, "id", getattr(part, "attr", None)) for kind in node.args[1:] for part in ast.walk(kind)}


#: What there is once, and the file it is in.
ONCE = {
    "parse_prior": "distributions/priors.py",
    "log_losses": "evaluation.py",
    "folds": "evaluation.py",
    "normalized": "components.py",
}


def test_what_there_is_once() -> None:
    for function, home in ONCE.items():
        defined = [
            path.relative_to(ROOT).as_posix()
            for path in sorted(ROOT.rglob("*.py"))
            for node in ast.parse(path.read_text("utf-8")).body
            if isinstance(node, ast.FunctionDef) and node.name == function
        ]
        assert defined == [home], f"{function} is defined in {defined}: use that of {home}"


#: Files longer than a person reads at one sitting, with a reason.
LONG = {
    "kernels/planning.py": "one algorithm, compiled as one",
    "kernels/warm_up.py": "an example of every kernel",
}


def test_files_can_be_read_at_one_sitting() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): n
        for path in sorted(ROOT.rglob("*.py"))
        if (n := len(path.read_text("utf-8").splitlines())) > 450
    }
    assert found.keys() == LONG.keys(), f"split these, or take them off the list: {found.keys() ^ LONG.keys()}"
