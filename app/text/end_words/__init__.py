"""The languages that `app.text.ends` knows, one module with one table each. A new one is a module and a line here."""

from app.text.end_words.chinese import CHINESE
from app.text.end_words.english import ENGLISH
from app.text.end_words.language import Language

LANGUAGES: tuple[Language, ...] = (ENGLISH, CHINESE)
