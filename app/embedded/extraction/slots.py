"""Slots of the profile: what is told of the user, and of the user's people and things, and how each value looks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.embedded.extraction import values, values_chinese
from app.embedded.extraction.lexicon import SINGLE_PEOPLE
from app.embedded.extraction.statements import slug
from app.embedded.extraction.values import Shape


@dataclass(frozen=True, slots=True)
class Slot:
    """A key below the profile; how its value looks; whether that shape is proof enough to replace another value."""

    key: str
    shape: Shape
    certain: bool = True


Slots = tuple[Slot, ...]
"""What an opening ("I live in ...") can begin, the likeliest first."""

NAME = Slot("name", values.person)
LOCATION = Slot("location", values.place)
WORK = Slot("work", values.employer)

THINGS: Mapping[str, Shape] = {
    "email": values.email,
    "e-mail": values.email,
    "email address": values.email,
    "phone": values.phone,
    "phone number": values.phone,
    "mobile": values.phone,
    "mobile number": values.phone,
    "cell": values.phone,
    "cell number": values.phone,
    "cell phone number": values.phone,
    "number": values.phone,
    "address": values.address,
    "birthday": values.date,
    "date of birth": values.date,
    "time zone": values.zone,
    "timezone": values.zone,
    "age": values.years,
    "team": values.capitalised,
    "company": values.employer,
    "employer": values.employer,
    "school": values.capitalised,
    "university": values.capitalised,
    "native language": values.language,
    "mother tongue": values.language,
    "blood type": values.blood,
    "deadline": values.day,
    "car": values.product,
    "bike": values.product,
    "laptop": values.product,
    "computer": values.product,
    "editor": values.product,
    "ide": values.product,
    "operating system": values.product,
    "os": values.product,
    "shell": values.product,
    "keyboard": values.product,
    "browser": values.product,
    "邮箱": values.email,
    "郵箱": values.email,
    "电话": values.phone,
    "電話": values.phone,
    "电话号码": values.phone,
    "手机": values.phone,
    "手机号": values.phone,
    "手機號": values.phone,
    "手机号码": values.phone,
    "地址": values.address,
    "生日": values.date,
    "时区": values.zone,
    "時區": values.zone,
    "年龄": values.years,
    "年齡": values.years,
    "公司": values_chinese.place_zh,
    "学校": values_chinese.place_zh,
    "學校": values_chinese.place_zh,
    "团队": values.capitalised,
    "團隊": values.capitalised,
    "车": values.product,
    "車": values.product,
    "电脑": values.product,
    "電腦": values.product,
    "编辑器": values.product,
    "編輯器": values.product,
    "血型": values.blood,
    "母语": values.language,
    "母語": values.language,
}
"""People's things, and how the value of each looks."""
OPEN_THINGS = frozenset(["hobby", "allergy", "diet"])
"""What may be anything, and only adds to what is known."""
_SAME = {
    "e-mail": "email",
    "email address": "email",
    **dict.fromkeys(
        ["phone", "number", "mobile", "mobile number", "cell", "cell number", "cell phone number"], "phone number"
    ),
    "timezone": "time zone",
    "employer": "work",
    "company": "work",
    **dict.fromkeys(["电话号码", "手机", "手机号", "手機號", "手机号码", "電話"], "电话"),
    "郵箱": "邮箱",
    "老闆": "老板",
    "經理": "经理",
}
"""Other words for the same thing."""
_OF_PEOPLE = {
    "email": values.email,
    "phone": values.phone,
    "phone number": values.phone,
    "number": values.phone,
    "birthday": values.date,
    "age": values.years,
    "address": values.address,
    "job": values.job,
    "生日": values.date,
    "电话": values.phone,
    "電話": values.phone,
}
"""What people have."""


def taste_slots(match: re.Match[str]) -> tuple[Slot, ...]:
    """The slot of what somebody of the user's people likes: one of many, so that it only adds to what is known."""
    return (Slot(f"{slug(match['what'].lower(), 3)}.taste", values.anything, certain=False),)


def relation_slots(match: re.Match[str]) -> tuple[Slot, ...]:
    """The slots that a sentence about this person or thing can fill, the likeliest first."""
    groups = match.groupdict()
    what = (groups["what"] or "").lower()
    shape = THINGS.get(what)
    what = _SAME.get(what, what)
    of, verb = (groups.get("of") or "").removeprefix("的").lower(), groups.get("verb") or ""
    owner = (groups.get("owner") or "").strip()
    key = slug(f"{owner} {what}" if owner else what, 3)
    if shape:
        return (Slot(key, shape), Slot(key, values.phrase, certain=False))
    if what in OPEN_THINGS:
        return (Slot(key, values.anything, certain=False),)
    if of in _OF_PEOPLE:
        return (Slot(f"{key}.{slug(of)}", _OF_PEOPLE[of]),)
    only = what in SINGLE_PEOPLE
    at = (Slot(f"{key}.location", values.place), Slot(f"{key}.work", values.employer, certain=False))
    if verb.startswith(("lives", "moved", "has moved")) or verb in {"在", "住在", "住"}:
        return at[:1]
    if verb == "turned":
        return (Slot(f"{key}.age", values.years),)
    if verb.startswith("works"):
        return (
            at[1],
            Slot(f"{key}.occupation", values.job, certain=False),
            Slot(f"{key}.work", values.institution, certain=False),
        )
    called = (Slot(key, values.person, certain=only), Slot(key, values.plain_name, certain=False))
    rest = (
        Slot(f"{key}.age", values.years),
        Slot(f"{key}.occupation", values.job, certain=False),
        Slot(f"{key}.occupation", values_chinese.job_zh, certain=False),
        Slot(key, values.phrase, certain=False),
    )
    return called if of in {"name", "名字"} else called[:1] + rest
