"""The published examples are what the service answers."""

from app.api.examples import ANSWERS, REQUESTS
from app.tools import TOOLS
from tests.examples import comparable, played


def test_the_published_answers_are_those_of_the_service() -> None:
    answers = played()
    assert comparable(answers) == comparable(ANSWERS), "run make openapi"
    assert all("errors" in ANSWERS[name] for name in REQUESTS if name == "problem")


def test_the_published_answers_show_what_the_endpoints_are_for() -> None:
    assert ANSWERS["after-turn"]["status"] == "committed"
    assert ANSWERS["compact"]["result"]["details"]["extracted"] is True
    assert ANSWERS["assemble"]["recall"]["items"]
    assert ANSWERS["assemble-preflight"]["status"] == "assembled"
    assert ANSWERS["tools-ov_archive_search"]["details"]["matches"]
    assert ANSWERS["memories-import"] == {"imported": 1, "skipped": 0, "rejected": []}
    assert ANSWERS["memories-read"]["history"] and ANSWERS["memories-change"]["version"] == 3
    assert ANSWERS["memories-list"]["memories"][0]["id"] == ANSWERS["memories-read"]["id"]
    assert ANSWERS["memories-forget"]["removed"]["memories"] == 1 and ANSWERS["audit"]["entries"]
    tools = {name.removeprefix("tools-"): answer for name, answer in ANSWERS.items() if name.startswith("tools-")}
    assert set(tools) == {tool.name for tool in TOOLS} and all(answer["ok"] for answer in tools.values())
    assert not [name for name, answer in ANSWERS.items() if "errors" in answer and name != "problem"]
