"""What a sentence says about the user and the user's people and things: slots of the profile, each with its own shape.

A slot ("boss.name", "location") takes a value only of its shape (`.values`). What stands in the same place and has
another shape is another fact with a key of its own, or none: "My wife is a nurse" tells no name, and "My boss is angry
today" nothing that lasts. Where the shape alone is no proof ("I'm a teacher"), a statement replaces
an earlier one only when it says that something changed ("now", "no longer", "not Tom").
"""

import re
from collections.abc import Iterator

from app.embedded.extraction import profile_chinese, profile_english, values
from app.embedded.extraction.lexicon import CORRECTS, PASSING
from app.embedded.extraction.slots import Slot, Slots, relation_slots, taste_slots
from app.embedded.extraction.statements import Statement, slug
from app.embedded.storage.record_versions import Claim

_LEADING = frozenset(
    [
        "and",
        "but",
        "so",
        "because",
        "since",
        "as",
        "or",
        "actually",
        "now",
        "well",
        "also",
        "hi",
        "hello",
        "hey",
        "no",
        "yes",
        "ok",
        "okay",
        "sorry",
        "btw",
        "though",
        "please",
        "then",
        "anyway",
        "correction",
        "update",
        "fyi",
        "typo",
        "today",
        "currently",
        "remember",
        "that's",
        "just",
        "you",
        "can",
        "could",
        "should",
        "everyone",
        "people",
        "friends",
        "way",
        "mistake",
        "wrong",
        "hence",
        "therefore",
        "fact",
        "honestly",
        "basically",
        "oh",
        "ah",
    ]
)
_LEADING_ZH = re.compile(
    r"(?:^|[，,。；;：:！!、\s])(?:(?:上个?月|上週|上周|去年|今年|最近|昨天|前天|刚刚|剛剛|刚才|剛才|现在|現在|其实|其實|以后|以後|不过|不過|所以|因为|因為|但是?|对了|對了"
    r"|不好意思|抱歉|更正一下|纠正一下|从今天起|今后|今後|后来|後來|大家都|你可以|可以|请|請"
    r"|就|都|已经|已經|换工作了|另外|顺便说一下|哦|嗯|那|还有|還有)[，, ]*){0,3}$"
)
_WHEN = re.compile(r"(?:since|last|in|on|from|as of|starting|a|two|three|few|some|\d+)(?: [\w-]{1,20}){1,3}", re.I)
"""When it began, before the clause: "Since May I live in Porto"."""
_PAUSE = re.compile(r"[,.;:!?()。，；：！？—–]")
_PLAIN = frozenset([values.plain_name, values.plain_place])


def profile_statement(said: str) -> Statement | None:
    """The first thing that ``said`` states about the user, their people or their things; None where there is none."""
    for match, slots in _openings(said):
        if not _begins_clause(said, match.start()):
            continue
        for slot in slots:
            statement = _stated(said, match, slot)
            if statement:
                return statement
    return None


def _openings(said: str) -> Iterator[tuple[re.Match[str], Slots]]:
    for pattern, slots in (*profile_english.OPENINGS, *profile_chinese.OPENINGS):
        for match in pattern.finditer(said):
            yield match, slots
    for pattern in (profile_english.RELATION, profile_chinese.RELATION):
        for match in pattern.finditer(said):
            yield match, relation_slots(match)
    for pattern in (profile_english.TASTE, profile_chinese.TASTE):
        for match in pattern.finditer(said):
            yield match, taste_slots(match)


def _stated(said: str, match: re.Match[str], slot: Slot) -> Statement | None:
    rest = said[match.end() :].lstrip(' "“「')
    groups = match.groupdict()
    value = groups["name"] if groups.get("name") else slot.shape(rest)
    value = slot.shape(value) if groups.get("name") else value
    if (
        slot.shape in _PLAIN
        and (said.replace("I", "i") != said.lower() or not CORRECTS.search(said))
        and slot.key != "name"
    ):
        return None
    denied = groups.get("old") or ""
    if not value or (not groups.get("change") and PASSING.search(_clause(said, match))):
        return None
    after = "" if groups.get("name") else rest[len(value) :]
    denied = denied or _denied(after)
    corrects = bool(groups.get("change") or groups.get("got") or denied or CORRECTS.search(said))
    loose = slot.shape in (values.phrase, values.trait)
    key = f"{slot.key}.{slug(value, 4)}" if loose else slot.key
    replaces = not loose and (slot.certain or corrects)
    confidence = 0.7 if loose or (slot.shape is values.job and not corrects) else 0.9
    return Statement(
        "profile", f"profile.{key}", "profile.md", "Profile", confidence, Claim(value, replaces, denied.strip())
    )


def _begins_clause(said: str, start: int) -> bool:
    """Whether a clause begins there: "He said my name is Bob" is about what he said."""
    before = said[:start].rstrip(' "“「')
    if not before or _PAUSE.match(before[-1]) or before[-1] in "-*":
        return True
    if not before[-1].isascii():
        return bool(_LEADING_ZH.search(before))
    clause = before[max((pause.end() for pause in _PAUSE.finditer(before)), default=0) :].strip()
    return bool(_WHEN.fullmatch(clause)) or before.rsplit(" ", 1)[-1].lower() in _LEADING


def _clause(said: str, match: re.Match[str]) -> str:
    """What stands between the pauses around the match."""
    before = max((pause.end() for pause in _PAUSE.finditer(said, 0, match.start())), default=0)
    end = next(
        (
            pause.start()
            for pause in _PAUSE.finditer(said, match.end())
            if said[pause.start() - 1 : pause.start()].strip()
        ),
        len(said),
    )
    return said[before:end]


def _denied(after: str) -> str:
    """The value that is taken back: "..., not Tom"."""
    found = re.match(
        r"[\s,，(]*(?:and )?(?:not|instead of|rather than|no longer|而不是|不是)\s*([^,.;!?()，。；！]{1,60})", after
    )
    return found[1].strip() if found else ""
