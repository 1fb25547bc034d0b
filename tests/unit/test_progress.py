"""The bar of an upload: on a terminal alone, within its width, and gone when it is over."""

import io

import pytest

from app.commands.progress import Progress, Watched


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_grows_with_what_is_sent_and_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    terminal = Terminal()
    with Progress("n" * 200, 1000, terminal) as progress:
        file = Watched(io.BytesIO(b"x" * 1000), progress)
        while file.read(250):
            pass
        progress.says("is being taken in")
    drawn = terminal.getvalue().split("\r")
    assert [line.rpartition(" ")[2].strip() for line in drawn if "%" in line] == ["25%", "50%", "75%"]
    assert all(len(line) <= 60 for line in drawn)
    assert "is being taken in" in terminal.getvalue() and drawn[-2].strip() == "" and drawn[-1] == ""


def test_nothing_is_drawn_where_nobody_looks() -> None:
    out = io.StringIO()
    with Progress("guide.md", 10, out) as progress:
        progress.sent(5)
        progress.says("is being taken in")
    assert out.getvalue() == ""
