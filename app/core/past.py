"""`preflight`: the archived past of a session becomes one summary message, the live messages stay (contract).

Messages are taken out only when their prints say that they are archived, so what the backend does not have yet is never
dropped; calls and results go together or not at all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, compress, takewhile

from app.core.capture import captured_messages
from app.core.digest import digest, one_line
from app.core.messages import Message, Role, is_excluded, role_of, tool_results
from app.core.pairs import Unit, units, with_results
from app.core.prints import archived, print_of
from app.core.rebuild import rebuilt
from app.core.summary import (
    FRAME_TOKENS,
    GUIDE,
    INDEX_HEADING,
    acknowledgement,
    contained,
    cut_to_tokens,
    is_acknowledgement,
    is_summary,
    own_messages,
    summary_body,
    summary_message,
)
from app.core.tokens import estimate_tokens, message_tokens
from app.core.turns import CapturedMessage

_NO_TIME = datetime.fromtimestamp(0, UTC)
"""A digest shows no times, so messages that are captured only for one need none."""

STRIDES = 8
"""A prompt over budget loses its oldest turns by eighths of the budget."""


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of the part of a session that the prompt no longer shows, and how to tell that part."""

    overview: str = ""
    """The backend's summary of everything archived and extracted."""
    abstracts: tuple[tuple[str, str], ...] = ()
    """(archive id, abstract), oldest first."""
    unsummarised: tuple[CapturedMessage, ...] = ()
    """Archived messages that ``overview`` does not cover."""
    live: tuple[CapturedMessage, ...] = ()
    """Stored messages that are not archived: the prompt is rebuilt from them when the host has none."""
    archived_prints: tuple[str, ...] = ()
    """Of the archived host messages, oldest first."""
    seen_prints: tuple[str, ...] = ()
    """Of the whole session; needed only for messages without a time (see `app.core.prints.archived`)."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """The messages for the prompt. ``changed`` is false when they are the host's own and nothing else."""

    messages: tuple[Message, ...]
    system_addition: str | None
    estimated_tokens: int
    changed: bool


def assemble_past(
    messages: Sequence[Message], past: Past, *, token_budget: int, summary_share: float, prompt_follows: bool = False
) -> Assembled:
    """The prompt's messages: leading system messages, the summary, then the live messages within ``token_budget``.

    The summary takes at most ``summary_share`` of the budget, and what the newest messages need goes before it.
    ``prompt_follows``: the host will put one more user message behind these. Running this on its own output changes
    nothing. Linear in the size of the input.
    """
    own = _own_at_the_head(messages)
    host = [message for message, ours in zip(messages, own, strict=True) if not ours]
    kept, gone = _without_archived(host, past, cut_before=any(own))
    if past.live and not _is_history(host):
        kept = [*host, *rebuilt(past.live)]
    room = int(token_budget * summary_share) - FRAME_TOKENS
    body = _body(past, gone, room) or _former_body(compress(messages, own), room)

    def with_summary(body: str) -> Assembled:
        # Nothing is taken out unless a summary stands in for it.
        live = kept if body or not (gone or any(own)) else messages
        final, addition = _told(live, body, token_budget, prompt_follows)
        tokens = sum(map(message_tokens, final)) + estimate_tokens(addition or "")
        return Assembled(tuple(final), addition, tokens, changed=bool(body) or len(final) != len(messages))

    whole = with_summary(body)
    excess = whole.estimated_tokens - token_budget
    if not body or excess <= 0:
        return whole
    shorter = with_summary(cut_to_tokens(body, estimate_tokens(body) - excess))
    return shorter if shorter.estimated_tokens <= token_budget else whole


def brings_history(messages: Sequence[Message]) -> bool:
    """Whether there is more in them than system messages and a summary of ours: if not, the prompt is rebuilt."""
    return _is_history(message for message, ours in zip(messages, _own_at_the_head(messages), strict=True) if not ours)


def _is_history(host: Iterable[Message]) -> bool:
    return any(role_of(message) is not Role.SYSTEM for message in host)


def _told(
    kept: Sequence[Message], body: str, token_budget: int, prompt_follows: bool
) -> tuple[list[Message], str | None]:
    """The prompt's messages with ``body`` as their summary, if there is one, and what the system prompt says of it."""
    if not body:
        return _within_budget(kept, token_budget), None
    head = summary_message(body)
    fixed = message_tokens(head) + message_tokens(acknowledgement()) + estimate_tokens(GUIDE)
    live = _without_strays(_within_budget(kept, token_budget - fixed))
    place = _leading(live, {Role.SYSTEM})
    final = [*live[:place], head, *live[place:]]
    if _needs_acknowledgement(live[place:], prompt_follows):
        final.insert(place + 1, acknowledgement())
    return final, GUIDE


def _without_archived(host: Sequence[Message], past: Past, *, cut_before: bool) -> tuple[list[Message], list[Message]]:
    """The messages that stay and those that are archived.

    A unit of calls and results goes only as a whole. Where taking messages out would make two user messages meet that
    did not before, the last assistant unit between them stays.
    """
    if not past.archived_prints:
        return list(host), []
    prints = [print_of(message) for message in host]
    steps = units(host)
    flags = with_results(host, steps, archived(prints, past.archived_prints, past.seen_prints, cut_before=cut_before))
    gone: set[int] = set()
    last_user, spare = False, None
    for unit in steps:
        printed = [index for index in unit if prints[index]]
        if printed and all(flags[index] if prints[index] else not tool_results(host[index]) for index in unit):
            gone.update(printed)
            if not _from_user(host[unit.start]):
                spare = printed
        if any(index not in gone for index in unit):
            if last_user and spare and _from_user(host[unit.start]):
                gone.difference_update(spare)
            last_user, spare = _from_user(host[unit.stop - 1]), None
    kept = [message for index, message in enumerate(host) if index not in gone]
    return kept, [message for index, message in enumerate(host) if index in gone]


def _body(past: Past, gone: Sequence[Message], room: int) -> str:
    """The summary's text within ``room`` tokens: overview, digest of what it does not cover, archive index if it fits.

    When neither is there although messages were taken out, these are digested, so that the past never goes blank.
    """
    unsummarised = past.unsummarised
    if not past.overview and not past.abstracts and not unsummarised:
        unsummarised = captured_messages(gone, _NO_TIME)
    overview = contained(past.overview)
    newer = contained(digest(unsummarised, room // 2 if overview else room))
    overview = cut_to_tokens(overview, room - estimate_tokens(newer) - 1 if newer else room)
    text = "\n\n".join(part for part in (overview, newer) if part)
    lines = [f"- {one_line(contained(name), 80)}: {one_line(contained(abstract))}" for name, abstract in past.abstracts]
    return "\n\n".join(part for part in (text, _index(lines, room - estimate_tokens(text) - 1)) if part)


def _index(lines: Sequence[str], room: int) -> str:
    """The newest archives' abstracts that fit, oldest first, under their heading."""
    left = room - estimate_tokens(INDEX_HEADING) - 1
    fitting: list[str] = []
    for line in reversed(lines):
        left -= estimate_tokens(line) + 1
        if left < 0:
            break
        fitting.append(line)
    return "\n".join([INDEX_HEADING, *reversed(fitting)]) if fitting else ""


def _own_at_the_head(messages: Sequence[Message]) -> list[bool]:
    """Which messages are a summary of ours that the host sent back, or its acknowledgement.

    They stand at the head, beside system messages and the host's own summary. One in the middle is the host's doing.
    """
    own = own_messages(messages)
    beside = {Role.SYSTEM, Role.SUMMARY}
    head = takewhile(lambda pair: pair[1] or role_of(pair[0]) in beside, zip(messages, own, strict=True))
    end = sum(1 for _ in head)
    return [*own[:end], *(False for _ in own[end:])]


def _former_body(own: Iterable[Message], room: int) -> str:
    """The text of our own earlier summary; of the last one, should there be several."""
    bodies = [summary_body(message) for message in own if is_summary(message)]
    return cut_to_tokens(bodies[-1], room) if bodies else ""


def _within_budget(kept: Sequence[Message], budget: int) -> list[Message]:
    """The messages without their oldest turns as far as ``budget`` asks for it; leading system messages always stay.

    Cut at the start of a turn, in strides, so that the prompt's beginning stays the same over many turns (provider
    caches). Where not even the last turn fits, its question stays and the oldest steps behind it leave, calls and
    results together. A host's own compaction summary at the head is not cut. The newest unit always stays.
    """
    systems = _leading(kept, {Role.SYSTEM})
    pinned = systems + _leading(kept[systems:], {Role.SUMMARY})
    head, rest = list(kept[:pinned]), list(kept[pinned:])
    costs = [message_tokens(message) for message in rest]
    budget -= sum(map(message_tokens, head))
    if not rest or sum(costs) <= budget:
        return head + rest
    steps = units(rest)
    weights = [sum(costs[step.start : step.stop]) for step in steps]
    turns = [index for index, step in enumerate(steps) if role_of(rest[step.start]) is Role.USER]
    stride = max(1, budget // STRIDES)
    excess = sum(weights) - budget
    for allowed in (budget - -excess % stride, budget):
        first = _first_fitting(weights, allowed)
        turn = next((index for index in turns if index >= first), None)
        if turn is not None:
            return head + rest[steps[turn].start :]
    if not turns:
        return head + rest[steps[first].start :]
    question = turns[-1]
    first = _first_fitting(weights[question + 1 :], budget - weights[question]) + question + 1
    return head + _messages(rest, [steps[question], *_not_user(rest, steps[first:])])


def _first_fitting(weights: Sequence[int], budget: int) -> int:
    """The index from which the rest of ``weights`` fits into ``budget``; the last one when nothing fits."""
    fitting = sum(total <= budget for total in accumulate(reversed(weights)))
    return len(weights) - max(1, fitting)


def _not_user(rest: Sequence[Message], steps: Sequence[Unit]) -> Sequence[Unit]:
    """The steps from the first that does not speak as ``user`` (an orphan result in Anthropic's style does)."""
    start = next((index for index, step in enumerate(steps) if not _from_user(rest[step.start])), len(steps))
    return steps[start:]


def _messages(rest: Sequence[Message], steps: Sequence[Unit]) -> list[Message]:
    return [rest[index] for step in steps for index in step]


def _without_strays(live: Sequence[Message]) -> list[Message]:
    """``live`` without what looks like ours at its head: beside the summary it would be taken for a part of it."""
    beside = {Role.SYSTEM, Role.SUMMARY}
    stray = [is_summary(message) or is_acknowledgement(message) for message in live]
    ends = next((i for i, m in enumerate(live) if not stray[i] and role_of(m) not in beside), len(live))
    return [message for index, message in enumerate(live) if index >= ends or not stray[index]]


def _needs_acknowledgement(behind: Sequence[Message], prompt_follows: bool) -> bool:
    """Would the summary, a user message, meet another one? Hosts turn summaries and custom messages into such too."""
    if not behind:
        return prompt_follows
    role = role_of(behind[0])
    return _from_user(behind[0]) or role is Role.SUMMARY or (role is Role.CUSTOM and not is_excluded(behind[0]))


def _from_user(message: Message) -> bool:
    return message.get("role") == "user" or role_of(message) is Role.USER


def _leading(messages: Sequence[Message], roles: set[Role]) -> int:
    return next((index for index, message in enumerate(messages) if role_of(message) not in roles), len(messages))
