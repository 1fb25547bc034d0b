"""Documents cut into passages: at their own borders, and so that a passage tells what it is about."""

from app.documents.chunking import MAX_HEAD_CHARS, PASSAGE_CHARS, SECTION_CHARS, WHOLE_CHARS, passages
from app.documents.parsed_document import Section


def cut(text: str) -> list[str]:
    return [one.text for one in passages("a.md", [Section(("Title",), text)])]


def test_a_short_section_stays_whole() -> None:
    text = "\n\n".join(["A sentence of some length."] * (SECTION_CHARS // 30))
    assert cut(text) == [text]


def test_a_paragraph_stays_whole_up_to_its_limit() -> None:
    paragraph = "A line of a paragraph that goes on and on.\n" * (WHOLE_CHARS // 50)
    assert paragraph.strip() in cut(f"Before.\n\n{paragraph}\nAfter." + "\n\nMore to say." * 20)


def test_each_part_of_a_table_has_its_head() -> None:
    head = "| setting | meaning |\n| --- | --- |"
    rows = [f"| `SETTING_{n}` | What number {n} is for, and a few words more. |" for n in range(60)]
    found = cut("Settings:\n\n<!-- made -->\n" + "\n".join([head, *rows]))
    assert len(found) > 3
    assert all(part.count(head) == 1 and len(part) <= PASSAGE_CHARS + 100 for part in found)
    assert [row for part in found for row in part.split("\n") if row.startswith("| `")] == rows


def test_a_long_head_is_not_repeated() -> None:
    titles = "| " + "x" * MAX_HEAD_CHARS + " |"
    found = cut("\n".join([titles, "| --- |", *(f"| row {n} {'y' * 80} |" for n in range(30))]))
    assert len(found) > 2 and sum(part.count(titles) for part in found) == 1


def test_items_of_a_list_are_not_cut() -> None:
    items = [f"- Item {n} says something,\n  and goes on in another line with more of it." for n in range(30)]
    found = cut("\n".join(items))
    assert len(found) > 2
    assert all(sum(item in part for part in found) == 1 for item in items)


def test_a_table_of_any_size_is_cut_in_linear_time() -> None:
    head = "| " + "t" * (MAX_HEAD_CHARS - 20) + " |\n| - |\n"
    found = cut(head + "| r |\n" * 200_000)
    assert sum(map(len, found)) < 3 * 200_000 * len("| r |\n")
