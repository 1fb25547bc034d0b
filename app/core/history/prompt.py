"""`preflight`: the archived history of a session becomes one summary message, the live messages stay (contract).

Messages are taken out only when their fingerprints say that they are archived, or when the budget leaves no room for
them; either way the summary stands in for them, so nothing vanishes without a word. Calls and results go together or
not at all.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import compress
from operator import is_not

from app.core.history.dropped import least_to_name
from app.core.history.guards.cuts import GuardNote, Kept, Kind
from app.core.history.guards.earlier_outputs import cut_earlier, is_due, uncut
from app.core.history.guards.fit import pinned_in, within_budget
from app.core.history.guards.guard_registry import Guarding, unguarded
from app.core.history.guards.guarded_messages import Window
from app.core.history.guards.turn_limits import turn_notes
from app.core.history.live_messages import is_history, own_at_the_head, told_with, without_archived
from app.core.history.notes import NotesOn, notes_on
from app.core.history.prompt_layout import Layout, stride
from app.core.history.rebuild import rebuilt
from app.core.history.summary_message import (
    FRAME_TOKENS,
    GUIDE,
    GUIDE_TO_ARCHIVES,
    SUMMARY_COST,
    cut_to_tokens,
    is_summary,
    stands_for_cut,
    summary_body,
)
from app.core.history.summary_text import History, summary_text
from app.core.messages.host_message import HostMessage, Messages, tokens_of
from app.core.messages.tokens import estimate_tokens

LEAST_TOKENS = 48
"""A summary has room for so much, even where the messages that it stands for took less."""
FULL_SUMMARY = 4_000
"""A summary of so many tokens is told whole, whatever else has to leave; a longer one takes half of what stays."""
_CUT_TOKENS = 2
"""By so many tokens may a text that is cut become less shorter in its message than by itself: rounding, and its end."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """The messages for the prompt. ``changed`` is false when there was nothing to decide: no history, and all fits."""

    messages: tuple[HostMessage, ...]
    system_addition: str | None
    estimated_tokens: int
    changed: bool
    guards: tuple[GuardNote, ...] = ()
    """What is not shown of the messages, and what left the prompt."""
    originals: tuple[Kept, ...] = ()
    """Outputs that were cut now, to be kept."""
    layout: Layout | None = None
    """How the prompt is laid out, where that is new."""


def assemble_history(
    messages: Messages,
    history: History,
    *,
    token_budget: int,
    summary_share: float,
    prompt_follows: bool = False,
    reads_archives: bool = False,
    notes: NotesOn = notes_on,
    may_show: Callable[[str], str] = str,
    guarding: Guarding | None = None,
) -> Assembled:
    """The prompt's messages: leading system messages, the summary, then the live messages within ``token_budget``.

    The summary takes at most ``summary_share`` of the budget, tells what the budget cuts as well as what is archived,
    and goes before what the newest messages need. Where the host has all the messages that it stands for, it costs no
    more than they did, or is a few lines. ``prompt_follows``: the host will put one more user message behind these.
    ``reads_archives``: the model has the tools for it, and is told so where there are archives.
    ``notes``: see `NotesOn`. ``may_show``: what may be shown of the summary. ``guarding``: cuts the live messages.
    Running this on its own output changes nothing. Linear in the size of the
    input.
    """
    prompt = _Prompt(
        messages,
        history,
        token_budget,
        max(0, int(token_budget * summary_share) - FRAME_TOKENS),
        prompt_follows,
        reads_archives,
        notes,
        may_show,
        guarding or unguarded(token_budget),
    )
    return prompt.as_before() or prompt.laid_out()


class _Prompt:
    """One prompt in the making."""

    def __init__(
        self,
        messages: Messages,
        history: History,
        token_budget: int,
        room: int,
        prompt_follows: bool,
        reads_archives: bool,
        notes: NotesOn,
        may_show: Callable[[str], str],
        guarding: Guarding,
    ) -> None:
        self.messages, self.history, self.budget, self.room = messages, history, token_budget, room
        self.prompt_follows, self.reads_archives = prompt_follows, reads_archives
        self.notes, self.may_show, self.guarding = notes, may_show, guarding
        own = own_at_the_head(messages)
        self.own: Messages = list(compress(messages, own))
        self.host = [message for message, ours in zip(messages, own, strict=True) if not ours]

    def _of(self, messages: Messages) -> "_Prompt":
        """The same for other messages."""
        return _Prompt(
            messages,
            self.history,
            self.budget,
            self.room,
            self.prompt_follows,
            self.reads_archives,
            self.notes,
            self.may_show,
            self.guarding,
        )

    def as_before(self) -> Assembled | None:
        """The prompt with the beginning that the last one had; None where it is to be laid out anew."""
        layout, gone = self.guarding.layout, self.history.archived_fingerprints
        if layout is None or not layout.holds(self.budget, gone) or not is_history(self.host):
            return None
        known = replace(self.history, archived_fingerprints=gone[: layout.archived])
        kept, _, _ = without_archived(self.host, known, cut_before=bool(self.own))
        window = self.guarding.as_before(kept)
        if window is None or is_due(window, self.guarding.situation, layout.uncut):
            return None
        body = self.may_show(layout.body)
        whole = self._answer(window, window.messages, window.dropped, body, layout.of_cut, layout.of_archives)
        return whole if whole.estimated_tokens <= self.budget else None

    def laid_out(self) -> Assembled:
        """The prompt as it is best laid out now. Nothing is taken out unless a summary stands in for it."""
        kept, gone, complete = without_archived(self.host, self.history, cut_before=bool(self.own))
        if self.history.live and not is_history(self.host):
            kept = [*self.host, *rebuilt(self.history.live)]
        former = _Former.of(self.own, self.history, gone)
        of_archives = self.history.is_archived

        def told(cut: Messages, room: int) -> str:
            text = summary_text(self.history, gone, cut, former.body, room, self.notes) if room else ""
            return self.may_show(text)

        def answer(window: Window, live: Messages, cut: Messages, body: str) -> Assembled:
            whole = self._answer(window, live, cut, body, former.of_cut or bool(cut), of_archives)
            return replace(whole, layout=self._layout(window, kept, live, body, former.of_cut or bool(cut)))

        body = told((), self.room)
        untold = list(self.messages) if gone or self.own else kept
        window = self.guarding.over(kept if body else untold)
        cut = list(window.dropped)
        body = told(cut, self.room) if cut else _no_longer(body, gone if complete else (), former.sent_back)
        whole = answer(window, window.messages, cut, body)
        until = self.budget - stride(window.messages, self.budget)
        if whole.estimated_tokens <= (until if self._breaks_anyway else self.budget):
            return whole
        if self.guarding.guards:
            cut_earlier(window, self.guarding.situation)
        least = max(LEAST_TOKENS, least_to_name(window.messages))
        room = min(self.room, max(FULL_SUMMARY, until // 2))
        most = self.budget - SUMMARY_COST - least if room else self.budget
        for_turns = min(most, self.budget - self.room - SUMMARY_COST) if room else self.budget
        shown, more = within_budget(window, for_turns, until=until - room - SUMMARY_COST, most=most)
        window.stay(shown)
        cut += more
        body = told(cut, room)
        whole = answer(window, shown, cut, body)
        while body and (excess := whole.estimated_tokens - self.budget) > 0:
            body = cut_to_tokens(body, estimate_tokens(body) - excess - _CUT_TOKENS)
            whole = answer(window, shown, cut, body)
        if body or not room:
            return whole
        window = self.guarding.over(untold)
        shown, cut = within_budget(window, self.budget)
        window.stay(shown)
        return self._settled(answer(window, shown, [*window.dropped, *cut], ""))

    def _settled(self, bare: Assembled) -> Assembled:
        """``bare``, in which no summary had room, laid out as it would be when the host sends it back: what is left of
        the messages may leave room for one."""
        if len(bare.messages) == len(self.messages):
            return bare
        later = self._of(bare.messages).laid_out()
        dropped = (note for note in bare.guards if note.kind is Kind.DROPPED)
        at_hand = {one.cut.key: one for one in bare.originals}
        return replace(
            later,
            changed=True,
            guards=(*dropped, *later.guards),
            originals=tuple(at_hand.get(one.cut.key, one) for one in later.originals),
        )

    @property
    def _breaks_anyway(self) -> bool:
        """Whether the provider's cached prefix breaks at outputs that were cut now: what else has to go goes with
        them."""
        return self.guarding.decisions.gave_way and not self.guarding.situation.cold

    def _answer(
        self, window: Window, live: Messages, cut: Messages, body: str, of_cut: bool, of_archives: bool
    ) -> Assembled:
        guide = GUIDE_TO_ARCHIVES if self.reads_archives and of_archives else GUIDE
        final = told_with(live, body, self.prompt_follows, of_cut=of_cut)
        addition = guide if body else None
        changed = len(final) != len(self.messages) or any(map(is_not, final, self.messages))
        return Assembled(
            messages=tuple(final),
            system_addition=addition,
            estimated_tokens=tokens_of(final) + estimate_tokens(addition or ""),
            changed=bool(body) or changed,
            guards=(*window.left, *turn_notes(cut[len(window.dropped) :]), *window.notes()),
            originals=window.originals(),
        )

    def _layout(self, window: Window, kept: Messages, live: Messages, body: str, of_cut: bool) -> Layout | None:
        """How the prompt is laid out; None where nothing stands in front of the host's messages, or none are known."""
        pinned = pinned_in(live)
        first = live[pinned] if pinned < len(live) else None
        if not body or first is None or not first.fingerprint or not is_history(self.host):
            return None
        edge = first.fingerprint
        alike = [index for index in range(pinned, len(kept)) if kept[index].fingerprint == edge]
        place = next((index for index in alike if kept[index] is first), alike[0] if alike else pinned)
        gone = self.history.archived_fingerprints
        last, archives = gone[-1] if gone else "", self.history.is_archived
        left = uncut(window, self.guarding.situation)
        layout = Layout(edge, place, len(gone), last, body, of_cut, archives, self.budget, left)
        return layout if layout != self.guarding.layout else None


def _no_longer(body: str, gone: Messages, sent_back: str) -> str:
    """``body``, cut to what the messages ``gone`` took, where they are known; and as it was cut once, it stays."""
    if sent_back and body.startswith(sent_back):
        return sent_back
    return cut_to_tokens(body, max(LEAST_TOKENS, tokens_of(gone) - SUMMARY_COST)) if gone else body


@dataclass(frozen=True, slots=True)
class _Former:
    """Our earlier summary that the host sent back, where it still has to serve.

    It does when it stands for messages that the budget cut and no archive has taken in since, or when nothing else is
    known of the history.
    """

    body: str = ""
    of_cut: bool = False
    sent_back: str = ""
    """Its text, whether it still has to serve or not."""

    @classmethod
    def of(cls, own: Messages, history: History, gone: Messages) -> "_Former":
        summaries = [message for message in own if is_summary(message)]
        if not summaries:
            return cls()
        last = summaries[-1]
        of_cut = stands_for_cut(last) and not gone
        known = history.overview or history.abstracts or history.unsummarised or gone
        text = summary_body(last)
        return cls(text, of_cut, text) if of_cut or not known else cls(sent_back=text)
