"""How sure a structure is: resamples, posteriors, and rows that were kept back."""
