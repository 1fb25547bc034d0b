"""English."""

from app.text.days import MONTH_NAMES
from app.text.end_words.language import Language

ENGLISH = Language(
    until=(
        *("until", "till", "through", "up to", "valid to", "ends", "ends on", "ends at", "end", "end on", "end at"),
        *("expire", "expire on", "expire at", "expires", "expires on", "expires at", "expires in"),
    ),
    remind=(
        *(f"remind {whom}" for whom in ("me", "us", "him", "her", "them")),
        *("reminder", "don't forget to", "do not forget to"),
    ),
    remind_unless=" of",
    this_week=("this week", "this weekend"),
    this_month=("this month",),
    weekdays=("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    weekdays_short="mon|tue|wed|thu|fri|sat|sun",
    months=tuple(f"{name}|{name[:3]}" + "|sept" * (name[:3] == "sep") for name in MONTH_NAMES),
    dates=(
        r"{day}(?:st|nd|rd|th)?[ -](?:of )?{month}\.?(?:,? {year})?",
        r"{month}\.?[ -](?:the )?{day}(?:st|nd|rd|th)?(?!:\d)(?:,? {year})?",
        "{month},? {year}",
    ),
    remind_dates=("(?:in|early|mid|late)[ -]{month}",),
    end_of_week="end of (?:the |this )?week(?:end)?",
    end_of_month="end of (?:the |this )?month",
    end_of_year="end of (?:the |this )?year",
    tomorrow="tomorrow",
    today="today|tonight",
    until_today="today|tonight",
    small=r"the|on|at|in|noon|midnight|early|mid|late|coming|this|end of|\d{1,2}(?::\d\d)? ?[ap]m",
    next_before="next",
    next_behind="next week",
    last_before=("last ",),
    goes_on=r"never|every|each|daily|weekly|monthly|yearly|annually|always|usually|weekdays|at least|birthday"
    r"|anniversary"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:starting|from|since|as of) (?:this|the end of) ?\w{0,7}",
    present=r"is|are|am|be|will|won't|can|can't|cannot|must|has|have|needs?|works?|working|stays?|staying|no|don't"
    r"|doesn't|going to|out of|away"
    r"|(?:i|you|we|he|she|they|it|there|\w{1,20})'(?:s|re|m|ll)",
    past=r"(?:was|were|did|had|could|would)(?:n't)?|went|got|bought|sold|left|began|started|became|met|\w{3,20}ed"
    r"|(?:d|l|t|tr|v|us)i?ed"
    r"|lost|broke|chose|made|gave|came|took|saw|said|told|found|kept|spent|sent|lent|built|paid|won|ran|wrote|drove"
    r"|flew|grew|threw"
    r"|drew|ate|fell|felt|held|heard|taught|caught|thought|brought|fought|wore|spoke|woke|stole|forgot|slept|stood"
    r"|quit|rode|rose|shot|froze|dug|hid|sang|sank|swam|drank|stuck|swore|blew|shook|bit|hung|led|lent|dealt|meant"
    r"|lay|lit|sought",
    state=r"(?:(?:is|are|am|be|been|being)|\w{1,20}'(?:s|re|m))(?: \w{1,20}ly| not| still| now)? \w{3,20}ed",
    past_behind=False,
    day_first=False,
)
