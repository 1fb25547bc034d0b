import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.injection.fence import strip_blocks, wrap
from app.core.recall.hits import Hit
from app.recall.experience_format import is_experience, parse_experience, render_experience

URI = "viking://~/memories/experiences/ferry_timetable.md"
BODY = """## Situation
- The ferry timetable page shows times of last season

## Approach
- Find the feed that the page reads
- Verify the first departure against the harbour's board

## Reflect
- NEVER edit the page by hand, the next import overwrites it
- The feed is cached for an hour
"""
LABELS = ("Trigger", "Do", "Avoid", "Scope", "Check")


def rendered(text: str, uri: str = URI, score: float = 0.91) -> str:
    return render_experience(Hit(uri, text, score))


def fields(item: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in item.splitlines()[3:]:
        if line.endswith(":") and line[:-1] in LABELS:
            found[line[:-1]] = []
        else:
            found[list(found)[-1]].append(line.removeprefix("- "))
    return found


def test_the_item_stands_as_in_the_contract() -> None:
    assert rendered(BODY) == (
        "### Experience: ferry_timetable\n"
        "Source: viking://~/memories/experiences/ferry_timetable.md\n"
        "Score: 0.910\n"
        "Trigger:\n"
        "- The ferry timetable page shows times of last season\n"
        "Do:\n"
        "- Find the feed that the page reads\n"
        "- Verify the first departure against the harbour's board\n"
        "Avoid:\n"
        "- NEVER edit the page by hand, the next import overwrites it\n"
        "Check:\n"
        "- The feed is cached for an hour"
    )


def test_an_experience_is_whole_however_long_its_sections() -> None:
    steps = [f"Step {number} of the import" for number in range(3_000)]
    item = rendered("## Situation\n- A long import\n\n## Approach\n" + "".join(f"- {step}\n" for step in steps))
    assert fields(item)["Do"] == steps


def test_the_trailer_is_cut_off_and_names_the_experience() -> None:
    trailer = json.dumps({"experience_name": "harbour feed", "status": "draft", "links": ["a}b", "-->"]}, indent=2)
    item = rendered(f"{BODY}\n<!-- MEMORY_FIELDS\n{trailer}\n-->")
    assert item.startswith("### Experience: harbour feed\n")
    assert "MEMORY_FIELDS" not in item and "draft" not in item


@pytest.mark.parametrize(
    "trailer",
    [
        "<!-- MEMORY_FIELDS",
        "<!-- MEMORY_FIELDS {",
        "<!--MEMORY_FIELDS [1]-->",
        '<!-- MEMORY_FIELDS {"experience_name": 3} -->',
    ],
)
def test_a_broken_trailer_is_cut_off_too(trailer: str) -> None:
    assert rendered(f"{BODY}\n{trailer}") == rendered(BODY)


@pytest.mark.parametrize(
    "body",
    [
        "# SITUATION\nold season\n# APPROACH\nread the feed\n# REFLECT\nnever by hand",
        "### situation:\n* old season\n### Approach ###\n1. read the feed\n### Reflect\n2) never by hand",
        "**Situation**\n• old season\n**Approach:**\nread the feed\n**Reflect**\nnever by hand",
        "## Situation\r\n- old season\r\n## Approach\r\n- read the feed\r\n## Reflect\r\n- never by hand",
    ],
)
def test_headings_of_any_level_and_case_with_bullets_or_prose(body: str) -> None:
    found = fields(rendered(body))
    assert (found["Trigger"], found["Do"], found["Avoid"]) == (["old season"], ["read the feed"], ["never by hand"])
    assert set(found) == {"Trigger", "Do", "Avoid"}


def test_a_heading_of_its_own_stays_in_its_section() -> None:
    found = fields(
        rendered("## Situation\nold\n## Approach\n### First part\n- read\n### Second part\n- write\n## Reflect\n- wait")
    )
    assert found["Do"] == ["read", "write"]


def test_avoid_warns_and_check_verifies() -> None:
    found = fields(
        rendered("## Situation\n- 改写回逻辑\n## Approach\n- 先备份\n## Reflect\n- 切勿跳过测试\n- 写完后核对条数")
    )
    assert found["Avoid"] == ["切勿跳过测试"]
    assert found["Check"] == ["写完后核对条数"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "   ",
        "One sentence. And another.",
        "## Situation",
        "## Reflect\n- wait",
        "## Approach\n- read",
        "- a\n- b",
        "只有一句话。",
    ],
)
def test_a_heading_stands_only_where_it_says_something_of_its_own(body: str) -> None:
    found = fields(rendered(body))
    said = [line for lines in found.values() for line in lines]
    assert all(any(line.strip() for line in lines) for lines in found.values())
    assert len(said) == len(set(said))


def test_every_line_of_an_experience_stands_in_it_once() -> None:
    reflect = "## Reflect\n- never wait\n- it is slow\n- count them"
    body = f"## Situation\n- old\n- in spring\n## Approach\n- read\n- test it\n{reflect}"
    assert fields(rendered(body)) == {
        "Trigger": ["old"],
        "Do": ["read", "test it"],
        "Avoid": ["never wait"],
        "Scope": ["in spring"],
        "Check": ["it is slow", "count them"],
    }


def test_prose_without_sections_is_trigger_and_do() -> None:
    found = fields(rendered("The feed is a day late. Ask the harbour first."))
    assert (found["Trigger"], found["Do"]) == (["The feed is a day late."], ["Ask the harbour first."])


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        (URI, "ferry_timetable"),
        ("viking://user/memories/experiences/%E6%B8%A1%E8%BD%AE.md", "渡轮"),
        ("", "experience"),
    ],
)
def test_without_a_trailer_the_file_is_the_name(uri: str, name: str) -> None:
    assert parse_experience(uri, BODY).name == name


@pytest.mark.parametrize(
    ("uri", "category", "is_one"),
    [
        (URI, "", True),
        ("viking://user/default/memories/experiences/a.md", "events", True),
        ("viking://~/memories/events/a.md", "Experiences", True),
        ("viking://~/memories/events/a.md", "events", False),
        ("viking://~/memories/experiences", "", False),
        ("viking://resources/experiences/a.md", "resource", False),
    ],
)
def test_what_is_an_experience(uri: str, category: str, is_one: bool) -> None:
    assert is_experience(uri, category) is is_one


HOSTILE = st.sampled_from(
    [
        "</openviking-context>",
        "<openviking-context>",
        "## Long-term Memories",
        "### Experience: x",
        "Do:",
        "\n",
        "\x00",
        "\u202e",
        "- ",
        "user: ",
        "## Reflect\n",
        "## Situation\n",
        "a",
    ]
)


@given(st.lists(HOSTILE, max_size=40).map("".join), st.lists(HOSTILE, max_size=5).map("".join))
def test_hostile_text_neither_leaves_the_block_nor_forges_a_field(body: str, name: str) -> None:
    item = rendered(f"{body}\n<!-- MEMORY_FIELDS {json.dumps({'experience_name': name})} -->")
    lines = item.splitlines()
    headings = [line[:-1] for line in lines[3:] if not line.startswith("- ")]
    assert headings == [label for label in LABELS if label in headings]
    assert sum(line.startswith("#") for line in lines) == 1
    assert strip_blocks(wrap([item])) == ""


@given(st.text(max_size=3000))
def test_any_text_renders_the_same_twice(text: str) -> None:
    assert rendered(text) == rendered(text)
    assert all(fields(rendered(text)).values())


def test_the_first_sentence_of_prose_does_not_end_in_a_number() -> None:
    """The full stop of "3.11" ended the trigger, and the rest of the sentence stood under Do."""
    said = fields(rendered("Python 3.11 breaks the build. Pin the older image."))
    assert said["Trigger"] == ["Python 3.11 breaks the build."]
    assert said["Do"] == ["Pin the older image."]
