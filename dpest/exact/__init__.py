"""The way to an exact answer: `inference` finds the laws of the outputs, `loss` compares them, `proof` argues for all inputs."""
