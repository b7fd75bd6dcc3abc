"""Exact inference: beliefs given evidence, by propagation over a tree of cliques.

    P(v | e) for every v in one propagation        ln P(e) from the same sums

Evidence is a state, or a likelihood for each state (virtual evidence). Observed variables are taken out before the tree
is planned, and what does not matter for the question is left out.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.errors import ImpossibleEvidenceError, ParameterError, listed
from bayeslearn.network.dag import as_network
from bayeslearn.network.inference.compiled_network import WEIGHTS, Compiled, Plan
from bayeslearn.network.inference.evidence import as_evidence, as_names, codes_of
from bayeslearn.network.inference.results import (
    WRITTEN_OUT,
    Cost,
    JointPosterior,
    MostProbableExplanation,
    Posterior,
    PosteriorTable,
    by_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference.evidence_session import EvidenceSession, Numbers

#: No families to add to, and no likelihoods.
NOTHING, ONE = np.empty(0), np.ones(1)

#: Added to the key of a variable, it goes last in every order.
LAST = 1e9

#: Cases that one task of a thread takes at most, and tasks for each thread: some cases take much longer than others.
TASK, TASKS = 64, 8


class ExactInference:
    """Questions to one network, compiled once.

    >>> from bayeslearn.network.bayesian_network import BayesianNetwork
    >>> net = BayesianNetwork.from_tables(
    ...     "[Rain][Wet|Rain]", {"Rain": [0.2, 0.8], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
    ...     states={"Rain": ["yes", "no"], "Wet": ["yes", "no"]},
    ... )
    >>> answer = ExactInference(net).query({"Wet": "yes"})
    >>> print(f"{answer['Rain']['yes']:.4f}")                          # .18 / (.18 + .16)
    0.5294
    """

    def __init__(self, network: BayesianNetwork, *, memory_limit: int = 2 << 30) -> None:
        self.network = network = as_network(network)
        self.compiled = Compiled(network, memory_limit=memory_limit)
        self._codes = [{state: k for k, state in enumerate(cpt.variable.states)} for cpt in network]
        self._place = {name: i for i, name in enumerate(network.variables)}
        self._names = network.variables
        self._states = [cpt.variable.states for cpt in network]
        self._starts = self.compiled.belief_start.tolist()
        self._spans = [slice(*pair) for pair in itertools.pairwise(self._starts)]
        self._write = [WRITTEN_OUT.get(len(states), by_name) for states in self._states]
        self._nothing_observed = np.full(len(self._names), -1, np.int64)
        self._nothing_weighed = np.zeros(len(self._names), np.bool_)

    # -- one case

    def query(
        self,
        evidence: Mapping[str, Any] | None = None,
        variables: Iterable[str] | str | None = None,
        *,
        virtual_evidence: Mapping[str, Numbers] | None = None,
        soft_evidence: Mapping[str, Numbers] | None = None,
    ) -> Posterior:
        """Posterior distributions given evidence.

        Parameters
        ----------
        evidence
            A state, a number or a range like ``"10..20"`` or ``"> 17.5"`` by name of variable; see
            :mod:`bayeslearn.network.inference.evidence`.
        variables
            The variables to answer for, or one of them; all that were not observed when not given.
        virtual_evidence
            Virtual evidence: a number for each state of a variable, P(what was seen | state); a list in the order of
            the states, or by name of state (or a number in its interval).
        soft_evidence
            Soft evidence: the distribution that a variable is to have. Of all that have it the answer is the nearest to
            P(· | evidence, virtual_evidence), and ``log_evidence`` is of these alone; see :mod:`.evidence_session`.
        """
        evidence = as_evidence(self.network, evidence)
        if soft_evidence:
            from bayeslearn.network.inference.evidence_session import soft_query  # noqa: PLC0415 - loads when it is asked for

            return soft_query(self, evidence, soft_evidence, virtual_evidence or {}, variables)
        codes, likelihood, weighed = self.read(evidence, virtual_evidence)
        asked = None if variables is None else [self._position(name) for name in as_names(variables)]
        plan, kept = self._planned(asked, codes, weighed)
        log_p, beliefs = self._propagated(self.compiled, plan, kept, codes, likelihood, weighed)
        if log_p == -np.inf:
            raise self._conflict(evidence, virtual_evidence or {})
        return Posterior(evidence, float(log_p), self._named(plan.hidden if asked is None else asked, beliefs.tolist()))

    def under(
        self,
        tables: Iterable[NDArray[np.float64]],
        asked: list[int],
        codes: NDArray[np.int64],
        likelihood: NDArray[np.float64],
        weighed: NDArray[np.bool_],
    ) -> Iterator[tuple[float, NDArray[np.float64]]]:
        """ln P(e) and all beliefs in a row, under each of these numbers for the tables: one plan serves them all."""
        plan, kept = self._planned(asked, codes, weighed)
        for p in tables:
            yield self._propagated(self.compiled.with_values(p), plan, kept, codes, likelihood, weighed)

    def log_evidence(
        self, evidence: Mapping[str, Any] | None = None, *, virtual_evidence: Mapping[str, Numbers] | None = None
    ) -> float:
        """ln P(e); −∞ when the evidence is impossible."""
        codes, likelihood, weighed = self.read(evidence, virtual_evidence)
        plan, kept = self._planned([], codes, weighed)
        return float(self._propagated(self.compiled, plan, kept, codes, likelihood, weighed)[0])

    def joint(self, names: Iterable[str], evidence: Mapping[str, Any] | None = None) -> JointPosterior:
        """The joint posterior of several variables, an axis for each in the order named."""
        names = as_names(names)
        together = [self._position(name) for name in names]
        if not names or len(set(names)) < len(names):
            raise ParameterError(
                f"a joint needs variables that differ, got {listed(names)}", hint="name each variable once"
            )
        codes, likelihood, weighed = self.read(evidence)
        free = [v for v in together if codes[v] < 0]
        compiled = self.compiled.joined(free)
        kept = np.append(compiled.relevant(together, (codes >= 0) | weighed), True)
        plan = compiled.best((codes < 0) & kept[:-1], kept)
        families = np.zeros(len(compiled.cpt))
        log_p, _ = self._propagated(compiled, plan, kept, codes, likelihood, weighed, families)
        if log_p == -np.inf:
            raise self._conflict(as_evidence(self.network, evidence), {})
        p = np.zeros(compiled.sizes[together])
        found = families[compiled.cpt_start[-2] :].reshape(compiled.sizes[free])
        p[tuple(slice(None) if codes[v] < 0 else codes[v] for v in together)] = found / found.sum() if free else 1.0
        return JointPosterior(tuple(names), tuple(self._states[v] for v in together), p)

    def families(
        self, evidence: Mapping[str, Any] | None = None, *, virtual_evidence: Mapping[str, Numbers] | None = None
    ) -> dict[str, NDArray[np.float64]]:
        """P(variable, parents | e) of every family, each in the shape of its table, in one propagation."""
        log_p, flat = self.family_beliefs(self.compiled, *self.read(evidence, virtual_evidence))
        if log_p == -np.inf:
            raise self._conflict(as_evidence(self.network, evidence), virtual_evidence or {})
        parts = np.split(flat, self.compiled.cpt_start[1:-1])
        return {cpt.name: part.reshape(cpt.shape) for cpt, part in zip(self.network, parts, strict=True)}

    def family_beliefs(
        self,
        compiled: Compiled,
        codes: NDArray[np.int64],
        likelihood: NDArray[np.float64],
        weighed: NDArray[np.bool_],
    ) -> tuple[float, NDArray[np.float64]]:
        """ln P(e), and P(family | e) of all families in a row, as the tables of the network are."""
        plan = compiled.plan(codes < 0, compiled.all)
        families = np.zeros(len(compiled.cpt))
        log_p, _ = self._propagated(compiled, plan, compiled.all, codes, likelihood, weighed, families)
        known = np.flatnonzero(plan.steps[6] < 0)  # observed altogether
        families[compiled.cells(codes, known)] = 1.0
        return log_p, families

    def most_probable(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        variables: Iterable[str] | str | None = None,
        virtual_evidence: Mapping[str, Numbers] | None = None,
    ) -> MostProbableExplanation:
        """The most probable explanation: of all cases that agree with the evidence, the one of highest probability.

        With `variables`, the most probable states of these variables together, the others summed over (marginal MAP):
        max over the asked of Σ over the rest of P(asked, rest, e).
        """
        evidence = as_evidence(self.network, evidence)
        codes, likelihood, weighed = self.read(evidence, virtual_evidence)
        asked = list(range(len(codes))) if variables is None else [self._position(name) for name in as_names(variables)]
        wanted = np.zeros(len(codes), np.bool_)
        wanted[asked] = True
        compiled, kept = self.compiled, self.compiled.relevant(asked, (codes >= 0) | weighed)
        active = (codes < 0) & kept
        if (wanted | ~active).all():
            plan = compiled.plan(active, kept)
        else:
            plan = compiled.tried(active, kept, np.where(wanted, LAST, 0.0), WEIGHTS[0])
        compiled.require_room(plan.entries)
        likelihood, log_scale = self._divided(likelihood, weighed)
        found = np.empty(len(codes), np.int64)
        climb = kernels.soonest("most_probable") if compiled.small_enough(plan) else kernels.most_probable
        log_joint = climb(
            compiled.arrays(kept), plan.steps, compiled.sizes, codes, likelihood, weighed, wanted,
            *plan.workspace(), found,
        )  # fmt: skip
        if log_joint == -np.inf:
            raise self._conflict(evidence, virtual_evidence or {})
        case = {self._names[v]: self._states[v][found[v]] for v in asked}
        log_evidence = self.log_evidence(evidence, virtual_evidence=virtual_evidence)
        return MostProbableExplanation(case, float(log_joint) + log_scale, log_evidence)

    def cost(self, evidence: Mapping[str, Any] | None = None, *, variables: Iterable[str] | None = None) -> Cost:
        """What a query will take, without asking it."""
        codes, _, weighed = self.read(evidence)
        asked = None if variables is None else [self._position(name) for name in as_names(variables)]
        return Cost(self._planned(asked, codes, weighed)[0].entries)

    def session(self) -> EvidenceSession:
        """Evidence that comes and goes, with the beliefs that follow from it."""
        from bayeslearn.network.inference.evidence_session import EvidenceSession  # noqa: PLC0415 - loads when it is asked for

        return EvidenceSession(self)

    # -- many cases

    def predict_proba(
        self,
        data: Any,
        variables: Iterable[str] | str | None = None,
        *, handle_unknown: Literal["missing", "error"] = "missing",
    ) -> PosteriorTable:  # fmt: skip
        """Posterior distributions for every row of a table; a missing cell, or a missing column, is not observed.

        Nor is a state that the network does not have, with a warning that counts them; with ``handle_unknown="error"``
        it is an error.
        """
        from bayeslearn.tables import as_table  # noqa: PLC0415 - loads when data are read

        table = as_table(data, schema=self.network.schema, missing_columns="missing", handle_unknown=handle_unknown)
        codes = np.ascontiguousarray(table.codes.T, dtype=np.int64)
        beliefs = np.empty((len(codes), int(self.compiled.belief_start[-1])))
        log_p = np.zeros(len(codes))
        self._run(codes, beliefs, log_p)
        impossible = np.isneginf(log_p)
        if impossible.any():
            row = validation.first_position(impossible)
            seen = {n: self._states[v][codes[row, v]] for n, v in self._place.items() if codes[row, v] >= 0}
            raise self._conflict(seen, {}, row=row)
        names = self.network.variables if variables is None else as_names(variables)
        places = {name: self._position(name) for name in names}
        return PosteriorTable(
            log_p,
            {name: beliefs[:, self._spans[v]] for name, v in places.items()},
            {name: self._states[v] for name, v in places.items()},
        )

    def _run(self, codes: NDArray[np.int64], beliefs: NDArray[np.float64], log_p: NDArray[np.float64]) -> None:
        compiled = self.compiled
        arrays = compiled.arrays(compiled.all)
        if compiled.side_by_side(codes):
            self._run_side_by_side(arrays, codes, beliefs, log_p)
            alone = np.flatnonzero(np.isnan(log_p))  # numbers too small to multiply side by side
            if len(alone):
                found, logs = np.empty((len(alone), beliefs.shape[1])), np.zeros(len(alone))
                self._run_alone(arrays, codes[alone], found, logs)
                beliefs[alone], log_p[alone] = found, logs
            return
        self._run_alone(arrays, codes, beliefs, log_p)

    def _run_alone(
        self, arrays: Any, codes: NDArray[np.int64], beliefs: NDArray[np.float64], log_p: NDArray[np.float64]
    ) -> None:
        compiled = self.compiled
        if compiled.is_large:
            for i, case in enumerate(codes):
                plan = compiled.plan(case < 0, compiled.all)
                log_p[i], beliefs[i] = self._propagated(compiled, plan, compiled.all, case, ONE, self._nothing_weighed)
            return
        size = max(1, min(TASK, len(codes) // (TASKS * kernels.thread_count())))

        def task(start: int) -> int:
            part = slice(start, start + size)
            failed = kernels.propagate_cases(
                arrays, compiled.sizes, compiled.log_size, codes[part], compiled.limit,
                beliefs[part], log_p[part],
            )  # fmt: skip
            return -1 if failed < 0 else start + failed

        failed = [row for row in kernels.parallel(task, range(0, len(codes), size)) if row >= 0]
        if failed:
            active = codes[failed[0]] < 0
            compiled.require_room(compiled.plan(active, compiled.all).entries)

    def _run_side_by_side(
        self, arrays: Any, codes: NDArray[np.int64], beliefs: NDArray[np.float64], log_p: NDArray[np.float64]
    ) -> None:
        steps, sizes = self.compiled.whole.steps, self.compiled.sizes
        full = len(codes) - len(codes) % kernels.LANES
        size = max(kernels.LANES, -(-full // (4 * kernels.thread_count()) // kernels.LANES) * kernels.LANES)

        def task(start: int) -> None:
            part = slice(start, min(start + size, full))
            kernels.propagate_lanes(arrays, steps, sizes, codes[part], beliefs[part], log_p[part])

        kernels.parallel(task, range(0, full, size), worth=full > 8 * kernels.LANES)
        if full < len(codes):  # the last few, filled up with cases that observe nothing
            rest = np.full((kernels.LANES, codes.shape[1]), -1, np.int64)
            rest[: len(codes) - full] = codes[full:]
            found, logs = np.empty((kernels.LANES, beliefs.shape[1])), np.zeros(kernels.LANES)
            kernels.propagate_lanes(arrays, steps, sizes, rest, found, logs)
            beliefs[full:], log_p[full:] = found[: len(codes) - full], logs[: len(codes) - full]

    # -- inside

    def _position(self, name: str) -> int:
        self.network[name]
        return self._place[name]

    def read(
        self, evidence: Mapping[str, Any] | None, virtual_evidence: Mapping[str, Numbers] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
        """Evidence as kernels take it: codes (−1 not observed), likelihoods of all states, and who has some."""
        codes, ranges = self._observed(evidence if type(evidence) is dict else as_evidence(self.network, evidence))
        if not virtual_evidence and not ranges:
            return codes, ONE, self._nothing_weighed
        odd = [name for name in virtual_evidence or () if name in ranges]
        if odd:
            raise observed_already(odd[0])
        return codes, *self._likelihoods({**ranges, **(virtual_evidence or {})}, codes)

    def _observed(self, evidence: Mapping[str, Any]) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
        """The codes of what was observed, and the likelihoods of ranges that hold several states."""
        codes, ranges, place = self._nothing_observed.copy(), {}, self._place
        for name, value in evidence.items():
            v = place[name] if name in place else self._position(name)
            code = self._codes[v].get(value) if type(value) is str else None
            if code is None:
                found = codes_of(self.network[name].variable, value, warn=True)
                code = found[0] if len(found) == 1 else -1
                if code < 0:
                    ranges[name] = np.isin(np.arange(self.compiled.sizes[v]), found).astype(np.float64)
            codes[v] = code
        return codes, ranges

    def _likelihoods(
        self, virtual_evidence: Mapping[str, Numbers], codes: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        from bayeslearn.network.inference.evidence_session import in_order  # noqa: PLC0415 - loads when it is asked for

        flat = np.ones(int(self.compiled.belief_start[-1]))
        weighed = np.zeros(len(codes), np.bool_)
        for name, values in virtual_evidence.items():
            v = self._position(name)
            numbers = in_order(self.network[name].variable, values)
            given = validation.not_negative(f"likelihood of {name}", validation.float_array(name, numbers))
            if given.shape != (self.compiled.sizes[v],):
                raise ParameterError(
                    f"the likelihood of {name!r} needs a number for each of {listed(self._states[v])}, "
                    f"got {given.tolist()}",
                    hint="give 1 to a state about which nothing is known",
                )
            if codes[v] >= 0:
                raise observed_already(name)
            flat[self._spans[v]] = given
            weighed[v] = True
        return flat, weighed

    def _planned(
        self, asked: list[int] | None, codes: NDArray[np.int64], weighed: NDArray[np.bool_]
    ) -> tuple[Plan, NDArray[np.bool_]]:
        """The plan for what is asked, all when None, and the tables that matter for it."""
        compiled, hidden = self.compiled, codes < 0
        if asked is None:
            return compiled.plan(hidden, compiled.all), compiled.all
        kept = compiled.relevant(asked, ~hidden | weighed)
        return compiled.plan(hidden & kept, kept), kept

    def _propagated(
        self,
        compiled: Compiled,
        plan: Plan,
        kept: NDArray[np.bool_],
        codes: NDArray[np.int64],
        likelihood: NDArray[np.float64],
        weighed: NDArray[np.bool_],
        families: NDArray[np.float64] = NOTHING,
    ) -> tuple[float, NDArray[np.float64]]:
        """ln P(e) and all beliefs; families, when given, get P(family | e) added."""
        compiled.require_room(plan.entries)
        likelihood, log_scale = self._divided(likelihood, weighed)
        beliefs = np.empty(int(compiled.belief_start[-1]))
        log_p = compiled.propagate(plan)(
            compiled.arrays(kept), plan.steps, compiled.sizes, codes, likelihood, weighed,
            *plan.workspace(), beliefs, families, 1.0,
        )  # fmt: skip
        return log_p + log_scale, beliefs

    def _divided(
        self, likelihood: NDArray[np.float64], weighed: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], float]:
        """Likelihoods divided by the largest of each variable, so that none is too small to multiply; and the log."""
        if likelihood is ONE:
            return likelihood, 0.0
        likelihood, log_scale = likelihood.copy(), 0.0
        for v in np.flatnonzero(weighed):
            top = likelihood[self._spans[v]].max()
            if top > 0:
                likelihood[self._spans[v]] /= top
                log_scale += float(np.log(top))
        return likelihood, log_scale

    def _named(self, asked: list[int], flat: list[float]) -> dict[str, dict[Any, float]]:
        # a third of the time of a small query goes into these names: no attributes and no slices inside the loop
        names, states, starts, write = self._names, self._states, self._starts, self._write
        return {names[v]: write[v](states[v], flat, starts[v]) for v in asked}

    def _conflict(
        self, evidence: Mapping[str, Any], virtual_evidence: Mapping[str, Numbers], *, row: int | None = None
    ) -> ImpossibleEvidenceError:
        """The error for impossible evidence: pieces are left out one by one as long as the rest stays impossible."""
        left = {**dict.fromkeys(evidence, False), **dict.fromkeys(virtual_evidence, True)}
        for name in list(left):
            rest = {n: virtual for n, virtual in left.items() if n != name}
            hard = {n: evidence[n] for n, virtual in rest.items() if not virtual}
            soft = {n: virtual_evidence[n] for n, virtual in rest.items() if virtual}
            if self.log_evidence(hard, virtual_evidence=soft) == -np.inf:
                left = rest
        pieces = [f"the likelihood of {n}" if virtual else f"{n}={evidence[n]}" for n, virtual in left.items()]
        where = "" if row is None else f" of row {row}"
        return ImpossibleEvidenceError(
            f"the evidence{where} is impossible: {', '.join(pieces)} cannot be together",
            hint="take one of these back, or give the network tables without zeros",
            conflict=list(left),
            row=row,
        )


def observed_already(name: str) -> ParameterError:
    """The error for a likelihood of an observed variable."""
    return ParameterError(
        f"{name!r} is observed already, so a likelihood adds nothing",
        hint="give the evidence or the likelihood, and not both",
    )
