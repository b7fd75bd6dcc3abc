"""Exact inference in a network of states and numbers.

    P(s | e) ∝ Π tables · Π_components φ(s)        p(x | e) = Σ_s P(s | e) N(x; m_s, V_s)

Rows of a table are grouped by the nodes that they observe: what depends on the pattern alone is computed once
(:mod:`.plan`), what depends on the row for all of its rows together.
"""

from __future__ import annotations

import numbers
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import (
    CapacityError,
    ImpossibleEvidenceError,
    MixedTypesError,
    ParameterError,
    listed,
)
from bayeslearn.network.cpt import CPT
from bayeslearn.network.hybrid.components import combinations
from bayeslearn.network.hybrid.layout import Layout, Rows
from bayeslearn.network.hybrid.plan import Plan, RowsPosterior
from bayeslearn.network.hybrid.results import HybridPosterior, JointNumericPosterior, NumericPosterior
from bayeslearn.network.inference.evidence import SEVERAL, as_evidence, as_names, codes_of
from bayeslearn.network.inference.results import MostProbableExplanation, not_queried
from bayeslearn.tables.type_inference import number_in
from bayeslearn.tables.variables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.hybrid.network import HybridBayesianNetwork
    from bayeslearn.network.inference.evidence_session import Numbers
    from bayeslearn.tables.variables import NumericVariable

    Floats = NDArray[np.float64]

#: Patterns whose matrices are kept.
MAX_PLANS = 64

#: Bytes that the matrices of a pattern may take.
MEMORY_LIMIT = 2 << 30


class HybridInference:
    """Queries of one network of states and numbers.

    >>> from bayeslearn.network import BayesianNetwork, Linear
    >>> net = BayesianNetwork.from_tables(
    ...     "[sex][size|sex]", {"sex": [0.5, 0.5], "size": Linear([165.0, 178.0], var=[40.0, 50.0])},
    ...     states={"sex": ["f", "m"]},
    ... )
    >>> found = net.query({"size": 170.0})
    >>> round(found["sex"]["f"], 4)
    0.608
    """

    def __init__(self, network: HybridBayesianNetwork, *, memory_limit: float = MEMORY_LIMIT) -> None:
        self.network, self.memory_limit = network, memory_limit
        self.layout = Layout(network.cpts, network.dag.order)
        self._plans: OrderedDict[tuple[bytes, ...], Plan] = OrderedDict()

    # -- plans

    def plan(self, rows: Rows, keep: Any = None, keep_numbers: Any = None) -> Plan:
        """The plan of the pattern of the first row; all rows have to have it."""
        observed, seen = rows.codes[0] >= 0, ~np.isnan(rows.numbers[0])
        keep = np.ones(len(observed), np.bool_) if keep is None else keep
        keep_numbers = np.ones(len(seen), np.bool_) if keep_numbers is None else keep_numbers
        key = (observed.tobytes(), seen.tobytes(), keep.tobytes(), keep_numbers.tobytes())
        found = self._plans.get(key)
        if found is None:
            found = Plan(self.layout, observed, seen, keep, keep_numbers, self.memory_limit)
            self._plans[key] = found
            while len(self._plans) > MAX_PLANS:
                self._plans.popitem(last=False)
        else:
            self._plans.move_to_end(key)
        return found

    def batches(self, rows: Rows) -> Iterator[tuple[NDArray[np.int64], RowsPosterior]]:
        """Rows of one pattern at a time, by their numbers, with the posterior of all unobserved nodes."""
        for same in patterns(rows):
            plan = self.plan(rows.take(same[:1]))
            for start in range(0, len(same), plan.batch):
                some = same[start : start + plan.batch]
                yield some, plan.posterior(rows.take(some))

    def log_likelihood(self, rows: Rows) -> Floats:
        """The log density of what each row shows, the rest integrated out; −∞ for a row that cannot be."""
        log_p = np.empty(len(rows))
        for same in patterns(rows):
            first = rows.take(same[:1])
            kept = self.layout.relevant(first.codes[0] >= 0, ~np.isnan(first.numbers[0]))
            plan = self.plan(first, *kept)
            for start in range(0, len(same), plan.batch):
                some = same[start : start + plan.batch]
                log_p[some] = plan.posterior(rows.take(some)).log_p
        return log_p + self.layout.log_jacobian(rows)

    # -- queries

    def query(
        self,
        evidence: Mapping[str, Any] | None = None,
        variables: Iterable[str] | str | None = None,
        *,
        virtual_evidence: Mapping[str, Numbers] | None = None,
        soft_evidence: Mapping[str, Numbers] | None = None,
    ) -> HybridPosterior:
        """Posterior distributions given evidence: of states, and of numbers as mixtures of normals.

        Parameters
        ----------
        evidence
            A state or a number by name of variable.
        variables
            The variables to answer for, or one of them; default: all that are not observed.
        virtual_evidence
            P(observation | state) for each state of a discrete variable.
        soft_evidence
            Not for networks with numbers.
        """
        if soft_evidence:
            raise ParameterError(
                "soft evidence is not supported in a network with numeric nodes",
                hint="use virtual_evidence, or discretize the numbers: fit_parameters(..., numeric='discretize')",
            )
        evidence = as_evidence(self.network, evidence)
        asked = list(self.network.variables) if variables is None else as_names(variables)
        for name in asked:
            self.network[name]  # unknown names are reported
        if variables is None:
            asked = [name for name in asked if name not in evidence]
        return self._answered(evidence, asked, virtual_evidence or {})

    def _answered(
        self, evidence: Mapping[str, Any], asked: list[str], virtual: Mapping[str, Numbers]
    ) -> HybridPosterior:
        engine, row, offset = self.observed(evidence, virtual)
        try:
            log_p, beliefs = engine.posteriors(row, asked, evidence)
        except CapacityError:
            if len(asked) <= 1:
                raise
            beliefs = {}
            for name in asked:
                log_p, one = engine.posteriors(row, [name], evidence)
                beliefs |= one
        return HybridPosterior(dict(evidence), log_p + offset + float(self.layout.log_jacobian(row)[0]), beliefs)

    def posteriors(self, row: Rows, asked: list[str], evidence: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
        """ln p of a row, and the posteriors of some variables by name."""
        layout = self.layout
        observed, seen = row.codes[0] >= 0, ~np.isnan(row.numbers[0])
        wanted, wanted_numbers = observed.copy(), seen.copy()
        for name in asked:
            if name in layout.discrete:
                wanted[layout.discrete[name]] = True
            else:
                wanted_numbers[layout.numeric[name]] = True
        plan = self.plan(row, *layout.relevant(wanted, wanted_numbers))
        found = plan.posterior(row)
        log_p = float(found.log_p[0])
        if log_p == -np.inf:
            raise self.conflict(evidence)
        numbers = {i: (w[0], m[0], v[0]) for i, w, m, v in found.numbers()}
        beliefs: dict[str, Any] = {}
        for name in asked:
            if name in layout.discrete:
                beliefs[name] = self._states(found, row, layout.discrete[name])
            else:
                beliefs[name] = self._number(numbers, row, layout.numeric[name])
        return log_p, beliefs

    def _states(self, found: RowsPosterior, row: Rows, i: int) -> dict[Any, float]:
        states, code = self.layout.cpts[i].variable.states, int(row.codes[0, i])
        p = found.states((i,))[0].tolist() if code < 0 else [float(k == code) for k in range(len(states))]
        return dict(zip(states, p, strict=True))

    def _number(self, found: Mapping[int, Any], row: Rows, i: int) -> NumericPosterior:
        node = self.layout.nodes[i]
        if i not in found:  # observed
            at = row.numbers[0, i : i + 1]
            return NumericPosterior(np.ones(1), at, np.zeros(1), node.scale, node.name)
        weights, means, variances = found[i]
        return NumericPosterior(weights, means, np.sqrt(variances), node.scale, node.name)

    def joint(self, names: Iterable[str], evidence: Mapping[str, Any] | None = None) -> JointNumericPosterior:
        """The joint posterior of several numbers, on the scales of their nodes."""
        names, evidence = as_names(names), as_evidence(self.network, evidence)
        layout = self.layout
        odd = [name for name in names if name not in layout.numeric or name in evidence]
        if odd or not names or len(set(names)) < len(names):
            raise ParameterError(
                f"a joint posterior of numbers needs unobserved numeric variables that differ, got {listed(names)}",
                hint=f"numeric variables are {listed(n for n in layout.numeric if n not in evidence)}",
            )
        engine, row, _ = self.observed(evidence, {})
        asked = [layout.numeric[name] for name in names]
        wanted_numbers = ~np.isnan(row.numbers[0])
        wanted_numbers[asked] = True
        plan = engine.plan(row, *layout.relevant(row.codes[0] >= 0, wanted_numbers))
        found = plan.posterior(row)
        if found.log_p[0] == -np.inf:
            raise self.conflict(evidence)
        return joint_mixture(found, names, asked)

    def most_probable(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        variables: Iterable[str] | str | None = None,
        virtual_evidence: Mapping[str, Numbers] | None = None,
    ) -> MostProbableExplanation:
        """The most probable states with all numbers integrated out, then the means of the numbers given these states.

        The joint mode of states and numbers depends on the units of the columns, and is not offered.
        """
        evidence = as_evidence(self.network, evidence)
        engine, row, offset = self.observed(evidence, virtual_evidence or {})
        found = engine.plan(row).posterior(row)
        if found.log_p[0] == -np.inf:
            raise self.conflict(evidence)
        codes = most_probable_codes(found)
        log_evidence = float(found.log_p[0]) + offset
        filled = engine.filled(Rows(codes, row.numbers))
        log_joint = float(filled.log_p[0]) + offset
        case = engine.named(filled, codes)
        asked = self.network.variables if variables is None else as_names(variables)
        for name in asked:
            if name not in case:
                raise not_queried(name, case)
        return MostProbableExplanation({name: case[name] for name in asked}, log_joint, log_evidence)

    def filled(self, rows: Rows) -> RowsPosterior:
        """The posterior of rows of one pattern in which all states are known."""
        return self.plan(rows.take(slice(0, 1))).posterior(rows)

    def named(self, found: RowsPosterior, codes: NDArray[np.int64]) -> dict[str, Any]:
        """The states and numbers of the first row by name, unobserved numbers by their mean."""
        layout = self.layout
        means = {i: NumericPosterior(w[0], m[0], np.sqrt(v[0]), layout.nodes[i].scale).mean
                 for i, w, m, v in found.numbers()}  # fmt: skip
        case: dict[str, Any] = {}
        for name in self.network.variables:
            if name in layout.discrete:
                i = layout.discrete[name]
                case[name] = layout.cpts[i].variable.states[int(codes[0, i])]
            else:
                i = layout.numeric[name]
                node = layout.nodes[i]
                case[name] = means[i] if i in means else float(node.unscaled(found.rows.numbers[0, i]))
        return case

    def log_evidence(
        self, evidence: Mapping[str, Any] | None = None, *, virtual_evidence: Mapping[str, Numbers] | None = None
    ) -> float:
        """ln p(evidence), the log of a density where numbers are observed; −∞ when it is impossible."""
        evidence = as_evidence(self.network, evidence)
        engine, row, offset = self.observed(evidence, virtual_evidence or {})
        return float(engine.log_likelihood(row)[0]) + offset

    # -- evidence

    def observed(
        self, evidence: Mapping[str, Any], virtual: Mapping[str, Numbers]
    ) -> tuple[HybridInference, Rows, float]:
        """The row of some evidence, in an engine with an observed child for everything that is not one state or number.

        The last result is added to ln p(evidence).
        """
        layout = self.layout
        codes, values = np.full((1, len(layout.cpts)), -1, np.int64), np.full((1, len(layout.nodes)), np.nan)
        likelihoods: dict[str, list[Floats]] = {}
        for name, value in evidence.items():
            if name in layout.numeric:
                node = layout.nodes[layout.numeric[name]]
                values[0, layout.numeric[name]] = node.scaled(observed_number(node.variable, value))
                continue
            variable = self.network[name].variable
            found = codes_of(variable, value)
            if len(found) == 1:
                codes[0, layout.discrete[name]] = found[0]
            else:
                likelihoods.setdefault(name, []).append(np.isin(np.arange(variable.n_states), found).astype(float))
        for name, given in virtual.items():
            likelihoods.setdefault(name, []).append(self._likelihood(name, given))
        if not likelihoods:
            return self, Rows(codes, values), 0.0
        return self._with_children(likelihoods, codes, values)

    def _likelihood(self, name: str, given: Numbers) -> Floats:
        if name not in self.layout.discrete:
            self.network[name]
            raise MixedTypesError(
                f"virtual evidence is on states, and {name!r} is numeric",
                hint=f"give its value: evidence={{{name!r}: 3.0}}",
            )
        states = self.network[name].variable.states
        row: Any = [given.get(s, 0.0) for s in states] if isinstance(given, Mapping) else given
        p = np.asarray(row, dtype=np.float64)
        if p.shape != (len(states),) or not np.isfinite(p).all() or (p < 0).any() or p.max(initial=0) == 0:
            raise ParameterError(
                f"the virtual evidence on {name!r} must be {len(states)} numbers, none negative, got {given!r:.80}"
            )
        return p

    def _with_children(
        self, likelihoods: Mapping[str, list[Floats]], codes: NDArray[np.int64], values: Floats
    ) -> tuple[HybridInference, Rows, float]:
        children, offset = [], 0.0
        for k, (name, rows) in enumerate((name, row) for name, given in likelihoods.items() for row in given):
            top = float(rows.max())
            offset += float(np.log(top))
            child = "ε" * (1 + max(map(len, self.network.variables))) + str(k)
            table = np.stack([rows / top, 1 - rows / top], axis=1)
            children.append(CPT(DiscreteVariable(child, ("seen", "other")), (self.network[name].variable,), table))
        network = replace(self.network, cpts=(*self.network.cpts, *children))
        codes = np.concatenate([codes, np.zeros((1, len(children)), np.int64)], axis=1)
        return type(self)(network, memory_limit=self.memory_limit), Rows(codes, values), offset

    def conflict(self, evidence: Mapping[str, Any], row: int | None = None) -> ImpossibleEvidenceError:
        """The error for evidence of probability zero: the smallest pieces of it that exclude each other."""
        pieces = dict(evidence)
        for name in list(pieces):
            rest = {key: value for key, value in pieces.items() if key != name}
            if self.log_evidence(rest) == -np.inf:
                pieces = rest
        shown = ", ".join(f"{name}={value}" for name, value in pieces.items())
        where = "" if row is None else f" of row {row}"
        return ImpossibleEvidenceError(
            f"the evidence{where} cannot occur together: {shown}",
            hint="leave out one of these pieces",
            conflict=list(pieces),
            **({} if row is None else {"row": row}),
        )


def patterns(rows: Rows) -> list[NDArray[np.int64]]:
    """The numbers of the rows of each pattern of observed nodes."""
    if len(rows) == 0:
        return []
    seen = np.concatenate([rows.codes >= 0, ~np.isnan(rows.numbers)], axis=1)
    if (seen == seen[0]).all():
        return [np.arange(len(rows))]
    packed = np.ascontiguousarray(np.packbits(seen, axis=1))
    _, which = np.unique(packed.view(np.dtype((np.void, packed.shape[1]))).ravel(), return_inverse=True)
    order = np.argsort(which, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(which[order])) + 1)


def observed_number(variable: NumericVariable, value: Any) -> float:
    """A number that is evidence on a numeric variable, also as text in the format of its column."""
    text = isinstance(value, str)
    found = number_in(variable, value) if text else float(value) if isinstance(value, numbers.Real) else np.nan
    if isinstance(value, bool | np.bool_) or not np.isfinite(found):
        name = variable.name
        hint = f"give a number, such as evidence={{{name!r}: 3.5}}"
        if isinstance(value, SEVERAL) or (text and value[:1] in {"<", ">"}) or (text and ".." in value):
            cut = f"numeric={{{name!r}: 'discretize'}}"
            hint = f"numeric nodes take single numbers; a discretized column takes ranges: {cut}"
        raise MixedTypesError(f"variable {name!r} is numeric, and {value!r:.60} is not a finite number", hint=hint)
    return found


def most_probable_codes(found: RowsPosterior) -> NDArray[np.int64]:
    """The codes of each row with the unobserved states of every group that are most probable together."""
    codes = found.rows.codes.copy()
    if found.families is not None:
        return found.plan.tree.most_probable(found.rows, codes)
    for group, p in zip(found.plan.groups, found.groups, strict=True):
        best = p.reshape(len(codes), -1).argmax(axis=1)
        codes[:, list(group)] = np.transpose(np.unravel_index(best, p.shape[1:]))
    return codes


def sampled_codes(found: RowsPosterior, random: np.random.Generator) -> NDArray[np.int64]:
    """The codes of each row with the unobserved states drawn from their joint posterior."""
    codes = found.rows.codes.copy()
    if found.families is not None:
        return found.plan.tree.sampled(found.rows, codes, random)
    for group, p in zip(found.plan.groups, found.groups, strict=True):
        cumulated = p.reshape(len(codes), -1).cumsum(axis=1)
        u = random.random(len(codes))[:, None] * cumulated[:, -1:]
        drawn = np.minimum((cumulated <= u).sum(axis=1), cumulated.shape[1] - 1)
        codes[:, list(group)] = np.transpose(np.unravel_index(drawn, p.shape[1:]))
    return codes


def joint_mixture(found: RowsPosterior, names: list[str], asked: list[int]) -> JointNumericPosterior:
    """The numbers of several components, which are independent in one configuration of their free parents."""
    parts = [k for k, part in enumerate(found.plan.parts) if set(part.conditional.hidden) & set(asked)]
    free = tuple(dict.fromkeys(d for k in parts for d in found.plan.parts[k].free))
    weights = joint_states(found, free)
    shape = [found.plan.layout.sizes[d] for d in free]
    index = combinations(shape)
    n, d = index.shape[1], len(asked)
    means, covariances = np.zeros((n, d)), np.zeros((n, d, d))
    for k in parts:
        conditional, own = found.plan.parts[k]
        sizes = [found.plan.layout.sizes[i] for i in own]
        at_own = np.ravel_multi_index([index[free.index(i)] for i in own], sizes) if own else np.zeros(n, np.int64)
        at, m = found.found[k]
        mine = [j for j, node in enumerate(asked) if node in conditional.hidden]
        place = [conditional.hidden.index(asked[j]) for j in mine]
        means[:, mine] = m[0][at_own][:, place]
        V = conditional.covariance[at[0, at_own]][:, place][:, :, place]
        covariances[np.ix_(np.arange(n), np.array(mine), np.array(mine))] = V
    return JointNumericPosterior(tuple(names), weights.reshape(-1), means, covariances)


def joint_states(found: RowsPosterior, free: tuple[int, ...]) -> Floats:
    """P(free | e) of the first row; an error where the junction tree has no table with all of these."""
    try:
        return found.states(free)[0]
    except ValueError:
        names = [found.plan.layout.cpts[i].name for i in free]
        raise CapacityError(
            f"the joint posterior needs P({', '.join(names)} | evidence), which is not enumerated",
            hint="ask for fewer numbers together, or observe one of these",
        ) from None
