"""When something is over by its own words, and what only sounds like it."""

from datetime import UTC, datetime

import pytest

from app.text.ends import ends_at

SAID = datetime(2026, 11, 25, 9, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The office is closed until Friday.", "2026-11-27"),
        ("The clinic is temporarily closed until the end of the week.", "2026-11-29"),
        ("Out of office till next Tuesday", "2026-12-01"),
        ("The ticket is valid up to 3 December.", "2026-12-03"),
        ("The offer ends on 31 March 2030", "2030-03-31"),
        ("The exhibition runs from 1 May through 3 June", "2027-06-03"),
        ("I'm at my sister's until noon on Tuesday", "2026-12-01"),
        ("Staying with Ana until 2026-12-05.", "2026-12-05"),
        ("Remind me tomorrow to call the clinic", "2026-11-26"),
        ("Don't forget to put the bins out on Friday", "2026-11-27"),
        ("The lift is out of order this week", "2026-11-29"),
        ("办公室关门到周五。", "2026-11-27"),
        ("展览到12月3日。", "2026-12-03"),
        ("提醒我明天交房租", "2026-11-26"),
    ],
)
def test_it_is_over_at_the_end_of_the_day_that_it_names(text: str, day: str) -> None:
    end = ends_at(text, SAID)
    assert end is not None and end.isoformat() == f"{day}T23:59:59+00:00"


@pytest.mark.parametrize(
    "text",
    [
        # what was over already when it was said is about the past, and stays true
        "Anna worked at Google until March 2020",
        "I lived in Lisbon until 3 May 2019",
        "I studied in Rome from 2015 through June 2018",
        "My insurance was valid until 1 January 2024",
        "我在柏林住到2019年5月3日",
        "My salary went up to 80000 on 1 January 2025",
        "I worked at the bakery until Monday",
        "We were in Rome until Sunday.",
        # what comes again
        "I work Monday through Friday",
        "The kids are at school from Monday till Friday",
        "Remind me every Monday to water the plants",
        "The sprint ends on Friday every two weeks",
        "On Sundays we sleep until noon",
        "每周一提醒我浇花",
        # a day that is not the end
        "Never deploy until the review on Monday is done",
        "I walked through Berlin on Friday",
        "The library is open till 8 on Friday",
        # no reminder
        "Anna reminded me that the rent is due on 1 March",
        "This song reminds me of Friday",
        "Mia hat mich bis Freitag vertröstet",
    ],
)
def test_what_does_not_name_its_end_holds(text: str) -> None:
    assert ends_at(text, SAID) is None
