"""Of two memories that disagree the later one is shown, whichever backend they come from."""

import math
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.recall.hits import Evidence, Hit
from app.core.recall.text_pairs import KnownPair, Task, Texts
from app.core.recall.trace import Verdict
from app.recall.candidate_statements import statements_in, vectors_in
from app.recall.ranking import Candidate, Policy, rank
from app.recall.relevance.outdated import LEAST_AMONG_MANY, Outdated, Pair, among_many
from app.recall.superseded import BESIDE, MAX_JUDGED, MAX_PAIRS, SURE, pairs_in, without_superseded
from tests.unit.recalling import Recalling, ScriptedBackend, memory


class Scripted:
    """Knows which pairs replace, and counts those that it is asked about."""

    def __init__(self, *replaced: tuple[str, str]) -> None:
        self.replaced = replaced
        self.asked: list[Pair] = []

    def __call__(self, pairs: Sequence[Pair]) -> list[float]:
        self.asked += pairs
        return [
            float(any((one.earlier.text, text) in self.replaced for text in (one.later.said, one.later.text)))
            for one in pairs
        ]


LISBON, PORTO = "I live in Lisbon.", "I live in Porto now."
MOVED = Scripted((LISBON, PORTO))


def on(day: int, text: str, score: float = 0.5) -> Hit:
    return memory(f"m{day}", text, score, updated_at=f"2026-03-{day:02}T09:00:00+00:00")


def shown(hits: list[Hit], query: str = "where do I live?", judge: Scripted = MOVED, **policy: float) -> list[str]:
    decided = without_superseded(rank(hits, query, Policy(**policy)), query, judge)
    return [one.hit.text for one in decided if one.verdict is Verdict.KEPT]


def test_the_later_of_two_is_shown() -> None:
    decided = without_superseded(rank([on(1, LISBON), on(2, PORTO)], "home", Policy()), "home", MOVED)
    assert {one.hit.text: one.verdict for one in decided} == {PORTO: Verdict.KEPT, LISBON: Verdict.SUPERSEDED}


def test_what_was_said_before_supersedes_nothing() -> None:
    assert sorted(shown([on(2, LISBON), on(1, PORTO)])) == [LISBON, PORTO]


@pytest.mark.parametrize("at", [None, "2026-03-01T09:00:00+00:00", "yesterday"])
def test_nothing_is_decided_where_no_date_tells_them_apart(at: str | None) -> None:
    hits = [memory("a", LISBON, updated_at=at), memory("b", PORTO, updated_at=at)]
    assert sorted(shown(hits)) == [LISBON, PORTO]


@pytest.mark.parametrize(
    "query",
    [
        "where did I live before?",
        "where was my home before the war?",
        "我以前住在哪里？",
        "where have I lived in the past",
    ],
)
def test_who_asks_about_the_past_gets_it(query: str) -> None:
    assert sorted(shown([on(1, LISBON), on(2, PORTO)], query)) == [LISBON, PORTO]


@pytest.mark.parametrize(
    "query", ["where do I live, before tax?", "where do I go before I go home?", "我周五之前住在哪里？"]
)
def test_a_time_before_which_something_is_due_is_no_past(query: str) -> None:
    assert shown([on(1, LISBON), on(2, PORTO)], query) == [PORTO]


MEETINGS = ("We met at the tea house.", "We met on the old pier.")


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("Where did we meet in March?", sorted(MEETINGS)),
        ("我们3月份在哪里见面？", sorted(MEETINGS)),
        ("Where did we meet on 14 March?", sorted(MEETINGS)),
        ("Where did we meet in February?", [MEETINGS[1]]),
        ("Where will we meet in May?", [MEETINGS[1]]),
        ("Where do we meet?", [MEETINGS[1]]),
    ],
)
def test_what_was_so_in_a_month_that_is_asked_about_is_not_replaced_by_what_came_after_it(
    query: str, left: list[str]
) -> None:
    hits = [
        memory("a", MEETINGS[0], updated_at="2026-03-14T09:00:00+00:00"),
        memory("b", MEETINGS[1], updated_at="2026-04-19T09:00:00+00:00"),
    ]
    assert sorted(shown(hits, query, Scripted(MEETINGS))) == left


def test_news_of_the_month_that_is_asked_about_takes_the_place_of_what_was_said_in_it() -> None:
    earlier, later = "The fair in March is at the town hall.", "The fair in March was moved to the castle."
    hits = [
        memory("a", earlier, updated_at="2026-03-14T09:00:00+00:00"),
        memory("b", later, updated_at="2026-04-19T09:00:00+00:00"),
    ]
    assert shown(hits, "where was the fair in March?", Scripted((earlier, later))) == [later]


def test_of_several_statements_that_one_goes_which_answers_the_question() -> None:
    """Both seem to be replaced, as what is read together is all of what was said later."""
    coffee, dog = "I drink an oat flat white.", "I walk the dog at noon."
    hits = [on(1, f"{coffee} {dog}"), on(2, "Change of habits: it is a decaf cortado, and the dog stays as it is.")]

    for query, answer, kept in (("what do I drink?", coffee, dog), ("when do I go out?", dog, coffee)):

        def read(task: Task, texts: Texts, answer: str = answer) -> float:
            return 6.0 if task == "replaces" else -3.0 if texts[1] in {coffee, dog} - {answer} else 3.0

        ranked = [one._replace(score=0.5) for one in rank(hits, query, Policy())]
        judge = Outdated(query, {}, read=read)
        decided = without_superseded(ranked, query, judge.likely)
        assert [one.hit.text for one in decided if one.hit.uri == hits[0].uri] == [kept]


@pytest.mark.parametrize(("rest", "score"), [(3.0, 0.8), (-3.0, 0.8 / 81)])
def test_what_is_left_of_several_statements_is_less_likely_an_answer_than_what_was_lost(
    rest: float, score: float
) -> None:
    hits = [on(1, f"{LISBON} My dog is called Rex."), on(2, PORTO)]
    ranked = [one._replace(score=0.8) for one in rank(hits, "where do I live?", Policy())]
    odds = {LISBON: 3.0, "My dog is called Rex.": rest}
    decided = without_superseded(ranked, "where do I live?", MOVED, odds.get)
    [left] = [one.score for one in decided if one.hit.uri == hits[0].uri]
    assert left == pytest.approx(score, rel=0.3)


def test_what_says_so_is_shown_in_its_place_although_it_scored_too_low() -> None:
    assert shown([on(1, LISBON, 0.6), on(2, PORTO, 0.05)], threshold=0.3) == [PORTO]


@pytest.mark.parametrize(("score", "text"), [(0.002, "It's Porto since Thursday."), (0.0005, "I live in Lisbon.")])
def test_news_that_shares_nothing_with_the_question_is_judged_as_well(score: float, text: str) -> None:
    news = "It's Porto since Thursday."
    hits = [on(1, LISBON), on(2, news)]
    scores = {LISBON: 0.5, news: score}
    ranked = [one._replace(score=scores[one.hit.text]) for one in rank(hits, "where do I live?", Policy())]
    ranked = [one if one.hit.text == LISBON else one.dropped(Verdict.BELOW_THRESHOLD) for one in ranked]
    decided = without_superseded(ranked, "where do I live?", Scripted((LISBON, news)))
    assert [one.hit.text for one in decided if one.verdict is Verdict.KEPT] == [text]


def test_what_may_say_so_is_shown_beside_it() -> None:
    hits = [on(1, LISBON, 0.6), on(2, PORTO, 0.05)]
    for likely, expected in ((BESIDE - 0.01, [LISBON]), (BESIDE, [LISBON, PORTO]), (SURE, [PORTO])):
        ranked = rank(hits, "where do I live?", Policy(threshold=0.3))
        decided = without_superseded(ranked, "where do I live?", lambda pairs, likely=likely: [likely for _ in pairs])
        assert [one.hit.text for one in decided if one.verdict is Verdict.KEPT] == expected


def test_turns_in_one_excerpt_are_told_apart() -> None:
    excerpt = (
        "2026-03-01 user: I live in Lisbon. I have a dog.\nassistant: Noted.\n2026-03-04 user: I live in Porto now."
    )
    hit = memory("t", excerpt, updated_at="2026-03-01T09:00:00+00:00")
    assert shown([hit]) == ["2026-03-01 user: I have a dog.\nassistant: Noted.\n2026-03-04 user: I live in Porto now."]


def test_a_sentence_may_need_the_one_before_it() -> None:
    looking, signed = "We look for a flat in Giesing.", "The flat is signed for! It is in Sendling."
    assert shown([on(1, looking), on(2, signed)], "which flat?", Scripted((looking, signed))) == [signed]


def test_a_candidate_that_is_one_statement_brings_its_vector() -> None:
    vector = array("f", [0.6, 0.8]).tobytes()
    hits = [
        one._replace(evidence=Evidence(vector=vector)) for one in (on(1, f"2026-03-01 user: {LISBON}"), on(2, PORTO))
    ]
    two = on(3, f"2026-03-03 user: {LISBON}\nassistant: Noted.")._replace(evidence=Evidence(vector=vector))
    known = vectors_in([Candidate(hit, "events", 0.5) for hit in (*hits, two)], 3)
    assert known.keys() == {LISBON, PORTO}
    assert known[LISBON] == vector


def test_a_sentence_that_still_holds_stays() -> None:
    assert sorted(shown([on(1, f"{LISBON} I have a dog."), on(2, PORTO)])) == ["I have a dog.", PORTO]


def test_what_replaces_one_sentence_of_several_is_shown_although_it_scored_too_low() -> None:
    hits = [on(1, f"{LISBON} I have a dog.", 0.6), on(2, PORTO, 0.05)]
    assert sorted(shown(hits, threshold=0.3)) == ["I have a dog.", PORTO]


def test_what_was_said_at_length_stays_whole() -> None:
    at_length = f"I live in Lisbon. {'We talked about the harbour. ' * 12}".strip()
    judge = Scripted((LISBON, PORTO))
    assert sorted(shown([on(1, at_length), on(2, PORTO)], judge=judge)) == sorted([at_length, PORTO])
    assert sorted(shown([on(1, f"{LISBON}\n{at_length}"), on(2, PORTO)], judge=judge)) == sorted([at_length, PORTO])


def test_an_assistants_words_supersede_nothing_but_are_superseded() -> None:
    said = f"2026-03-02 assistant: {PORTO}"
    assert sorted(shown([on(1, LISBON), on(2, said)])) == sorted([LISBON, said])
    echo = f"2026-03-01 assistant: {LISBON}"
    assert shown([on(1, echo), on(2, PORTO)]) == [PORTO]


def test_what_is_asked_about_by_name_stays_where_the_later_one_does_not_name_it() -> None:
    both, later = "The classes 3b and 5a meet in room 7.", "The class 5a meets in room 9 now."
    judge = Scripted((both, later))
    assert shown([on(1, both), on(2, later)], "where does 5a meet?", judge) == [later]
    assert sorted(shown([on(1, both), on(2, later)], "where does 3b meet?", judge)) == sorted([both, later])


@pytest.mark.parametrize("read", [lambda task, _: 6.0 if task == "replaces" else 3.0, None])
def test_an_update_may_name_something_else_but_only_reading_tells(read: KnownPair | None) -> None:
    hits = [on(1, "I go from Lodi to Milan by the 7:12 train."), on(2, "My train to Milan leaves at 6:48 now.")]
    query = "when do I leave Lodi?"
    ranked = [one._replace(score=0.7) for one in rank(hits, query, Policy())]
    decided = without_superseded(ranked, query, Outdated(query, {}, read=read).likely)
    left = {one.hit.uri for one in decided if one.verdict is Verdict.KEPT}
    assert left == {one.uri for one in (hits[1:] if read else hits)}


def test_what_seems_to_replace_a_statement_and_does_not_answer_the_question_takes_nothing_away() -> None:
    later = "I signed for the flat in Porto, for my mother."
    hits, query = [on(1, LISBON), on(2, later)], "where do I live?"

    for answers, left in ((-6.0, [LISBON]), (3.0, [])):

        def read(task: Task, texts: Texts, answers: float = answers) -> float:
            return 1.0 if task == "replaces" else 3.0 if texts[1] == LISBON else answers

        ranked = [one._replace(score=0.6) for one in rank(hits, query, Policy())]
        decided = without_superseded(ranked, query, Outdated(query, {}, read=read).likely)
        assert [one.hit.text for one in decided if one.verdict is Verdict.KEPT and one.hit.text == LISBON] == left


def test_one_statement_replaces_one_thing_however_often_it_was_said() -> None:
    told, echo, other = "Heron ships on Thursdays.", "Noted: Heron ships on Thursdays.", "Heron is a tool of Lumen."
    later = "Heron ships on Mondays now."
    judge = Scripted((told, later), (echo, later), (other, later))
    hits = [on(1, told), on(2, f"2026-03-02 assistant: {echo}"), on(3, other), on(4, later)]
    assert sorted(shown(hits, "heron", judge)) == sorted([other, later])


@pytest.mark.parametrize(("sentences", "most"), [(1, MAX_JUDGED), (5, MAX_PAIRS)])
def test_a_bounded_number_of_pairs_is_judged(sentences: int, most: int) -> None:
    judge = Scripted()
    told = [on(n, " ".join(f"The lamp {n}{m} hangs here." for m in range(sentences))) for n in range(1, 29)]
    without_superseded(rank(told, "lamp", Policy()), "lamp", judge)
    assert 0 < len(judge.asked) <= most


def test_where_there_is_room_each_sentence_is_judged() -> None:
    told, gone = "I live near the sea. I live well now. Porto is far from here.", "We like the hills."
    assert shown([on(1, f"{told} {gone}"), on(2, PORTO)], judge=Scripted((gone, PORTO)))[-1] == told


def test_a_long_talk_leaves_room_for_others() -> None:
    talk = "\n".join(f"2026-02-0{n} user: I live near the harbour, or so, {n}. I live well, {n}." for n in range(1, 7))
    order = [on(6, talk), on(1, LISBON), on(9, f"{PORTO} It is fine. I like to live there.")]
    ranked = [Candidate(hit, "memory", score, {}) for hit, score in zip(order, (0.9, 0.8, 0.7), strict=True)]
    decided = without_superseded(ranked, "where do I live?", MOVED)
    assert LISBON not in [one.hit.text for one in decided if one.verdict is Verdict.KEPT]


@pytest.mark.anyio
async def test_a_recall_shows_the_later_one_and_the_trace_says_why() -> None:
    hits = [on(1, "My boss is Carlos."), on(2, "My boss is Anna now, not Carlos.")]
    recalling = Recalling(ScriptedBackend(memories=hits))
    answer = await recalling("who is my boss?")
    assert "Anna" in (answer.context_block or "")
    assert "is Carlos." not in (answer.context_block or "")
    [trace] = recalling.traces
    assert [(one.verdict, one.replaced_by) for one in trace.candidates] == [
        (Verdict.KEPT, ""),
        (Verdict.SUPERSEDED, hits[1].uri),
    ]


@pytest.mark.anyio
@pytest.mark.parametrize(("pieces", "shown"), [(3, {"Anna now"}), (1_000, {"Anna now", "is Carlos."})])
async def test_where_much_is_stored_what_hardly_answers_replaces_nothing(pieces: int, shown: set[str]) -> None:
    told = (1, "My boss is Carlos.", 1.0), (2, "My boss is Anna now, not Carlos.", 0.6)
    hits = [on(day, text)._replace(evidence=Evidence(words=words, pieces=pieces)) for day, text, words in told]
    block = (await Recalling(ScriptedBackend(memories=hits))("who is my boss?")).context_block or ""
    assert {words for words in ("Anna now", "is Carlos.") if words in block} == shown


@pytest.mark.parametrize(("likely", "first"), [(SURE, [PORTO, "Rex barks."]), (BESIDE, [LISBON, PORTO])])
def test_what_says_so_takes_its_place_wherever_the_search_put_it(likely: float, first: list[str]) -> None:
    order = [on(1, LISBON), on(2, "Rex barks."), on(3, "Rent is due on Friday."), on(9, PORTO)]
    ranked = [Candidate(hit, "memory", 0.5, {"backend": hit.score}) for hit in order]
    decided = without_superseded(ranked, "home", lambda pairs: [likely * one for one in MOVED(pairs)])
    assert [one.hit.text for one in decided[:2]] == first


@given(st.floats(0, 1), st.floats(-8, 8), st.floats(-8, 8), st.floats(-8, 8), st.floats(0, 1))
def test_where_much_is_stored_what_hardly_answers_is_no_news(
    likely: float, earlier: float, later: float, other: float, many: float
) -> None:
    before, after = (
        next(iter(statements_in(n, one))) for n, one in enumerate(rank([on(1, LISBON), on(9, PORTO)], "home", Policy()))
    )
    pair = Pair(before, after, earlier, later, other, other)
    among = among_many(likely, pair, many)
    assert 0 <= among <= likely + 1e-5
    sure = min(earlier, later) >= LEAST_AMONG_MANY and max(earlier, later) >= max(0.0, other)
    if sure or not many:
        assert among == likely
    if many == 1 and (min(earlier, later) < -2 or max(earlier, later) < other - 1):
        assert among < 0.5 or likely > 0.7


def test_where_many_others_answer_what_was_read_as_news_is_doubted() -> None:
    before, after = (
        next(iter(statements_in(n, one))) for n, one in enumerate(rank([on(1, LISBON), on(9, PORTO)], "home", Policy()))
    )
    judge = Outdated("home", {}, read=lambda _task, _texts: 1.5)
    none, some, many = judge.likely([Pair(before, after, 1.0, 1.0, 0.0, other) for other in (-math.inf, 0.0, 2.0)])
    assert none > some > many
    assert none > 0.5 > many


def test_a_greeting_is_no_statement_that_news_could_replace() -> None:
    greetings = ("Hey Gina!", "Jon: Thanks, Gina!", "Jon: [SMS 20:20 to Gina] Oh, really.")
    replaces_all = Scripted(*((text, PORTO) for text in (*greetings, LISBON)))
    said = [f"Hey Gina! {LISBON}", "Jon: Thanks, Gina! The boxes are heavy.", greetings[2]]
    greeted = [*(on(day, text) for day, text in enumerate(said, 1)), on(9, PORTO)]
    assert sorted(shown(greeted, judge=replaces_all)) == sorted([PORTO, *said[1:]])


def test_what_stands_in_brackets_behind_a_greeting_says_something() -> None:
    said = "Thanks, Gina [the flat in Lisbon is mine now]!"
    assert shown([on(1, said), on(9, PORTO)], judge=Scripted((said, PORTO))) == [PORTO]


def test_look_alikes_stay() -> None:
    hits = [on(1, "My boss is Carlos."), on(2, "My boss is angry today."), on(3, "My sister's boss is Anna now.")]
    decided = without_superseded(rank(hits, "my boss", Policy()), "my boss", Outdated("my boss", {}).likely)
    assert {one.verdict for one in decided} == {Verdict.KEPT}


def test_what_was_told_more_than_once_is_no_other_answer() -> None:
    told = rank([on(1, LISBON), on(2, LISBON), on(3, LISBON), on(9, PORTO)], "home", Policy())
    others = [
        pair.any_other for pair in pairs_in(told, "home") if pair.earlier.text == LISBON and pair.later.text == PORTO
    ]
    assert others
    assert set(others) == {-math.inf}
