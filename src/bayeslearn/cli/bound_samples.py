"""``bayeslearn bound pac``, ``agnostic`` and ``vc``: sample complexity, solved for any of its quantities."""

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

Epsilon = Annotated[float | None, typer.Option(help="True error.")]
Delta = Annotated[float | None, typer.Option(help="Probability of a larger error.")]
Examples = Annotated[int | None, typer.Option("--n-examples", "-m", help="Number of examples.")]
Hypotheses = Annotated[
    str | None,
    typer.Option(
        help="Number of hypotheses: 973, 3^10, 2^2^30, conjunctions:N, k-cnf:N,K, k-term-dnf:N,K, "
        "decision-lists:N,K or unbiased:N."
    ),
]
Data = Annotated[
    list[str] | None,
    typer.Option(help="CSV or Parquet files whose columns are the attributes of conjunctions. Repeatable."),
]
Target = Annotated[str | None, typer.Option(help="Column of --data that is no attribute.")]
Plot = Annotated[Path | None, typer.Option(help="Plot m by ε to FILE.svg, .png or .pdf.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")]


def pac(
    *,
    n_hypotheses: Hypotheses = None,
    data: Data = None,
    target: Target = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    n_examples: Examples = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """PAC bound of consistent learners: the number of examples, or any other of |H|, ε, δ and m.

    Example: bayeslearn bound pac --n-hypotheses 3^10 --epsilon .1 --delta .05
    """
    from bayeslearn import learning_theory

    _finite(learning_theory.pac_bound, size_of(n_hypotheses, data, target), epsilon, delta, n_examples, plot, as_json)


def agnostic(
    *,
    n_hypotheses: Hypotheses = None,
    data: Data = None,
    target: Target = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    n_examples: Examples = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """PAC bound of agnostic learners, which minimize the training error (Hoeffding).

    Example: bayeslearn bound agnostic --n-hypotheses 973 --delta .05 -m 1000
    """
    from bayeslearn import learning_theory

    _finite(
        learning_theory.agnostic_bound, size_of(n_hypotheses, data, target), epsilon, delta, n_examples, plot, as_json
    )


def vc(
    *,
    dimension: Annotated[float | None, typer.Option(help="VC dimension of the class.")] = None,
    n_units: Annotated[
        str | None, typer.Option(help="Number of perceptrons of a network, with --n-inputs; instead of --dimension.")
    ] = None,
    n_inputs: Annotated[int | None, typer.Option(help="Inputs of each perceptron.")] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    n_examples: Examples = None,
    lower: Annotated[bool, typer.Option("--lower", help="Lower bound: examples that every learner needs.")] = False,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """PAC bound by VC dimension: the number of examples, or any other of dimension, ε, δ and m.

    Example: bayeslearn bound vc --dimension 3 --epsilon 0.1 --delta 0.05
    """
    from bayeslearn import learning_theory

    network = _network(n_units, n_inputs, dimension)
    d: Any = int(network) if network is not None else dimension
    if isinstance(d, float) and d.is_integer():
        d = int(d)
    if lower:
        if d is None or delta is None:
            raise ParameterError("--lower needs --delta, and --dimension or --n-units and --n-inputs")
        found = learning_theory.vc_lower_bound(d, epsilon=epsilon, delta=delta, n_examples=n_examples)
    else:
        found = learning_theory.vc_bound(d, epsilon=epsilon, delta=delta, n_examples=n_examples)
    finish([bound for bound in (network, found) if bound is not None], plot, as_json=as_json)


### shared parts


def size_of(n_hypotheses: str | None, data: list[str] | None, target: str | None) -> HypothesisCount | None:
    """The number of hypotheses, from text or from the columns of a file."""
    from bayeslearn import learning_theory

    if n_hypotheses is not None and data:
        raise ParameterError("give --n-hypotheses or --data, not both")
    if target is not None and not data:
        raise ParameterError("--target names a column of --data, which is not given")
    if not data:
        return None if n_hypotheses is None else learning_theory.HypothesisCount.parse(n_hypotheses)
    if len(data) == 1:
        schema = load_table(data[0], {}).schema
    else:
        from bayeslearn.sources import scan

        schema = scan(data, discrete=True, allow_constant=True).schema
    if target is not None:
        schema = schema.select([name for name in schema.names if name != schema[target].name])
    return learning_theory.HypothesisCount.attributes(schema)


def finish(bounds: list[Bound], plot: Path | None, *, as_json: bool) -> None:
    """Plot the last bound, and print it with those that it is based on."""
    if plot:
        from bayeslearn import plots

        if not bounds[-1].is_attainable:
            raise ParameterError(f"there is nothing to draw: {bounds[-1].summary()}")
        plots.save(plots.plot_sample_complexity(bounds[-1]), plot)
        sys.stderr.write(f"wrote {plot}\n")
    if as_json:
        based_on = {"based_on": bounds[0].to_dict()} if len(bounds) > 1 else {}
        output.show_json({**bounds[-1].to_dict(), **based_on})
    else:
        sys.stdout.write("\n".join(map(str, bounds)) + "\n")


def _finite(
    law: Callable[..., Bound], size: HypothesisCount | None, epsilon: float | None, delta: float | None,
    n_examples: int | None, plot: Path | None, as_json: bool,  # noqa: FBT001 - the options of two verbs
) -> None:  # fmt: skip
    finish([law(size, epsilon=epsilon, delta=delta, n_examples=n_examples)], plot, as_json=as_json)


def _network(n_units: str | None, n_inputs: int | None, dimension: float | None) -> Bound | None:
    from bayeslearn import learning_theory, validation

    if n_units is None and n_inputs is None:
        return None
    if n_units is None or n_inputs is None:
        raise ParameterError("a network needs both --n-units and --n-inputs")
    if dimension is not None:
        raise ParameterError("give --dimension, or --n-units and --n-inputs, not both")
    return learning_theory.perceptrons_dimension(validation.positive_count("--n-units", n_units), n_inputs)
