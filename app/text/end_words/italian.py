"""Italian."""

from app.text.end_words.language import Language

_DAYS = "(?:lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)"

ITALIAN = Language(
    until=("fino", "sino", "entro"),
    remind=(
        *("ricordami", "ricordaci", "mi ricordi", "ricordati di", "non dimenticare di", "non dimenticarti di"),
        "promemoria",
    ),
    remind_unless=" che",
    this_week=("questa settimana", "questo weekend", "questo fine settimana"),
    this_month=("questo mese",),
    weekdays=(
        *("lunedì|lunedi'|lunedi", "martedì|martedi'|martedi", "mercoledì|mercoledi'|mercoledi"),
        *("giovedì|giovedi'|giovedi", "venerdì|venerdi'|venerdi", "sabato", "domenica"),
    ),
    months=(
        *("gennaio|gen", "febbraio|feb", "marzo|mar", "aprile|apr", "maggio|mag", "giugno|giu", "luglio|lug"),
        *("agosto|ago", "settembre|sett|set", "ottobre|ott", "novembre|nov", "dicembre|dic"),
    ),
    dates=(r"{day}(?:°|º|o)? {month}\.?(?: (?:del )?{year})?", "{month} (?:del )?{year}"),
    remind_dates=("(?:a|ad|in|di|metà|inizio|fine) {month}",),
    end_of_week="fine (?:della |di questa )?settimana|il weekend",
    end_of_month="fine (?:del |di questo )?mese",
    end_of_year="fine (?:dell'|di quest')?anno",
    tomorrow="domani",
    today="oggi|stasera|stanotte",
    until_today="stasera|stanotte",
    small="a|ad|al|all|alla|allo|il|la|le|compreso|incluso|questo|questa|fine|inizio|metà|giorno|e non oltre",
    next_before="prossimo|prossima",
    next_behind="prossimo|prossima|della prossima settimana|della settimana prossima",
    last_before=("scorso ", "scorsa "),
    last_behind="scorso|scorsa",
    goes_on=rf"mai|ogni|tutt[ei] (?:i|le|gli)|sempre|di solito|normalmente|generalmente|giornalmente|quotidian\w{{1,7}}"
    rf"|settimanal\w{{1,5}}"
    rf"|mensil\w{{1,5}}|annual\w{{1,5}}|almeno|come minimo|compleanno|anniversario|(?:il|di) {_DAYS}(?! \d| prossim"
    rf"| scors)"
    rf"|la domenica(?! \d| prossim)|(?:da|a partire da) quest[oa]|i (?:sabati|{_DAYS})|le domeniche",
    present="è|c'è|sono|sei|siamo|siete|ho|hai|ha|abbiamo|hanno|lavoro|lavora|lavoriamo|sarà|sarò|devo|deve|posso"
    "|può|resto|resta|rimane"
    "|rimango|vado|va|sto|sta|stiamo|stanno|funziona|chiude|apre",
    past=r"\w{1,20}rebb(?:e|ero)|\w{1,20}rei|er[oaie]|erano|eravamo|fu|furono|ebbe|ebbi|ebbero|stett\w{1,4}|visse"
    r"|vissi|rimase|rimasi|venne|venni|fece"
    r"|feci|disse|prese|mise"
    r"|(?!\w{0,2}arriv|archiv|chiav|\w{0,3}priv|brav|ottav)\w{2,20}(?:av|ev|iv)(?:o|i|a|amo|ate|ano)"
    r"|\w{2,20}(?:arono|erono|irono|ett[ei]|é|è)"
    r"|(?!luned|marted|mercoled|gioved|venerd|così)\w{2,20}ì"
    r"|(?!sarò|starò|farò|andrò|avrò|verrò|resterò|rimarrò|lavorerò|dormirò|tornerò|vivrò|però|può|ciò)\w{2,20}ò"
    r"|(?:ho|hai|ha|abbiamo|avete|hanno) (?:\w{2,12} )?\w{1,20}[ts][oaie]"
    r"|(?:sono|sei|è|siamo|siete) (?:\w{2,12} )?(?:stat|rimast|andat|arrivat|venut|tornat|partit|uscit|entrat"
    r"|diventat|nat|mort|cadut"
    r"|salit|sces|cresciut|cambiat|trasferit|durat|vissut|restat|mancat|riuscit|success|passat|piaciut|costat|bastat"
    r"|guarit|fuggit|scappat|migliorat|peggiorat|aumentat|finit|iniziat|cominciat|fallit|scadut|mess|rott)[oaie]"
    r"|(?:mi|ti|si|ci|vi) (?:sono|sei|è|siamo|siete) \w{2,20}[oaie]",
)
