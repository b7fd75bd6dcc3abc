"""``bayeslearn bound pac``, ``agnostic`` and ``vc``: examples, error, confidence and class, each from the others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output
from bayeslearn.cli.concept import load_table
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.learning_theory import Bound, HypothesisCount

Epsilon = Annotated[float | None, typer.Option(help="The error that is allowed.")]
Delta = Annotated[float | None, typer.Option(help="The probability of failing that is allowed.")]
Examples = Annotated[int | None, typer.Option("-m", help="The number of examples.")]
Space = Annotated[
    str | None,
    typer.Option(
        help="How many hypotheses: 973, 3^10, 2^2^30, conjunctions:N, k-cnf:N,K, k-term-dnf:N,K, "
        "decision-lists:N,K or unbiased:N."
    ),
]
Data = Annotated[
    str | None, typer.Option(help="A file whose columns are the attributes of conjunctions, instead of --space.")
]
Target = Annotated[str | None, typer.Option(help="The column of --data that is no attribute.")]
Plot = Annotated[Path | None, typer.Option(help="Draw m against ε into this file, .png, .svg or .pdf.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object instead of a sentence.")]


def pac(
    *,
    space: Space = None,
    data: Data = None,
    target: Target = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    m: Examples = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """How many examples a learner needs whose hypothesis agrees with all of them; or any other of |H|, ε, δ and m.

    Example: bayeslearn bound pac --space conjunctions:10 --epsilon .1 --delta .05
    """
    from bayeslearn import learning_theory

    _finite(learning_theory.pac_bound, size_of(space, data, target), epsilon, delta, m, plot, as_json=as_json)


def agnostic(
    *,
    space: Space = None,
    data: Data = None,
    target: Target = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    m: Examples = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """The same for a learner that takes the hypothesis of least training error, which need not be zero (Hoeffding).

    Example: bayeslearn bound agnostic --space conjunctions:10 --delta .05 -m 1000
    """
    from bayeslearn import learning_theory

    _finite(learning_theory.agnostic_bound, size_of(space, data, target), epsilon, delta, m, plot, as_json=as_json)


def vc(
    *,
    dimension: Annotated[float | None, typer.Option(help="The VC dimension of the class.")] = None,
    perceptrons: Annotated[
        str | None, typer.Option(help="S,R: a network of S perceptrons of R inputs, instead of --dimension.")
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    m: Examples = None,
    lower: Annotated[bool, typer.Option("--lower", help="How many examples are too few for any learner.")] = False,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """How many examples a class of some VC dimension needs; or any other of dimension, ε, δ and m.

    Example: bayeslearn bound vc --dimension 3 --epsilon 0.1 --delta 0.05
    """
    from bayeslearn import learning_theory

    network = None if perceptrons is None else _network(perceptrons, dimension)
    d: Any = int(network) if network is not None else dimension
    if isinstance(d, float) and d.is_integer():
        d = int(d)
    if lower:
        if d is None or delta is None:
            raise ParameterError("--lower needs --delta, and --dimension or --perceptrons")
        found = learning_theory.vc_lower_bound(d, epsilon=epsilon, delta=delta, n_examples=m)
    else:
        found = learning_theory.vc_bound(d, epsilon=epsilon, delta=delta, n_examples=m)
    if plot:
        solved = {"dimension": d, "epsilon": epsilon, "delta": delta, "m": m, found.quantity: found.value}
        law = learning_theory.vc_lower_bound if lower else learning_theory.vc_bound
        title = f"VC dimension {solved['dimension']}, δ = {solved['delta']:.4g}"
        between = (0.01, 0.12) if lower else None  # the lower bound is for errors below 1/8
        _draw(lambda e: law(solved["dimension"], epsilon=e, delta=solved["delta"]), found, solved, plot, title, between)
    tell([bound for bound in (network, found) if bound is not None], as_json=as_json)


### what they share


def size_of(space: str | None, data: str | None, target: str | None) -> HypothesisCount | None:
    """The size of the class, as it is written or from the columns of a file."""
    from bayeslearn import learning_theory

    if space is not None and data is not None:
        raise ParameterError("give --space or --data, not both")
    if target is not None and data is None:
        raise ParameterError("--target names a column of --data, which is not given")
    if data is None:
        return None if space is None else learning_theory.HypothesisCount.parse(space)
    schema = load_table(data, {}).schema
    if target is not None:
        schema = schema.select([name for name in schema.names if name != schema[target].name])
    return learning_theory.HypothesisCount.attributes(schema)


def tell(bounds: list[Bound], *, as_json: bool) -> None:
    """Sentences and formulas, or the same as JSON: the last is the answer, those before it what it rests on."""
    if as_json:
        output.show_json({**bounds[-1].to_dict(), **({"from": bounds[0].to_dict()} if len(bounds) > 1 else {})})
    else:
        sys.stdout.write("\n".join(map(str, bounds)) + "\n")


def _finite(
    law: Callable[..., Bound],
    size: HypothesisCount | None,
    epsilon: float | None,
    delta: float | None,
    m: int | None,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    from bayeslearn.learning_theory import HypothesisCount

    found = law(size, epsilon=epsilon, delta=delta, n_examples=m)
    if plot:
        space = HypothesisCount(max(found.value, 0), "H") if size is None else size
        solved = {"epsilon": epsilon, "delta": delta, "m": m, found.quantity: found.value}
        title = f"|H| = {space}, δ = {solved['delta']:.4g}"
        _draw(lambda e: law(space, epsilon=e, delta=solved["delta"]), found, solved, plot, title)
    tell([found], as_json=as_json)


def _draw(
    curve: Callable[[float], Bound],
    found: Bound,
    solved: dict[str, Any],
    path: Path,
    title: str,
    between: tuple[float, float] | None = None,
) -> None:
    from bayeslearn import plots

    if not found.is_attainable:
        raise ParameterError(f"there is nothing to draw: {found.summary()}")
    at = (solved["epsilon"], solved["m"])
    plots.save(plots.plot_sample_complexity(lambda e: float(curve(e)), at, title=title, between=between), path)
    sys.stderr.write(f"wrote {path}\n")


def _network(text: str, dimension: float | None) -> Bound:
    from bayeslearn import learning_theory, validation

    if dimension is not None:
        raise ParameterError("give --dimension or --perceptrons, not both")
    try:
        units, inputs = (validation.integer("perceptrons", int(part)) for part in text.split(","))
    except ValueError:
        raise ParameterError(f"--perceptrons takes S,R: how many units, and the inputs of each, got {text!r}") from None
    return learning_theory.perceptrons_dimension(units, inputs)
