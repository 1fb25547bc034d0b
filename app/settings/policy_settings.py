"""Settings: what must not be stored or shown."""

from functools import lru_cache
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator
from pydantic_settings import NoDecode

from app.policy.detectors import CLASSES
from app.policy.policy import Policy
from app.settings.setting_types import as_object


class PolicySettings(BaseModel):
    """What must not be stored or shown."""

    rules: Annotated[dict[str, str], NoDecode, BeforeValidator(as_object)] = Field(
        default_factory=dict,
        description='JSON `{"<class>": "allow"}`, `mask` or `drop`. Classes: '
        f"{', '.join(f'`{name}`' for name in CLASSES)}; `secret` and `card` are masked by default.",
    )
    patterns: Annotated[dict[str, dict[str, str]], NoDecode, BeforeValidator(as_object)] = Field(
        default_factory=dict,
        description='JSON `{"<name>": {"pattern": "...", "action": "mask"}}` or `drop`: your own, in RE2\'s syntax.',
    )

    @model_validator(mode="after")
    def _is_a_policy(self) -> Self:
        self.policy()
        return self

    def policy(self) -> Policy:
        """The policy that these rules make. Raises ValueError that says what is wrong."""
        for name, pattern in self.patterns.items():
            if set(pattern) != {"pattern", "action"}:
                raise ValueError(f"patterns has {name!r} with {sorted(pattern)}; it needs `pattern` and `action`")
        patterns = ((name, one["pattern"], one["action"]) for name, one in self.patterns.items())
        return _policy(tuple(self.rules.items()), tuple(patterns))


@lru_cache(maxsize=8)
def _policy(rules: tuple[tuple[str, str], ...], patterns: tuple[tuple[str, str, str], ...]) -> Policy:
    """One policy for a process: it keeps the outcomes of texts that come again."""
    return Policy.of(dict(rules), {name: (expression, action) for name, expression, action in patterns})
