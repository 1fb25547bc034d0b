"""An agent experience: reading its file, and rendering it as the guidance that stands in the block.

OpenViking writes `## Situation / ## Approach / ## Reflect` and a
`<!-- MEMORY_FIELDS {json} -->` trailer; the block shows Trigger (Situation's first line) and Scope (its others),
Do (from Approach), Avoid (what Reflect warns of) and Check (what else Reflect says). A line stands once, and a heading
only where it has lines of its own. All text passes the fence: it is data.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from app.core.injection.fence import neutralise_lines
from app.core.recall.hits import Hit
from app.core.recall.trace import Verdict
from app.recall.ranking import Candidate
from app.text.sentences import sentences

MAX_NAME_CHARS = 120
_DIRECTORY = "/memories/experiences/"
_CATEGORIES = frozenset({"experience", "experiences", "agent_experience", "agent_experiences"})
_HEADING = re.compile(
    r"[ \t]{0,3}(?:#{1,6}[ \t]*|\*\*|__)(?P<title>[^\n#*_]{1,60}?)[ \t]*[:：]?[ \t]*(?:\*\*|__|"
    r"#{1,6})?[ \t]*[:：]?[ \t]*"
)
_TITLES = {
    title: section
    for section, titles in {
        "situation": "situation context trigger scenario 情境 场景 情况",
        "approach": "approach actions steps solution 做法 方法 步骤",
        "reflect": "reflect reflection reflections lessons 反思 复盘 教训",
    }.items()
    for title in titles.split()
}
_TRAILER = re.compile(r"<!--\s{0,200}MEMORY_FIELDS")
_BULLET = re.compile(r"(?:[-*+•·]|\d{1,3}[.)、])[ \t]+|[•·-](?=\S)|\d{1,3}、")
_AVOIDING = re.compile(
    r"\b(?:avoid\w*|never|don't|do not|must not|should not|shouldn't|mustn't|stop|instead of|rather than|beware|"
    r"careful|caution|wrong|mistake|pitfall|trap|worse|fails?|failed|"
    r"broke|breaks|hid|hides|masks?|loses?|lost|costs?|wasted|without|no longer|not to|cannot|can't)\b|不要|不能|"
    r"不可|不应|"
    r"不得|避免|切勿|切忌|别|勿|禁止|严禁|防止|误|坑|否则|会导致|而不是|错误|失败",
    re.IGNORECASE,
)
_CHECKING = re.compile(
    r"\b(?:verif\w*|check\w*|confirm\w*|validat\w*|ensure\w*|make sure|tests?|tested|testing|assert\w*|compare|"
    r"inspect|review|monitor|prove|measure|re-?run|run the|pass(?:es|ed)?|diff|dry[- ]run|look at|count)\b"
    r"|验证|确认|检查|核对|核实|校验|测试|确保|复查|观察|对比|回归|比对|监控|通过",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"\b(?:avoid\w*|never|don't|do not|must not|should not|shouldn't)\b|不要|不能|避免|切勿|切忌|禁止|严禁|勿|别",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Experience:
    """What an experience file says: lines without bullets, in the file's order; a section that is missing is empty."""

    name: str
    situation: tuple[str, ...] = ()
    approach: tuple[str, ...] = ()
    reflect: tuple[str, ...] = ()
    preface: tuple[str, ...] = ()
    """What stands before the first known heading; the whole text when there is none."""


def is_experience(uri: str, category: str) -> bool:
    """Whether a hit is an experience, by its URI or its category."""
    return category.strip().lower() in _CATEGORIES or _DIRECTORY in uri


def only_experiences(candidate: Candidate) -> Verdict | None:
    """Refuses what is no experience; see `app.recall.ranking.Policy.refuses`."""
    return None if is_experience(candidate.hit.uri, candidate.category) else Verdict.NOT_EXPERIENCE


def no_experiences(candidate: Candidate) -> Verdict | None:
    """Refuses experiences, which have a section of their own."""
    return Verdict.IS_EXPERIENCE if is_experience(candidate.hit.uri, candidate.category) else None


def parse_experience(uri: str, text: str) -> Experience:
    """Read an experience file: headings of any case and level, bullets or prose. Never fails; linear."""
    body, named = _without_trailer(text)
    sections: dict[str, list[str]] = {"preface": []}
    current = "preface"
    for line in body.splitlines():
        heading = _HEADING.fullmatch(line[:100])
        if heading:
            # An unknown heading belongs to the section it stands in ("### Step 2" under Approach).
            title = _TITLES.get(heading["title"].strip().lower())
            if title:
                current = title
                sections.setdefault(current, [])
            continue
        said = _BULLET.sub("", line.strip(), count=1) if _BULLET.match(line.strip()) else line.strip()
        if said:
            sections[current].append(said)
    lines = {title: tuple(found) for title, found in sections.items()}
    return Experience(named or _name_in(uri), **lines)


def render_experience(hit: Hit) -> str:
    """The item as in the contract, from ``### Experience:`` to the last line under ``Check:``; no newline behind.

    Every line of the file is in it: half a lesson may say the opposite, so a section's limit takes it whole or not.
    """
    experience = parse_experience(hit.uri, hit.text)
    situation = experience.situation or _first_sentence(experience.preface)
    avoid = [line for line in experience.reflect if _AVOIDING.search(line) and not _is_check(line)]
    fields = (
        ("Trigger", situation[:1]),
        ("Do", experience.approach or _after_first_sentence(experience.preface)),
        ("Avoid", avoid),
        ("Scope", situation[1:]),
        ("Check", [line for line in experience.reflect if line not in avoid]),
    )
    safe = iter(neutralise_lines([experience.name, hit.uri, *(line for _, lines in fields for line in lines)]))
    rendered = [f"### Experience: {next(safe)[:MAX_NAME_CHARS]}", f"Source: {next(safe)}", f"Score: {hit.score:.3f}"]
    for label, lines in fields:
        if lines:
            rendered += [f"{label}:", *(f"- {line}" for line in islice(safe, len(lines)))]
    return "\n".join(rendered)


def _is_check(line: str) -> bool:
    """Whether a line says what to verify. One that warns in so many words ("never skip the tests") is no check."""
    return bool(_CHECKING.search(line)) and not _STRICT.search(line)


def _first_sentence(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(islice(sentences(lines[0]), 1)) if lines else ()


def _after_first_sentence(lines: Sequence[str]) -> tuple[str, ...]:
    rest = lines[0][len(_first_sentence(lines)[0]) :].strip() if _first_sentence(lines) else ""
    return ((rest,) if rest else ()) + tuple(lines[1:])


def _without_trailer(text: str) -> tuple[str, str]:
    """The text before its ``MEMORY_FIELDS`` comment, and the name in that comment, if any."""
    trailer = _TRAILER.search(text)
    if trailer is None:
        return text, ""
    start = text.find("{", trailer.end())
    if start < 0:
        return text[: trailer.start()], ""
    try:
        fields, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        fields = {}
    name = fields.get("experience_name") if isinstance(fields, dict) else None
    return text[: trailer.start()], name.strip() if isinstance(name, str) else ""


def _name_in(uri: str) -> str:
    """The last segment of a URI without ``.md``."""
    segment = unquote(uri.split("?")[0].rstrip("/").rsplit("/", 1)[-1]).strip()
    return segment.removesuffix(".md") or "experience"
