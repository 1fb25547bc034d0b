"""Git repositories as archives: forges give the newest files of a repository as a zip, so no git is needed. Pure."""

from collections.abc import Mapping
from urllib.parse import quote

from app.gathering.web import UrlRefused, checked

_ARCHIVES: Mapping[str, str] = {
    "github.com": "https://codeload.github.com/{repository}/zip/HEAD",
    "gitlab.com": "https://gitlab.com/{repository}/-/archive/HEAD/archive.zip",
    "codeberg.org": "https://codeberg.org/{repository}/archive/HEAD.zip",
    "bitbucket.org": "https://bitbucket.org/{repository}/get/HEAD.zip",
}
"""By host, where it gives the archive of a repository."""


def archive_of(git: str) -> tuple[str, str]:
    """The URL of a repository's archive, and the repository's name. Raises `UrlRefused`."""
    parts = checked(git)
    host = (parts.hostname or "").removeprefix("www.")
    names = [name for name in parts.path.removesuffix("/").removesuffix(".git").split("/") if name]
    if parts.scheme != "https" or host not in _ARCHIVES or parts.port or parts.query:
        raise UrlRefused(f"only https repositories of {', '.join(_ARCHIVES)} are fetched; send others as a zip")
    if len(names) < 2 or any(name in {".", ".."} for name in names):
        raise UrlRefused("name a repository: https://<host>/<owner>/<name>")
    repository = "/".join(quote(name, safe="") for name in names)
    return _ARCHIVES[host].format(repository=repository), names[-1]
