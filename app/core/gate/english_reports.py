"""Reports in English: who tells what was done, or how it stands. They are what a request must be told from."""

from app.core.gate.english_words import OBJECT_MARKS, VERBS
from app.core.gate.vocabulary import word_set

TELLERS = word_set("i we he she they it you someone everything everyone everybody just finally already")
OWNERS = word_set("my our the all a an one")
BETWEEN = word_set("have has am just already finally also been now both all only never always")
TOLD = word_set("""
    did went got made sent wrote took found ran built bought paid put set came saw gave told said thought felt had was
    were began broke chose drove fell flew forgot kept left lost met read rebuilt reran shut slept spent spoke stood won
    done gone been seen written taken given works passes runs looks being working going doing using learning reading
    building trying watching thinking playing moving""")
HABITS = word_set(
    "use usually often prefer like love hate enjoy work live think believe guess feel hope wish wonder know tend am"
)
STATES = word_set("""
    done fixed live green fine good ready up back working resolved finished deployed merged complete over passing online
    now great perfect so all""")
NO_PAST = word_set("need feed speed exceed proceed seed embed")
"""The words of a report: who tells, what stands between, what was done or how it stands."""


def begins_report(words: list[str]) -> bool:
    """Whether a sentence begins as a report: "our team rewrote it", "i usually deploy", "the tests are green"."""
    words = [*(word.strip(",.!:") for word in words), "", ""]
    if _past(words[0]) and words[0] not in VERBS:
        return words[1] in OBJECT_MARKS or words[1] in {"everything", "back"}
    who, _, short = words[0].partition("'")
    if who in {"i", "we"} and (short in {"ve", "m", "ll"} or (not short and words[1] in HABITS)):
        return True
    for end in (1,) if who in TELLERS else (2, 3) if who in OWNERS else ():
        rest = [*(word for word in words[end:] if word not in BETWEEN and not word.endswith("ly")), "", ""]
        if rest[0] in TOLD or _past(rest[0]) or (rest[0] in {"is", "are"} and rest[1] in STATES):
            return True
    return False


def _past(word: str) -> bool:
    return word.endswith("ed") and len(word) > 3 and word not in NO_PAST
