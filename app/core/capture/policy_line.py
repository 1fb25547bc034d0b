"""What the rules did to a request's texts, as its answer says it."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from app.core.json.answers import answer


@answer
@dataclass(frozen=True, slots=True)
class PolicyLine:
    """How often a class was found in a request, and what was done. Never what was found."""

    kind: Annotated[str, Field(serialization_alias="class", validation_alias="class")]
    """A class, or the name of an own pattern."""
    action: Literal["mask", "drop"]
    count: int

    def shown(self) -> dict[str, str | int]:
        """The line as its JSON."""
        return {"class": self.kind, "action": self.action, "count": self.count}
