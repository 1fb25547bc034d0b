"""Guard 5: the messages fit the budget. The oldest turns leave first; then outputs of the newest turn get shorter.

Turns leave in strides, and the place up to which they have left is kept (`app.core.history.prompt_layout`): the
prompt's beginning stays the same over many turns (provider caches).
"""

from collections.abc import Sequence
from itertools import accumulate

from app.core.history.guards.guarded_messages import Shown, Window
from app.core.messages.host_message import HostMessage, Messages, Role, tokens_of
from app.core.messages.pairs import Unit, units

LEAST_TURNS = 3
"""So many of the newest turns leave only when they do not fit, and not for a stride."""


def within_budget(
    window: Window, room: int, *, until: int | None = None, most: int | None = None
) -> tuple[list[HostMessage], list[HostMessage]]:
    """The messages within ``room`` tokens, and what had to leave. ``until``: what they are cut down to, once turns have
    to leave. ``most``: what the newest turn may take, if it needs that much.

    Cut at the start of a turn. Where not even the last turn fits, its outputs get shorter; then the oldest steps behind
    its question leave, calls and results together. Leading system messages stay, and so does the newest question.
    """
    pinned = pinned_in(window.messages)
    taken = tokens_of(window.messages[:pinned])
    most = (room if most is None else most) - taken
    _shorten_newest_turn(window, pinned, room - taken, most)
    head, rest = window.messages[:pinned], window.messages[pinned:]
    staying = _staying(rest, room - taken, (room if until is None else min(until, room)) - taken, most)
    shown = {index for step in staying for index in step}
    cut = [message for index, message in enumerate(rest) if index not in shown]
    return head + [rest[index] for index in sorted(shown)], cut


def leading(messages: Messages, roles: set[Role]) -> int:
    """How many of the first messages have one of these roles."""
    return next((index for index, message in enumerate(messages) if message.role not in roles), len(messages))


def pinned_in(messages: Messages) -> int:
    """How many of the first messages always stay: system messages, and a host's own compaction summary behind them."""
    systems = leading(messages, {Role.SYSTEM})
    return systems + leading(messages[systems:], {Role.SUMMARY})


def _shorten_newest_turn(window: Window, pinned: int, room: int, most: int) -> None:
    """Shorten outputs of the newest turn as far as it does not fit: those of earlier steps to a line, and those of the
    last one where it does not even fit into ``most`` behind the question alone."""
    messages = window.messages
    steps = units(messages[pinned:])
    if not steps:
        return
    starts = [step.start for step in steps if messages[pinned + step.start].role is Role.USER]
    last = pinned + steps[-1].start
    first = pinned + starts[-1] if starts else last
    excess = tokens_of(messages[first:]) - room
    outputs = [one for one in window.outputs if one.output.index >= first]
    for one in outputs:
        if excess > 0 and one.output.index < last:
            excess -= _cleared(window, one)
    newest = [one for one in outputs if one.output.index >= last]
    question = messages[first].tokens if first < last else 0
    excess = question + tokens_of(window.messages[last:]) - most
    if excess > 0 and newest:
        _share(window, newest, sum(one.tokens for one in newest) - excess)
        excess = question + tokens_of(window.messages[last:]) - most
    for one in newest:
        if excess > 0:
            excess -= _cleared(window, one)


def _share(window: Window, outputs: Sequence[Shown], room: int) -> None:
    """Shorten the outputs until they take ``room`` together: small ones stay, the others get equal shares."""
    waiting = sorted(outputs, key=lambda one: one.tokens)
    for number, one in enumerate(waiting):
        share = room // (len(waiting) - number)
        if one.tokens > share and (decided := window.truncated(one, share)):
            window.apply(one, decided)
        room -= one.tokens


def _cleared(window: Window, one: Shown) -> int:
    """Put a line in the output's place; the tokens that this frees."""
    decided = window.cleared(one)
    if decided is None:
        return 0
    gain = window.gain(one, decided)
    window.apply(one, decided)
    return gain


def _staying(rest: Messages, budget: int, until: int, most: int) -> Sequence[Unit]:
    """The units of ``rest`` that are shown within ``budget``; the newest question and step within ``most``.

    Turns leave in strides of what is between ``until`` and ``budget``, so that the same leave again with the next
    request, whether it is known which left with the last or not.
    """
    costs = [message.tokens for message in rest]
    steps = units(rest)
    excess = sum(costs) - budget
    stride = max(1, budget - until)
    if not rest or sum(costs) <= until:
        return steps
    until = budget - -excess % stride if excess > 0 else until
    weights = [sum(costs[step.start : step.stop]) for step in steps]
    turns = [index for index, step in enumerate(steps) if rest[step.start].role is Role.USER]
    for least, allowed in ((LEAST_TURNS, until), (1, budget)):
        first = _first_fitting(weights, allowed)
        turn = next((index for index in turns if index >= first), len(steps))
        turn = min([turn, *turns[-least:][:1]])
        if turn < len(steps) and sum(weights[turn:]) <= budget:
            return steps[turn:]
    if not turns:
        return steps[first:]
    question = turns[-1]
    first = _first_fitting(weights[question + 1 :], budget - weights[question]) + question + 1
    behind = _not_user(rest, steps[first:])
    fits = weights[question] + sum(sum(costs[step.start : step.stop]) for step in behind) <= most
    return [steps[question], *behind] if fits or weights[question] > most else [steps[question]]


def _first_fitting(weights: Sequence[int], budget: int) -> int:
    """The index from which the rest of ``weights`` fits into ``budget``; the last one when nothing fits."""
    fitting = sum(total <= budget for total in accumulate(reversed(weights)))
    return len(weights) - max(1, fitting)


def _not_user(rest: Messages, steps: Sequence[Unit]) -> Sequence[Unit]:
    """The steps from the first that does not speak as ``user`` (an orphan result in Anthropic's style does)."""
    start = next((index for index, step in enumerate(steps) if not from_user(rest[step.start])), len(steps))
    return steps[start:]


def from_user(message: HostMessage) -> bool:
    """Whether a provider takes it for a message of the user."""
    return message.raw.get("role") == "user" or message.role is Role.USER
