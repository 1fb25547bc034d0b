"""Long-term memories: what the user and earlier conversations told. Looked up for every question."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

from app.core.identity import SessionKind
from app.core.injection.fence import neutralise, neutralise_line
from app.core.injection.markers import declared
from app.core.recall.detail import Detail
from app.core.recall.hits import Hit
from app.core.recall.trace import Verdict
from app.ports import Target
from app.recall.block import Section
from app.recall.candidate_statements import vectors_in
from app.recall.decision import Decision
from app.recall.experience_format import no_experiences
from app.recall.ranking import COMPARED_CHARS, Candidate, Policy, bars_for, drop, rank, rest, share_of_bars
from app.recall.relevance.excerpt import excerpt
from app.recall.relevance.model import judge
from app.recall.relevance.outdated import Outdated, Pair, among_many
from app.recall.relevance.read_hits import judge_reading, with_text
from app.recall.selection import Selection, select
from app.recall.shown import MIN_LINE_CHARS, is_said, said_before, shown_items
from app.recall.source import Asked, candidates_for
from app.recall.superseded import MAX_CANDIDATES, without_superseded
from app.settings import Settings

MAX_CATEGORY_CHARS = 40
MAX_REMEMBERED_CHARS = 2_000
"""Longest memory whose safe form is kept; longer ones are rare and would fill the memory."""


def memory_item(candidate: Candidate) -> str:
    """``- [category] text``; further lines of the text are indented, so that they stay inside their item."""
    text = candidate.hit.text
    written = (_text if len(text) <= MAX_REMEMBERED_CHARS else _text.__wrapped__)(text, declared())
    return f"- [{_category(candidate.category[:MAX_CATEGORY_CHARS], declared())}] {written}"


@lru_cache(maxsize=2048)
def _text(text: str, _markers: tuple[str, ...]) -> str:
    """The same memories come up again and again, and making one safe takes a dozen regular expressions.

    What is safe depends on the lines that sources declared, so they are part of the key.
    """
    text = neutralise(text)
    return text if "\n" in text else text.removeprefix("- ")


@lru_cache(maxsize=256)
def _category(name: str, _markers: tuple[str, ...]) -> str:
    return neutralise_line(name).replace("]", ")")


def _to_the_point(candidate: Candidate, query: str, detail: Detail) -> Candidate:
    """The candidate with what of a long text answers the question."""
    if candidate.verdict is not Verdict.KEPT:
        return candidate
    text = excerpt(candidate.hit.text, query, detail)
    return candidate if text is candidate.hit.text else candidate._replace(hit=candidate.hit._replace(text=text))


def _widened(candidates: Sequence[Candidate], policy: Policy) -> list[Candidate]:
    """The candidates with all of what they are passages of, the best first, where that fits into the section."""
    widened: list[Candidate] = []
    left, shown = policy.max_chars, 0
    for candidate in candidates:
        if candidate.verdict is Verdict.KEPT and shown < policy.limit:
            if candidate.hit.whole:
                whole = candidate._replace(hit=candidate.hit._replace(text=candidate.hit.whole))
                candidate = whole if len(SECTION.render(whole)) <= left else candidate
            if (chars := len(SECTION.render(candidate))) <= left:
                left -= chars + len(SECTION.separator)
                shown += 1
        widened.append(candidate)
    return widened


SECTION = Section(
    name="memories",
    title="Long-term memories",
    frame=(
        "## Long-term Memories",
        "Source: openviking-auto-recall",
        "The following OpenViking memories may be relevant:",
    ),
    render=memory_item,
)


def _refusal(asked: Asked) -> Callable[[Candidate], Verdict | None]:
    """What is no memory for this question. To a sub-agent the turn that sent it says its own task, and would outdo
    every fact that helps with it."""
    if asked.who.kind is not SessionKind.SUBAGENT:
        return no_experiences
    task = [line for line in map(_unspaced, asked.query.split("\n")) if len(line) >= MIN_LINE_CHARS]

    def refuses(candidate: Candidate) -> Verdict | None:
        told = _unspaced(candidate.hit.text[:COMPARED_CHARS])
        return Verdict.SAID if task and all(line in told for line in task) else no_experiences(candidate)

    return refuses


def _unspaced(text: str) -> str:
    return "".join(text.split())


class Memories:
    """The memories that score best, without what stands in the conversation anyway."""

    name = "memories"
    section = SECTION
    precedence = 2

    def enabled(self, settings: Settings) -> bool:
        """On by default."""
        return settings.recall.enabled

    def searches(self, decision: Decision, settings: Settings) -> Mapping[Target, int]:
        """Whatever the question; not about a tool call."""
        return {} if decision.is_guidance else {Target.MEMORIES: candidates_for(settings.recall.limit)}

    def choose(self, asked: Asked, hits: Sequence[Hit]) -> Selection:
        """The best by score that the model does not see already."""
        rules = asked.settings.recall
        policy = Policy(
            limit=rules.limit,
            max_chars=rules.max_injected_chars,
            threshold=rules.score_threshold,
            relative_cut=rules.relative_cut,
            eased=True,
            own_only=rules.own_only,
            mmr_lambda=rules.mmr_lambda,
            half_life_days=rules.half_life_days,
            actor_peer=asked.who.actor_peer,
            today=asked.today,
            personal=asked.personal,
            detail=rules.detail,
            refuses=_refusal(asked),
            judges=partial(judge_reading, read=asked.read) if asked.read else judge,
        )
        found = rank(hits, asked.query, policy)

        def outdated(pairs: Sequence[Pair]) -> Sequence[float]:
            vectors, many = vectors_in(found, MAX_CANDIDATES), 1 - share_of_bars(found, policy)
            likely = Outdated(asked.query, vectors, read=asked.read).likely(pairs)
            return [among_many(one, pair, many) for one, pair in zip(likely, pairs, strict=True)]

        def answers(text: str) -> float | None:
            return asked.read("answers", with_text(asked.query, text)) if asked.read else None

        bar = max(bars_for(found, policy))
        ranked = without_superseded(found, asked.query, outdated, answers)
        ranked = drop(ranked, lambda candidate: candidate.score < bar, Verdict.BELOW_CUT)
        if before := said_before(asked.messages):
            ranked = drop(ranked, lambda candidate: is_said(candidate.hit.text, before), Verdict.SAID)
        ranked = [_to_the_point(candidate, asked.query, rules.detail) for candidate in ranked]
        ranked = _widened(ranked, policy) if rules.detail is Detail.FULL else ranked
        if shown := shown_items(asked.messages, rules.cooldown_turns, self.section):
            ranked = rest(ranked, lambda candidate: self.section.render(candidate) in shown)
        return select(self.section, policy, ranked)
