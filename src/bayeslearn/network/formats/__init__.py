"""Bayesian networks in and out of files.

    from bayeslearn.network.formats import read_network, write_network
    write_network(read_network("alarm.bif"), "alarm.xdsl.gz")

The ending names the format, see ``FORMATS``: .json (our own, keeps everything), .bif, .xmlbif or .xml, .net, .xdsl,
.uai. What is written is read back equal, with these limits: only JSON keeps counts, priors, notes, cuts and the types
of states (elsewhere ``True`` and ``1`` become text); UAI has no names; BIF refuses names with line breaks.
"""

from bayeslearn.network.formats.files import (
    FORMATS,
    Format,
    format_network,
    parse_network,
    read_network,
    write_network,
)

__all__ = ["FORMATS", "Format", "format_network", "parse_network", "read_network", "write_network"]
