"""Dutch."""

from app.text.end_words.language import Language

_PARTICIPLE = r"(?:\w{0,8}ge\w{2,20}(?:t|d|en|aan)|(?:be|ver|ont|her|er)\w{2,20}(?:t|d|en))"
_MOVED = (
    r"(?:gebleven|geweest|\w{0,5}gegaan|\w{0,5}gekomen|verhuisd|\w{0,5}gereisd|vertrokken|geworden|gestopt|begonnen"
    r"|gestorven|getrouwd|gescheiden|bevallen|geslaagd|gevlogen|gestegen"
    r"|\w{0,5}gereden|gelopen|geboren|overleden|gebeurd|\w{0,5}getrokken)"
)
_DAYS = "(?:maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag)"

DUTCH = Language(
    until=("tot", "t/m"),
    remind=(
        *("herinner me", "herinner mij", "herinner ons", "help me herinneren", "help me onthouden", "herinnering"),
        *("vergeet niet om", "vergeet niet te"),
    ),
    remind_unless_behind=("ik ",),
    this_week=("deze week", "dit weekend", "dit weekeinde"),
    this_month=("deze maand",),
    weekdays=("maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"),
    months=(
        *("januari|jan", "februari|feb", "maart|mrt", "april|apr", "mei", "juni|jun", "juli|jul", "augustus|aug"),
        *("september|sept|sep", "oktober|okt", "november|nov", "december|dec"),
    ),
    dates=(r"{day}(?:e|ste|de)? {month}\.?(?:,? {year})?", "{month} {year}"),
    remind_dates=("(?:in|begin|half|eind) {month}",),
    end_of_week="eind(?:e)? (?:van )?(?:de |deze )?week|(?:het )?weekend",
    end_of_month="eind(?:e)? (?:van )?(?:de |deze )?maand",
    end_of_year="eind(?:e)? (?:van )?(?:het |dit )?jaar",
    tomorrow="(?<!de )(?<!elke )(?<!iedere )(?<!'s )(?<!deze )morgen",
    today="vandaag|vanavond|vanmiddag|vannacht",
    until_today="vanavond|vanmiddag|vannacht",
    small="en met|aan|de|het|deze|dit|aanstaande|komende|uiterlijk|einde?|begin|half|op|het einde van",
    next_before="volgende week|volgende",
    next_behind="volgende week|over een week",
    last_before=("vorige ", "afgelopen ", "laatste "),
    goes_on=rf"{_DAYS}(?:s|en)|nooit|elke|elk|iedere|ieder|altijd|meestal|gewoonlijk|normaal gesproken|dagelijks\w?"
    rf"|wekelijks\w?|maandelijks\w?"
    r"|jaarlijks\w?|doordeweeks|minstens|minimaal|ten minste|tenminste|verjaardag\w{0,2}|jubileum|om de (?:dag|week"
    r"|maand|andere|twee|drie|vier)"
    r"|(?:vanaf|sinds) (?:deze|dit|volgende)",
    present="is|ben|bent|zijn|heb|hebt|heeft|hebben|word|wordt|worden|kan|kunnen|moet|moeten|blijf|blijft|blijven"
    "|werk|werkt|werken|zal"
    "|zullen|ga|gaat|gaan|geen|mag|wil|doe|doet",
    past=r"was|waren|had|hadden|werd(?:en)?|ging(?:en)?|kwam(?:en)?|bleef|bleven|gaf|gaven|liep(?:en)?|stond(?:en)?"
    r"|lag(?:en)?|zat(?:en)?"
    r"|reed|reden|sliep(?:en)?|hield(?:en)?|sloot|sloten|vloog|vlogen|zou(?:den)?|kon(?:den)?|wilde|wou|moest(?:en)?"
    r"|mocht(?:en)?|deed|deden"
    r"|\w{0,4}(?:dacht|kocht|bracht|zocht)(?:en)?|begon(?:nen)?|vertrok(?:ken)?|droeg|trok(?:ken)?|kreeg|kregen|koos"
    r"|kozen|nam|namen|las|sprak(?:en)?|schreef"
    r"|vond(?:en)?|viel(?:en)?|won(?:nen)?|verloor|stierf|hielp|riep|at|aten|ontving|verbleef"
    r"|zag(?:en)?|br[ao]k(?:en)?|braken|sloeg(?:en)?|droegen|hing(?:en)?|dronk(?:en)?|zong(?:en)?|sprong(?:en)?"
    r"|schoot|schoten|sneed|bood"
    r"|boden|loog|wees|wezen|bleek|bleken|keek|keken|schonk|zocht(?:en)?|wist(?:en)?|schreven|sliep|genoot|genoten"
    r"|besloot|besloten"
    r"|regende|rende|kende|leende|opende|tekende|rekende|oefende|verdiende|\w{2,20}wden"
    r"|(?!laatste|eerste|beste|grote|korte|beide|vaste|echte|juiste|lichte|witte|route|minuten|ruimte|eind|meeste"
    r"|kosten|rechte|leden"
    r"|gasten|boete|lange|breedte|gemeente|ziekte|vakantie|ochtend|derde|vierde|verder|bericht|\w{2,20}ende|diep"
    r"|warmte|steden|reden)"
    r"\w{2,20}(?:te|de)"
    r"|(?!vinden|vrienden|worden|rechten|kosten|gasten|wachten|landen|handen|honden|minuten|\w{0,8}zenden|melden"
    r"|gelden|halden|zorgen)"
    r"\w{2,20}(?:kten|pten|ften|chten|sten|nden|rden|lden|gden|fden)"
    rf"|(?:heb|hebt|heeft|hebben)\W(?:[^!?]{{0,80}}\W)?{_PARTICIPLE}|(?:ben|bent|is"
    rf"|zijn)\W(?:[^!?]{{0,80}}\W)?{_PARTICIPLE}|{_MOVED}",
    state=r"(?:af|uit)?(?:gesloten|geopend|geboekt|geblokkeerd|gestremd|gereserveerd|geschakeld|gepland)|bezet"
    r"|beperkt|bereikbaar|verhuurd|verhinderd"
    r"|verboden|verlengd|geldig|open|geen|gezond|geld",
)
