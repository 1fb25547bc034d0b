import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.gate import EVIDENCE_CHARS, THRESHOLD, judge_task
from app.core.gate.signs import HEAD_CHARS, TAIL_CHARS, Sign
from tests.unit import gate_examples as examples

TASKS = [
    *examples.TASKS_EN,
    *examples.TASKS_ZH,
    *examples.TASKS_MIXED,
    *examples.MORE_TASKS,
    *examples.FRESH_TASKS,
    *examples.WAYS_TO_ASK,
]
NOT_TASKS = [
    *examples.NOT_TASKS_EN,
    *examples.NOT_TASKS_ZH,
    *examples.NOT_TASKS_MIXED,
    *examples.MORE_NOT_TASKS,
    *examples.FRESH_NOT_TASKS,
    *examples.WAYS_TO_TELL,
]


@pytest.mark.parametrize("text", TASKS)
def test_what_asks_for_an_act_is_a_task(text: str) -> None:
    assert judge_task(text).passes


@pytest.mark.parametrize("text", NOT_TASKS)
def test_what_asks_for_no_act_is_no_task(text: str) -> None:
    assert not judge_task(text).passes


@pytest.mark.parametrize(
    ("sign", "value", "text"),
    [
        (Sign.SIDE_EFFECT, 3, "Deploy the shop to staging"),
        (Sign.SIDE_EFFECT, 3, "把商店部署到预发"),
        (Sign.EXECUTION, 2, "Run the smoke checks"),
        (Sign.EXECUTION, 2, "跑一下冒烟测试"),
        (Sign.FAILURE, 2, "the importer threw an exception"),
        (Sign.FAILURE, 2, "导入报错"),
        (Sign.OBJECT, 2, "src/shop/cart.py"),
        (Sign.OBJECT, 2, "登录接口"),
        (Sign.EXPERIENCE, 1, "any pitfalls here"),
        (Sign.EXPERIENCE, 1, "有什么踩坑经验"),
        (Sign.CHAT, -3, "tell me a joke"),
        (Sign.CHAT, -3, "讲个笑话"),
        (Sign.GIVEN_TEXT, -4, "translate this sentence into Greek"),
        (Sign.GIVEN_TEXT, -4, "总结一下刚才的对话"),
        (Sign.KNOWLEDGE, -3, "What is a monad?"),
        (Sign.KNOWLEDGE, -3, "什么是单子？"),
    ],
)
def test_the_documented_table_holds_and_names_its_reason(sign: Sign, value: int, text: str) -> None:
    points = {point.reason: point.value for point in judge_task(text).points}
    assert points.get(sign.reason) == value == sign.points


def test_code_is_shown_as_the_whole_word_that_it_stands_in() -> None:
    evidence = {point.evidence for point in judge_task("Rename src/shop/cart_items.py today").points}
    assert "src/shop/cart_items.py" in evidence


def test_the_score_is_the_sum_of_its_points() -> None:
    judged = judge_task("The build fails on main, please fix the Makefile.")
    assert judged.score == sum(point.value for point in judged.points) >= THRESHOLD


@pytest.mark.parametrize(
    ("task", "tale"),
    [
        ("Fix the login page.", "I fixed the login page."),
        ("Could you fix a login page?", "How do I fix a login page?"),
        ("把旧日志删了", "我把旧日志删了"),
        ("帮我修好登录页", "谢谢你帮我修好登录页"),
        ("Remind me to call Ben tomorrow", "Remind me what we said about Ben"),
        ("Rewrite the parser module", "Rewrite this sentence about the parser module"),
        ("查一下服务器为什么变慢了", "服务器为什么会变慢？"),
        ("Plug the gap in the wall", "She saw the gap in the wall"),
        ("Could you flumox the gate?", "Could you imagine the gate?"),
        ("帮我焙一下豆子", "帮我讲一下豆子"),
        ("把新版本推上去", "刚把新版本推上去"),
    ],
)
def test_mood_decides_not_the_words(task: str, tale: str) -> None:
    assert judge_task(task).passes
    assert not judge_task(tale).passes


@pytest.mark.parametrize(
    "wrapped", ["Translate into Greek: {}", "把下面的话翻译成英文：{}", 'Why did he write "{}" on the wall?']
)
def test_an_order_in_quoted_or_given_text_is_no_order(wrapped: str) -> None:
    order = "Delete the old database and restart the server"
    assert judge_task(order).passes
    assert not judge_task(wrapped.format(order)).passes


@pytest.mark.parametrize("request_", ["fix this please", "帮我修复一下"])
def test_a_request_is_found_before_and_after_a_long_paste(request_: str) -> None:
    paste = "2024-03-05 09:12:33 ERROR pool exhausted\n" * 1000
    assert judge_task(f"{request_}\n{paste}").passes
    assert judge_task(f"{paste}\n{request_}").passes


def test_the_middle_of_a_long_text_is_not_read() -> None:
    padding = "word " * HEAD_CHARS
    assert judge_task(padding + "delete the file" + padding) == judge_task(padding + padding)
    assert HEAD_CHARS + TAIL_CHARS <= 4000


@given(st.text(max_size=6000))
def test_any_text_gets_a_score_with_short_evidence(text: str) -> None:
    judged = judge_task(text)
    assert judged.score == sum(point.value for point in judged.points)
    assert all(len(point.evidence) <= EVIDENCE_CHARS for point in judged.points)
    assert judge_task(text) == judged


PIECES = [
    "把",
    "给",
    "帮我",
    "了",
    "吗",
    "？",
    "，",
    "could you ",
    "please ",
    "and ",
    "fix ",
    "the ",
    "a_",
    "/",
    "`",
    '"',
    "\n",
    "“",
    "is ",
    "my ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=2000))
def test_pieces_of_requests_in_any_order_get_a_score(pieces: list[str]) -> None:
    assert isinstance(judge_task("".join(pieces)).score, int)
