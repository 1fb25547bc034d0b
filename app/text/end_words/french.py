"""French."""

from app.text.end_words.language import Language

_DAYS = "(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)"
_ADVERB = r"(?: (?:pas|déjà|toujours|bien|beaucoup|longtemps|souvent|tous|toutes|tout|aussi|encore|\w{3,15}ment))?"

FRENCH = Language(
    until=("jusqu", "jusque"),
    remind=(
        *("rappelle-moi", "rappelle moi", "rappelez-moi", "rappelez moi", "rappelle-nous", "rappelez-nous"),
        *("fais-moi penser", "n'oublie pas de", "n'oublie pas d", "n'oubliez pas de", "n'oubliez pas d"),
    ),
    this_week=("cette semaine", "ce week-end", "ce weekend"),
    this_month=("ce mois-ci", "ce mois"),
    weekdays=("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    months=(
        *("janvier|janv", "février|fevrier|févr", "mars", "avril|avr", "mai", "juin", "juillet|juil", "août|aout"),
        *("septembre|sept", "octobre|oct", "novembre|nov", "décembre|decembre|déc"),
    ),
    dates=(r"{day}(?:er)? {month}\.?(?: {year})?", "{month} {year}"),
    remind_dates=("(?:en|début|mi|fin|mois de|mois d')[ -]?{month}",),
    end_of_week="fin de (?:la |cette )?semaine",
    end_of_month="fin du mois|fin de ce mois",
    end_of_year="fin de (?:l'|cette )année",
    tomorrow="demain",
    today="aujourd'hui|ce soir",
    until_today="ce soir|cette nuit",
    small="à|a|au|en|le|la|ce|compris|inclus|début|mi|fin|prochain",
    next_before="prochain",
    next_behind="prochain|en huit|de la semaine prochaine|en quinze",
    last_behind="dernier|passé",
    goes_on=rf"{_DAYS}s|jamais|chaque|tous les|toutes les|toujours|souvent|d'habitude|habituellement|généralement"
    rf"|quotidien\w{{0,6}}"
    rf"|hebdomadaire\w{{0,5}}|mensuel\w{{0,6}}|annuel\w{{0,6}}|au moins|anniversaire|les {_DAYS}"
    rf"|le {_DAYS}(?! \d| prochain)|(?:depuis|dès|à partir de|à compter de) (?:cette|ce|la)",
    present="est|suis|sommes|êtes|sont|ai|a|ont|avons|avez|vais|va|vont|allons|sera(?:i|s|it)?|seron(?:s|t)|aurai?"
    "|restera?i?|peux|peut"
    "|dois|doit|travaille|travaillons|reste|restons|fait|fonctionne|ferme|n'y",
    past=r"(?:étai|avai|allai|faisai|voulai|pouvai|devai)(?:s|t|ent)|(?!fait|parfait|satisfait|plaît"
    r"|connait)\w{2,20}(?:ait|aient)"
    r"|(?:j'|je |tu )(?:\w{1,3} )?(?!connais)\w{2,20}ais|\w{2,20}(?:ions|iez)|fut|furent|eut|eurent|vécut|vécurent"
    r"|resta"
    r"|\w{2,20}[èiu]rent|vien(?:s|t|nent) de|venons de|\w{0,8}(?:ndit|vint|tint|prit|fit)|dormit|partit|sortit|prit"
    r"|put|dut|sut|vint|tint|reçut|connut"
    r"|lut|crut|voulut|attendit|mourut|travailla|habita|dura|alla|passa|ferma"
    rf"|(?:j'ai|tu as|a|ai|avons|avez|ont|as){_ADVERB} \w{{1,20}}(?:é|ée|és|ées|i|ie|is|u|û|ue|us|it|ert|eint|ait)"
    rf"|(?:suis|es|est|sommes|êtes|sont){_ADVERB} (?:resté|allé|venu|parti|arrivé|devenu|né|mort|tombé|rentré|revenu"
    rf"|sorti"
    rf"|monté|descendu|passé|retourné)e?s?|(?:me|m'|t'|se|s'|nous|vous) ?(?:suis|es|est|sommes|êtes"
    rf"|sont){_ADVERB} \w{{2,20}}",
)
