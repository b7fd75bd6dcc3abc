"""Workloads against peers, one file per subject: ``python -m bench SUBJECT [--json] [--quick]``."""
