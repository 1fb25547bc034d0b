"""A skill as OpenViking gets it: its SKILL.md, or a zip of its folder where it has more files."""

import hashlib
import json
import re
from dataclasses import dataclass

from app.documents.resource import Kind
from app.documents.skill import is_skill_file
from app.gathering import spool
from app.openviking.call_errors import rejected
from app.openviking.passage_files import zipped
from app.ports import CataloguedDocument, NewResource

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_OWN = frozenset({"name", "description"})
_PLAIN = re.compile(r"[ \t]*(?:[\w.,/ -]{1,200}|\[[\w., -]{0,400}\][ \t]*)")
_KEY = re.compile(r"[A-Za-z][\w-]{0,60}")
_AS_TEXT = frozenset({"pdf", "html", "htm", "xhtml"})
"""Types of which only the text is kept: OpenViking would take it for a damaged file."""


@dataclass(frozen=True, slots=True)
class SkillPackage:
    """``archive`` is None where the SKILL.md is all."""

    name: str
    text: str
    archive: bytes | None
    documents: tuple[CataloguedDocument, ...]

    @staticmethod
    def name_in(folder: str) -> str | None:
        """The skill whose document has this folder in the catalogue; None for a document of another kind."""
        kind, _, rest = folder.partition("/")
        return rest.partition("/")[0] if kind == Kind.SKILL.folder else None


def skill_package(new: NewResource) -> SkillPackage:
    """The package of an import. Raises `BackendError` for a name that OpenViking does not take."""
    name = new.resource.path.partition("/")[2]
    if not _NAME.fullmatch(name):
        raise rejected("on OpenViking the name of a skill has letters, digits, - and _, and at most 64 of them")
    import_id = hashlib.sha256(new.spool.name.encode()).hexdigest()[:24]
    files: dict[str, str] = {}
    documents: list[CataloguedDocument] = []
    main = ""
    for number, one in enumerate(spool.read(new.spool, new.vault)):
        head, text = one.head, one.body().text
        if is_skill_file(head.path) and not main:
            main = head.path
        files[head.path] = text
        folder = f"{Kind.SKILL.folder}/{name}/{import_id}-{number}"
        documents.append(CataloguedDocument(head.path, folder, head.digest, head.title, head.summary, text))
    text = named(files.pop(main, ""), name, new.resource.summary)
    top = main[: -len("SKILL.md")]
    beside = {_file_name(path.removeprefix(top)): said for path, said in files.items()}
    archive = zipped({f"{name}/SKILL.md": text, **{f"{name}/{path}": said for path, said in beside.items()}})
    return SkillPackage(name, text, archive if beside else None, tuple(documents))


def named(text: str, name: str, description: str) -> str:
    """The SKILL.md under its name here, with front matter that is YAML whatever stood there."""
    end = text.find("\n---", 3) if text.startswith("---\n") else -1
    front, body = (text[4:end], text[end + 4 :].lstrip("-")) if end >= 0 else ("", text)
    plain = [line for line in front.split("\n") if _is_plain(line)]
    lines = [f"name: {name}", f"description: {json.dumps(description)}", *plain]
    return "---\n" + "\n".join(lines) + "\n---" + (body if body.startswith("\n") else f"\n{body}")


def _is_plain(line: str) -> bool:
    """Whether a line of front matter is another field of one plain value."""
    key, colon, value = line.partition(":")
    return bool(colon and _KEY.fullmatch(key) and key.lower() not in _OWN and _PLAIN.fullmatch(value))


def _file_name(path: str) -> str:
    suffix = path.rpartition(".")[2].lower()
    return f"{path}.md" if suffix in _AS_TEXT else path
