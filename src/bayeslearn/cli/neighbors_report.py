"""What ``bayeslearn fit neighbors`` reports: how the examples predict each other."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.cli import output

if TYPE_CHECKING:
    from bayeslearn.neighbors import NeighborExplanation, NeighborsModel
    from bayeslearn.neighbors.fit import LeaveOneOut, NeighborsFitInfo
    from bayeslearn.tables import Schema, Table

#: Values of k whose errors are shown, and rows that are doubted.
SHOWN_K, MOST_DOUBTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50), 5


@dataclass(frozen=True)
class Report:
    """Leave-one-out, told to people or to machines."""

    found: NeighborsFitInfo
    left_out: dict[str, str]

    @property
    def model(self) -> NeighborsModel:
        """The examples."""
        return self.found.model

    def loo(self) -> LeaveOneOut:
        """How the examples predict each other: by every k that was tried, or by the k that was told."""
        from bayeslearn.neighbors import leave_one_out

        return self.found.left_out or leave_one_out(self.model, only=self.model.k or len(self.model.examples))

    def show(self) -> None:
        """The report for people."""
        model, loo = self.model, self.loo()
        found = self.found.attributes
        what = "wrong" if model.is_classifier else "root mean squared error"
        output.show_pairs([
            ("examples", str(len(model.examples))),
            ("attributes", str(len(model.examples.schema))),
            ("missing cells", str(sum(model.examples.missing().values()))),
            *((f"left out: {column}", why) for column, why in self.left_out.items()),
            ("distance", f"{model.distance.metric}, weights {model.weighting}"),
            ("k", "all" if model.k is None else str(model.k)),
            (f"{what}, left out", output.number(loo.error)),
            *([(f"{what}, before", output.number(found.before.error))] if found else []),
        ])  # fmt: skip
        if len(loo.k) > 1:
            output.gap()
            shown = [k for k in loo.k if k in SHOWN_K or k == loo.best]
            loss = "log loss" if model.is_classifier else "squared error"
            at = [loo.k.index(k) for k in shown]
            rows = [[str(loo.k[i]), output.number(loo.errors[i]), output.number(loo.losses[i])] for i in at]
            output.show_table(["k", what, loss], rows)
        if found:
            output.gap()
            weights = sorted(found.weights.items(), key=lambda pair: -pair[1])
            output.show_table(["attribute", "weight"], [[name, output.number(w)] for name, w in weights])
        output.gap()
        sys.stdout.write("doubted most by their neighbors:\n")
        for doubt in self.doubts(loo):
            sys.stdout.write(f"  row {doubt['row']}: {doubt['said']}, neighbors say {doubt['predicted']}\n")

    def doubts(self, loo: LeaveOneOut) -> list[dict[str, Any]]:
        """The examples that their neighbors contradict most."""
        model = self.model

        def told(value: Any) -> Any:
            states = getattr(model.target, "states", None)
            return states[int(value)] if states else float(f"{value:.6g}")

        return [
            {
                "row": i,
                "said": told(model.said[i]),
                "predicted": told(loo.predicted[i]),
                "loss": float(loo.row_losses[i]),
            }
            for i in loo.uncertain_rows(MOST_DOUBTS)
        ]

    def show_json(self) -> None:
        """The same for a machine."""
        model, loo = self.model, self.loo()
        output.show_json({
            "examples": len(model.examples),
            "left_out": self.left_out,
            "k": model.k,
            "error": loo.error,
            "errors": {str(k): e for k, e in zip(loo.k, loo.errors.tolist(), strict=True)},
            "losses": {str(k): e for k, e in zip(loo.k, loo.losses.tolist(), strict=True)},
            "attribute_weights": model.distance.attribute_weights,
            "doubtful": self.doubts(loo),
        })  # fmt: skip


### new rows


def predictions(model: NeighborsModel, rows: Table) -> tuple[Schema, Table]:
    """The answer for every row: classes with their probabilities, or numbers with their bounds."""
    import numpy as np

    from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table

    name = model.target.name
    if isinstance(model.target, DiscreteVariable):
        schema = Schema([model.target, *(NumericVariable(f"P({name}={state})") for state in model.target.states)])
        return schema, Table(schema, model.predict_codes(rows)[None], model.predict_proba(rows).T)
    schema = Schema([NumericVariable(name), NumericVariable(f"low({name})"), NumericVariable(f"high({name})")])
    values = np.vstack([model.predict(rows), *model.predict_interval(rows)])
    return schema, Table(schema, np.empty((0, len(rows)), np.int8), values)


def plain(explanation: NeighborExplanation) -> dict[str, Any]:
    """An explanation as plain values."""
    found = asdict(explanation)
    return found | {"voices": found.pop("contributions")}
