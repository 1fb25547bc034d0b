"""How English says something about the user, or the user's people and things: where the value begins."""

import re

from app.embedded.extraction import values
from app.embedded.extraction.slots import LOCATION, NAME, OPEN_THINGS, THINGS, WORK, Slot, Slots

_ADVERBS = r"(?: (?:now|actually|really|currently|still|just|recently|also|already|finally|officially|been|both))*"
_NOT = (
    r"(?:n't| not| no longer) (?P<old>[^,.;!?]{2,40}?)(?:,| but"
    r"| any ?more,?)(?: but)?(?: (?:it's|it is|he's|she's|now|in))*"
)
_I = r"\b(?:I|we)(?:'ve| have|'m| am|'re| are)?"
"""``old`` is a value that is taken back; ``change`` (in the patterns) says that something became otherwise."""


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _named(key: str) -> tuple[Slot, ...]:
    return (Slot(key, values.person), Slot(key, values.plain_name, certain=False))


_LOCATION = (
    LOCATION,
    Slot("location", values.plain_place, certain=False),
    Slot("home", values.phrase, certain=False),
)
_WORK = (
    WORK,
    Slot("work", values.institution, certain=False),
    Slot("work", values.plain_place, certain=False),
    Slot("workplace", values.phrase, certain=False),
)
_OCCUPATION = (Slot("occupation", values.job), Slot("occupation", values.plain_name, certain=False))

OPENINGS: tuple[tuple[re.Pattern[str], Slots], ...] = (
    (
        _pattern(
            r"\b(?:my (?:full |real |actual |new )?name)(?:(?P<change> has changed to| changed to)"
            rf"|(?:'s| is)(?:{_NOT}|{_ADVERBS}))(?: in fact)? "
        ),
        _named("name"),
    ),
    (_pattern(rf"\bmy (?:first|given) name is{_ADVERBS} "), _named("first-name")),
    (_pattern(rf"\bmy (?:last|family|sur) ?name is{_ADVERBS} "), _named("last-name")),
    (_pattern(rf"\bmy nickname is{_ADVERBS} "), _named("nickname")),
    (_pattern(r"\b(?:call me|I go by|I'm going by|I am called|I'm called|my friends call me) "), (NAME,)),
    (_pattern(r"\b(?P<change>I(?:'ve)? changed my name) to "), _named("name")),
    # where one lives
    (
        _pattern(rf"{_I}{_ADVERBS} (?:live|living|based|reside|residing|settled){_ADVERBS} (?:in|at|near|outside) "),
        _LOCATION,
    ),
    (_pattern(r"\b(?:my )?home is(?: now)?(?: in)? "), (LOCATION,)),
    (
        _pattern(
            r"\bI(?: no longer|(?: do not| don't)) live in (?P<old>[^,.;!?]{2,40}?)(?P<change>(?:,"
            r"| any ?more,?)? but)(?: I live)?(?: now)? in "
        ),
        (LOCATION,),
    ),
    (
        _pattern(
            r"\b(?:I|we)(?:'ve| have)? (?P<change>left|moved (?:out of|away from)) (?P<old>[^,.;!?]{2,40}?)(?:,? and|,)"
            r"(?: I| we)?(?: have| now| then)*(?: moved to| relocated to| live in| settled in| to) "
        ),
        (LOCATION,),
    ),
    (
        _pattern(
            rf"{_I}{_ADVERBS} (?P<change>moved|relocated|emigrated)(?: back| house| away"
            rf"| over)?(?: from (?P<old>[^,.;!?]{{2,40}}?))?"
            r"(?: back| over)? to "
        ),
        _LOCATION[:2],
    ),
    # where one works, and as what
    (_pattern(rf"{_I}{_ADVERBS} (?:work|working|employed){_ADVERBS} (?:at|for|by) "), _WORK),
    (_pattern(rf"{_I}{_ADVERBS} (?:work|working|employed){_ADVERBS} in "), (Slot("workplace", values.place),)),
    (
        _pattern(
            r"\b(?P<change>(?:(?:I|we)(?:'ve| have)?(?: just| recently| now)*|and|then) (?:joined"
            r"|started(?: working| a (?:new )?job)? (?:at|for|with)"
            r"|got hired (?:by|at)|switched jobs? to|took a job (?:at|with)))(?: the)? "
        ),
        (WORK,),
    ),
    (
        _pattern(
            r"\b(?P<change>(?:I(?:'ve| have)? )?(?:quit|left|resigned from|(?:no longer|don't"
            r"|do not) (?:work )?(?:at|for|with)) [^,.;!?]{2,40}?(?:(?:[,.;]| and"
            r"| but)(?: so)? ?I(?:'m| am)(?: now)? (?:at|with|working at|working for)"
            r"|(?:,? and|,)(?: then)?(?: have| now)? (?:joined|started at|work at|work for|went to))) "
        ),
        (WORK,),
    ),
    (
        _pattern(rf"\bI work as{_ADVERBS} (?=an? )"),
        (Slot("occupation", values.job), Slot("occupation", values.phrase, certain=False)),
    ),
    (_pattern(r"\bmy (?:new )?(?:job|occupation|profession|job title) is(?: now)? "), _OCCUPATION),
    (_pattern(r"\b(?P<change>I(?:'ve)? (?:just )?became) "), (Slot("occupation", values.job),)),
    (_pattern(rf"\bI(?:'m| am){_ADVERBS} allergic to "), (Slot("allergy", values.anything, certain=False),)),
    (
        _pattern(rf"\bI(?:'m| am){_ADVERBS} (?:an? )?(?=(?:vegan|vegetarian|pescatarian)\b)"),
        (Slot("diet", values.anything),),
    ),
    (
        _pattern(rf"\bI(?:'m| am){_ADVERBS} (?=an? )"),
        (Slot("occupation", values.job, certain=False), Slot("trait", values.trait, certain=False)),
    ),
)

_PEOPLE = (
    "wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|son|daughter|kid|child|brother|sister|mother|mom|mum|father|dad"
    "|boss|manager|supervisor|mentor|colleague|coworker|teammate|friend|best friend|neighbou?r|cousin|uncle|aunt"
    "|doctor|dentist|therapist|landlord|landlady|dog|cat|pet|horse|rabbit|parrot"
)
_THINGS = "|".join(sorted(map(re.escape, filter(str.isascii, {*THINGS, *OPEN_THINGS})), key=len, reverse=True))
_KIN = (
    "parents?|mommy|mummy|daddy|grandmother|grandma|granny|grandfather|grandpa|grandparents|niece|nephew|kids|children"
    "|mother-in-law|father-in-law|sister-in-law|brother-in-law|stepmother|stepfather|best friend|flatmate|roommate"
)
TASTE = _pattern(
    rf"\bmy (?:dear |old |little |late )?(?P<what>{_PEOPLE}|{_KIN})(?:,? [A-Z][\w'-]+,?)?"
    r"(?:['’]s? (?:new |main |only |favou?rite )?(?:hobby|hobbies|passion|pastime|interests?|favou?rite [\w ]{2,30}?)"
    r" (?:is|are)|(?: also| really| absolutely| always| just| still| now)*"
    r" (?:loves?|likes?|enjoys?|adores?|hates?|dislikes?|detests?|prefers?|collects?|can't stand"
    r"|(?:is|are)(?: really| very)? (?:into|fond of|crazy about|passionate about|keen on|allergic to))) "
)
"""What the user's people like: ``what`` is the person."""
RELATION = _pattern(
    r"(?:(?P<name>(?!The\b|This\b|That\b|It\b)[A-Z][\w'-]+(?: [A-Z][\w'-]+)?) is(?: now)? )?"
    r"\b(?:my (?:new |current |dear )?|(?P<got>I(?:'ve| have)?(?: got"
    r"| have)? a new ))(?P<owner>work |home |personal |private |office )?"
    rf"(?P<what>(?:{_PEOPLE})|(?:{_THINGS}))(?:'s (?P<of>name|email|phone|phone number|number"
    rf"|birthday|age|address|job))?"
    r"(?(name)(?=\s*(?:$|[,.;!]|now\b))|(?(got)(?:[:,]| called| named| and (?:his|her|its"
    r"|their) name is)"
    r"|(?:(?P<change> (?:has |just |have )?changed(?: to|,? (?:it's|it is)(?: now)?)| became"
    r"|:)"
    rf"|(?: name| address)? (?:(?P<verb>(?:is|are)(?= )|lives in|lives at|lives near"
    rf"|(?:has )?moved to|works (?:at|for|as)|turned)|is(?={_NOT.replace('?P<old>', '')} )"
    rf"|are(?=n't ))"
    rf"(?:{_NOT}|(?: now| actually| really| still| currently| called| named| in fact"
    rf"| probably)*)(?: on)?))) ?"
)
"""``what`` is the person or thing, ``of`` what of it, ``verb`` how it is said; ``name`` where the value comes first."""
