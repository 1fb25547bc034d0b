"""What the tools cost: tokens that their definitions add to every request, in each style.

    python -m benchmarks.tools

Tokens are estimated as everywhere in the sidecar (four characters of ASCII to a token), over the JSON as a host sends
it. Exits 1 when a list is over the limit.
"""

import json
import sys

from app.core.messages.tokens import estimate_tokens
from app.tools import TOOLS
from app.tools.definitions import Style, definition

LIMIT_TOKENS = 1_500


def cost(definitions: object) -> int:
    return estimate_tokens(json.dumps(definitions, ensure_ascii=False, separators=(",", ":")))


def main() -> int:
    print(f"{'tool':<20}" + "".join(f"{style:>12}" for style in Style))
    for tool in TOOLS:
        print(f"{tool.name:<20}" + "".join(f"{cost(definition(tool, style)):>12}" for style in Style))
    totals = [cost([definition(tool, style) for tool in TOOLS]) for style in Style]
    print(f"{'all':<20}" + "".join(f"{total:>12}" for total in totals) + f"   limit {LIMIT_TOKENS}")
    return int(max(totals) > LIMIT_TOKENS)


if __name__ == "__main__":
    sys.exit(main())
