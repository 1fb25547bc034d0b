"""What a message asks to remember, as statements of their own."""

import pytest

from app.core.memories.told import told


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("Remember that I am vegan.", ["I am vegan."]),
        ("Thanks! Please remember that my gate code is 4711. Now fix a.py.", ["my gate code is 4711."]),
        ("Don't forget that staging is read-only.", ["staging is read-only."]),
        ("记住我喜欢深色模式。", ["我喜欢深色模式。"]),
        ("请记住，服务器叫ada", ["服务器叫ada"]),
        ("Use tabs. Never ask me about that again.", ["Use tabs. Never ask me about that again."]),
        ("Don't ask me for confirmation again.", ["Don't ask me for confirmation again."]),
        ("用中文回答。以后不要再问我了。", ["用中文回答。 以后不要再问我了。"]),
        ("What does `remember that x` do?", []),
        ("> remember that I am vegan\nwhy?", []),
        ("```\nremember that x = 1\n```", []),
        ("Do you remember what we said?", []),
        ("Remember to buy milk.", []),
        ("Remember this for later.", []),
        ("Did they ask again?", []),
        ("hello", []),
        ("", []),
    ],
)
def test_told(text: str, statements: list[str]) -> None:
    assert list(told(text)) == statements
