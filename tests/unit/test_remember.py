"""When a user asks to remember something."""

import pytest

from app.text.remember import asks_to_remember


@pytest.mark.parametrize(
    "text",
    [
        "Remember that I prefer tabs.",
        "please remember: the server is called ada",
        "Thanks. Remember this for later",
        "can you remember my birthday, 4 May?",
        "Don't forget that staging is read-only",
        "Don’t forget that staging is read-only",
        "Keep in mind the freeze on Friday",
        "make a note that Bob is away",
        "Note that project X is on hold",
        "记住我喜欢深色模式",
        "请记住，服务器叫ada",
        "帮我记一下：周五发布",
        "别忘了周三的会",
        "下次不要再让我确认了",
        "请记得用中文回复",
    ],
)
def test_requests_are_heard(text: str) -> None:
    assert asks_to_remember(text)


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember what we said?",
        "I remember that day",
        "remember when we met?",
        "What does `remember this` do?",
        "```\nremember that x = 1\n```",
        "> remember this\nwhy does the prompt say so?",
        "我记住了",
        "你还记得我的名字吗",
        "hello",
        "",
    ],
)
def test_mentions_are_not(text: str) -> None:
    assert not asks_to_remember(text)
