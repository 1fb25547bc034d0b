"""Values that nothing sets apart from a sentence in Chinese characters: ``密码heping看花99``, ``答案填李老师``.

Such a value begins behind a word for passwords, or behind a verb that sets one, and goes on to the end of the clause.
So does most of what is said of passwords (``密码忘了怎么办``): `secret_values` decides by the characters.
"""

import re
from collections.abc import Iterator

from app.policy.detector import Span
from app.text.scripts import CJK

_NAME = (
    "(?:密[码碼钥鑰语語]|口令|暗[号號语語]|答案|安全[词詞]|パスワード|合言葉"
    "|(?<![A-Za-z])(?i:pass ?(?:word|code|phrase)|safe ?word|pin))"
)
_SETTING = "是为為成了填写寫用叫设設定改换換输輸报報答說说作做当當入は"
_LINK = (
    f"(?:[{_SETTING}就还還都先后後给給又被我你他她俺您咱们們妈爸家帮幫的新现現在已经經统統一也才老旧舊原来來取起选選回到置]"
    f"{{0,8}}[{_SETTING}])?"
)
"""A verb that sets what follows, with the words between a name and it: ``密码我改成了``, ``答案填``."""
_BEHIND = re.compile(rf"{_NAME}[ \t]?{_LINK}[ \t]?(?:[:：=→][ \t]?)?")
_BARE = re.compile(_NAME)
_ENDS = r"\s\"'`<>|“”‘’„«»‹›「」『』《》【】（）()，。；！？、…—•,;=→\[\]{}"
_VALUE = re.compile(rf"[^{_ENDS}:：]{{3,24}}(?=[{_ENDS}]|$)")
_HAN = re.compile(f"[{CJK}]")
_TRAILING = ".?!"
_TELLING = re.compile(
    "密[码碼钥鑰]|口令|登[录錄]|系[统統]|[随隨][机機]|用[户戶]|管理|[错錯][误誤]|次[数數]|怎[么麼]|什[么麼]|多少|如何|[时時]候|可以|"
    "[应應][该該]|必[须須]|需要|至少|不[得能要会會]|[别別]|忘|[隐隱][藏去]|[这這一两兩几幾][句首行段]|[歌台][词詞]|[吗嗎呢吧里裡上着著过過的]$|^[请請见見看找问問的在被把让讓由和与與或]"
)
"""What tells that a clause is about a password."""
_NUMERALS = "〇零一二三四五六七八九幺两兩壹贰叁肆伍陆柒捌玖"
"""Digits that are read out one by one; beside the next ones they are a quantity."""
_COUNTING = "十百千万萬亿億点點"
_NUMERAL = re.compile(f"(?<![{_NUMERALS}{_COUNTING}第])[{_NUMERALS}]{{3,8}}(?![{_NUMERALS}{_COUNTING}])")
_SPOKEN = re.compile(f"[{_NUMERALS}]+")


def clauses(text: str, start: int, end: int) -> Iterator[Span]:
    """What stands behind a name and its verb, and else behind the name alone, to the end of the clause."""
    if text.isascii():
        return
    for name in _BARE.finditer(text, start, end):
        linked = _BEHIND.match(text, name.start(), end)
        for at in dict.fromkeys((linked.end() if linked else name.end(), name.end())):
            value = _VALUE.match(text, at, end)
            if value and _HAN.search(value[0]):
                if not _TELLING.search(value[0]):
                    yield at, at + len(value[0].rstrip(_TRAILING))
                break
    for number in _NUMERAL.finditer(text, start, end):
        yield number.span()


def is_spoken(value: str) -> bool:
    """Whether it is a number as it is read out in Chinese, digit by digit."""
    return _SPOKEN.fullmatch(value) is not None
