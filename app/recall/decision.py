"""Is this a moment to recall, what is asked, and are experiences wanted? Every no has its reason.

Checks in the order of the reason codes. Experiences: what rules them out comes first, then what forces them, then
whether the message is a task.
"""

from dataclasses import dataclass, field, replace

from app.classify.classifier import FOLLOWS_FROM, TASK_FROM, Classifier
from app.core.identity import Identity, SessionKind
from app.core.injection.fence import contains_block
from app.core.injection.inject import is_injected
from app.core.messages.host_message import Messages
from app.core.reasons import Reason
from app.core.recall.query import MAX_CHARS, asks, build_query, cut_text
from app.core.recall.trace import GateTrace
from app.core.recall.transcript import REPLY_ASSIST, is_transcript
from app.text.scripts import weight
from app.text.words import names_something


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that decide. Lengths are weights: a Chinese, Japanese or Korean character counts as 3."""

    enabled: bool = True
    """Whether any source is."""
    experiences: bool = False
    min_query: int = 5
    min_task: int = 12
    query_turns: int = 1


@dataclass(frozen=True, slots=True)
class Decision:
    """What to search for and where, or why not at all."""

    query: str = ""
    refusal: Reason | None = None
    gate: GateTrace = field(default_factory=GateTrace)
    note: str = ""
    """The note that goes with a pasted transcript; empty for anything else."""
    latest: str = ""
    """The part of the query that is the latest message."""
    is_guidance: bool = False
    """It is about a tool call: what is known of the user does not help it."""
    personal: float | None = None
    """How likely an answer depends on who asks; None where nothing is searched for."""
    turns: tuple[int, ...] = (0,)
    """The user messages in the query, counted back from the latest one, which is 0."""


def decide(
    messages: Messages,
    prompt: str | None,
    who: Identity,
    rules: Rules,
    classifier: Classifier,
    *,
    hint: str | None = None,
    bypassed: bool = False,
    is_guidance: bool = False,
    automation: str = "",
) -> Decision:
    """Judge the latest user message, or ``prompt`` where the messages do not end with one.

    ``automation`` is what a scheduled run is about: it joins what is searched for, and decides nothing.
    """
    if refusal := _refused_unread(messages, prompt, rules, bypassed):
        return Decision(refusal=refusal)
    query = build_query(
        messages,
        prompt,
        rules.query_turns,
        lambda text: not is_guidance and classifier.follows(text) >= FOLLOWS_FROM,
    )
    if automation and who.kind is SessionKind.CRON:
        query = replace(query, text=cut_text(f"{query.text}\n{automation}", MAX_CHARS))
    if not query.subject and _asks_nothing(query.latest, rules, classifier, is_guidance=is_guidance):
        gate = GateTrace(reason="query_too_short" if rules.experiences else "experience_disabled")
        return Decision(query.text, Reason.QUERY_TOO_SHORT, gate, latest=query.latest)
    gate = gate_of(query.latest, who.kind, rules, classifier, hint)
    if who.lacks_sender:
        return Decision(query.text, Reason.MISSING_SENDER, gate, latest=query.latest)
    if is_guidance:
        return Decision(query.text, None, gate, "", query.latest, is_guidance=True)
    note = REPLY_ASSIST.strip() if is_transcript(query.latest) else ""
    personal = classifier.personal(query.subject or query.latest)
    return Decision(query.text, None, gate, note, query.latest, personal=personal, turns=query.turns)


def _asks_nothing(text: str, rules: Rules, classifier: Classifier, *, is_guidance: bool) -> bool:
    too_short = weight(text) < rules.min_query and not names_something(text)
    return too_short or (not is_guidance and classifier.no_query_reason(text) is not None)


def gate_of(text: str, kind: SessionKind, rules: Rules, classifier: Classifier, hint: str | None) -> GateTrace:
    """Whether experiences are wanted for ``text``: which trigger forced it, or how likely it is a task, and why."""
    if not rules.experiences:
        return GateTrace(reason="experience_disabled")
    if weight(text) < rules.min_task:
        return GateTrace(reason="task_too_short")
    forced = hint if hint and hint != "task_start" else "cron_start" if kind is SessionKind.CRON else None
    if forced:
        return GateTrace(recall=True, trigger=forced, reason="forced")
    judged = classifier.task(text)
    passes = judged.probability >= TASK_FROM
    return GateTrace(
        recall=passes,
        trigger="task_start" if passes else None,
        score=judged.probability,
        reason="task" if passes else "not_a_task",
        parts=judged.parts,
    )


def _refused_unread(messages: Messages, prompt: str | None, rules: Rules, bypassed: bool) -> Reason | None:
    if bypassed:
        return Reason.SESSION_BYPASSED
    if not asks(messages) and not (prompt and prompt.strip()):
        return Reason.NON_USER_TAIL
    if not rules.enabled:
        return Reason.RECALL_DISABLED
    if is_injected(messages) or (prompt and not asks(messages) and contains_block(prompt)):
        return Reason.ALREADY_INJECTED
    return None
