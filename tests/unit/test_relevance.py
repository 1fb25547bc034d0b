"""What is relevant, over hits as backends give them. The figures are measured by `benchmarks.relevance`."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.classify.classifier import ByWords
from app.core.recall.hits import Evidence, Hit
from app.recall.relevance import evidence
from app.recall.relevance.evidence import features_of, kind_of, question_of
from app.recall.relevance.model import MEANINGS, judge, load_weights
from app.recall.relevance.question_words import OTHERS, QuestionWords, Told, shipped
from app.text.dates import names_a_day
from training.worlds import EXAMPLES, read_worlds, worlds

KINDS = ["answer", "meaning", "score", "words"]


def hit(text: str, score: float = 0.5, evidence: Evidence | None = None) -> Hit:
    return Hit(f"viking://u/memories/events/{abs(hash(text))}.md", text, score, evidence=evidence)


def of_kind(kind: str, text: str, height: float, words: float) -> Hit:
    """A hit that stands ``height`` deviations above the background, as a backend of this kind would give it."""
    near = 0.2 + height / 10
    evidence = {
        "answer": Evidence(near, (0.2, 0.1), words, odds=3 * height - 7),
        "meaning": Evidence(near, (0.2, 0.1), words),
        "words": Evidence(words=words),
    }
    return hit(text, 0.85 + height / 100, evidence.get(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_far_likelier_than_the_rest(kind: str) -> None:
    others = [of_kind(kind, f"2026-01-0{n} user: something about number {n}", n / 10, 0.0) for n in range(1, 9)]
    answer = of_kind(kind, "2026-02-01 user: my bicycle is green", 3.0, 0.8)
    judged = judge(question_of("what colour is my bicycle?", 0.97), [answer, *others])
    assert judged[0].probability > (0.2 if kind == "words" else 0.5)  # words alone do not know that green is a colour
    assert all(one.probability < 0.1 for one in judged[1:])


@pytest.mark.parametrize("kind", KINDS)
def test_the_less_personal_a_question_the_less_likely_is_any_memory(kind: str) -> None:
    hits = [of_kind(kind, f"number {n}", n / 5, 0.1) for n in range(8)]
    sure, unsure, never = (judge(question_of("zzz number", p), hits)[-1].probability for p in (0.98, 0.5, 0.01))
    assert sure > unsure > never
    assert never < 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_assistant_said_and_what_was_only_asked_count_less(kind: str) -> None:
    said, asked, by_assistant = (
        of_kind(kind, text, 2.0, 0.5)
        for text in (
            "2026-02-01 user: the bicycle is green",
            "2026-02-01 user: is the bicycle green?",
            "2026-02-01 assistant: the bicycle is green",
        )
    )
    likely = [one.probability for one in judge(question_of("the bicycle", 0.9), [said, by_assistant, asked])]
    assert likely[0] > likely[1]
    if kind not in ("words", "answer"):  # words alone can not tell, and the odds of meaning know a question already
        assert likely[0] > likely[2]


@pytest.mark.parametrize("text", ["Write a haiku about compilers.", "What is 2+2?", "用 Java 写一个单例模式"])
def test_a_prompt_about_nobody_is_known_by_its_words(text: str) -> None:
    assert ByWords().personal(text) < 0.5


@pytest.mark.parametrize("text", ["Where does my sister live?", "我妈妈住在哪里？", "Wie heißt meine Katze?"])
def test_a_question_about_oneself_is_known_by_its_words(text: str) -> None:
    assert ByWords().personal(text) > 0.6


def test_whether_a_memory_names_a_day_is_read_off_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(evidence, "names_a_day", lambda text: read.append(text) or names_a_day(text))
    hits = [hit("The launch of Nordlicht is on 14 March 2027"), hit("Zoe is with Nordlicht")]
    for question, dated in (("When is it launched?", 1.0), ("Who is Zoe?", 0.0), ("Which day is it launched?", 1.0)):
        assert [one["dated"] for one in features_of(question_of(question), hits)] == [dated, 0.0]
    assert read == [one.text for one in hits]


@pytest.mark.parametrize(
    ("question", "text", "foreign"),
    [
        ("where do I live?", "2026-03-01 user: 我搬到里斯本了", 1.0),
        ("我住在哪儿？", "2026-03-01 user: I moved to Lisbon", 1.0),
        ("我住在哪儿？", "2026-03-01 user: 我搬到 Lisbon 了", 0.0),
        ("where do I live?", "2026-03-01 user: ich bin nach Köln gezogen", 0.0),
        ("где я живу?", "I moved to Lisbon", 1.0),
        ("where do I live?", "2026", 0.0),
    ],
)
def test_whether_a_memory_is_in_another_script_than_the_question(question: str, text: str, foreign: float) -> None:
    assert features_of(question_of(question), [hit(text)])[0]["foreign"] == foreign


def test_what_the_words_of_a_question_tell_counts_for_what_has_them_and_against_what_has_not() -> None:
    known = QuestionWords({OTHERS: Told(0.1, -0.2), "phone": Told(1.0, -2.0)})
    question = question_of("Mira phone", known=known)
    both, one, none = features_of(question, [hit("Mira has a new phone"), hit("Mira is a dentist"), hit("rain")])
    assert (both["found"], both["missing"]) == pytest.approx((1.1, 0.0))
    assert (one["found"], one["missing"]) == pytest.approx((0.1, -2.0))
    assert (none["found"], none["missing"]) == pytest.approx((0.0, -2.2))


def test_a_long_prompt_tells_no_more_than_a_few_sure_words() -> None:
    known = QuestionWords({OTHERS: Told(0.5, -0.5)})
    asked = " ".join(f"word{n}" for n in range(200))
    found, missing = features_of(question_of(asked, known=known), [hit(asked), hit("rain")])
    assert found["found"] == -missing["missing"] == 4.0


@pytest.mark.parametrize(("words", "told"), [(10, -1.0), (20, -2.0), (40, -2.0), (80, -2.0)])
def test_the_more_words_a_question_has_the_less_each_of_them_tells(words: int, told: float) -> None:
    known = QuestionWords({OTHERS: Told(0.1, -0.1)})
    asked = " ".join(f"word{n}" for n in range(words))
    (none,) = features_of(question_of(asked, known=known), [hit("rain")])
    assert none["missing"] == pytest.approx(told)


def test_what_ships_knows_which_words_name_what_is_asked_for() -> None:
    told = shipped().of({"birthday", "draft", "qqzzq"})
    assert told["birthday"].missing < told["draft"].missing - 0.3
    assert told["qqzzq"] == shipped().of({"another-word-unknown"})["another-word-unknown"]


def test_the_richest_evidence_that_a_hit_carries_decides_which_weights_judge_it() -> None:
    assert kind_of(hit("a")) == "score"
    assert kind_of(hit("a", evidence=Evidence(words=0.5))) == "words"
    assert kind_of(hit("a", evidence=Evidence(0.5, (0.2, 0.1)))) == "meaning"
    assert kind_of(hit("a", evidence=Evidence(0.5, (0.2, 0.1), odds=1.0))) == "answer"
    assert kind_of(hit("a", evidence=Evidence(0.5, words=0.5, odds=1.0))) == "answer", "too few for a background"
    assert kind_of(hit("a", evidence=Evidence(0.5))) == "score"


def test_what_has_no_vector_yet_is_judged_by_its_words_among_those_that_have() -> None:
    known = [of_kind("answer", f"2026-01-0{n} user: something about number {n}", n / 10, 0.0) for n in range(1, 9)]
    new = of_kind("words", "2026-02-01 user: my bicycle is green", 0.0, 0.9)
    alone, among = (judge(question_of("what colour is my bicycle?", 0.97), hits)[0] for hits in ([new], [new, *known]))
    assert among.parts.keys() == alone.parts.keys() == load_weights("words").weights.keys()
    assert among.probability > 0.3


@pytest.mark.parametrize(
    "broken",
    [
        Evidence(words=math.nan),
        Evidence(similarity=math.nan, background=(0.8, 0.1), words=0.0),
        Evidence(similarity=0.9, background=(math.nan, 0.1), words=0.0),
        Evidence(similarity=0.9, background=(0.8, math.nan), words=0.0, odds=math.nan),
    ],
)
def test_what_is_no_number_is_no_evidence(broken: Evidence) -> None:
    """A probability of such would pass every bar, and that of its neighbours would depend on the order of the hits."""
    hits = [Hit("a", "rain", 0.5, evidence=broken), Hit("b", "snow", 0.5, evidence=Evidence(words=0.0))]
    question = question_of("where does my sister live?")
    for found in (hits, hits[::-1]):
        assert all(one.probability < 0.5 for one in judge(question, found))
        assert all(math.isfinite(part) for one in judge(question, found) for part in one.parts.values())


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_is_of_evidence_that_people_can_read(kind: str) -> None:
    assert set(load_weights(kind).weights) <= set(MEANINGS)
    assert set(features_of(question_of("a"), [hit("b")])[0]) >= set(load_weights(kind).weights)


numbers = st.floats(allow_nan=True, allow_infinity=True) | st.floats(0, 1)
evidences = st.none() | st.builds(
    Evidence, st.none() | st.floats(-1, 1), st.none() | st.tuples(st.floats(-1, 1), st.floats(0, 1)), st.floats(0, 1)
)


@given(st.lists(st.builds(hit, st.text(max_size=30), numbers, evidences), max_size=6), st.text(max_size=20))
def test_a_probability_for_any_hit(hits: list[Hit], asked: str) -> None:
    judged = judge(question_of(asked, 0.5), hits)
    assert len(judged) == len(hits)
    assert all(0 <= one.probability <= 1 and all(map(math.isfinite, one.parts.values())) for one in judged)


def test_the_worlds_are_whole() -> None:
    for world in [*worlds(), *worlds(blind=True)]:
        ids = {fact.id for fact in world.facts}
        assert len(ids) == len(world.facts), world.name
        for question in world.questions:
            assert question.needs | question.outdated <= ids, (world.name, question.text)
            assert bool(question.needs) == (question.kind != "none"), (world.name, question.text)


@pytest.mark.parametrize(("name", "least"), [("translated", 3_000), ("rephrased", 5_000)])
def test_every_question_asked_again_belongs_to_one_of_its_world(name: str, least: int) -> None:
    lines = (EXAMPLES / f"{name}.questions").read_text(encoding="utf-8").splitlines()
    elsewhere = name == "translated"
    asked = [(w, one) for w in worlds() for one in w.questions if one.again and bool(one.language) == elsewhere]
    assert len(asked) == sum(bool(line) and not line.startswith("#") for line in lines) > least
    for world, one in asked:
        assert one.language != world.language, (world.name, one.text)
        assert one.text not in {other.text for other in world.questions if not other.again}, (world.name, one.text)


def test_nothing_that_judges_is_learnt_from() -> None:
    def said(found: list) -> set[str]:
        return {text.text for world in found for text in (*world.facts, *world.questions)}

    assert not said(worlds()) & said(worlds(blind=True))


def test_a_line_that_is_neither_fact_nor_question_is_named(tmp_path) -> None:
    path = tmp_path / "bad.worlds"
    path.write_text("world w en\nf1 2026-01-01 u A fact.\nfact without a form\n")
    with pytest.raises(ValueError, match="w: neither a fact nor a question: fact without a form"):
        read_worlds(path)
    assert EXAMPLES.is_dir()
