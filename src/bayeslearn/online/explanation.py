"""Why a learner predicts what it does: the advice of its experts, and their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from bayeslearn.tables.frames import Backend

#: Experts that a report shows.
MAX_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class ExpertVotes(Reported):
    """The prediction for one x, and the advice and the weight of each expert.

    Attributes
    ----------
    prediction
        The label of the vote; None if no expert votes.
    votes
        (expert, advice, weight) of each expert, the largest weights first; the advice is None if it abstains.
    """

    prediction: Any
    votes: tuple[tuple[Any, Any, float], ...]

    def report(self) -> Report:
        """Return the prediction and the experts with the largest weights."""
        rows = [(str(name), "abstains" if advice is None else str(advice), w) for name, advice, w in self.votes]
        return Report(f"Prediction: {self.prediction}", Grid(["Expert", "Advice", "Weight"], rows[:MAX_SHOWN]))

    def to_dict(self) -> dict[str, Any]:
        """Return prediction and votes as plain values."""
        votes = [{"expert": name, "advice": advice, "weight": w} for name, advice, w in self.votes]
        return {"prediction": self.prediction, "votes": votes}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each expert."""
        return frame_of_rows(["expert", "advice", "weight"], self.votes, backend)


def explain(learner: Any, x: Any) -> ExpertVotes:
    """Return the vote of a learner on one x by expert."""
    advice = learner.panel.say([x])[0].tolist()
    votes = zip(learner.experts, advice, learner.weights.values(), strict=True)
    return ExpertVotes(learner.predict_one(x), tuple(sorted(votes, key=lambda vote: -vote[2])))
