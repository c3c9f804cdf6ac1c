"""Every error that dpest raises on purpose.

    DpestError
    +-- InvalidInput        what was given cannot be right (also a ValueError)
    |   +-- InvalidPair     the two inputs cannot be compared
    |   +-- InvalidLaw      a distribution's parameters, atoms or density are wrong
    |   +-- UnknownName     no such algorithm, pattern or option; names the nearest match
    +-- MechanismError      the mechanism itself misbehaves
    |   +-- MechanismRaised      it raised; the original error is the cause
    |   +-- UnsupportedOutput    it returned something that is not a number, string, None or a container of those
    |   +-- DependentRuns        its runs depend on each other, so that no count of them proves anything
    |   +-- NotReplayable        two runs with the same decisions differ: hidden randomness or state
    |   |   +-- TraceMismatch    on plain numbers it does something else than its trace says
    |   +-- RandomTruth          `if` on a random value outside a trace (also a TypeError)
    |   |   +-- NoText           its text was asked for
    |   +-- UnsupportedOperation a function that cannot be traced, such as math.gamma of a random value (also a TypeError)
    +-- ExactRefused        exact inference does not cover this structure; the message says which part
    |   +-- BudgetExceeded  it would, but not within the path or width budget
    |   +-- NotAffine       a product or quotient of values neither of which has finitely many points
    +-- NotCovered          the result does not hold what was asked of it (delta of a joint continuous output, say)
    +-- CheckpointError     a checkpoint is of another run, or damaged
    +-- OutOfTime           there was no answer within the time that was given
    +-- MissingExtra        an optional dependency is not installed; says what to install
"""

from __future__ import annotations


class DpestError(Exception):
    """The root: `except DpestError` catches everything that dpest raises on purpose."""


class InvalidInput(DpestError, ValueError):
    """What was given cannot be right."""


class InvalidPair(InvalidInput):
    """The two inputs cannot be compared."""


class InvalidLaw(InvalidInput):
    """A distribution's parameters, atoms or density are wrong."""


class UnknownName(InvalidInput):
    """No such algorithm, pattern or option."""


class MechanismError(DpestError):
    """The mechanism itself misbehaves."""


class MechanismRaised(MechanismError):
    """The mechanism raised an error of its own; it is the cause of this one."""


class UnsupportedOutput(MechanismError):
    """The mechanism returned something that has no distribution here."""


class DependentRuns(MechanismError):
    """Runs of the mechanism depend on each other; the message says what was seen."""


class NotReplayable(MechanismError):
    """Two runs with the same decisions differ."""


class TraceMismatch(NotReplayable):
    """The mechanism on plain numbers does something else than its trace says."""


class RandomTruth(MechanismError, TypeError):
    """A random value was used as a plain bool, index or number where it cannot be."""


class NoText(RandomTruth):
    """The text of a random value was asked for."""


class UnsupportedOperation(MechanismError, TypeError):
    """An operation on a random value that cannot be traced."""


class ExactRefused(DpestError):
    """Exact inference does not cover this structure."""


class BudgetExceeded(ExactRefused):
    """Exact inference would need more paths or a wider integral than the budget allows."""


class NotAffine(ExactRefused):
    """A product or a quotient of random values, neither of which has finitely many points."""

    def __init__(self, message: str, values: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.values = values  # what was multiplied, or divided by


class NotCovered(DpestError):
    """The result does not hold what was asked of it."""


class CheckpointError(DpestError):
    """A checkpoint belongs to another run, or is damaged."""


class OutOfTime(DpestError):
    """There was no answer within the time that was given."""


class MissingExtra(DpestError, ImportError):
    """An optional dependency is not installed."""
