"""Documents and skills on the command line, against a running sidecar."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from app.cli import main
from app.settings import Settings
from tests.http.test_mcp import served
from tests.http.test_resources import GUIDE, OTHER, SKILL

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("commands") / "data", log_level="error")
    with served(settings) as address:
        yield address.removesuffix("/mcp")


@pytest.fixture
def run(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Commands to the shared sidecar, for a user of whom nothing is known yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIDECAR_PORT", url.rpartition(":")[2])
    user = f"person-{uuid4().hex[:12]}"

    def command(*arguments: str) -> tuple[int, str, str]:
        status = main([*arguments, "--account", "acme", "--user", user])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return command


def answered(result: tuple[int, str, str]) -> Any:
    status, out, err = result
    assert (status, err) == (0, "")
    return json.loads(out)


def folder(root: Path, **files: str) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_a_folder_is_imported_found_and_imported_again(run: Run, tmp_path: Path) -> None:
    handbook = folder(
        tmp_path / "hand book",
        **{"guide.md": GUIDE, "sub/canteen.md": OTHER, "sub/.gitignore": "draft.md", "sub/draft.md": "Secret plans."},
    )
    [imported] = answered(run("import", str(handbook), "--wait"))["imported"]
    assert (imported["uri"], imported["status"]) == ("viking://~/resources/hand book", "ready")
    [found] = answered(run("search-docs", "how do I go back to the release before?"))["resources"]
    assert found["passages"][0]["place"] == "guide.md > Atlas guide > Rollback"
    status, lines, _ = run("search-docs", "how do I go back to the release before?", "--text")
    assert status == 0 and lines.startswith(
        "guide.md > Atlas guide > Rollback  viking://~/resources/hand book/guide.md"
    )
    assert "    To go back to the release before, run `atlas rewind`" in lines
    assert "Secret plans" not in run("search-docs", "secret plans")[1]
    status, again, _ = run("import", str(handbook), "--wait", "--text")
    assert (status, again) == (0, "ready  viking://~/resources/hand book (nothing has changed)\n")


def test_files_and_skills(run: Run, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    [imported] = answered(run("import", "guide.md", "--to", "guides/atlas", "--wait"))["imported"]
    assert imported["uri"] == "viking://~/resources/guides/atlas"
    folder(tmp_path / "deploy", **{"SKILL.md": SKILL, "scripts/check.sh": "echo smoke"})
    [skill] = answered(run("import", "deploy", "--kind", "skill", "--wait"))["imported"]
    assert skill["uri"] == "viking://~/skills/deploy-check" and skill["kind"] == "skill"
    [found] = answered(run("search-docs", "check a deployment", "--kind", "skill", "--limit", "1"))["skills"]
    assert found["title"] == "deploy-check"


def test_without_waiting_it_is_accepted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    [imported] = answered(run("import", "guide.md"))["imported"]
    assert imported["status"] == "processing" and imported["taskId"]


def test_one_that_fails_keeps_none_of_the_others_from_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    (tmp_path / "logo.png").write_bytes(b"\x89PNG")
    status, out, err = run("import", "logo.png", "guide.md", "nowhere.md", "--wait")
    assert status == 1 and [one["source"] for one in json.loads(out)["imported"]] == ["guide.md"]
    first, second = err.splitlines()
    assert "logo.png: unsupported_type" in first and "nowhere.md can not be imported: No such file" in second


def test_what_export_printed_is_known_by_how_it_begins(run: Run, tmp_path: Path, url: str) -> None:
    line = '{"id": "m_1", "category": "notes", "text": "Mia rides a bicycle.", "createdAt": "2026-01-01T00:00:00Z"'
    (tmp_path / "memories.txt").write_text(line + ', "updatedAt": "2026-01-01T00:00:00Z"}\n')
    assert answered(run("import", "memories.txt"))["imported"] == 1
    [as_document] = answered(run("import", "memories.txt", "--kind", "resource", "--wait"))["imported"]
    assert as_document["uri"] == "viking://~/resources/memories.txt"
    assert "by itself" in run("import", "memories.txt", "memories.txt")[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("import", "nowhere"), "nowhere can not be imported: No such file"),
        (("import", "empty"), "empty can not be imported: it holds nothing to be imported"),
        (("import", "large.md"), "SIDECAR_LIMITS__MAX_BODY_BYTES leaves room for"),
        (("import", "large.md", "empty", "--to", "x"), "--to names one place"),
        (("import", "small.md", "--to", "../up"), "invalid_request"),
        (("import", "small.md", "--kind", "skill"), "resource_refused: a skill has a SKILL.md"),
        (("import", "http://127.0.0.1/secret"), "url_refused"),
        (("import", "https://example.org/repository.git"), "url_refused"),
        (("import", "a\0b"), "null"),
        (("search-docs", " "), "QUERY must say something"),
    ],
)
def test_an_error_is_one_line_that_names_what_is_wrong(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "large.md").write_text("x" * 20_000)
    (tmp_path / "small.md").write_text("Small.")
    monkeypatch.setenv("SIDECAR_LIMITS__MAX_BODY_BYTES", "16000")
    status, out, err = run(*arguments)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"openviking-sidecar {arguments[0]}: ") and said in err


def test_a_sidecar_that_takes_less_says_so_itself(run: Run, tmp_path: Path, url: str) -> None:
    (tmp_path / "large.md").write_bytes(b"x" * 33 * 1024 * 1024)
    status, _, err = run("import", "large.md", "--url", url)
    assert status == 1 and "body_too_large" in err
