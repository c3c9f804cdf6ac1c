"""Work that is done once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")


class Memo:
    """What was worked out before, by key."""

    def __init__(self) -> None:
        self.answers: dict[Any, Any] = {}

    def once(self, key: Any, owner: Any, work: Callable[[], _Answer]) -> _Answer:
        """What `work` gives, worked out once for each key; its owner is kept, so that no other object can come to have its id."""
        if key not in self.answers:
            self.answers[key] = (owner, work())
        found: _Answer = self.answers[key][1]
        return found

    def recalled(self, key: Any) -> Any:
        """What was worked out for a key; None where nothing was."""
        found = self.answers.get(key)
        return None if found is None else found[1]

    def forget(self) -> None:
        """Lets go of everything: answers that hold the memo that holds them would wait for the garbage collector."""
        self.answers.clear()
