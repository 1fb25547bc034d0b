"""An ``openviking-server`` on this machine that is none, and what its sidecar is told of it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

STANDIN = Path(__file__).with_name("standin.py")


class Installed:
    """The program, and the configuration that tells it how to behave; the change counts from its next start."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "openviking-server"
        self.program.write_text(f'#!/bin/sh\nexec {sys.executable} {STANDIN} "$@"\n')
        self.program.chmod(0o755)
        self.config = folder / "ov.conf"
        self.behave()

    def behave(self, **how: Any) -> None:
        self.config.write_text(json.dumps(how))


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    return Installed(tmp_path)
