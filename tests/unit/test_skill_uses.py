"""What is remembered of skills: uses, how they went, examples, advice, and what mends their errors."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.capture.skill_uses import (
    MAX_EXAMPLES,
    MAX_SKILLS,
    SkillRecord,
    skill_joined,
    skill_texts,
    skill_without,
    skills_in,
    turns_in,
)
from app.core.messages.skill_files import skill_read

AT = "2026-11-22T10:00:00.000Z"


def user(text: str, at: str = AT) -> CapturedMessage:
    return CapturedMessage("user", (TextPart(text),), at)


def did(*parts: ToolPart) -> CapturedMessage:
    return CapturedMessage("assistant", parts, AT)


def read(skill: str, output: str | None = "# How to", *, failed: bool = False) -> ToolPart:
    return ToolPart("r", "read", {"path": f"/w/skills/{skill}/SKILL.md"}, output, failed)


def call(output: str = "ok", *, failed: bool = False, **arguments: Any) -> ToolPart:
    return ToolPart("c", "shell", arguments, output, failed)


def learnt(*messages: CapturedMessage) -> dict[str, SkillRecord]:
    return {one.skill: one for one in skills_in(turns_in(messages))}


def test_a_use_is_what_follows_the_reading_until_the_user_speaks_again() -> None:
    record = learnt(
        user("Make the Q3 slides. Remember: always end with a summary slide."),
        did(read("slides"), call("Error: image over 10 MB", failed=True, image="big.png"), call(image="small.png")),
        user("Thanks. And what is the time?"),
        did(call(zone="CET")),
    )["slides"]
    assert (record.uses, record.failures) == (1, 0)
    [example] = record.examples
    assert example.at == AT and example.task.startswith("Make the Q3 slides.")
    assert list(record.told) == ["always end with a summary slide."]
    assert record.habits == {"shell: image=small.png": 1}
    [(error, found)] = record.errors.items()
    assert error == "shell: Error: image over # MB" and dict(found.fixes) == {"image=small.png": 1}


def test_a_use_whose_last_call_failed_is_a_failure() -> None:
    record = learnt(user("Make slides."), did(read("slides"), call(a="1"), call("Error: no", failed=True)))["slides"]
    assert (record.uses, record.failures, record.examples, record.habits) == (1, 1, (), {})


@pytest.mark.parametrize(
    "part", [read("slides", failed=True), read("slides", None), read("slides", "cat: no\n(Command exited with code 1)")]
)
def test_a_skill_that_could_not_be_read_was_not_used(part: ToolPart) -> None:
    assert learnt(user("Make slides."), did(part, call())) == {}


def test_skills_that_are_read_together_are_used_together_and_one_read_later_by_itself() -> None:
    failing = call("Error: no", failed=True)
    told = learnt(user("Go."), did(read("one"), read("two"), call(), read("three"), failing))
    assert {name: (one.uses, one.failures) for name, one in told.items()} == {
        "one": (1, 0),
        "two": (1, 0),
        "three": (1, 1),
    }


@pytest.mark.parametrize(
    ("name", "arguments", "skill"),
    [
        ("read", {"path": "skills/slides/SKILL.md", "offset": 3}, "slides"),
        ("exec", {"command": "cat skills/slides/SKILL.md | head -50"}, "slides"),
        ("exec", {"command": 'cat "/w/skills/my slides/SKILL.md"'}, "my slides"),
        ("tool_call", {"id": "read", "args": {"path": "/w/skills/slides/SKILL.md"}}, "slides"),
        ("write_file", {"path": "skills/slides/SKILL.md", "content": "x"}, ""),
        ("tool_call", {"id": "edit", "args": {"path": "/w/skills/slides/SKILL.md"}}, ""),
        ("read", {"path": "skills/slides/SKILL.md.bak"}, ""),
        ("read", None, ""),
    ],
)
def test_any_tool_that_reads_it_counts(name: str, arguments: Any, skill: str) -> None:
    assert skill_read(name, arguments) == skill


parts = st.one_of(
    st.sampled_from(["a", "b", "c"]).map(read),
    st.builds(call, failed=st.booleans(), size=st.sampled_from(["1", "2"])),
)
conversations = st.lists(st.tuples(st.text(max_size=20), st.lists(parts, max_size=6)), max_size=12)


@given(conversations, st.integers(0, 12))
def test_uses_are_counted_exactly_and_add_up(said: list[Any], cut: int) -> None:
    messages = [one for text, made in said for one in (user(f"x{text}"), did(*made))]
    whole, head, tail = learnt(*messages), learnt(*messages[: 2 * cut]), learnt(*messages[2 * cut :])
    for name in {*whole, *head, *tail}:
        uses = sum(any(part == read(name) for part in made) for _, made in said)
        sides = [side[name] for side in (head, tail) if name in side]
        both = skill_joined(sides[0], sides[1]) if len(sides) == 2 else sides[0]
        assert both.uses == whole[name].uses == uses
        assert both.failures == whole[name].failures <= uses and len(both.examples) <= MAX_EXAMPLES
        assert SkillRecord.from_json(json.loads(json.dumps(both.to_json()))) == both


def test_what_is_learnt_of_a_turn_is_bounded() -> None:
    many = [read(f"s{number}") for number in range(3 * MAX_SKILLS)]
    assert len(learnt(user("All of them."), did(*many, call()))) == MAX_SKILLS


def test_the_newest_examples_stay_in_order() -> None:
    days = [f"2026-11-{day:02d}T10:00:00.000Z" for day in range(1, 10)]
    record = learnt(*(one for day in days for one in (user(f"Slides of {day}.", day), did(read("slides"), call()))))
    shown = [one.at for one in record["slides"].examples]
    assert shown == days[-MAX_EXAMPLES:] and all(one < other for one, other in pairwise(shown))


def test_texts_can_be_taken_out_and_counts_stay() -> None:
    record = learnt(
        user("Make the zebra slides. Remember that zebra slides have stripes."),
        did(read("slides"), call("Error: zebra", failed=True, word="zebra"), call(word="lark")),
    )["slides"]
    left = skill_without(record, frozenset(text for text in skill_texts(record) if "zebra" in text))
    assert left.uses == 1 and not any("zebra" in text for text in skill_texts(left))
    assert list(left.habits) == ["shell: word=lark"]


def test_an_example_tells_whole_sentences() -> None:
    long = "Elena Kowalska of Baker Street is my mother and she was born in Krakow in May near the river " * 2

    def told(task: str) -> list[str]:
        return [one.task for one in learnt(user(task), did(read("slides"), call()))["slides"].examples]

    assert told(f"Make the slides.\n\nFor June. {long}.") == ["Make the slides. For June."]
    assert told(long) == []
