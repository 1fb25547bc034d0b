"""Which hits are worth their place, best first, and why the others are not.

A candidate's score is the probability that it helps with the question, from all that is known of it
(`app.recall.relevance`): where the backend's score stands against the question's background, the words they share,
whether the question is about anything personal. So `score_threshold` and `relative_cut` mean the same for every backend
and embedder, and silence is what a question gets that nothing answers.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, date
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from app.core.recall.detail import Detail
from app.core.recall.hits import MACHINE_RECORDS, Hit
from app.core.recall.trace import Verdict
from app.recall.relevance.evidence import Question, question_of
from app.recall.relevance.model import Judged, judge
from app.text import mmr
from app.text.dates import moment_of
from app.text.log_odds import log_odds
from app.text.words import token_set

FEW_PIECES, MANY_PIECES = 100, 500
"""Where more is stored, probabilities tell less: what belongs to an answer stands among hundreds of texts on the same
matters, and shares little with the question. From the one number to the other the bars give way, until the best one
alone has to reach them: it decides whether anything is shown, the search's order and the limits what else."""
PROBABLE = 0.5
"""Where few pieces are stored, what is as likely as not to help comes first, wherever the search put it."""
UNLIKELY = 0.5
"""Added to the probability that the search's score is multiplied by: what surely helps counts three times what surely
does not. The search knows better what belongs together, the probability what answers."""
FAR_ABOVE = math.log(2)
"""How far (in log-odds) a resting memory must lead the best fresh one to be shown again: twice its odds."""
COMPARED_CHARS = 4_000
"""How much of a hit's text is compared with the query or with other hits."""
MAX_REMEMBERED_CHARS = 2_000
"""Longest text whose wording is kept for the next time it comes up."""
SUMMARY_FILES = (".abstract.md", ".overview.md")
"""Where OpenViking keeps directory summaries, which are no memories."""
MAX_VARIED = 100
"""Candidates that variety is weighed among: every one is compared with every other."""

_DATE_IN_URI = re.compile(r"/(\d{4})/(\d{2})/(\d{2})(?:/|$)|(?:^|[/_-])(\d{4})-(\d{2})-(\d{2})(?!\d)")


def admits_all(_candidate: "Candidate") -> Verdict | None:
    """Refuses nothing."""
    return None


class Policy(NamedTuple):
    """How one section is ranked and limited; the settings' names and meanings."""

    limit: int = 1_000
    max_chars: int = 1_000_000
    """Counts items and separators, headings not."""
    threshold: float = 0.0
    """Lowest final score."""
    floor: float = 0.0
    """Lowest score of the backend's own."""
    relative_cut: float = 0.0
    """Lowest share of the best one's score."""
    eased: bool = False
    """Whether threshold and relative cut give way where much is stored (`MANY_PIECES`)."""
    own_only: bool = False
    mmr_lambda: float = 1.0
    half_life_days: float = 0.0
    actor_peer: str | None = None
    today: date | None = None
    """For freshness, which needs it; whole days, so that answers do not change from call to call."""
    personal: float | None = None
    """How likely the question is about who asks (`app.classify.classifier.Classifier.personal`); None: not judged."""
    detail: Detail | None = None
    """How much of an item is shown; None where the section knows no levels."""
    refuses: "Callable[[Candidate], Verdict | None]" = admits_all
    """What the source itself leaves out, and why."""
    judges: Callable[[Question, Sequence[Hit]], list[Judged]] = judge
    """How likely each hit is worth its place."""


class Candidate(NamedTuple):
    """A hit with its final score, what that is made of, and what became of it."""

    hit: Hit
    category: str
    score: float
    parts: Mapping[str, float] = MappingProxyType({})
    verdict: Verdict = Verdict.KEPT
    replaced_by: str = ""
    """URI of the later candidate that makes this one out of date."""

    @property
    def origin(self) -> str:
        """``resource``, ``peer`` or ``self``."""
        return "resource" if self.category == "resource" else "peer" if self.hit.peer else "self"

    def dropped(self, verdict: Verdict) -> "Candidate":
        """This candidate with the reason why it goes."""
        return self._replace(verdict=verdict)


def rank(hits: Sequence[Hit], query: str, policy: Policy) -> list[Candidate]:
    """Every hit as a candidate: those worth showing in their order, then the others with their verdicts.

    The result depends on nothing but the arguments: equal scores are ordered by URI. No limit is applied here; see
    `app.recall.block.fit`.
    """
    admitted, refused = _admit(hits, policy)
    scored = _by_score(_score(admitted, query, policy))
    unique, repeats = _unique(scored)
    kept, low = _cut(unique, policy)
    return [*_ordered(kept, policy), *_by_score([*low, *repeats]), *refused]


def drop(candidates: Sequence[Candidate], which: Callable[[Candidate], bool], verdict: Verdict) -> list[Candidate]:
    """The candidates, those still kept that ``which`` picks with this ``verdict``."""
    return [c.dropped(verdict) if c.verdict is Verdict.KEPT and which(c) else c for c in candidates]


def rest(candidates: Sequence[Candidate], shown: Callable[[Candidate], bool]) -> list[Candidate]:
    """The cool-down: what the model still sees (``shown``) rests, unless it ranks far above everything fresh."""
    resting = {id(c) for c in candidates if c.verdict is Verdict.KEPT and shown(c)}
    fresh = [log_odds(c.score) for c in candidates if c.verdict is Verdict.KEPT and id(c) not in resting]
    if not resting:
        return list(candidates)
    bar = max(fresh) + FAR_ABOVE if fresh else math.inf
    return [c.dropped(Verdict.RESTING) if id(c) in resting and log_odds(c.score) < bar else c for c in candidates]


def category_of(hit: Hit) -> str:
    """The hit's category: the backend's word, else the folder (or file) below ``memories/`` in its URI."""
    if hit.category:
        return hit.category
    _, found, path = hit.uri.partition("/memories/")
    if not found:
        return "resource" if "/resources/" in hit.uri else "memory"
    return path.split("/", 1)[0].removesuffix(".md") or "memory"


class Bars(NamedTuple):
    """The scores that a candidate has to reach; 0 where a bar is off or nothing was scored."""

    threshold: float
    relative: float
    """The share of the best score, as a score."""


def bars_for(candidates: Iterable[Candidate], policy: Policy) -> Bars:
    """What `Policy.threshold` and `Policy.relative_cut` come to among these candidates."""
    scored = [c for c in candidates if "backend" in c.parts]
    best = max((c.score for c in scored), default=0.0)
    share = share_of_bars(scored, policy) if best >= policy.threshold else 1.0
    return Bars(policy.threshold * share, best * policy.relative_cut * share)


def share_of_bars(candidates: Iterable[Candidate], policy: Policy) -> float:
    """1 where few pieces are stored, or it is not known how many, or bars are not eased; 0 where many are."""
    if not policy.eased:
        return 1.0
    pieces = max((c.hit.evidence.pieces or 0 for c in candidates if c.hit.evidence), default=0)
    return min(1.0, max(0.0, (MANY_PIECES - pieces) / (MANY_PIECES - FEW_PIECES)))


def _admit(hits: Sequence[Hit], policy: Policy) -> tuple[list[Candidate], list[Candidate]]:
    admitted: list[Candidate] = []
    refused: list[Candidate] = []
    seen: set[str] = set()
    for hit in hits:
        candidate = Candidate(hit, category_of(hit), _clamped(hit.score))
        verdict = _refusal(candidate, seen, policy)
        seen.add(hit.uri)
        if verdict:
            refused.append(candidate.dropped(verdict))
        else:
            admitted.append(candidate)
    return admitted, refused


def _refusal(candidate: Candidate, seen: Collection[str], policy: Policy) -> Verdict | None:
    hit = candidate.hit
    if hit.level != 2 or hit.uri.endswith(SUMMARY_FILES):
        return Verdict.NOT_LEAF
    if not hit.text.strip():
        return Verdict.EMPTY
    if hit.peer is not None and hit.peer != policy.actor_peer:
        return Verdict.OTHER_PEER
    if policy.own_only and candidate.category == "resource":
        return Verdict.IMPORTED
    if verdict := policy.refuses(candidate):
        return verdict
    if candidate.category in MACHINE_RECORDS:
        return Verdict.MACHINE_RECORD
    return Verdict.SAME_URI if hit.uri in seen else None


def _score(candidates: Sequence[Candidate], query: str, policy: Policy) -> list[Candidate]:
    question = question_of(query, policy.personal)
    judged = policy.judges(question, [candidate.hit for candidate in candidates])
    return [_scored(candidate, one, policy) for candidate, one in zip(candidates, judged, strict=True)]


def _scored(candidate: Candidate, judged: Judged, policy: Policy) -> Candidate:
    parts, score = {"backend": candidate.score, **judged.parts}, judged.probability
    if policy.half_life_days and candidate.category == "events":
        parts["freshness"] = _freshness(candidate.hit, policy)
        score *= parts["freshness"]
    return Candidate(candidate.hit, candidate.category, score, parts)


def _freshness(hit: Hit, policy: Policy) -> float:
    made = event_date(hit)
    if made is None or policy.today is None:
        return 1.0
    return float(0.5 ** (max(0, (policy.today - made).days) / policy.half_life_days))


def event_date(hit: Hit) -> date | None:
    """The day of a dated memory, in its URI (``events/2026/03/18/``, ``memory/2026-03-18.md``), else of its update."""
    match = _DATE_IN_URI.search(hit.uri)
    try:
        if match:
            year, month, day = (int(part) for part in match.groups() if part)
            return date(year, month, day)
    except ValueError:
        return None
    updated = moment_of(hit.updated_at or "")
    return updated.astimezone(UTC).date() if updated else None


def _unique(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    kept: list[Candidate] = []
    repeats: list[Candidate] = []
    seen: set[str] = set()
    for candidate in candidates:
        key = _same_text_key(candidate)
        if key in seen:
            repeats.append(candidate.dropped(Verdict.SAME_TEXT))
        else:
            kept.append(candidate)
            seen.add(key)
    return kept, repeats


def _same_text_key(candidate: Candidate) -> str:
    """Equal for memories that say the same. Two events of different days are two events, however they are worded."""
    text = candidate.hit.text
    said = (_worded if len(text) <= MAX_REMEMBERED_CHARS else _worded.__wrapped__)(text)
    if candidate.category != "events":
        return said
    made = event_date(candidate.hit)
    return f"{made or candidate.hit.uri}\n{said}"


@lru_cache(maxsize=2048)
def _worded(text: str) -> str:
    """The same memories come up again and again."""
    return " ".join(text[:COMPARED_CHARS].casefold().split()) + text[COMPARED_CHARS:].rstrip()


def _cut(candidates: Sequence[Candidate], policy: Policy) -> tuple[list[Candidate], list[Candidate]]:
    bars = bars_for(candidates, policy)
    kept: list[Candidate] = []
    low: list[Candidate] = []
    for candidate in candidates:
        if candidate.score < bars.threshold or candidate.parts["backend"] < policy.floor:
            low.append(candidate.dropped(Verdict.BELOW_THRESHOLD))
        elif candidate.score < bars.relative:
            low.append(candidate.dropped(Verdict.BELOW_CUT))
        else:
            kept.append(candidate)
    return kept, low


def _ordered(candidates: list[Candidate], policy: Policy) -> list[Candidate]:
    """The order in which what is worth showing is shown.

    A backend that gives evidence has read its whole index, its turns with their neighbours, and has seen to variety:
    its scores count beside the probability, behind what probably helps where few pieces are stored. Elsewhere the
    probability decides.
    """
    if candidates and all(candidate.hit.evidence is not None for candidate in candidates):
        probable = 1 - (1 - PROBABLE) * share_of_bars(candidates, policy)
        return sorted(
            candidates,
            key=lambda c: (c.score < probable, -c.parts["backend"] * (UNLIKELY + c.score), -c.score, c.hit.uri),
        )
    return _varied(candidates, policy.mmr_lambda)


def _varied(candidates: list[Candidate], mmr_lambda: float) -> list[Candidate]:
    """Each next one is good and unlike those before it."""
    varied, others = candidates[:MAX_VARIED], candidates[MAX_VARIED:]
    said = (token_set(c.hit.text[:COMPARED_CHARS]) for c in varied)
    return [*(varied[i] for i in mmr.varied([c.score for c in varied], said, mmr_lambda)), *others]


def _by_score(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (-c.score, -sum(c.parts.values()), c.hit.uri))


def _clamped(score: float) -> float:
    return min(1.0, max(0.0, score)) if math.isfinite(score) else 0.0
