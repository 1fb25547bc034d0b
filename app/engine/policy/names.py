"""What documents and skills are called where that is shown: a rule that is new hides a part of the older names.

Nothing here is needed to find them; see `app.engine.resources.shown_names` for that.
"""

from collections.abc import Callable
from dataclasses import replace

from app.documents.resource import Resource, known_path

Rule = Callable[[str], str]
"""What may be shown of a text."""


def shown_path(rule: Rule, path: str) -> str:
    """A path, or a text with paths in it, under the policy: what stands between two slashes by itself, then all of it.

    So what is below a folder begins as the folder does, and a name is known that would be none in an address. What is
    shown already stays as it is.
    """
    return rule("/".join(map(rule, path.split("/"))))


def shown_uri(rule: Rule, uri: str) -> str:
    """The URI of a document, of a passage or of a skill, likewise; any other one as it is."""
    known = known_path(uri)
    if known is None:
        return uri
    place, mark, passage = uri.partition("#")
    home, path, end = place.rpartition(known[1])
    return f"{home}{shown_path(rule, path)}{end}{mark}{rule(passage)}"


def shown_resource(rule: Rule, resource: Resource) -> Resource:
    """What is told of a resource: all of its texts may be from before a rule."""
    return replace(
        resource,
        path=shown_path(rule, resource.path),
        title=rule(resource.title),
        source=shown_path(rule, resource.source),
        summary=rule(resource.summary),
        detail=shown_path(rule, resource.detail),
    )
