"""``bayeslearn query``: posterior probabilities given evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, progress
from bayeslearn.cli.network_files import NETWORK, assignments, load, numbers_by_state
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.network import BayesianNetwork, LoopyPosterior, MostProbableExplanation, Posterior, SampledPosterior
    from bayeslearn.network.inference.evidence import Observation

#: The methods of inference; those in the middle draw random rows.
METHODS = ("exact", "likelihood_weighting", "rejection", "gibbs", "loopy_propagation")
SAMPLED = METHODS[1:-1]


def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=NETWORK)],
    evidence: Annotated[
        list[str] | None,
        typer.Argument(
            help="Evidence: VAR=STATE, VAR=30, VAR=10..20, 'VAR>17.5', COLUMN=DATE or COLUMN=2024-01..2024-03."
        ),
    ] = None,
    *,
    variables: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help=r"The queried variables. Repeatable. \[default: all that are not observed]"),
    ] = None,
    virtual_evidence: Annotated[
        list[str] | None,
        typer.Option(help="VAR=P,P,... or VAR=STATE:P,...: P(observation | state) for each state of VAR."),
    ] = None,
    soft_evidence: Annotated[
        list[str] | None,
        typer.Option(help="VAR=P,P,... or VAR=STATE:P,...: the distribution that VAR is to have (Jeffrey's rule)."),
    ] = None,
    mpe: Annotated[
        bool,
        typer.Option(
            "--mpe",
            help="The most probable explanation: the most probable states of all variables together, or of --variables "
            "(marginal MAP).",
        ),
    ] = False,
    method: Annotated[
        str,
        typer.Option(help="exact, likelihood_weighting, rejection, gibbs or loopy_propagation."),
    ] = "exact",
    level: Annotated[
        float | None,
        typer.Option(help="Credible level, for instance 0.95: intervals of each probability, of a fitted network."),
    ] = None,
    n_samples: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of random rows, of methods that sample; with --level the number of drawn networks."
        ),
    ] = None,
    precision: Annotated[
        float | None, typer.Option(help=r"Standard error at which sampling stops. \[default: 0.005, unless limited]")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which sampling stops.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of random numbers.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Posterior distributions of variables given evidence, exact or by sampling or loopy propagation.

    Example: bayeslearn query asia smoke=yes xray=yes --variables lung,tub
    """
    from bayeslearn.network.inference.evidence import observe

    sampling = Sampling(n_samples, precision, time_limit, seed)
    method = _require_fitting(method, sampling, mpe=mpe, soft=soft_evidence, level=level)
    network = load(model_file)
    seen = assignments(network, evidence or [])
    observed = observe(network, seen)
    virtual = dict(numbers_by_state(network, "--virtual-evidence", item) for item in virtual_evidence or [])
    queried = names_in(network, variables or [])
    if mpe:
        found = network.most_probable(seen, variables=queried or None, virtual_evidence=virtual)
        (_show_case_json if as_json else _show_case)(found, observed)
        return
    asked = {"evidence": seen, "variables": queried or None, "virtual_evidence": virtual}
    if soft_evidence:
        asked["soft_evidence"] = dict(numbers_by_state(network, "--soft-evidence", item) for item in soft_evidence)
    answer = _answered(network, method, sampling, asked).to_dict() | {"method": method}
    if level is not None:
        answer |= _bounds(network, level, sampling, asked)
    if as_json:
        output.show_json(answer | {"evidence": {name: o.to_json() for name, o in observed.items()}})
    else:
        _show(answer | {"evidence": observed})


### asking


def names_in(network: BayesianNetwork, items: list[str]) -> list[str]:
    """A,B: names of variables, each of which may hold a comma itself."""
    found = [[item] if item in network else [name.strip() for name in item.split(",")] for item in items]
    return [name for names in found for name in names if name]


@dataclass(frozen=True)
class Sampling:
    """The options of the methods that draw random rows."""

    n_samples: int | None = None
    precision: float | None = None
    time_limit: float | None = None
    seed: int | None = None

    def check(self) -> None:
        """Name the option that is out of range."""
        from bayeslearn import validation

        for name, least in (("n_samples", 1), ("seed", 0)):
            if (whole := getattr(self, name)) is not None:
                validation.integer(flag(name), whole, min_value=least)
        for name in ("precision", "time_limit"):
            if (given := getattr(self, name)) is not None:
                validation.number(flag(name), given, above=0)


def flag(name: str) -> str:
    """An option as it is written."""
    return f"--{name.replace('_', '-')}"


def _require_fitting(method: str, sampling: Sampling, *, mpe: bool, soft: list[str] | None, level: float | None) -> str:
    """Refuse options that the method does not use; return its name."""
    from bayeslearn import validation

    method = validation.choice("--method", method, METHODS)
    odd = [flag(name) for name, value in vars(sampling).items() if value is not None]
    if level is not None:
        _require_plain(method, odd, level, mpe=mpe, soft=soft)
    elif odd and method not in SAMPLED:
        raise ParameterError(
            f"{', '.join(odd)} cannot be used with --method {method}, which does not sample",
            hint=f"choose --method {' or '.join(SAMPLED)}",
        )
    if mpe and method != "exact":
        raise ParameterError(
            f"--mpe cannot be used with --method {method}", hint="the most probable explanation is found exactly"
        )
    if soft and (mpe or method != "exact"):
        raise ParameterError(
            f"--soft-evidence cannot be used with {'--mpe' if mpe else f'--method {method}'}",
            hint="soft evidence requires --method exact",
        )
    sampling.check()
    return method


def _require_plain(method: str, odd: list[str], level: float, *, mpe: bool, soft: list[str] | None) -> None:
    """Intervals are for exact posteriors of single variables; of the options of sampling they use the number."""
    from bayeslearn import validation

    validation.number("--level", level, above=0, below=1)
    other = ["--mpe"] * mpe + ["--soft-evidence"] * bool(soft) + [f"--method {method}"] * (method != "exact")
    other += [option for option in odd if option not in {"--n-samples", "--seed"}]
    if other:
        raise ParameterError(
            f"--level cannot be used with {', '.join(other)}", hint="intervals are of exact posteriors"
        )


def _answered(
    network: BayesianNetwork, method: Any, sampling: Sampling, asked: dict[str, Any]
) -> Posterior | SampledPosterior | LoopyPosterior:
    if method not in SAMPLED:
        return network.query(**asked, method=method)
    with progress.bar("sampling") as tell:
        return network.query(
            **asked, method=method, n_samples=sampling.n_samples, precision=sampling.precision,
            time_limit=sampling.time_limit, random_state=sampling.seed,
            progress=lambda now: tell(now.fraction, now.message),
        )  # fmt: skip


def _bounds(network: BayesianNetwork, level: float, sampling: Sampling, asked: dict[str, Any]) -> dict[str, Any]:
    """The credible intervals of each probability, and the number of drawn networks."""
    from bayeslearn.network.parameters.credible_intervals import DRAWS, query_interval

    found = query_interval(
        network, **asked, level=level, n_samples=sampling.n_samples or DRAWS, random_state=sampling.seed
    )
    return {"level": level, "n_samples": found.n_samples, "intervals": found.to_dict()["intervals"]}


### answering


def _show_case(found: MostProbableExplanation, seen: dict[str, Observation]) -> None:
    rows = [[name, str(state), _word(seen, name)] for name, state in found.case.items()]
    output.show_table(["variable", "state", ""], rows)
    output.gap()
    output.show_pairs([("P(states | evidence)", output.number(found.probability))])


def _word(seen: dict[str, Observation], name: str) -> str:
    found = next((piece for piece in seen.values() if name in piece.variables), None)
    if found is None:
        return ""
    return "observed" if found.is_state else f"observed: {found}"


def _show_case_json(found: MostProbableExplanation, seen: dict[str, Observation]) -> None:
    evidence = {name: o.to_json() for name, o in seen.items()}
    answer = {"evidence": evidence, "log_evidence": found.log_evidence}
    output.show_json(answer | {"case": found.case, "log_joint": found.log_joint, "probability": found.probability})


def _show(answer: dict[str, Any]) -> None:
    columns, more = _columns(answer)
    beliefs = answer["beliefs"]
    rows = [
        [name if i == 0 else "", str(state), output.number(p), *more(name, state), output.bar(p)]
        for name, belief in beliefs.items()
        if "parts" not in belief
        for i, (state, p) in enumerate(belief.items())
    ]
    numbers = [
        [name, *(output.number(belief[key]) for key in ("mean", "sd", "q05", "q95"))]
        for name, belief in beliefs.items()
        if "parts" in belief
    ]
    if rows:
        output.show_table(["variable", "state", "probability", *columns, ""], rows)
        output.gap()
    if numbers:
        output.show_table(["variable", "mean", "sd", "5 %", "95 %"], numbers)
        output.gap()
    seen = ", ".join(map(str, answer["evidence"].values()))
    output.show_pairs([("evidence", seen or "none"), *_facts(answer)])


def _columns(answer: dict[str, Any]) -> tuple[list[str], Callable[[str, Any], list[str]]]:
    """The columns next to a probability that measure its uncertainty, and their cells."""
    if answer.get("errors"):
        return ["standard error"], lambda name, state: [output.number(answer["errors"][name][state])]
    if "intervals" in answer:
        bounds = answer["intervals"]
        return ["low", "high"], lambda name, state: [output.number(bounds[name][state][end]) for end in ("low", "high")]
    return [], lambda *_: []


def _facts(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Other facts of an answer, by method."""
    facts = []
    if answer["log_evidence"] is not None:
        value = output.number(round(answer["log_evidence"], 12) + 0.0)  # without the rounding of a certainty
        error = answer.get("log_evidence_error")
        facts.append(("ln P(evidence)", value if error is None else f"{value} ± {output.number(error)}"))
    if answer["method"] != "exact":
        facts.append(("method", answer["method"]))
    if "intervals" in answer:
        facts.append(("low to high", f"{100 * answer['level']:g} % of {answer['n_samples']:,} drawn networks"))
    if "draws" in answer:
        facts.append(("draws", f"{answer['draws']:,}, worth {answer['effective_size']:,.0f} independent rows"))
    if answer.get("rhat") is not None:
        facts.append(("chains", f"split R̂ {output.number(answer['rhat'])}, 1 if they agree"))
    if "converged" in answer:
        word = "converged" if answer["converged"] else "not converged"
        facts.append(("messages", f"{word} after {answer['iterations']} iterations"))
    return facts
