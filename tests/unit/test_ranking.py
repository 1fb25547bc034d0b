from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.recall.hits import Hit
from app.core.recall.trace import Verdict
from app.recall.experience_format import no_experiences, only_experiences
from app.recall.intent import intent_of
from app.recall.ranking import Candidate, Policy, category_of, event_date, rank, rest
from tests.unit.recalling import HOME, experience, memory

MEMORIES = Policy(refuses=no_experiences)
scores = st.floats(0, 1)


def kept(candidates: list[Candidate]) -> list[str]:
    return [c.hit.uri.rsplit("/", 1)[-1].removesuffix(".md") for c in candidates if c.verdict is Verdict.KEPT]


def verdicts(candidates: list[Candidate]) -> dict[str, Verdict]:
    return {c.hit.uri.rsplit("/", 1)[-1].removesuffix(".md"): c.verdict for c in candidates}


def test_better_scores_come_first_and_equal_ones_by_uri() -> None:
    hits = [memory("b", "two", 0.4), memory("c", "three", 0.9), memory("a", "one", 0.4)]
    assert kept(rank(hits, "zzz", MEMORIES)) == ["c", "a", "b"]


def test_each_uri_once() -> None:
    ranked = rank([memory("a", "one"), memory("a", "one, again")], "zzz", MEMORIES)
    assert [c.verdict for c in ranked] == [Verdict.KEPT, Verdict.SAME_URI]


def test_the_same_text_once_whatever_its_spacing_and_case() -> None:
    ranked = rank([memory("a", "Likes  Tea\n", 0.6), memory("b", "likes tea", 0.7)], "zzz", MEMORIES)
    assert verdicts(ranked) == {"b": Verdict.KEPT, "a": Verdict.SAME_TEXT}


def test_two_events_of_different_days_are_not_the_same() -> None:
    text = "Deployed the shop"
    monday = Hit(f"{HOME}/events/2026/03/16/deploy.md", text, 0.5, category="events")
    tuesday = Hit(f"{HOME}/events/2026/03/17/deploy.md", text, 0.5, category="events")
    again = Hit(f"{HOME}/events/2026/03/17/deploy_again.md", text, 0.4, category="events")
    assert [c.verdict for c in rank([monday, tuesday, again], "zzz", MEMORIES)] == [
        Verdict.KEPT,
        Verdict.KEPT,
        Verdict.SAME_TEXT,
    ]


@pytest.mark.parametrize(
    ("hit", "verdict"),
    [
        (Hit(f"{HOME}/.abstract.md", "Everything about the user", 0.9, level=2), Verdict.NOT_LEAF),
        (Hit(f"{HOME}/preferences", "All preferences", 0.9, level=1), Verdict.NOT_LEAF),
        (memory("blank", " \n\t", 0.9), Verdict.EMPTY),
        (memory("theirs", "a secret", 0.9, peer="bob"), Verdict.OTHER_PEER),
        (experience("lesson"), Verdict.IS_EXPERIENCE),
        (Hit(f"{HOME}/experiences/untyped.md", "x", 0.9), Verdict.IS_EXPERIENCE),
    ],
)
def test_what_is_no_memory_is_left_out(hit: Hit, verdict: Verdict) -> None:
    assert [c.verdict for c in rank([hit], "zzz", Policy(actor_peer="main", refuses=no_experiences))] == [verdict]


def test_own_peer_is_shown_and_without_a_peer_nobodys() -> None:
    hit = memory("mine", "a note", peer="main")
    assert kept(rank([hit], "zzz", Policy(actor_peer="main"))) == ["mine"]
    assert kept(rank([hit], "zzz", Policy(actor_peer=None))) == []


def test_imported_content_can_be_kept_out() -> None:
    manual = Hit("viking://user/alice/resources/manual.md", "How to descale", 0.9, category="resource")
    assert kept(rank([manual], "zzz", MEMORIES)) == ["manual"]
    assert verdicts(rank([manual], "zzz", Policy(own_only=True))) == {"manual": Verdict.IMPORTED}


def test_only_experiences_among_experiences() -> None:
    ranked = rank([experience("lesson"), memory("fact", "blue")], "zzz", Policy(refuses=only_experiences))
    assert verdicts(ranked) == {"lesson": Verdict.KEPT, "fact": Verdict.NOT_EXPERIENCE}


def test_word_overlap_lifts_a_hit_over_its_equals() -> None:
    hits = [memory("a", "Owns a green bicycle", 0.9), memory("b", "Keeps bees on the roof", 0.9)]
    assert kept(rank(hits, "how many bees are on the roof", MEMORIES)) == ["b", "a"]


def test_word_overlap_works_for_chinese() -> None:
    hits = [memory("a", "用户喜欢喝绿茶", 0.9), memory("b", "用户对花生过敏", 0.9)]
    assert kept(rank(hits, "我对什么过敏", MEMORIES)) == ["b", "a"]


def test_a_word_that_every_candidate_has_tells_nothing() -> None:
    hits = [memory(str(n), f"atlas number {n}", 0.9) for n in range(5)]
    common, rare = (rank(hits, query, MEMORIES)[0].parts["overlap"] for query in ("atlas zebra", "atlas 3"))
    assert rare > common


@pytest.mark.parametrize("query", ["which editor do I prefer?", "我喜欢什么编辑器"])
def test_a_preference_when_the_query_asks_for_one(query: str) -> None:
    hits = [memory("a", "xx", 0.9), memory("b", "yy", 0.9, "preferences")]
    assert kept(rank(hits, query, MEMORIES)) == ["b", "a"]


@pytest.mark.parametrize("query", ["when did that happen?", "那是什么时候的事"])
def test_an_event_when_the_query_asks_about_time(query: str) -> None:
    hits = [memory("a", "xx", 0.9), memory("b", "yy", 0.9, "events")]
    assert kept(rank(hits, query, MEMORIES)) == ["b", "a"]


def test_signals_are_silent_when_nobody_asks() -> None:
    assert intent_of("rename the function") == intent_of("把函数改个名字") == intent_of("")


def test_the_threshold_is_applied_to_the_final_score() -> None:
    hits = [memory("a", "bees on the roof", 0.148), memory("b", "something else", 0.148), memory("c", "x", 0.15)]
    ranked = verdicts(rank(hits, "bees roof", Policy(threshold=0.15)))
    assert ranked == {"a": Verdict.KEPT, "b": Verdict.BELOW_THRESHOLD, "c": Verdict.KEPT}


@given(scores)
def test_without_a_signal_the_final_score_is_the_backends(score: float) -> None:
    assert rank([memory("a", "xx", score)], "zzz", MEMORIES)[0].score == score


@given(scores, st.text(max_size=60), st.text(max_size=60))
def test_no_signal_moves_a_score_far(score: float, text: str, query: str) -> None:
    candidate = rank([memory("a", text + "x", score, "preferences")], query + " prefer when", MEMORIES)[0]
    assert score - 1e-9 <= candidate.score <= 1
    assert score > 0.1 or candidate.score < 0.15


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -3.0, 7.0])
def test_a_score_out_of_range_breaks_nothing(score: float) -> None:
    assert 0 <= rank([memory("a", "xx", score)], "zzz", MEMORIES)[0].score <= 1


def test_the_relative_cut_drops_what_is_far_behind_the_best() -> None:
    hits = [memory("a", "one", 0.8), memory("b", "two", 0.41), memory("c", "three", 0.39)]
    assert kept(rank(hits, "zzz", Policy(relative_cut=0.5))) == ["a", "b"]


def test_experiences_have_to_reach_their_floor_by_the_backends_score() -> None:
    hits = [experience("a", score=0.36), experience("b", "## Situation\n- bees roof", score=0.34)]
    assert kept(rank(hits, "bees roof", Policy(refuses=only_experiences, floor=0.35))) == ["a"]


def test_variety_puts_a_near_copy_behind_something_else() -> None:
    hits = [
        memory("a", "the cat sleeps on the red sofa", 0.9),
        memory("b", "the cat sleeps on the red couch", 0.89),
        memory("c", "invoices are due on Friday", 0.8),
    ]
    assert kept(rank(hits, "zzz", Policy(mmr_lambda=0.5))) == ["a", "c", "b"]
    assert kept(rank(hits, "zzz", MEMORIES)) == ["a", "b", "c"]


def test_old_events_fade_and_preferences_do_not() -> None:
    old = Hit(f"{HOME}/events/2025/03/18/fair.md", "went to the fair", 0.9, category="events")
    new = Hit(f"{HOME}/events/2026/03/10/fair.md", "went to the park", 0.8, category="events")
    taste = memory("tea", "likes tea", 0.7, "preferences", updated_at="2020-01-01T00:00:00Z")
    policy = Policy(half_life_days=30, today=date(2026, 3, 18))
    assert kept(rank([old, new, taste], "zzz", policy)) == ["tea", "fair", "fair"]
    assert [c.hit for c in rank([old, new], "zzz", policy)] == [new, old]


@pytest.mark.parametrize(
    ("uri", "updated", "expected"),
    [
        (f"{HOME}/events/2026/03/18/fair.md", None, date(2026, 3, 18)),
        (f"{HOME}/memory/2026-03-18.md", None, date(2026, 3, 18)),
        (f"{HOME}/events/2026/13/40/fair.md", None, None),
        (f"{HOME}/events/fair.md", "2026-03-18T23:30:00-05:00", date(2026, 3, 19)),
        (f"{HOME}/events/fair.md", "yesterday", None),
    ],
)
def test_the_day_of_an_event(uri: str, updated: str | None, expected: date | None) -> None:
    assert event_date(Hit(uri, "x", 0.5, updated_at=updated)) == expected


@pytest.mark.parametrize(
    ("uri", "category"),
    [
        (f"{HOME}/preferences/user/tea.md", "preferences"),
        (f"{HOME}/profile.md", "profile"),
        ("viking://user/alice/resources/manual.md", "resource"),
        ("viking://elsewhere/x.md", "memory"),
    ],
)
def test_a_category_is_read_from_the_uri_when_the_backend_names_none(uri: str, category: str) -> None:
    assert category_of(Hit(uri, "x", 0.5)) == category


def test_what_is_still_visible_rests_unless_it_ranks_far_above() -> None:
    ranked = rank([memory("a", "one", 0.6), memory("b", "two", 0.55), memory("c", "three", 0.5)], "zzz", MEMORIES)
    assert verdicts(rest(ranked, lambda c: c.hit.text == "one"))["a"] is Verdict.RESTING
    ranked = rank([memory("a", "one", 0.9), memory("b", "two", 0.55)], "zzz", MEMORIES)
    assert verdicts(rest(ranked, lambda c: c.hit.text == "one"))["a"] is Verdict.KEPT
    assert kept(rest(ranked, lambda c: True)) == []


hits = st.lists(
    st.builds(
        Hit,
        uri=st.sampled_from([f"{HOME}/{c}/{n}.md" for c in ("events", "preferences", "experiences") for n in "abc"]),
        text=st.text("ab 茶道", max_size=12),
        score=scores,
        level=st.sampled_from([0, 1, 2]),
        peer=st.sampled_from([None, "main", "bob"]),
    ),
    max_size=12,
)


@given(hits, st.text("ab 茶道", max_size=12), st.randoms())
def test_every_hit_has_a_verdict_and_the_order_they_came_in_does_not_matter(found, query, random) -> None:
    policy = Policy(threshold=0.2, relative_cut=0.3, mmr_lambda=0.7, actor_peer="main")
    ranked = rank(found, query, policy)
    assert len(ranked) == len(found)
    shuffled = sorted({h.uri: h for h in found}.values(), key=lambda h: h.uri)
    random.shuffle(shuffled)
    once = rank(sorted(shuffled, key=lambda h: h.uri), query, policy)
    assert kept(rank(shuffled, query, policy)) == kept(once)


@pytest.mark.parametrize("folder", ["cases", "trajectories"])
def test_machine_records_never_stand_among_memories(folder: str) -> None:
    hit = Hit(uri=f"viking://user/ann/memories/{folder}/fix_ci.md", text='{"name": "fix_ci"}', score=0.9)
    (candidate,) = rank([hit], "fix the build", Policy())
    assert candidate.verdict == "machine_record"
