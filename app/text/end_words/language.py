"""What a language says of when something is over: one table of words for each, read by `app.text.ends`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """The words of one language, in small letters, with straight apostrophes; equal to itself alone.

    Tuples of plain words are looked up as they are; ``|`` separates the ways to write one weekday or month. All other
    texts are parts of regular expressions without groups of their own, and repeat nothing without a bound.
    """

    until: tuple[str, ...]
    """In front of the day that is the end; behind it where `until_behind`."""
    remind: tuple[str, ...]
    """Asks for something once, on the day that is named anywhere."""
    this_week: tuple[str, ...]
    this_month: tuple[str, ...]
    weekdays: tuple[str, ...]
    """From Monday on."""
    months: tuple[str, ...]
    dates: tuple[str, ...]
    """Orders of ``{day}``, ``{month}`` and ``{year}``; what lacks the day is a month. A month alone is no end of
    anything: of "until May" nobody knows whether it comes again."""
    remind_dates: tuple[str, ...] = ()
    """More of them that only a reminder may name: "in March"."""
    end_of_week: str
    end_of_month: str
    end_of_year: str
    tomorrow: str
    today: str
    """The day of a reminder. "Bis heute" and its like mean "to this day", and are no end."""
    until_today: str
    """What is an end of today: "tonight"."""
    small: str
    """May stand between the word for the end and the day."""
    next_before: str
    next_behind: str = "(?!)"
    """Makes a weekday that of the week after this one."""
    last_before: tuple[str, ...] = ()
    last_behind: str = "(?!)"
    """Makes a weekday one that is past."""
    weekday_then: str = ""
    """What a weekday stands in front of, where its name is another word as well."""
    weekdays_short: str = "(?!)"
    """More names of weekdays for the beginning of "Mon through Friday"."""
    goes_on: str
    """Whatever is named: it comes again, or goes on from then or longer than that."""
    present: str = ""
    """Must be in what is over with "this week": it is so or will be. Empty where what is past always shows it."""
    past: str
    """Tells what has happened. More is taken for it than is: what holds must not be hidden."""
    state: str = "(?!)"
    """Sounds like it, and is so now: "is closed"."""
    past_behind: bool = True
    """Whether the verb may stand behind the end."""
    remind_unless_behind: tuple[str, ...] = ()
    """In front of the word for a reminder it makes it none: "ich erinnere mich"."""
    remind_unless: str = "(?!)"
    """The same, right behind it."""
    day_first: bool = True
    """Whether 3/12/2026 is in December."""
    spaced: bool = True
    """Whether there is white space between words."""
    until_behind: bool = False
