"""Where an import comes from: a text, or the web. What is wrong with it is said before anything is fetched."""

from urllib.parse import urlsplit

from app.documents.resource import Kind
from app.engine.resources.importing import NewImport
from app.errors import FieldProblem, InvalidRequest, UrlNotFetched
from app.gathering.content import Content
from app.gathering.forges import archive_of
from app.gathering.reader_process import Upload
from app.gathering.web import Fetching, UrlRefused, fetch


def import_of_text(kind: Kind, text: str, title: str, to: str | None, *, wait: bool) -> NewImport:
    """Markdown as it was written. Raises `InvalidRequest` where it says nothing."""
    name = "SKILL.md" if kind is Kind.SKILL else f"{title or 'note'}.md"
    if not text.strip():
        raise InvalidRequest(FieldProblem("text", "must say something"))

    async def written() -> Upload:
        return Upload(name, Content.of(text.encode()), "text/markdown")

    return NewImport(kind, written, "text", name, title, to, wait)


def import_from_web(
    web: Fetching | None, kind: Kind, url: str | None, git: str | None, title: str, to: str | None, *, wait: bool
) -> NewImport:
    """A document at a URL, or a repository. Raises `UrlNotFetched`; ``web`` None fetches nothing."""
    if web is None:
        raise UrlNotFetched("this service fetches no URLs (SIDECAR_RESOURCES__URLS)")
    place, name = url or "", ""
    try:
        if git is not None:
            place, name = archive_of(git)
        parts = urlsplit(place)
    except UrlRefused as error:
        raise UrlNotFetched(str(error)) from error
    except ValueError as error:
        raise UrlNotFetched(f"this is no URL: {error}") from error

    async def fetched() -> Upload:
        try:
            return await fetch(place, web)
        except UrlRefused as error:
            raise UrlNotFetched(str(error)) from error

    source = (git or place).partition("#")[0]
    return NewImport(kind, fetched, source, name or f"{parts.hostname or ''}{parts.path}".rstrip("/"), title, to, wait)
