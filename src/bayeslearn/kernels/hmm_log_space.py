"""One chain in logs: the most probable path, and forward-backward for chains too improbable for floats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@inner
def log_sum(x: NDArray[np.float64]) -> float:
    """ln Σ eˣ, also when every x is −inf."""
    top = x.max()
    if top == -np.inf:
        return top
    total = 0.0
    for value in x:
        total += np.exp(value - top)
    return top + np.log(total)


@kernel
def smooth_logs(
    log_start: NDArray[np.float64],
    log_moves: NDArray[np.float64],
    logs: NDArray[np.float64],
    gamma: NDArray[np.float64],
    pairs: NDArray[np.float64],
) -> tuple[float, int]:
    """ln P and −1, γ into `gamma` (T, S), expected moves added to `pairs`; or −inf and the step that is impossible."""
    steps, n = logs.shape
    alpha, room, beta = np.empty((steps, n)), np.empty(n), np.zeros(n)
    for t in range(steps):
        for j in range(n):
            if t == 0:
                alpha[t, j] = log_start[j] + logs[t, j]
            else:
                for i in range(n):
                    room[i] = alpha[t - 1, i] + log_moves[i, j]
                alpha[t, j] = log_sum(room) + logs[t, j]
        if alpha[t].max() == -np.inf:
            return -np.inf, t
    log_p = log_sum(alpha[steps - 1])
    ahead = np.empty(n)
    for t in range(steps - 1, -1, -1):
        for i in range(n):
            if t < steps - 1:
                for j in range(n):
                    room[j] = log_moves[i, j] + ahead[j]
                    pairs[i, j] += np.exp(alpha[t, i] + room[j] - log_p)
                beta[i] = log_sum(room)
            gamma[t, i] = np.exp(alpha[t, i] + beta[i] - log_p)
        for j in range(n):
            ahead[j] = logs[t, j] + beta[j]
    return log_p, -1


@inner
def best_path(
    log_start: NDArray[np.float64],
    log_moves: NDArray[np.float64],
    logs: NDArray[np.float64],
    score: NDArray[np.float64],
    path: NDArray[np.int64],
) -> int:
    """Scores of the best way to each state at each step, and the best path; the step that is impossible, or −1."""
    steps, n = logs.shape
    for t in range(steps):
        now = score[t]
        if t == 0:
            for j in range(n):
                now[j] = log_start[j]
        else:
            before = score[t - 1]
            for j in range(n):
                now[j] = before[0] + log_moves[0, j]
            for i in range(1, n):
                here = before[i]
                for j in range(n):
                    now[j] = max(now[j], here + log_moves[i, j])
        top = -np.inf
        for j in range(n):
            now[j] += logs[t, j]
            top = max(top, now[j])
        if top == -np.inf:
            return t
    path[steps - 1] = np.argmax(score[steps - 1])
    for t in range(steps - 1, 0, -1):  # where it came from is found on the way back: a sum is quicker than a branch
        best, at, to = -np.inf, 0, path[t]
        for i in range(n):
            value = score[t - 1, i] + log_moves[i, to]
            if value > best:
                best, at = value, i
        path[t - 1] = at
    return -1


@kernel
def best_paths(
    log_start: NDArray[np.float64],
    log_moves: NDArray[np.float64],
    logs: NDArray[np.float64],
    lengths: NDArray[np.int64],
    path: NDArray[np.int64],
    log_p: NDArray[np.float64],
) -> tuple[int, int]:
    """The most probable states (Viterbi) of sequences one after the other, the first when tied, and their ln P.

    Returns −1 twice, or the first sequence that is impossible, and its step.
    """
    score = np.empty((lengths.max(), logs.shape[1]))
    first = 0
    for i in range(len(lengths)):
        last = first + lengths[i]
        step = best_path(log_start, log_moves, logs[first:last], score, path[first:last])
        if step >= 0:
            return i, step
        log_p[i] = score[lengths[i] - 1].max()
        first = last
    return -1, -1
