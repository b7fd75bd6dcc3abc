"""Learning functions: least squares, the sigmoid unit, local regression and radial basis functions."""
