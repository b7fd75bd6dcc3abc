"""Questions to a network: planned once, answered often."""
