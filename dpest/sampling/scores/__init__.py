"""What tells two inputs apart: cells of outputs, scores over them, events cut from scores."""
