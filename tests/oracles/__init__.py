"""Independent answers: closed forms, exact rationals and quadrature, written from the mathematics and without dpest."""
