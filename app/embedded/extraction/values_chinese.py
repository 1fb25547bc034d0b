"""What a value looks like in Chinese, which has no capital letters: surnames, endings, and what may follow.

As in `app.embedded.extraction.values`, every function gives the value at the beginning of a text, or "".
"""

import re

from app.embedded.extraction.lexicon import CITIES_ZH, SOFTWARE, SURNAMES_ZH
from app.text.scripts import HAN

_AFTER_ZH = re.compile(
    r"\s*(?:$|[，,。；;！!、（(）)]|[了吧啊呀哦呢]|不是|而不是|就行|就好|即可|附近|工作|上班|这边|這邊|那边|那邊)"
)
_NO_GIVEN_NAME = frozenset(
    "人手员員师師些了的是不在我你他她它们們个個一这這那有没沒吗嗎呢吧啊也都就还還到上下来來去说說做要会會得着著过過么麼什很太"
)
_TITLES_ZH = (
    r"(?:总经理|總經理|总监|總監|经理|經理|主任|主管|老师|老師|先生|女士|小姐|医生|醫生|教授"
    r"|局长|局長|院长|院長|总|總|工|哥|姐|叔|姨)"
)


def person_zh(text: str) -> str:
    """A Chinese name: a surname and one or two more characters, or with a title, or a nickname of 小, 老 or 阿."""
    titled = re.match(rf"[{HAN}]{_TITLES_ZH}", text)
    if titled and text[0] in SURNAMES_ZH and _AFTER_ZH.match(text[titled.end() :]):
        return titled.group()
    nick = re.match(rf"[小老阿大][{HAN}]", text)
    if (
        nick
        and (text[1] in SURNAMES_ZH or text[0] in "小阿")
        and text[1] not in _NO_GIVEN_NAME
        and _AFTER_ZH.match(text[2:])
    ):
        return nick.group()
    if not text or text[0] not in SURNAMES_ZH:
        return ""
    for length in (3, 2, 4):
        name = text[:length]
        if len(name) < length or not re.fullmatch(rf"[{HAN}]+", name) or _NO_GIVEN_NAME.intersection(name[1:]):
            continue
        if _AFTER_ZH.match(text[length:]):
            return name
    return ""


_NO_PLACE_ZH = re.compile(
    r"(?:[里裡边邊近旁店馆館舍楼樓房家院外面内內上下室屋处處司校层層号號组組器盘盤去]|地方|一起|地狱|天堂|中心|时候|時候|郊区|郊區|市区|市區|乡下|鄉下|农村|農村|老家|城市|海邊)$"
)


def place_zh(text: str) -> str:
    """A place's name in Chinese, of two to six characters: no room, building or place beside something."""
    found = re.match(
        rf"[{HAN}]{{2,7}}?(?=\s*(?:$|[，,。；;！!、（(）)了]))|[A-Z][\w -]{{1,30}}(?=\s*(?:$|[，,。；;！!、（(了]))",
        text,
    )
    value = found.group() if found else ""
    bad = _NO_PLACE_ZH.search(value) or re.match(r"一|这|這|那|我|你|他|她|它|新", value) or value.lower() in SOFTWARE
    return "" if bad else value


def institution_zh(text: str) -> str:
    """An employer without a name: 一家医院."""
    found = re.match(rf"一(?:家|所|个|個|间|間)[{HAN}A-Za-z]{{2,12}}?(?=工作|上班|任职|任職|就职|就職|实习|實習)", text)
    return found.group() if found else ""


_NO_EMPLOYER_ZH = re.compile(
    r"[里裡上晚天间間候下边邊室馆館厅廳店外楼樓末午夜早床]$|^(?:公司|单位|單位|努力|认真|認真|拼命|继续|繼續|安静|安靜|专心|專心|用|做|为|為|和|跟|与|與|给|按|帮|忙|赶|等|学|學|想|看|找|外地|国外|国内|线上|这|這|那|一|家|周|週|夜|你|他|她|哪|各|线)|时间|時間|远程"
)


def employer_zh(text: str) -> str:
    """A firm by name; no town, no time of day, no manner of working."""
    found = re.match(
        rf"(?P<firm>[A-Za-z][\w .&-]{{1,30}}?|[{HAN}]{{2,12}}?)(?=公司?(?:工作|上班)|工作|上班|任职"
        r"|任職|就职|就職|实习|實習|\s*(?:$|[，,。；;！!了]))",
        text,
    )
    firm = found["firm"] if found else ""
    return "" if not firm or _NO_EMPLOYER_ZH.search(firm) or firm in CITIES_ZH else firm


_JOB_ZH = re.compile(
    rf"(?:一名|一位|一个|一個|名|位|个|個)?(?P<job>[{HAN}A-Za-z]{{0,10}}?(?:师|師|医生|醫生|员|員|学生|學生|研究生|大学生|实习生|護士|护士|作家|画家|畫家|科学家|科學家|艺术家"
    r"|专家|專家|经理|經理|主管|总监|總監|教授|司机|司機|记者|記者|会计|會計|警察|军人|軍人|农民|農民|工人|商人|翻译|翻譯|导演|導演|秘书|秘書|厨子|编辑|編輯|顾问|顧問|学者|學者|创业者|院长|校长"
    r"|老板))(?=\s*(?:$|[，,。；;！!了啦]))"
)


def job_zh(text: str) -> str:
    """What someone is paid for (or studies)."""
    found = _JOB_ZH.match(text)
    return found["job"] if found else ""
