"""The languages that `app.text.ends` knows, one module with one table each. A new one is a module and a line here."""

from app.text.end_words.chinese import CHINESE
from app.text.end_words.dutch import DUTCH
from app.text.end_words.english import ENGLISH
from app.text.end_words.french import FRENCH
from app.text.end_words.german import GERMAN
from app.text.end_words.italian import ITALIAN
from app.text.end_words.japanese import JAPANESE
from app.text.end_words.language import Language
from app.text.end_words.portuguese import PORTUGUESE
from app.text.end_words.russian import RUSSIAN
from app.text.end_words.spanish import SPANISH

LANGUAGES: tuple[Language, ...] = (
    ENGLISH,
    CHINESE,
    DUTCH,
    FRENCH,
    GERMAN,
    ITALIAN,
    JAPANESE,
    PORTUGUESE,
    RUSSIAN,
    SPANISH,
)
