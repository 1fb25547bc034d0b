from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.recall.hits import Evidence, Hit
from app.core.recall.trace import Verdict
from app.recall.experience_format import no_experiences, only_experiences
from app.recall.ranking import Candidate, Policy, category_of, event_date, rank, rest
from app.recall.relevance.model import Judged
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
    common, rare = (rank(hits, query, MEMORIES)[0].parts["words"] for query in ("atlas zebra", "atlas 3"))
    assert rare > common


@pytest.mark.parametrize("query", ["when did we go to the fair?", "我们什么时候去的庙会"])
def test_a_dated_hit_when_the_query_asks_about_time(query: str) -> None:
    hits = [memory("a", "the fair 庙会", 0.9), memory("b", "the fair 庙会, 2026-03-18", 0.9)]
    assert kept(rank(hits, query, MEMORIES)) == ["b", "a"]


@pytest.mark.parametrize(("low", "high"), [(0.86, 0.9), (0.1, 0.8)])
def test_the_scale_of_the_backends_scores_does_not_matter(low: float, high: float) -> None:
    """e5 gives 0.85 to anything, other models use the whole range: what counts is the distance from the others."""
    others = [memory(str(n), f"something {n}", low + n * (high - low) / 100) for n in range(8)]
    hits = [*others, memory("best", "bees on the roof", high)]
    ranked = rank(hits, "where are my bees?", Policy(threshold=0.15, relative_cut=0.25, personal=0.95))
    assert kept(ranked) == ["best"]
    assert 0.5 < ranked[0].score < 1


def test_where_nothing_stands_out_nothing_is_shown() -> None:
    hits = [memory(str(n), f"something {n}", 0.86 + n / 1000) for n in range(8)]
    ranked = rank(hits, "Write a haiku about compilers.", Policy(threshold=0.15, personal=0.02))
    assert {c.verdict for c in ranked} == {Verdict.BELOW_THRESHOLD}


def test_evidence_of_the_backend_counts_instead_of_its_score() -> None:
    """Far above the background of all that is stored, though the scores of the candidates are all the same."""
    hits = [
        Hit(f"{HOME}/e/{n}.md", f"text {n}", 0.5, evidence=Evidence(0.8 if n == 3 else 0.3, (0.2, 0.1), 0.0))
        for n in range(6)
    ]
    assert kept(rank(hits, "what did we agree on?", Policy(threshold=0.15, personal=0.9))) == ["3"]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -3.0, 7.0])
def test_a_score_out_of_range_breaks_nothing(score: float) -> None:
    assert 0 <= rank([memory("a", "xx", score)], "zzz", MEMORIES)[0].score <= 1


def judged_by_score(_question: object, hits: Sequence[Hit]) -> list[Judged]:
    return [Judged(hit.score, {}) for hit in hits]


def stored_among(pieces: int | None, *scores: float) -> list[Hit]:
    evidence = Evidence(words=0.5, pieces=pieces)
    return [
        memory(name, f"text {name}", score)._replace(evidence=evidence)
        for name, score in zip("abcd", scores, strict=False)
    ]


EASED = Policy(threshold=0.2, relative_cut=0.5, eased=True, judges=judged_by_score)


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [(None, "a"), (1, "a"), (100, "a"), (300, "abc"), (500, "abcd"), (100_000, "abcd")],
)
def test_where_much_is_stored_the_bars_give_way_behind_the_best(pieces: int | None, shown: str) -> None:
    ranked = rank(stored_among(pieces, 0.8, 0.3, 0.25, 0.01), "q", EASED)
    assert kept(ranked) == list(shown)


@pytest.mark.parametrize(("pieces", "shown"), [(None, "cab"), (100, "cab"), (500, "abc"), (100_000, "abc")])
def test_what_probably_helps_comes_first_where_little_is_stored(pieces: int | None, shown: str) -> None:
    backend = 0.9, 0.6, 0.3
    found = [hit._replace(score=score) for hit, score in zip(stored_among(pieces, 0, 0, 0), backend, strict=True)]
    likely = dict(zip("abc", (0.3, 0.4, 0.8), strict=True))
    policy = EASED._replace(relative_cut=0.3, judges=lambda _, hits: [Judged(likely[hit.text[-1]], {}) for hit in hits])
    assert kept(rank(found, "q", policy)) == list(shown)


@pytest.mark.parametrize("pieces", [None, 500])
def test_of_what_the_search_found_nearly_alike_the_likelier_answer_comes_first(pieces: int | None) -> None:
    likely = dict(zip("abc", (0.22, 0.45, 0.3), strict=True))
    policy = EASED._replace(judges=lambda _, hits: [Judged(likely[hit.text[-1]], {}) for hit in hits])
    assert kept(rank(stored_among(pieces, 0.9, 0.8, 0.3), "q", policy._replace(relative_cut=0.0))) == ["b", "a", "c"]


@pytest.mark.parametrize("pieces", [None, 1, 300, 500, 100_000])
def test_what_does_not_reach_the_threshold_is_no_better_for_being_one_of_many(pieces: int | None) -> None:
    assert kept(rank(stored_among(pieces, 0.19, 0.19), "q", EASED)) == []


def test_bars_give_way_only_where_the_policy_says_so() -> None:
    hits = stored_among(100_000, 0.8, 0.3, 0.01)
    assert kept(rank(hits, "q", EASED._replace(eased=False))) == ["a"]


def test_the_relative_cut_drops_what_is_far_behind_the_best() -> None:
    hits = [memory("a", "bees on the roof", 0.8), memory("b", "bees", 0.6), memory("c", "three", 0.1)]
    all_shown = rank(hits, "bees on the roof", MEMORIES)
    a, b, c = (candidate.score for candidate in all_shown)
    assert a > b > c
    assert kept(rank(hits, "bees on the roof", Policy(relative_cut=(b + c) / 2 / a))) == ["a", "b"]


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
    faded = {c.hit.uri: c.parts.get("freshness") for c in rank([old, new, taste], "zzz", policy)}
    assert faded == {
        old.uri: pytest.approx(0.5 ** (365 / 30)),
        new.uri: pytest.approx(0.5 ** (8 / 30)),
        taste.uri: None,
    }
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
    ranked = [
        Candidate(memory(uri, text), "entities", score) for uri, text, score in [("a", "one", 0.6), ("b", "2", 0.55)]
    ]
    assert verdicts(rest(ranked, lambda c: c.hit.text == "one"))["a"] is Verdict.RESTING
    ranked = [
        Candidate(memory(uri, text), "entities", score) for uri, text, score in [("a", "one", 0.9), ("b", "2", 0.55)]
    ]
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


@pytest.mark.parametrize("likely", [0.3, 0.6])
def test_what_a_backend_with_evidence_puts_first_stays_first_among_what_is_as_likely(likely: float) -> None:
    policy = Policy(judges=lambda _, hits: [Judged(likely - hit.score / 100, {}) for hit in hits])
    shown = rank([hit._replace(evidence=Evidence(words=0.5)) for hit in stored_among(1, 0.9, 0.5, 0.7)], "q", policy)
    assert kept(shown) == ["a", "c", "b"]
