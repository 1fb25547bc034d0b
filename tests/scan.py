"""A byte scan: where below a directory a text still stands, whatever the file and whatever the page is used for."""

import json
from pathlib import Path


def places_of(directory: Path, *texts: str) -> list[str]:
    """The files that hold one of the texts: as it is, in small letters, or as JSON escapes it."""
    found = []
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            low = data.lower()
            for text in texts:
                forms = {
                    text.encode(),
                    json.dumps(text)[1:-1].encode(),
                    json.dumps(text, ensure_ascii=False)[1:-1].encode(),
                }
                if any(form in data or form.lower() in low for form in forms):
                    found.append(f"{path.relative_to(directory)}: {text}")
    return found
