"""``python -m bayeslearn`` is the command ``bayeslearn``."""

from bayeslearn.cli import main

main()
