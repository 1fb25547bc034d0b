"""The messages that a prompt is made of while guards look at them: what each output takes, and what became of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from app.core.history.guards import notices
from app.core.history.guards.cuts import Cut, Decisions, GuardNote, Kept, Kind, fingerprint, key_of
from app.core.history.guards.output_excerpt import Excerpt, within_chars, within_tokens
from app.core.history.guards.outputs import Output, outputs_in, with_output
from app.core.messages.host_message import HostMessage, tokens_of
from app.core.messages.tokens import IMAGE_TOKENS, estimate_tokens

LEAST_TOKENS = 64
"""An output of fewer tokens is not worth a cut."""


@dataclass(slots=True)
class Shown:
    """An output as it is in the window. ``key`` is that of its original."""

    output: Output
    key: str
    text: str
    tokens: int
    cut: Cut | None = None
    is_ours: bool = False
    """The host sent back what an earlier answer had made of the output, so the original is not at hand."""

    @property
    def is_cleared(self) -> bool:
        """Whether a line stands for it."""
        return self.cut is not None and self.cut.kind is Kind.CLEARED


@dataclass(slots=True)
class Window:
    """Messages under the guards. What guards decide is in ``decisions``; what left, in ``dropped``."""

    messages: list[HostMessage]
    decisions: Decisions
    dropped: list[HostMessage] = field(default_factory=list)
    left: list[GuardNote] = field(default_factory=list)
    """Of what was dropped."""
    _outputs: list[Shown] | None = None

    @property
    def tokens(self) -> int:
        """Of all messages together."""
        return tokens_of(self.messages)

    @property
    def outputs(self) -> Sequence[Shown]:
        """The outputs that may be worth a cut, oldest first, with what was decided about them before."""
        if self._outputs is None:
            self._outputs = [shown for one in outputs_in(self.messages) if (shown := self._known(one))]
        return self._outputs

    def stay(
        self, messages: Iterable[HostMessage], dropped: Iterable[HostMessage] = (), notes: Iterable[GuardNote] = ()
    ) -> None:
        """Go on with these messages alone."""
        staying = list(messages)
        places = {id(message): index for index, message in enumerate(staying)}
        self._outputs = self._outputs and [
            replace(one, output=replace(one.output, index=place))
            for one in self._outputs
            if (place := places.get(id(self.messages[one.output.index]))) is not None
        ]
        self.messages = staying
        self.dropped += dropped
        self.left += notes

    def notes(self) -> tuple[GuardNote, ...]:
        """What is not shown of the outputs, in order."""
        cuts = [one.cut for one in self.outputs if one.cut]
        return tuple(GuardNote(cut.kind, cut.ref, cut.removed) for cut in cuts)

    def originals(self) -> tuple[Kept, ...]:
        """The originals of what was decided now and is shown, as far as they are at hand."""
        made = self.decisions.made
        return tuple(
            Kept(
                made[one.key],
                None if one.is_ours else one.output.text,
                one.output.millis,
                self.messages[one.output.index].fingerprint,
            )
            for one in self.outputs
            if one.cut and one.key in made
        )

    def truncated(self, one: Shown, tokens: int) -> tuple[Cut, str] | None:
        """The output within so many tokens; None when it is, or can not be: what came back from the host is no
        original."""
        room = tokens - one.output.images * IMAGE_TOKENS
        is_shorter = one.cut is not None and one.cut.kind is not Kind.TRUNCATED
        if one.tokens <= tokens or one.is_ours or is_shorter or room < LEAST_TOKENS:
            return None
        ref = self.decisions.ref_for(one.key, one.output.result.call_id)
        whole = one.output.tokens - one.output.images * IMAGE_TOKENS
        make = partial(within_tokens, one.output.text, room, ref, whole)
        shown = self.decisions.excerpt((one.key, ref, tokens), make)
        return self._decided(one, Kind.TRUNCATED, tokens, shown, ref)

    def trimmed(self, one: Shown, chars: int) -> tuple[Cut, str] | None:
        """The output's beginning and end; None where that gains nothing."""
        text = one.output.text
        if one.is_ours or len(text) <= 2 * chars or (one.cut and one.cut.kind is not Kind.TRUNCATED):
            return None
        ref = self.decisions.ref_for(one.key, one.output.result.call_id)
        return self._decided(one, Kind.TRIMMED, chars, within_chars(text, 2 * chars, ref), ref)

    def cleared(self, one: Shown) -> tuple[Cut, str] | None:
        """A line in the place of the output; None where that gains nothing."""
        if one.is_cleared:
            return None
        chars = one.cut.chars if one.cut else len(one.output.text)
        ref = one.cut.ref if one.cut else self.decisions.ref_for(one.key, one.output.result.call_id)
        result = one.output.result
        line = notices.cleared(result.name, chars, one.output.images, ref, failed=result.is_error)
        return self._decided(one, Kind.CLEARED, 0, Excerpt(line, chars), ref)

    def gain(self, one: Shown, decided: tuple[Cut, str]) -> int:
        """Tokens that a decision frees."""
        cut, text = decided
        images = 0 if cut.kind is Kind.CLEARED else one.output.images
        return one.tokens - estimate_tokens(text) - images * IMAGE_TOKENS

    def apply(self, one: Shown, decided: tuple[Cut, str]) -> None:
        """Show the output as it was decided, from now on."""
        cut, text = decided
        self.decisions.make(cut)
        self._show(one, cut, text)

    def _decided(self, one: Shown, kind: Kind, room: int, shown: Excerpt, ref: str) -> tuple[Cut, str] | None:
        chars, text = one.cut.chars if one.cut else len(one.output.text), shown.text
        cut = Cut(one.key, kind, room, ref, one.output.result.name, chars, fingerprint(text), shown.missing)
        return (cut, text) if self.gain(one, (cut, text)) >= LEAST_TOKENS // 2 else None

    def _show(self, one: Shown, cut: Cut, text: str) -> None:
        images = cut.kind is not Kind.CLEARED
        message = self.messages[one.output.index]
        self.messages[one.output.index] = with_output(message, one.output.place, text, images=images)
        one.cut, one.text = cut, text
        one.tokens = estimate_tokens(text) + (one.output.images * IMAGE_TOKENS if images else 0)

    def _known(self, output: Output) -> Shown | None:
        """The output with the decision about it carried out again; None for one that no guard would touch."""
        tokens = output.tokens
        known = bool(self.decisions)
        if tokens < LEAST_TOKENS and not known:
            return None
        ours = self.decisions.showing(fingerprint(output.text)) if known else None
        if ours:
            return Shown(output, ours.key, output.text, tokens, ours, is_ours=True)
        if tokens < LEAST_TOKENS:
            return None
        shown = Shown(output, key_of(output.result, output.millis), output.text, tokens)
        cut = self.decisions.of(shown.key) if known else None
        if cut:
            self._again(shown, cut)
        return shown

    def _again(self, shown: Shown, cut: Cut) -> None:
        remade = {
            Kind.TRUNCATED: lambda: self.truncated(shown, cut.room),
            Kind.TRIMMED: lambda: self.trimmed(shown, cut.room),
            Kind.CLEARED: lambda: self.cleared(shown),
        }[cut.kind]()
        if remade:
            self._show(shown, replace(cut, shown=remade[0].shown, removed=remade[0].removed), remade[1])
