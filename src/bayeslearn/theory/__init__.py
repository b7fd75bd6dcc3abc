"""Learning theory to compute with: sample sizes, VC dimension and mistake bounds."""
