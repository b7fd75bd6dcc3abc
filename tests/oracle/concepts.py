"""Concept learning by trying every hypothesis: slow, obvious, and independent of the package.

A hypothesis is a tuple with a state or "?" for each attribute, or None for the one that covers nothing.
"""

from itertools import product


def every_hypothesis(states):
    return [None, *product(*[[*column, "?"] for column in states])]


def covers(h, row):
    return h is not None and all(wanted in ("?", value) for wanted, value in zip(h, row, strict=True))


def consistent(states, rows, labels):
    return [
        h
        for h in every_hypothesis(states)
        if all(covers(h, row) == label for row, label in zip(rows, labels, strict=True))
    ]


def at_least_as_general(h, k):
    """Whether h asks no more than k of any attribute."""
    return k is None or (h is not None and all(a in ("?", b) for a, b in zip(h, k, strict=True)))


def maximal(members):
    return {h for h in members if not any(k != h and at_least_as_general(k, h) for k in members)}


def minimal(members):
    return {h for h in members if not any(k != h and at_least_as_general(h, k) for k in members)}


def textbook_boundaries(states, rows, labels):
    """S and G by candidate elimination as the textbook tells it, one example after the other."""
    every = every_hypothesis(states)
    specific, general = {None}, {tuple("?" for _ in states)}
    for row, label in zip(rows, labels, strict=True):
        if label:
            general = {g for g in general if covers(g, row)}
            wider = {h for h in every if covers(h, row) and any(at_least_as_general(h, s) for s in specific)}
            specific = {s for s in minimal(wider) if any(at_least_as_general(g, s) for g in general)}
        else:
            specific = {s for s in specific if not covers(s, row)}
            narrower = {h for h in every if not covers(h, row) and any(at_least_as_general(g, h) for g in general)}
            general = maximal({h for h in narrower if any(at_least_as_general(h, s) for s in specific)})
    return specific, general


def completions(states, row):
    """Every way to fill the missing cells (None)."""
    return list(product(*[column if value is None else [value] for column, value in zip(states, row, strict=True)]))
