"""Reasoning from cases: designs retrieved, rewritten and combined from structures that worked before."""
