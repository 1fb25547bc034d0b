"""Portuguese of Portugal and Brazil."""

from app.text.end_words.language import Language

_FEIRAS = ("segunda", "terça", "quarta", "quinta", "sexta")

PORTUGUESE = Language(
    until=("até", "ate"),
    remind=(
        *("lembra-me", "lembre-me", "lembre me", "me lembre", "lembra-nos", "lembre-nos", "nos lembre", "me lembra de"),
        *("não te esqueças de", "não se esqueça de", "não esqueça de", "lembrete"),
    ),
    remind_unless_behind=("isto ", "isso ", "isso me ", "isto me ", "que ", "ele ", "ela ", "isso "),
    remind_unless=" (?:de )?que",
    this_week=(
        "esta semana",
        "essa semana",
        "nesta semana",
        "nessa semana",
        "este fim de semana",
        "neste fim de semana",
    ),
    this_month=("este mês", "esse mês", "neste mês", "nesse mês"),
    weekdays=(
        *(f"{name}-feira|{name} feira|{name}" for name in _FEIRAS),
        *("sábado|sabado", "domingo"),
    ),
    weekday_then=r"(?:(?<=feira)|(?<=sábado)|(?<=sabado)|(?<=domingo)"
    r"|(?=\W{0,5}$|\W{0,3}[.,;:!?)]| (?:à|às|a|ao|de|que|para|pra|por|se|e|ou|em|no|na|próxima"
    r"|agora)\b(?! \w{3,9} feira)))",
    months=(
        *("janeiro|jan", "fevereiro|fev", "março|marco|mar", "abril|abr", "maio|mai", "junho|jun", "julho|jul"),
        *("agosto|ago", "setembro|set", "outubro|out", "novembro|nov", "dezembro|dez"),
    ),
    dates=(r"{day}(?:º|o|ª)?(?: de)? {month}\.?(?:,? (?:de )?{year})?", "{month} (?:de )?{year}"),
    remind_dates=("(?:em|de) {month}",),
    end_of_week="(?:fim|final) (?:da|desta|dessa) semana|(?:o )?fim de semana",
    end_of_month="(?:fim|final) (?:do|deste|desse) mês",
    end_of_year="(?:fim|final) (?:do|deste|desse) ano",
    tomorrow="amanhã",
    today="hoje|esta noite",
    until_today="hoje à noite|esta noite|logo à noite",
    small="a|o|à|ao|as|às|dia|esta|este|essa|esse|fim|final|de|do|início|meados|próximo dia|inclusive",
    next_before="próxima|próximo",
    next_behind="que vem|da próxima semana|da semana que vem|próxim[ao]|seguinte",
    last_before=("passada ", "última ", "passado ", "último "),
    last_behind="passad[ao]",
    goes_on=r"nunca|jamais|cada|tod[oa]s? (?:[oa]s? )?\w{3,12}|sempre|normalmente|geralmente|habitualmente|diari\w{1,8}"
    r"|semanal\w{0,5}|mensal\w{0,5}"
    r"|anual\w{0,5}|pelo menos|no mínimo|aniversário|costum\w{1,4}|segundas|terças|quartas|quintas|sextas|sábados"
    r"|domingos"
    r"|(?:desde|a partir d)\w{0,2} ?(?:est|ess)[ae]",
    present="é|está|estão|estou|estamos|são|sou|tenho|tem|temos|têm|há|trabalho|trabalha|vou|vai|vão|vamos|posso"
    "|pode|devo|deve|fico|fica"
    r"|ficam|estar(?:ei|á|ão|emos)|terei|terá|será|funciona|funcionam|fecha|abre",
    past=r"fo(?:i|ram|mos)|fui|er(?:a|am)|éramos|estive\w{0,4}|esteve|tive\w{0,4}|teve|fez|fiz\w{0,5}|veio|vim"
    r"|vieram|diss\w{1,5}|pôde|pude|quis"
    r"|houve|havia|trouxe\w{0,3}|pôs|pus|soube\w{0,3}|deu|deram|dei|viu|vi|viram|nasc\w{1,3}"
    r"|(?!aqui|ali\b|daqui|dali)\w{0,20}[bcdfglmnprstuvzg]i|\w{0,20}[aeu]í(?<!\baí)(?<!daí)|acab(?:o|a|amos|am) de"
    r"|(?!estarei|serei|terei|irei|farei|poderei|ficarei|trabalharei|viajarei|voltarei|viverei|estudarei)\w{2,20}ei"
    r"|(?!estou)\w{2,20}ou|(?!(?:meu|teu|seu|céu)\b|museu|europeu|ateu|liceu|pneu)\w{1,20}[eiu]u|\w{2,20}(?:aram"
    r"|eram|iram|aste|iste)"
    r"|(?!estamos|vamos)\w{2,20}[aiá]mos|\w{2,20}(?:ava[ms]?|ávamos|íamos|iam)"
    r"|tinha\w{0,3}|teria\w{0,3}|vinha\w{0,3}|(?:viv|faz|pod|quer|sab|dev|diz|hav|dorm|com|corr|conhec|parec|exist"
    r"|traz|segu|perd"
    r"|permanec)ia[ms]?|saía|ia"
    r"|(?:tenho|tem|têm|temos|tinha\w{0,3}) (?:\w{2,12} )?\w{1,20}(?:ado|ido|to|so)",
)
