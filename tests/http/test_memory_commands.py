"""Memory on the command line, against a running sidecar."""

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.settings import Settings
from tests.http.test_mcp import served
from tests.process import free_port

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """A sidecar with two tokens, and commands to it that find it by the settings of `serve`."""
    monkeypatch.chdir(tmp_path)
    tokens = json.dumps({"one": {"account": "acme", "user": "alice"}, "two": {"account": "acme", "user": "bob"}})
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", log_level="error", auth={"tokens": tokens})
    with served(settings) as url:
        monkeypatch.setenv("SIDECAR_PORT", url.removesuffix("/mcp").rpartition(":")[2])
        monkeypatch.setenv("SIDECAR_AUTH__TOKENS", tokens)
        monkeypatch.setenv("SIDECAR_HOST", "0.0.0.0")

        def command(*arguments: str) -> tuple[int, str, str]:
            status = main(arguments)
            printed = capsys.readouterr()
            return status, printed.out, printed.err

        yield command


def answered(result: tuple[int, str, str]) -> Any:
    status, out, err = result
    assert (status, err) == (0, "")
    return json.loads(out)


def test_a_memory_from_the_first_word_to_the_last(run: Run) -> None:
    stored = answered(run("remember", "--content", "Mia prefers short answers.", "--type", "preferences"))
    assert stored["category"] == "preferences"
    important = answered(run("remember", "--content", "The gate code hint is walrus.", "--priority", "high"))
    assert important["id"] != stored["id"]
    [found] = answered(run("search", "--query", "short answers", "--limit", "1"))["memories"]
    assert found["id"] == stored["id"]
    assert answered(run("search", "--query", "answers", "--category", "entities"))["memories"] == []
    assert "Mia prefers short answers." in run("search", "--query", "short answers", "--text")[1]
    assert sum(entry["count"] for entry in answered(run("ls"))["entries"]) == 2
    assert stored["id"] in run("ls", stored["uri"], "--text")[1]
    assert answered(run("history"))["deliveries"] == []
    look = answered(run("forget", "--query", "gate code hint"))
    assert (look["dryRun"], [one["id"] for one in look["selected"]]) == (True, [important["id"]])
    assert "add --yes" in run("forget", "--id", stored["id"], "--text")[1]
    assert sum(entry["count"] for entry in answered(run("ls"))["entries"]) == 2
    [uri] = [one["uri"] for one in answered(run("search", "--query", "short answers"))["memories"]]
    gone = answered(run("forget", "--uri", uri, "--yes"))
    assert (gone["dryRun"], gone["removed"]["memories"]) == (False, 1)
    assert answered(run("search", "--query", "short answers"))["memories"] == []


def test_what_is_exported_can_be_taken_in(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = answered(run("remember", "--content", "Mia rides a green bicycle."))
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) as out:
        assert main(["export"]) == 0
    lines = out.buffer.getvalue()
    file = tmp_path / "memories.ndjson"
    file.write_bytes(lines)
    assert answered(run("import", str(file)))["skipped"] == 1
    done = answered(run("import", str(file), "--account", "acme", "--user", "bob"))
    assert (done["imported"], done["rejected"]) == (1, [])
    [memory] = answered(run("search", "--query", "bicycle", "--user", "bob"))["memories"]
    assert memory["id"] == stored["id"]
    file.write_bytes(b"not a memory\n" + lines)
    status, out_text, _ = run("import", str(file), "--kind", "memories")
    assert status == 1
    assert [problem["line"] for problem in json.loads(out_text)["rejected"]] == [1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("search", "--query", "x", "--limit", "0"), "limit"),
        (("search", "--query", "x", "--token", "wrong"), "unauthorized"),
        (("search", "--query", "x", "--token", "one", "--user", "bob"), "forbidden"),
        (("search", "--query", "x", "--token", "one", "--user", "a b"), "X-OpenViking-User"),
        (("search", "--query", "x", "--token", "schlüssel"), "ASCII"),
        (("search", "--query", "x", "--url", "nowhere"), "no http address"),
        (("search", "--query", " "), "--query is empty"),
        (("remember", "--content", ""), "text"),
        (("remember", "--content", "bad \udcff byte"), "--content is not UTF-8"),
        (("ls", "viking://~/memories/nowhere"), "nothing at this URI"),
        (("import", "/no/such/file"), "/no/such/file"),
        (("forget", "--id", "m_nobody"), "not_found"),
        (("forget", "--query", " "), "exactly one selection"),
    ],
)
def test_an_error_is_one_line_that_names_what_is_wrong(run: Run, arguments: tuple[str, ...], said: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert err.startswith(f"openviking-sidecar {arguments[0]}: ")
    assert err.count("\n") == 1
    assert said in err
    assert "Traceback" not in err


def test_nobody_there_is_said(run: Run) -> None:
    status, _, err = run("search", "--query", "x", "--url", f"http://127.0.0.1:{free_port()}")
    assert status == 1
    assert "no sidecar answers at" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("search",),
        ("remember",),
        ("forget",),
        ("forget", "--id", "m_1", "--query", "x"),
        ("import",),
        ("forget", "--last-days", "nan"),
        ("forget", "--last-days", "inf"),
    ],
)
def test_bad_usage_exits_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    assert exited.value.code == 2
    capsys.readouterr()
