"""The tools' definitions for hosts that want them before they can ask: ``python -m docs.plugin_tools --write|--check``.

OpenClaw registers tools while it loads a plugin, with or without a sidecar, and wants their names in the manifest.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from app.tools import TOOLS
from app.tools.definitions import schema_of

PLUGIN = Path(__file__).parents[1] / "integrations" / "openclaw"
NAMES = '"contracts": { "tools": '


def documents() -> dict[Path, str]:
    """Path to text, as it should be."""
    definitions: list[dict[str, Any]] = [
        {"name": tool.name, "description": tool.description, "parameters": schema_of(tool), "readOnly": tool.read_only}
        for tool in TOOLS
    ]
    manifest = PLUGIN / "openclaw.plugin.json"
    before, marker, after = manifest.read_text(encoding="utf-8").partition(NAMES)
    if not marker:
        raise SystemExit(f"{manifest} has no line that begins with {NAMES}")
    names = json.dumps([tool.name for tool in TOOLS])
    return {
        PLUGIN / "tools.json": json.dumps(definitions, indent=2, ensure_ascii=False) + "\n",
        manifest: f"{before}{marker}{names}{after[after.index(']') + 1 :]}",
    }


def main() -> int:
    """Write or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    stale = [path for path, text in documents().items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        if arguments.write:
            path.write_text(documents()[path], encoding="utf-8")
        else:
            print(f"out of date: {path}; run: make docs", file=sys.stderr)
    return int(bool(stale) and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
