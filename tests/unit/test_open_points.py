"""What is still open in a text."""

import pytest

from app.core.history.open_points import todos_in

LONG = "The ship went on over the wide sea.\n" * 30_000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# Plan\nDone:\n- [x] parser\n- [ ] writer\n  * [ ] tests\n", ["[ ] writer", "[ ] tests"]),
        ("All is well.\nTODO: rename the module", ["TODO: rename the module"]),
        (f"{LONG}- [ ] the end of a long text", ["[ ] the end of a long text"]),
        (f"TODO: far above what is read\n{LONG}FIXME here", ["FIXME here"]),
        ("第一步完成了。\n下一步:部署", ["下一步:部署"]),
        (f"TODO {'x' * 10_000_000}", []),
        ("\n" * 100_000 + "- [ ] behind empty lines", ["[ ] behind empty lines"]),
        ("a - [ ] is no list item", []),
        ("", []),
    ],
    ids=[
        "checkboxes",
        "second line",
        "tail",
        "head and tail",
        "chinese",
        "one line",
        "empty lines",
        "inside",
        "nothing",
    ],
)
def test_what_a_text_notes_to_be_done(text: str, found: list[str]) -> None:
    assert list(todos_in(text)) == found
