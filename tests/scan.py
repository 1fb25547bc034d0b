"""A byte scan: where below a directory a text still stands, whatever the file and whatever the page is used for."""

import json
from pathlib import Path

from app.atrest.vault import PLAIN, Vault


def places_of(directory: Path, *texts: str, vault: Vault = PLAIN) -> list[str]:
    """The files that hold one of the texts: as it is, in small letters, or as JSON escapes it. With the ``vault`` that
    encrypts them it is what the holder of its key could find."""
    found = []
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            with vault.open_pages(path) if ".db" in path.name else vault.open(path) as file:
                data = file.read()
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
