"""The README's own lines, as a reader would type them: they work, and what they tell can be forgotten again."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.conftest import Start

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MINE = {"sessionId": "mine", "messages": [{"role": "user", "content": "When does Atlas ship?"}]}


def curls(text: str) -> dict[str, list[str]]:
    """Every curl command to the sidecar in the shell blocks, by its path, cut into words."""
    words = [word for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for word in shlex.split(block, True)]
    starts = [place for place, word in enumerate(words) if word == "curl"]
    commands = [words[start:end] for start, end in zip(starts, [*starts[1:], len(words)], strict=True)]
    return {word.partition(":8787")[2]: command for command in commands for word in command if ":8787/" in word}


def run(client: TestClient, words: list[str], path: str) -> dict[str, Any]:
    headers = dict(words[i + 1].split(": ", 1) for i, word in enumerate(words) if word in ("-H", "--header"))
    data = words[words.index("-d") + 1]
    body = (ROOT / data.removeprefix("@")).read_text(encoding="utf-8") if data.startswith("@") else data
    answer = client.post(path, content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_what_the_readme_tells_is_recalled_and_comes_back_in_nobody_elses_prompt(client: TestClient) -> None:
    first = README[: README.index("## A turn")]
    typed = curls(first)
    assert list(typed) == ["/after-turn", "/assemble"]
    run(client, typed["/after-turn"], "/after-turn")
    assert "Atlas" in run(client, typed["/assemble"], "/assemble")["contextBlock"]
    assert client.post("/assemble", json=MINE).json().get("contextBlock") is None


def test_the_demo_is_forgotten_as_the_readme_says_while_the_service_runs(start: Start) -> None:
    client = start()
    typed = curls(README[: README.index("## A turn")])
    run(client, typed["/after-turn"], "/after-turn")
    assert run(client, typed["/assemble"], "/assemble")["contextBlock"]
    [place] = re.findall(r"^rm -r data/(\S+)", README, re.MULTILINE)
    data_dir: Path = client.app.state.services.settings.data_dir  # type: ignore[attr-defined]
    shutil.rmtree(data_dir / place)
    again = {"sessionId": "later", "messages": [{"role": "user", "content": "When does Atlas ship?"}]}
    demo = {"X-OpenViking-Account": "demo", "X-OpenViking-User": "demo"}
    assert client.post("/assemble", json=again, headers=demo).json().get("contextBlock") is None
    told = {"sessionId": "later", "messages": [{"role": "user", "content": "I prefer tea."}], "wait": True}
    assert client.post("/after-turn", json=told, headers=demo).json()["delivery"] == "delivered"


def test_every_example_that_tells_something_is_the_demos(client: TestClient) -> None:
    for text in (README, (ROOT / "integrations" / "README.md").read_text(encoding="utf-8")):
        for path, words in curls(text).items():
            if "-d" in words:
                assert {"X-OpenViking-Account: demo", "X-OpenViking-User: demo"} <= set(words), path
    document = client.get("/openapi.json").json()["paths"]
    for path in ("/assemble", "/after-turn", "/compact", "/sessions/end", "/sessions/reset"):
        tenant = [each for each in document[path]["post"]["parameters"] if each["name"].startswith("X-OpenViking-")]
        shown = {each["name"]: each["examples"]["demo"]["value"] for each in tenant}
        assert shown == {"X-OpenViking-Account": "demo", "X-OpenViking-User": "demo"}, path


@pytest.mark.parametrize("target", re.findall(r"(?m)(?:^|`|\d )make ([a-z-]+)", README))
def test_each_make_target_of_the_readme_is_there(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
