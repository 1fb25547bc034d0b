"""Which outputs of a tool say that it failed, and what is learnt from them."""

import pytest

from app.core.capture.captured_message import CapturedMessage, Part, TextPart, ToolPart
from app.core.capture.tool_outcomes import says_failed
from app.core.history.digest import digest
from app.core.recall.hits import Hit
from app.embedded.extraction.experience_rules import experiences_in
from app.openviking.session_messages import to_wire
from app.recall.experience_format import render_experience


@pytest.mark.parametrize(
    "output",
    [
        "make: *** [test] Error 2\n\n(Command exited with code 2)",
        "(Command exited with code 2)",
        "Command exited with code 127",
        "Exit code: 1\nWall time: 0.2 seconds\nOutput:\nno such file",
        "boom\nexit status 1",
        "boom\nProcess exited with code 137.",
        "boom\n[process exited with code 1]",
        "fatal: no remote\nexit_code=128",
        "Error: Command failed with exit code 3",
        "oops\nscript returned exit code 1",
        "half of it\n(Command timed out after 30 seconds)",
        "(Command aborted by signal SIGKILL)",
        "找不到文件\n命令以退出码 2 退出",
    ],
)
def test_a_failure_that_only_the_text_tells(output: str) -> None:
    assert says_failed(output)
    assert says_failed("x" * 5000 + "\n" + output) or output.startswith("Exit code")


@pytest.mark.parametrize(
    "output",
    [
        "",
        "all tests passed",
        "ok\n(Command exited with code 0)",
        "Exit code: 0\nOutput:\nError: none",
        "12:00 job exited with code 2\n12:01 job restarted\n12:02 all is well",
        "def main():\n    sys.exit(1)",
        "The docs say that exit code 2 means a usage error.",
        "status: 200",
        "country code: 44 and more",
    ],
)
def test_other_outputs_are_no_failure(output: str) -> None:
    assert not says_failed(output)


def said(number: int, *parts: Part | str, role: str = "user") -> CapturedMessage:
    return CapturedMessage(
        "assistant" if role == "assistant" else "user",
        tuple(TextPart(part) if isinstance(part, str) else part for part in parts),
        "2026-03-04T09:00:00+00:00",
        f"t_a.{number}",
    )


ERROR = "error: lockfile out of date, run npm install first"
FAILED = ToolPart("1", "exec", {"command": "npm run build"}, f"> build\n{ERROR}\n\n(Command exited with code 2)")
WORKED = ToolPart("2", "exec", {"command": "npm install && npm run build"}, "built in 3 s")


def test_a_command_that_exits_badly_is_an_error_on_both_backends() -> None:
    assert FAILED.failed
    assert "failed" in digest([said(0, FAILED, role="assistant")], 500)
    assert to_wire(said(0, FAILED, role="assistant"))["parts"][0]["tool_status"] == "error"


def test_an_experience_names_the_error_once() -> None:
    told = f"It says: {ERROR}. The cause is a stale lockfile, so I install first."
    turn = [said(0, "build the shop please"), said(1, FAILED, told, WORKED, role="assistant")]
    (experience,) = experiences_in(turn)
    assert experience.text.count(ERROR) == 1
    assert "npm install && npm run build" in experience.text
    shown = render_experience(Hit("viking://~/memories/experiences/build.md", experience.text, 0.9, "experiences"))
    assert shown.count(ERROR) == 1
    trigger = shown.split("Trigger:\n")[1].split("\nDo:")[0]
    scope = shown.split("Scope:\n")[1].split("\nCheck:")[0]
    assert trigger == f"- When this error appears: {ERROR}"
    assert scope == "- while working on: build the shop please"


def test_an_error_that_a_person_reports_is_named_once() -> None:
    turn = [
        said(0, f"The build of the shop stops. {ERROR}"),
        said(1, f"{ERROR} means that the lockfile is stale. Run `npm install`.", role="assistant"),
        said(2, "great, it works now"),
    ]
    (experience,) = experiences_in(turn)
    assert experience.text.count(ERROR) == 1


def test_another_command_that_works_is_no_fix() -> None:
    listed = ToolPart("2", "exec", {"command": "ls -la"}, "total 0")
    assert list(experiences_in([said(0, "build it"), said(1, FAILED, listed, role="assistant")])) == []
