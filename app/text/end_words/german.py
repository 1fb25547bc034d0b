"""German."""

from app.text.end_words.language import Language

_PARTICIPLE = r"(?:\w{0,8}ge\w{2,20}(?:t|en)|(?:be|ver|er|ent|zer|miss|über|unter)\w{2,20}(?:t|en)|\w{2,20}iert)"
_MOVED = (
    r"(?:geblieben|gegangen|gewesen|gefahren|gekommen|gereist|gelaufen|\w{0,4}gezogen|geflogen|geworden|verreist"
    r"|gestiegen|gefallen|\w{0,4}gestanden|passiert|ausgegangen|gestorben|gewachsen|gewandert|\w{0,6}gekehrt)"
)
_DAYS = "(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)"

GERMAN = Language(
    until=("bis",),
    remind=("erinnere mich", "erinner mich", "erinnere uns", "erinnern sie mich", "vergiss nicht", "erinnerung"),
    remind_unless_behind=("ich ",),
    remind_unless=r",? ?(?:dass|an die erinnerung)",
    this_week=("diese woche", "dieser woche", "dieses wochenende", "diesem wochenende"),
    this_month=("diesen monat", "diesem monat"),
    weekdays=("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag|sonnabend", "sonntag"),
    months=(
        *("januar|jänner|jan", "februar|feber|feb", "märz|maerz|mär", "april|apr", "mai", "juni|jun", "juli|jul"),
        *("august|aug", "september|sept|sep", "oktober|okt", "november|nov", "dezember|dez"),
    ),
    dates=(r"{day}\.? ?{month}\.?(?:,? {year})?", "{month} {year}"),
    remind_dates=("(?:im|anfang|mitte|ende) {month}",),
    end_of_week="ende (?:der|dieser) woche|wochenende",
    end_of_month="ende (?:des|dieses) monats|monatsende",
    end_of_year="ende (?:des|dieses) jahres|jahresende",
    tomorrow="(?<!am )(?<!zum )(?<!jeden )(?<!diesen )(?<!guten )morgen",
    today="heute",
    until_today="heute (?:abend|nacht)",
    small=r"zum|zu|am|an|den|dem|der|einschließlich|inklusive|inkl|spätestens|mindestens|kommenden|diesen|diesem|ende",
    next_before="nächsten|nächster|nächstem",
    next_behind="nächster woche|der nächsten woche|in einer woche",
    last_before=("letzten ", "letztem ", "vergangenen ", "vorigen "),
    goes_on=rf"{_DAYS}s|nie|niemals|jede\w{{0,2}}|täglich|wöchentlich|monatlich|jährlich|immer|meistens"
    rf"|normalerweise|üblicherweise"
    rf"|gewöhnlich|in der regel|werktags|wochentags|mindestens|geburtstag\w{{0,3}}|jahrestag|alle \w{{1,8}} \w{{2,8}}"
    rf"|(?:ab|seit) (?:nächste|diese|kommende)\w|an {_DAYS}en",
    present="ist|bin|bist|sind|seid|habe?|hat|haben|werde|wird|werden|kann|können|muss|müssen|bleib(?:e|t|en)|gibt"
    "|gilt|fällt|läuft"
    "|arbeite(?:t|n)?|kommt|komme|fährt|fahre|geht|gehe|soll|will|darf|keine?",
    past=r"\w{0,6}(?:kam|nahm|fand|fiel|traf|sprach|schrieb|verlor|starb|begann|fing|ließ|rief|half|trat|stieg"
    r"|schied|zog|blieb)(?:en)?"
    rf"|war(?:en|st|t)?|hätte\w{{0,2}}|wäre\w{{0,2}}|hatte(?:n|st|t)?|wurden?|ging(?:en)?|las(?:en)?|aß(?:en)?"
    rf"|gab(?:en)?|lief(?:en)?|fuhr(?:en)?"
    r"|stand(?:en)?|lag(?:en)?|schlief(?:en)?|trug(?:en)?|hielt(?:en)?|schloss(?:en)?|flog(?:en)?|hieß(?:en)?"
    r"|konnten?|wollten?|mussten?|durften?|dachten?"
    r"|(?!heute|tante|bitte|leute|karte|kosten|seite|miete|kiste|liste|küste|hütte|mitte|kette|letzte|nächste|erste"
    r"|beste)"
    r"(?!(?:arbeite|warte|halte|leite|biete|reite|rate|starte|vermiete)\b|möchte|könnte|müsste|sollte|hätte|dürfte"
    r"|rechte|geräte|gäste|eheleute|torte|sorte|orte|werte|worte|daten)"
    r"\w{2,20}(?:te|test|eten|ierten|bten|hnten|rnten|elten|gten|kten)"
    rf"|(?:habe?|hast|hat|haben|habt|ha'?s)\W(?:[^!?]{{0,80}}\W)?{_PARTICIPLE}"
    rf"|(?:bin|bist|ist|sind|seid)\W(?:[^!?]{{0,80}}\W)?{_PARTICIPLE}|worden|{_PARTICIPLE} (?:habe?|hat|haben)"
    rf"|{_MOVED}",
    state=r"(?:ab|ein|aus|vor)?(?:geschlossen|gesperrt|geöffnet|gebucht|besetzt|belegt|geschaltet|gestellt|geplant"
    r"|gezeigt)|krankgeschrieben|beurlaubt|eingeschränkt|reserviert|vermietet|verliehen|verhindert|unterwegs"
    r"|ermäßigt|geboten"
    r"|verboten|erlaubt"
    r"|erreichbar|begrenzt|verlängert|gegen|gesund|gemeinsam|gesamt(?:e|en)?|gut|gern",
)
