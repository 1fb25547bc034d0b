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
PATH = re.compile(r"`(app/[\w/]+(?:\.py)?|(?:api|core|engine|offload|openviking|recall|store|text|worker)/[\w/]+)/?`")


def test_no_module_name_occurs_twice() -> None:
    names = Counter(path.name for path in APP.rglob("*.py") if path.name != "__init__.py")
    assert [name for name, count in names.items() if count > 1] == []


def test_the_core_is_grouped_by_concept() -> None:
    entries = [entry for entry in (APP / "core").iterdir() if entry.name != "__pycache__"]
    assert len(entries) <= 12


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
