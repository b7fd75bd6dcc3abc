"""Graphs by enumeration: every path, every graph, every subset. Slow, obvious, and independent of the package.

A graph is a dict from each node to the tuple of its parents; a pair is a frozenset of two nodes.
"""

from itertools import chain, combinations, product


def subsets(nodes):
    nodes = sorted(nodes)
    return [set(s) for s in chain.from_iterable(combinations(nodes, k) for k in range(len(nodes) + 1))]


### relatives


def ancestors(graph, node):
    return set(graph[node]).union(*(ancestors(graph, p) for p in graph[node]))


def descendants(graph, node):
    return {n for n in graph if node in ancestors(graph, n)}


def pairs(graph):
    return {frozenset((p, n)) for n in graph for p in graph[n]}


def acyclic(graph):
    """Whether every node can be taken away, one after the other, once its parents are gone."""
    left = dict(graph)
    while left:
        free = [n for n in left if not set(left[n]) & left.keys()]
        if not free:
            return False
        for n in free:
            del left[n]
    return True


### separation by paths


def paths(graph, a, b):
    """Every way from a to b that passes no node twice, along arcs in either direction."""
    found, todo = [], [[a]]
    while todo:
        path = todo.pop()
        if path[-1] == b:
            found.append(path)
            continue
        todo += [[*path, n] for n in graph if n not in path and frozenset((path[-1], n)) in pairs(graph)]
    return found


def is_open(graph, path, given):
    """Every inner node lets through: arrows that meet need a given node at or below, the others must not be given."""
    for left, node, right in zip(path, path[1:], path[2:], strict=False):
        if left in graph[node] and right in graph[node]:
            if not ({node} | descendants(graph, node)) & set(given):
                return False
        elif node in given:
            return False
    return True


def open_paths(graph, a, b, given):
    return [path for path in paths(graph, a, b) if is_open(graph, path, given)]


def separated(graph, a, b, given):
    return not any(open_paths(graph, x, y, given) for x in a for y in b)


### separation in the moral graph of the ancestors


def moral(graph):
    married = {frozenset(pair) for n in graph for pair in combinations(graph[n], 2)}
    return pairs(graph) | married


def separated_in_moral_graph(graph, a, b, given):
    asked = {*a, *b, *given}
    above = asked.union(*(ancestors(graph, n) for n in asked)) if asked else set()
    edges = moral({n: graph[n] for n in above})
    reached = set(a)
    while new := {n for n in above - reached - set(given) if any(frozenset((n, r)) in edges for r in reached)}:
        reached |= new
    return not reached & set(b)


### separators and classes


def minimal_separators(graph, a, b, among):
    """Every subset of `among` that separates a from b, while none of its own subsets does."""
    sets = [z for z in subsets(set(among) - set(a) - set(b)) if separated(graph, a, b, z)]
    return [z for z in sets if not any(y < z for y in sets)]


def every_dag(nodes):
    """All graphs without cycles: each pair of nodes not joined, joined one way, or the other."""
    joints = list(combinations(nodes, 2))
    for ways in product(("none", "forth", "back"), repeat=len(joints)):
        graph = dict.fromkeys(nodes, ())
        for (a, b), way in zip(joints, ways, strict=True):
            if way != "none":
                parent, child = (a, b) if way == "forth" else (b, a)
                graph[child] = (*graph[child], parent)
        if acyclic(graph):
            yield graph


def statements(graph):
    """All that a graph says: which pairs are separated by which sets."""
    return frozenset(
        (a, b, frozenset(z))
        for a, b in combinations(sorted(graph), 2)
        for z in subsets(graph.keys() - {a, b})
        if separated(graph, [a], [b], z)
    )


def classes(graphs):
    """Graphs that say the same, together."""
    groups = {}
    for graph in graphs:
        groups.setdefault(statements(graph), []).append(graph)
    return list(groups.values())


def shared_arcs(members):
    """The arcs that all members of a class have, and the pairs that they join either way."""
    arcs = [{(p, n) for n in graph for p in graph[n]} for graph in members]
    directed = set.intersection(*arcs)
    return directed, {frozenset(arc) for arc in set.union(*arcs) - directed}
