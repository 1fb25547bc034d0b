"""The layout keeps its promises: one name for one module, few entries in the core, references that lead somewhere."""

import ast
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
APP = ROOT / "app"
SOURCES = sorted(path for path in APP.rglob("*.py") if "migrations" not in path.parts)
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
REFERENCE = re.compile(r"`(app(?:\.\w+)+)`")
OPENING = {"open", "fdopen", "read_bytes", "read_text", "write_bytes", "write_text", "connect"}
GOES_PAST = {
    "embedded/encoder/weights.py: open": 1,  # what is installed
    "embedded/index/database.py: connect": 1,  # `sqlite.connect`, which asks the vault
    "embedded/index/database.py: open": 1,  # an empty file
    "embedded/index/index.py: open": 1,  # its bytes are compared, its content is read by the vault
    "embedded/index/query_map.py: read_text": 1,  # what is installed
    "embedded/storage/layout.py: open": 1,  # the lock
    "embedded/storage/withheld.py: open": 1,  # read by the vault
    "store/connections.py: write_bytes": 1,  # zeros, to see whether there is room
    "store/engines.py: connect": 1,  # of the engine, which the vault unlocks
    "store/engines.py: open": 1,  # an empty file
    "store/migrating.py: connect": 1,  # of the engine
    "store/postgres.py: connect": 2,  # no file
    "store/traces.py: connect": 1,  # of the engine
    "store/traces.py: open": 1,  # an empty file
}
"""How often a module opens something by other means, and why that is no content in plain."""
PATH = re.compile(r"`(app/[\w/]+(?:\.py)?|(?:api|core|engine|offload|openviking|recall|store|text|worker)/[\w/]+)/?`")


def test_no_module_name_occurs_twice() -> None:
    names = Counter(path.name for path in APP.rglob("*.py") if path.name != "__init__.py")
    assert [name for name, count in names.items() if count > 1] == []


def test_the_core_is_grouped_by_concept() -> None:
    entries = [entry for entry in (APP / "core").iterdir() if entry.name != "__pycache__"]
    assert len(entries) <= 12


def test_what_stands_in_the_data_directory_is_read_and_written_through_the_vault() -> None:
    """Whatever goes past it would stand there in plain."""
    past: Counter[str] = Counter()
    for path in SOURCES:
        place = path.relative_to(APP)
        if place.parts[0] not in ("embedded", "store", "engine", "worker", "offload", "openviking"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in OPENING and not _is_vaults(node.value):
                past[f"{place}: {node.attr}"] += 1
    assert past == GOES_PAST


def test_docstrings_refer_to_what_there_is() -> None:
    named = {
        name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for name in REFERENCE.findall(node.value)
    }
    assert named
    assert [name for name in sorted(named) if not _is_known(name)] == []


def test_pages_refer_to_files_that_are_there() -> None:
    pages = [page for page in PAGES if page.name != "CHANGELOG.md" and "recipes" not in page.parts]
    named = {found.removeprefix("app/") for page in pages for found in PATH.findall(page.read_text())}
    assert named
    assert [name for name in sorted(named) if not (APP / name).exists() and not (APP / f"{name}.py").exists()] == []


def _is_vaults(node: ast.expr) -> bool:
    """Whether it is ``vault``, ``self._vault`` or the like."""
    return (node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")).strip("_") == "vault"


def _is_known(name: str) -> bool:
    """Whether ``name`` is a module, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = APP.parent.joinpath(*parts[:end])
        if module.is_dir() or module.with_suffix(".py").exists():
            found: object = import_module(".".join(parts[:end]))
            for attribute in parts[end:]:
                if attribute not in getattr(found, "__annotations__", {}) and not hasattr(found, attribute):
                    return False
                found = getattr(found, attribute, None)
            return True
    return False
