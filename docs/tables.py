"""Writes the README's generated tables, or checks them: ``python -m docs.tables --write|--check README.md``.

A table stands between ``<!-- name:begin -->`` and ``<!-- name:end -->``.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any, get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from app.core.reasons import Reason
from app.settings import variables


def settings_table() -> str:
    """Every environment variable with its default and meaning."""
    rows = [f"| `{name}` | {_shown(field)} | {field.description} |" for name, field in variables()]
    return "\n".join(["| variable | default | meaning |", "| --- | --- | --- |", *rows])


def reasons_table() -> str:
    """Every reason code with its meaning."""
    return "\n".join(
        ["| code | meaning |", "| --- | --- |", *(f"| `{reason}` | {reason.meaning} |" for reason in Reason)]
    )


def _shown(field: FieldInfo) -> str:
    value: Any = field.get_default(call_default_factory=True)
    if value is PydanticUndefined or value is None or value in ("", []):
        return "-"
    if isinstance(value, SecretStr):
        return f"`{value.get_secret_value()}`" if value.get_secret_value() else "-"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    choices = f" of {', '.join(f'`{c}`' for c in get_args(field.annotation))}" if _is_choice(field) else ""
    return f"`{value}`{choices}"


def _is_choice(field: FieldInfo) -> bool:
    return "Literal" in str(field.annotation)


def updated(text: str) -> str:
    """``text`` with each table between its marks replaced by the current one."""
    for name, table in (("settings", settings_table()), ("reasons", reasons_table())):
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        if not rest:
            raise SystemExit(f"the marks of the table {name!r} are missing")
        text = f"{before}{begin}\n{table}\n{end}{after}"
    return text


def main() -> int:
    """Exit 1 when ``--check`` finds an old table."""
    parser = argparse.ArgumentParser(description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--write", type=Path)
    mode.add_argument("--check", type=Path)
    arguments = parser.parse_args()
    path: Path = arguments.write or arguments.check
    text = path.read_text(encoding="utf-8")
    new = updated(text)
    if arguments.write:
        path.write_text(new, encoding="utf-8")
    elif new != text:
        print(f"{path}: tables are out of date; run: make docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    os.environ.clear()
    sys.exit(main())
