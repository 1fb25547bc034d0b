# ruff: noqa: E501 (one example, one line)
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.classify.fillers import MAX_FILLER_CHARS, is_no_query, no_query_reason

FILLERS = [
    "hi", "Hello!", "hey there :)", "good morning", "Good evening, everyone", "yo", "thanks!", "Thank you so much for your help", "thx", "ty!!", "ok", "OK.", "okay then", "k", "sure, sounds good",
    "got it, thanks", "great", "perfect, thank you", "no worries", "lol", "hahahaha", "hmm", "hmmmmm", "yes", "yep yep", "no thanks", "nope", "nevermind", "continue", "Continue.", "please continue",
    "go on", "keep going", "next", "and then?", "are you there?", "you there?", "still there?", "good night!", "see you tomorrow", "bye bye", "wow, amazing", "LGTM", "np", "cool cool", "that's all for now",
    "that works, thanks a lot", "sorry", "oops, my bad", "you too", "well done!", "love it", "one sec", "wait", "try again", "retry", "yes please", "ok go ahead", "hello? anyone there?", "what's up", "how are you?",
    "你好", "您好！", "在吗？", "在不在", "早上好", "晚安", "谢谢", "谢谢你！", "多谢多谢", "好的", "好的，谢谢", "好的好的", "嗯嗯", "嗯，好", "收到", "收到，辛苦了", "明白了", "懂了懂了", "知道了，谢谢老师", "行吧", "可以可以",
    "没问题", "没事", "哈哈哈哈哈", "666", "继续", "请继续", "接着说", "然后呢？", "再来一次", "算了", "不用了，谢谢", "辛苦啦", "太棒了！", "厉害厉害", "对对对", "是的", "不是", "好嘞", "OK的", "ok，收到", "拜拜", "明天见",
    "I'll remember that.", "Got it, I'll keep that in mind.", "I've noted that, good choice!", "好的，我记住了。", "收到，已记录。",
    "嗨，在吗", "你好啊，早", "okk 谢谢", "thanks 啦", "好的 thanks", "hello 你好", "👍", "🙏🙏", "😂😂😂", "...", "?", "？？？", "!!!", "。", "👍 thanks", "好的👌", "/new", "/reset", "/status", "/model gpt", "/think high", "", "   ", "\n\n",
    "Continue where you left off. The previous model attempt failed or timed out.", "[OpenClaw heartbeat poll]", "[Request interrupted by user]",
    "The previous attempt failed. Please continue.", "HEARTBEAT_OK",
]  # fmt: skip

QUERIES = [
    "hi, where is my passport?", "hello, did Anna call?", "thanks! and the wifi password?", "ok, now the invoice", "Oslo", "my dentist", "wifi password", "passport number", "Tom's birthday?", "who is Ines?", "the blue car", "rent?",
    "continue with the migration", "go on about the trip to Rome", "next train to Bern", "any update on the parcel?", "thanks for the recipe, how long in the oven?", "postgres port", "error 502", "staging url", "good morning, what's on my calendar",
    "more coffee beans", "yes, the red one from Lyon", "no, Thursday", "/search passport", "/recall dentist", "see you at the station at nine", "404?", "HDMI", "k8s", "the usual table", "where did we park", "my size in shoes", "bye, and don't forget milk", "kids' school",
    "你好，我的护照在哪", "谢谢，那快递呢？", "好的，发票号是多少", "房租", "生日", "密码是多少", "小王电话", "继续写周报", "接着说上次的旅行", "车位号", "停车场在哪", "明天的会", "妈妈的药", "早上好，今天有什么安排", "收到，地址发我", "嗯，就选杭州那家",
    "行，订靠窗的", "再来一杯拿铁", "牙医", "上次那家面馆", "老地方", "猫粮", "服务器 ip", "wifi 密码", "hello 小王的电话", "在吗，帮我看看合同", "哈哈，那只猫叫什么", "谢谢！对了，体检报告", "🙏 passport", "🎂 Anna?", "好的👌 合同编号",
]  # fmt: skip


@pytest.mark.parametrize("text", FILLERS)
def test_what_names_nothing_is_no_query(text: str) -> None:
    assert is_no_query(text)


@pytest.mark.parametrize("text", QUERIES)
def test_what_names_something_is_a_query_however_short(text: str) -> None:
    assert not is_no_query(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" \n", "empty"),
        ("👍!", "symbols"),
        ("/new", "command"),
        ("thanks a lot", "filler"),
        ("Continue where you left off. The previous model attempt failed or timed out.", "wrapper"),
        ("wifi password", None),
    ],
)
def test_the_reason_is_named(text: str, reason: str | None) -> None:
    assert no_query_reason(text) == reason


def test_a_long_text_is_never_filler() -> None:
    assert not is_no_query("好的" * MAX_FILLER_CHARS)


@given(st.text(max_size=400))
def test_any_text_gets_an_answer(text: str) -> None:
    reason = no_query_reason(text)
    assert is_no_query(text) == (reason is not None)
    assert reason in {None, "wrapper"} or len(text.strip()) <= MAX_FILLER_CHARS


@given(
    st.lists(st.sampled_from(["ok", "好的", "thanks", "嗯", "hi", "继续"]), min_size=1, max_size=12),
    st.sampled_from([" ", ", ", "! ", "，"]),
)
def test_fillers_in_any_order_stay_filler(words: list[str], separator: str) -> None:
    assert is_no_query(separator.join(words))


@given(
    st.sampled_from(["hi ", "ok, ", "好的，", "thanks! ", "👍 "]),
    st.sampled_from(["passport", "房租", "Oslo", "wifi password"]),
)
def test_a_greeting_in_front_hides_nothing(greeting: str, name: str) -> None:
    assert not is_no_query(greeting + name)
