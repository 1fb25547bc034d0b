"""What a search finds where agents work: long answers, questions that were asked before, months, other speakers."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.identity import SessionKind, Tenant
from app.core.recall.hits import Hit
from app.embedded.backend import open_backend
from app.embedded.space import UserSpace
from app.ports import Target
from app.settings import EmbeddedSettings, EmbedderSettings, Settings
from tests.unit.recalling import someone

NOW = datetime(2026, 11, 1, tzinfo=UTC)


class Said:
    """A user's memory that turns are added to and searched in."""

    def __init__(self, path: Path) -> None:
        settings = EmbeddedSettings(embedder=EmbedderSettings(kind="none"))
        self.space = UserSpace(path, Tenant(), settings, None, lambda _name, _work: None)
        self.count = 0

    def add(self, text: str, role: str = "user", at: str = "2026-03-04", session: str = "s") -> None:
        self.count += 1
        message = CapturedMessage(role, (TextPart(text),), f"{at}T10:00:00+00:00", f"t_{self.count}.0")
        self.space.append(session, SessionKind.CHAT, [message], message.created_at, Deadline.after_ms(60_000))

    def find(self, query: str, limit: int = 6, *, whole: bool = False) -> list[Hit]:
        words = self.space.index.word_scores(query, [""], 96)
        similar = self.space.index.search_vectors(query, [""], 96, Deadline.after_ms(60_000))
        return self.space.index.hits(query, words, similar, [""], limit, NOW, whole=whole)


@pytest.fixture
def said(tmp_path: Path) -> Said:
    return Said(tmp_path)


def test_of_a_long_answer_the_part_that_tells_is_shown_with_an_ellipsis(said: Said) -> None:
    filler = "General advice about gardens that goes on and on without any end in sight. " * 12
    said.add(f"{filler}\n\nThe spare key lies under the blue flowerpot.\n\n{filler}", role="assistant")
    (hit,) = said.find("where is the spare key?", limit=1)
    assert "under the blue flowerpot." in hit.text and len(hit.text) < 1000
    assert "assistant: … " in hit.text and hit.text.endswith("…")


def test_what_a_person_said_comes_before_a_piece_of_a_long_answer(said: Said) -> None:
    said.add("My weekly budget for groceries is 80 euros, can you help me plan?")
    advice = "### Conclusion\nA budget for groceries helps every week. Plan your weekly groceries budget.\n\n"
    said.add(advice * 12, role="assistant")
    assert "80 euros" in said.find("what is my weekly groceries budget?")[0].text


def test_a_question_that_was_asked_before_is_no_answer(said: Said) -> None:
    said.add("I live in Lisbon near the river.", at="2026-01-02", session="first")
    for number in range(3):
        said.add("Where do I live?", at=f"2026-02-0{number + 1}", session=f"asked{number}")
        said.add("Sure, got it.", role="assistant", at=f"2026-02-0{number + 1}", session=f"asked{number}")
    assert "Lisbon" in said.find("where do I live?")[0].text


def test_a_long_question_finds_as_well_as_a_short_one(said: Said) -> None:
    for number in range(20):
        said.add(f"Note {number} about the weather and the harbour.", session=f"n{number}")
    said.add("The staging database runs PostgreSQL 16 on port 5544.", session="db")
    short = said.find("staging database port?")[0]
    asked = "Before I leave for the day and hand everything to my colleague who is quite new to all of this, could you "
    long = said.find(asked + "please remind me on which port the staging database runs these days?")[0]
    assert "5544" in short.text and "5544" in long.text
    assert long.score >= 0.5


@pytest.mark.parametrize("answer", ["", "Sure, got it."])
def test_what_was_told_alone_is_no_worse_than_what_was_told_in_a_long_talk(said: Said, answer: str) -> None:
    for hour in ("six", "seven", "eight", "nine"):
        said.add(f"We thought about taking the ferry to Hvar at {hour}.", session="talk")
        for _ in range(4):
            said.add("And then they had lunch.", session="talk")
    said.add("The ferry to Hvar is from Split now, not from Zadar.", session="alone")
    if answer:
        said.add(answer, role="assistant", session="alone")
    first, second, *_ = said.find("where does the ferry to Hvar leave from?")
    assert "Split" in first.text + second.text


def test_a_month_that_is_named_comes_first(said: Said) -> None:
    for number, month in enumerate(("01", "02", "04", "05")):
        said.add(f"Car repair paid at the garage, {number + 100} euros.", at=f"2026-{month}-07", session=f"s{month}")
    said.add("Paid the garage for the car: 900 euros.", at="2026-03-07", session="s03")
    assert "900" in said.find("how much did I pay for the car repair in March 2026?")[0].text
    said.add("汽车维修费已付八千元。", at="2026-06-07", session="s06")
    said.add("汽车维修费已付三百元。", at="2026-07-07", session="s07")
    assert "三百" in said.find("2026年7月汽车维修费付了多少？")[0].text


def test_every_hit_says_what_speaks_for_it(said: Said) -> None:
    said.add("The staging database runs PostgreSQL.", session="a")
    said.add("The harbour was sunny.", session="b")
    said.add("The database of birds is large.", session="c")
    best, other = said.find("which database runs on staging?")
    assert best.evidence and other.evidence
    assert best.evidence.words == pytest.approx(1.0) and 0 < (other.evidence.words or 0) < 0.5
    assert best.score > 2 * other.score
    assert best.evidence.pieces == other.evidence.pieces == 3
    assert best.evidence.similarity is None and best.evidence.background is None


def test_a_word_that_was_mistyped_is_found(said: Said) -> None:
    for number in range(5):
        said.add(f"The harbour was sunny on walk number {number}.", session=f"w{number}")
    said.add("Our orders are kept in MongoDB on server atlas.", session="db")
    said.add("The cluster runs Kubernetes.", session="k")
    for typed in ("where is mongod?", "is it mogodb?"):
        assert "MongoDB" in said.find(typed)[0].text, typed
    assert "Kubernetes" in said.find("which kuberntes version?")[0].text
    assert not any("MongoDB" in hit.text for hit in said.find("is there a mango?"))


def test_the_whole_of_a_long_turn_comes_with_its_piece_when_asked_for(said: Said) -> None:
    filler = "General advice about gardens that goes on and on without any end in sight. " * 12
    said.add(f"First: {filler}\n\nThe spare key lies under the blue flowerpot.\n\n{filler} Last.", role="assistant")
    said.add("My spare key is a copy.", session="short")
    plain, hits = said.find("where is the spare key?"), said.find("where is the spare key?", whole=True)
    assert all(hit.whole is None for hit in plain)
    assert [(hit.uri, hit.text, hit.score) for hit in hits] == [(hit.uri, hit.text, hit.score) for hit in plain]
    long = next(hit for hit in hits if "flowerpot" in hit.text)
    assert long.whole and long.whole.startswith("2026-03-04 assistant: First: General") and long.whole.endswith("Last.")
    assert "flowerpot" in long.whole and "…" not in long.whole
    assert next(hit for hit in hits if "copy" in hit.text).whole is None


@pytest.mark.anyio
async def test_the_setting_for_full_detail_has_the_backend_give_whole_turns(tmp_path: Path) -> None:
    who, soon = someone(), Deadline.after_ms(60_000)
    filler = "General advice about gardens that goes on and on without any end in sight. " * 12
    told = CapturedMessage(
        "user", (TextPart(f"{filler}\n\nThe spare key lies under the pot."),), NOW.isoformat(), "t.0"
    )
    for detail, is_whole in (("full", True), ("overview", False)):
        settings = Settings(
            _env_file=None,
            data_dir=tmp_path,
            recall={"detail": detail},
            embedded=EmbeddedSettings(embedder=EmbedderSettings(kind="none")),
        )
        backend = open_backend(settings).backend
        await backend.append(who, [told], soon)
        (hit,) = await backend.find(who, "where is the spare key?", Target.MEMORIES, 1, soon)
        assert bool(hit.whole and hit.whole.count("General advice") == 12) is is_whole
        await backend.aclose()
