"""Spanish."""

from app.text.end_words.language import Language

SPANISH = Language(
    until=("hasta",),
    remind=(
        *("recuérdame", "recuerdame", "recuérdanos", "recuérdeme", "recordame", "hazme acordar"),
        *("no olvides", "no te olvides de", "no olvide"),
    ),
    remind_unless=r",? (?:de )?que",
    this_week=("esta semana", "este fin de semana", "este finde"),
    this_month=("este mes",),
    weekdays=("lunes", "martes", "miércoles|miercoles", "jueves", "viernes", "sábado|sabado", "domingo"),
    months=(
        *("enero|ene", "febrero|feb", "marzo|mar", "abril|abr", "mayo|may", "junio|jun", "julio|jul", "agosto|ago"),
        *("septiembre|setiembre|sept|sep", "octubre|oct", "noviembre|nov", "diciembre|dic"),
    ),
    dates=(r"{day}(?:º|o|ero)?(?: de)? {month}\.?(?:,? (?:del? )?{year})?", "{month},? (?:del? )?{year}"),
    remind_dates=("(?:en|de) {month}",),
    end_of_week="(?:fin|final|finales) de (?:la |esta )?semana",
    end_of_month="(?:fin|final|finales) (?:de|del) (?:este )?mes",
    end_of_year="(?:fin|final|finales) (?:de|del) (?:este )?año",
    tomorrow="(?<!la )(?<!esta )(?<!cada )(?<!de )mañana(?! siguiente)",
    today="hoy|esta (?:noche|tarde)",
    until_today="esta (?:noche|tarde)",
    small="el|la|las|los|este|día|fin|final|finales|principios|mediados|de|del|al",
    next_before="próximo|proximo",
    next_behind="próximo|proximo|que viene|de la semana que viene|de la próxima semana|siguiente",
    last_before=("pasado ", "último "),
    last_behind="pasado",
    goes_on=r"nunca|jamás|cada|tod[oa]s l[oa]s|siempre|normalmente|generalmente|habitualmente|diari\w{1,8}"
    r"|semanal\w{0,6}"
    r"|mensual\w{0,6}"
    r"|anual\w{0,6}|al menos|por lo menos|como mínimo|cumpleaños|aniversario|suel[eo]\w{0,3}"
    r"|los (?:lunes|martes|miércoles|miercoles|jueves|viernes|sábados?|domingos?)|(?:desde|a partir de) est[ea]",
    present="es|está|están|estoy|estamos|son|soy|tengo|tiene|tienen|tenemos|hay|trabajo|trabaja|voy|va|van|vamos"
    "|puedo|puede|debo|debe"
    r"|quedo|queda|estar(?:é|á|án|emos)|tendr(?:é|á|án|emos)|será|funciona|funcionan|cierra|abre",
    past=r"fu(?:e|i|imos|eron|iste)|era[ns]?|éramos|est(?:uv)\w{1,6}|tuv\w{1,6}|hiz?c?[eio]\w{0,5}|vin(?:o|e|ieron"
    r"|imos)|pus\w{1,6}"
    r"|pud\w{1,6}|quis\w{1,6}|sup(?:o|e|ieron)|dij\w{1,6}|traj(?:o|e|eron)|anduv\w{1,6}|iban?|íbamos|hub\w{1,6}"
    r"|di(?:o|eron)"
    r"|(?!estaré|seré|tendré|iré|haré|podré|trabajaré|viviré|viajaré|volveré|quedaré|saldré|vendré|seguiré|dormiré"
    r"|estudiaré)"
    r"(?!café|qué|porqué|bebé|comité|josé|andré)\w{2,20}é|(?!aquí|allí|ahí|así)\w{1,20}í|[dv]i|acab(?:o|a|amos"
    r"|an) de|\w{2,20}(?:ó|aron|ieron|eron|aste|iste)"
    r"|(?!estamos|vamos)\w{2,20}[ai]mos|\w{2,20}(?:aba[ns]?|ábamos|íamos|ían)"
    r"|(?!\w{0,12}(?:[^quf]|gu)ería|\w{0,12}[bnlr]ogía|día|todavía|mediodía|maría|lucía|sofía|policía|compañía|tía"
    r"|guía|garantía|energía)"
    r"(?!\w{0,10}(?:grafía|nomía|soría)|alcaldía|tranvía|teoría|mayoría|categoría|bahía|travesía|estadía"
    r"|cercanía)\w{2,20}ías?"
    r"|(?:he|has|ha|hemos|habéis|han|había\w{0,3}) (?:\w{2,12} )?\w{1,20}(?:ado|ido|ído|to|cho|so)s?",
)
