"""Rules of the source code that no linter knows."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bayeslearn

if TYPE_CHECKING:
    from collections.abc import Callable

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
    "estimators.py": 5,
    "regression/regressors.py": 2,
    "regression/out_of_core.py": 1,
    "regression/targets.py": 1,
    "regression/regression_model.py": 2,
    "mixture/mixed_table.py": 1,
    "mixture/estimators.py": 4,
    "mixture/inputs.py": 4,
    "naive_bayes/tabular/aode.py": 1,
    "naive_bayes/tabular/estimators.py": 2,
    "naive_bayes/tabular/inputs.py": 1,
    "naive_bayes/tabular/out_of_fold.py": 1,
    "naive_bayes/tabular/row_blocks.py": 1,
    "naive_bayes/text/text_sources.py": 2,
    "neighbors/estimators.py": 1,
    "network/estimators.py": 2,
    "network/parameters/online_em.py": 1,
    "network/structure/fit.py": 1,
    "network/structure/preprocessing.py": 3,
    "hmm/fit.py": 1,
    "hmm/inputs.py": 1,
    "hmm/sequence_sources.py": 1,
}


def asked(path: Path) -> list[int]:
    """The lines that ask whether data are a source, or a source of some kind."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and ((is_call_of(node, "is_source") or is_call_of(node, "is_scanned")) or asks_for_a_class(node))
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
    "CategoricalEmissions", "GaussianEmissions", "FullGaussianEmissions", "PoissonEmissions",
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
    "normalized": "components/product.py",
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


#: Own code for what evaluation.py and scipy.special have, with a reason. A number may only become smaller.
OWN = {
    "regression/bayesian_linear.py": 1,  # the logarithm of a scale, not of a probability
    "naive_bayes/tabular/estimators.py": 1,
    "network/inference/gibbs_sampling.py": 1,
}


def called(node: ast.AST) -> set[str]:
    """The names of all functions that are called in an expression."""
    calls = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    return {getattr(func, "attr", getattr(func, "id", "")) for func in calls}


def deals_folds(node: ast.AST) -> bool:
    """Whether rows are dealt out in turn: ``arange(n) % k``, ``permutation(n) % k``, or a splitter of scikit-learn."""
    if isinstance(node, ast.ImportFrom):
        return any(alias.name.endswith(("KFold", "ShuffleSplit", "train_test_split")) for alias in node.names)
    is_remainder = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
    return (
        is_remainder
        and not isinstance(node.right, ast.Constant)
        and bool(called(node.left) & {"arange", "permutation"})
    )


def goes_over_folds(node: ast.AST) -> bool:
    """Whether a function takes the rows that are of a fold, and those that are not."""
    if not isinstance(node, ast.FunctionDef):
        return False
    sides: dict[type[ast.cmpop], set[str]] = {ast.Eq: set(), ast.NotEq: set()}
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and is_call_of(part, "flatnonzero") and isinstance(part.args[0], ast.Compare):
            test = part.args[0]
            sides.setdefault(type(test.ops[0]), set()).add(ast.unparse(ast.List([test.left, *test.comparators])))
    return bool(sides[ast.Eq] & sides[ast.NotEq])


def is_clipped_log(node: ast.AST) -> bool:
    """Whether this is the logarithm of something that is kept away from zero."""
    if not (isinstance(node, ast.Call) and is_call_of(node, "log") and node.args):
        return False
    inner = node.args[0]
    if not isinstance(inner, ast.Call) or not any(is_call_of(inner, name) for name in ("maximum", "clip", "max")):
        return False
    return any(
        getattr(arg, "value", 1.0) < 0.1 if isinstance(arg, ast.Constant) else is_constant(arg) for arg in inner.args
    )


def is_constant(node: ast.AST) -> bool:
    """Whether an expression is the name of a constant, or the smallest number of a type."""
    name = getattr(node, "id", getattr(node, "attr", ""))
    return name.isupper() or name in {"tiny", "eps", "epsneg"}


def is_log_sum_exp(node: ast.AST) -> bool:
    """Whether this is ln Σ exp, or exp of differences from the largest."""
    if not (isinstance(node, ast.Call) and node.args):
        return False
    if is_call_of(node, "log"):
        return {"exp", "sum"} <= called(node.args[0])
    return is_call_of(node, "exp") and isinstance(node.args[0], ast.BinOp) and "max" in called(node.args[0].right)


def test_folds_log_losses_and_sums_of_exponentials_are_there_once() -> None:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        lines = [
            getattr(node, "lineno", 0)
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if deals_folds(node) or goes_over_folds(node) or is_clipped_log(node) or is_log_sum_exp(node)
        ]
        if lines and name != "evaluation.py" and not name.startswith("kernels/"):
            found[name] = lines
    more = {name: lines for name, lines in found.items() if len(lines) > OWN.get(name, 0)}
    assert not more, f"use folds, out_of_fold and Metrics of evaluation.py, and scipy.special: {more}"
    fewer = {name: n for name, n in OWN.items() if len(found.get(name, [])) < n}
    assert not fewer, f"these have less of their own now: write the smaller numbers into OWN: {fewer}"


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (deals_folds, "fold = np.random.default_rng(0).permutation(n) % min(k, n)"),
        (deals_folds, "fold = np.arange(len(y)) % cv"),
        (goes_over_folds, "def f():\n    return np.flatnonzero(part == i), np.flatnonzero(part != i)"),
        (is_clipped_log, "loss = -np.log(np.maximum(p, 1e-300)).mean()"),
        (is_clipped_log, "loss = -np.log(np.clip(p, 1e-15, 1))"),
        (is_clipped_log, "loss = -math.log(max(p, np.finfo(float).eps))"),
        (is_log_sum_exp, "top + np.log(np.exp(s - top).sum(axis=1))"),
        (is_log_sum_exp, "p = np.exp(s - s.max(axis=1, keepdims=True))"),
    ],
)
def test_own_code_is_found_by_its_pattern(found: Callable[[ast.AST], bool], text: str) -> None:
    assert any(found(node) for node in ast.walk(ast.parse(text)))


def test_files_can_be_read_at_one_sitting() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): n
        for path in sorted(ROOT.rglob("*.py"))
        if (n := len(path.read_text("utf-8").splitlines())) > 450
    }
    assert not found, f"split these: {found}"
