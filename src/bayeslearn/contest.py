"""Lazy against eager learners on one table: time to train, time to ask, memory and error."""
