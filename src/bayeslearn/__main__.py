"""``python -m bayeslearn`` is the command ``bayeslearn``."""

try:
    from bayeslearn.cli import main

    main()
except KeyboardInterrupt:  # in an import
    raise SystemExit(130) from None
