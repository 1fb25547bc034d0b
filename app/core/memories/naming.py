"""Which memory somebody means: by its URI in any spelling, or by words of it."""

from dataclasses import dataclass

from app.core.identity import Tenant
from app.core.memories.memory import Memory
from app.text.words import token_set

_SCHEME = "viking://"
_FOLDERS = frozenset({"memories", "peers", "sessions", "resources", "skills"})


@dataclass(frozen=True, slots=True)
class Homes:
    """Tells whose home a URI names.

    ``unnamed`` is what the user is called whom a request does not name; None where only the server knows, and any name
    may be the caller's then.
    """

    unnamed: str | None = None

    def path(self, uri: str, tenant: Tenant) -> str | None:
        """The path below the caller's home; None for a URI that names another user's."""
        name, path = _split(uri)
        return path if name is None or (tenant.user or self.unnamed) in {None, name} else None


def home_path(uri: str) -> str:
    """The path below the user's home, whichever way the home is spelled: ``~``, ``user/<name>`` or ``user``.

    For URIs that are the caller's; of others see `Homes`.
    """
    return _split(uri)[1]


def _split(uri: str) -> tuple[str | None, str]:
    """Whose home a URI names, None where it does not say, and the path below it."""
    path = uri.strip().removeprefix(_SCHEME).strip("/")
    home, _, rest = path.partition("/")
    if home == "~":
        return None, rest
    if home != "user":
        return None, path
    name, _, below = rest.partition("/")
    return (None, rest) if not name or name in _FOLDERS else (name, below)


def folder_of(memory: Memory) -> str:
    """The folder of its category below the home: ``memories/preferences/``, or the file where a category is one."""
    parts = home_path(memory.uri).split("/")
    below = parts.index("memories") + 2 if "memories" in parts else len(parts)
    return "/".join(parts[:below]) + ("/" if len(parts) > below else "")


def is_at(memory: Memory, path: str) -> bool:
    """Whether the memory stands at this path of the home; several may stand in one file."""
    place = home_path(memory.uri)
    return path in (place, place.partition("#")[0])


def was_said(memory: Memory) -> bool:
    """Whether it is a raw turn, which is listed because it can be recalled. Memories stand in Markdown files."""
    return memory.category == "events" and not memory.uri.partition("#")[0].endswith(".md")


def all_named(query: str, text: str) -> bool:
    """Whether every word of the query that says something stands in the text: less than that may mean another one."""
    asked = token_set(query)
    return bool(asked) and asked <= token_set(text)
