"""Which of the host's messages stay in a prompt, which of them are ours, and how a summary stands among them."""

from collections.abc import Iterable
from itertools import takewhile

from app.core.history.guards.fit import from_user, leading
from app.core.history.summary_message import (
    acknowledgement,
    is_acknowledgement,
    is_summary,
    own_messages,
    summary_message,
)
from app.core.history.summary_text import History
from app.core.messages.fingerprints import archived
from app.core.messages.host_message import HostMessage, Messages, Role
from app.core.messages.pairs import units, with_results


def brings_history(messages: Messages) -> bool:
    """Whether there is more in them than system messages and a summary of ours: if not, the prompt is rebuilt."""
    return is_history(message for message, ours in zip(messages, own_at_the_head(messages), strict=True) if not ours)


def is_history(host: Iterable[HostMessage]) -> bool:
    """Whether there is more in them than system messages."""
    return any(message.role is not Role.SYSTEM for message in host)


def told_with(live: Messages, body: str, prompt_follows: bool, *, of_cut: bool) -> list[HostMessage]:
    """The prompt's messages with ``body`` as their summary, if there is one."""
    if not body:
        return list(live)
    live = _without_strays(live)
    place = leading(live, {Role.SYSTEM})
    final = [*live[:place], summary_message(body, of_cut=of_cut), *live[place:]]
    if _needs_acknowledgement(live[place:], prompt_follows):
        final.insert(place + 1, acknowledgement())
    return final


def without_archived(
    host: Messages, history: History, *, cut_before: bool
) -> tuple[list[HostMessage], list[HostMessage], bool]:
    """The messages that stay, those that are archived, and whether the host has these from the first on.

    A unit of calls and results goes only as a whole. Where taking messages out would make two user messages meet that
    did not before, the last assistant unit between them stays.
    """
    if not history.archived_fingerprints:
        return list(host), [], False
    fingerprints = [message.fingerprint for message in host]
    steps = units(host)
    flags = with_results(
        host,
        steps,
        archived(fingerprints, history.archived_fingerprints, history.seen_fingerprints, cut_before=cut_before),
    )
    gone: set[int] = set()
    last_user, spare = False, None
    for unit in steps:
        printed = [index for index in unit if fingerprints[index]]
        if printed and all(flags[index] if fingerprints[index] else not host[index].results for index in unit):
            gone.update(printed)
            if not from_user(host[unit.start]):
                spare = printed
        if any(index not in gone for index in unit):
            if last_user and spare and from_user(host[unit.start]):
                gone.difference_update(spare)
            last_user, spare = from_user(host[unit.stop - 1]), None
    kept = [message for index, message in enumerate(host) if index not in gone]
    complete = history.archived_fingerprints[0] in fingerprints
    return kept, [message for index, message in enumerate(host) if index in gone], complete


def own_at_the_head(messages: Messages) -> list[bool]:
    """Which messages are a summary of ours that the host sent back, or its acknowledgement.

    They stand at the head, beside system messages and the host's own summary. One in the middle is the host's doing.
    """
    own = own_messages(messages)
    beside = {Role.SYSTEM, Role.SUMMARY}
    head = takewhile(lambda pair: pair[1] or pair[0].role in beside, zip(messages, own, strict=True))
    end = sum(1 for _ in head)
    return [*own[:end], *(False for _ in own[end:])]


def _without_strays(live: Messages) -> list[HostMessage]:
    """``live`` without what looks like ours at its head: beside the summary it would be taken for a part of it."""
    beside = {Role.SYSTEM, Role.SUMMARY}
    stray = [is_summary(message) or is_acknowledgement(message) for message in live]
    ends = next((i for i, m in enumerate(live) if not stray[i] and m.role not in beside), len(live))
    return [message for index, message in enumerate(live) if index >= ends or not stray[index]]


def _needs_acknowledgement(behind: Messages, prompt_follows: bool) -> bool:
    """Would the summary, a user message, meet another one? Hosts turn summaries and custom messages into such too."""
    if not behind:
        return prompt_follows
    role = behind[0].role
    return from_user(behind[0]) or role is Role.SUMMARY or (role is Role.CUSTOM and not behind[0].is_excluded)
