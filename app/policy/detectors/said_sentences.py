"""Passphrases that are called a sentence or a line of verse in Chinese: ``口令是一句话：春江水暖鸭先知``.

Most of what stands behind a Chinese word for a password speaks about it. So a sentence counts where it is said to be
one, and stands behind a colon or in quotes.
"""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.text.scripts import CJK

_HAN_NAME = r"密[码碼]|口令|暗[号號]|密[语語]|暗[语語]"
_NAME = rf"(?:{_HAN_NAME}|pass ?phrase|pass ?word|パスワード)"
_LINK = r"(?:是|就|叫|[改换換设設定变變][成为為]了?|[为為]|[:：=])"
_KIND = (
    r"(?:[这這那一两兩二三四五六七八九十几幾整小短长長下面以列]{1,4}[句行段串首个個]"
    r"(?:中文|[古唐宋俗老]?[话話诗詩]句?|大?白[话話]|[歌台戏唱]?[词詞]|[俗谚諺][语語]|[汉漢]?字|短[语語]|口[号號诀訣]|打油[诗詩])?(?:的第?[一二三四五上下前后後首末]{1,2}句)?)"
)
_TAIL = r"(?P<tail>[ \t]{0,2}[（(，,、][^\n：:。！？“”「」『』\"]{1,24})?"
_OPENING = r"[“「『\"'《]"
_BEHIND = rf"[ \t]{{0,2}}(?:(?:[:：]|—{{1,2}}|->|→)\s{{0,3}}(?P<open>{_OPENING})?|(?P<quote>{_OPENING}))"
_SAID_TO_BE = Pattern(
    rf"(?i){_NAME}[ \t]?(?P<between>[\p{{Han}}A-Za-z0-9 ]{{0,10}}?){_LINK}[ \t]?了?{_KIND}{_TAIL}{_BEHIND}"
)
_IS_CALLED = Pattern(
    rf"(?i){_KIND}(?P<between>[就便才我]{{0,2}})(?:是|[作做当當]|[设設]成|用[作来來][当當做]?)[\p{{Han}} ]{{0,6}}?{_NAME}{_TAIL}{_BEHIND}"
)
_PHRASE = Pattern(
    rf"(?:密[码碼]|口令|通行)短[语語](?P<between>[现現]?在?)(?:{_LINK}|)[ \t]?{_BEHIND}"
    rf"|(?:密[语語]|暗[语語])(?:就|[现現]在)?{_LINK}[ \t]?(?P<only>{_OPENING})"
)
"""What is called a phrase needs no other word for it."""
_QUOTED_FIRST = Pattern(
    rf"[“「『\"](?P<secret>[^\n“”「」『』\"]{{4,60}})[”」』\"][ \t]?{_KIND}[就便才我]{{0,2}}(?:是|[作做当當]|[设設]成|用[作来來][当當做]?)[\p{{Han}} ]{{0,6}}?"
    rf"{_NAME}(?P<behind>[^\n]?)"
)
_NAMES = Pattern(rf"{_HAN_NAME}|(?i:pass ?(?:phrase|word))|パスワード|短[语語]")
"""One of these is in whatever is found."""
_QUOTE_ENDS = re.compile(r"[”」』\"'》\n]")
_CLAUSE = re.compile(rf"[{CJK}](?:[{CJK}A-Za-z0-9 ]*[{CJK}A-Za-z0-9])?|[A-Za-z0-9 ]+[{CJK}][{CJK}A-Za-z0-9]*")
_NEXT_LINE = re.compile(rf"[，,、；;/ ]([{CJK}]+)")
_VERSE = re.compile("[诗詩词詞首联聯]|[两兩二三四]句")
_REACH = 80
_BEFORE = 16
_LEAST, _LEAST_QUOTED = 4, 3
_OTHER_THING = re.compile(
    "提示|安全|^本|要求|规则|規則|策略|错误|錯誤|框|页|頁|红包|紅包|问题|問題|只有|看法|可以|最好|应|應|不|别|別|如果|是否|建议|建議|"
    "需|能|或|输入|輸入|时|時|弹|强度|强|学|找回|里|忘|本质|文案|像|比|(?i:hint|policy)|的(?!内容|內容|原文|明文|全文)"
)
"""What tells that something beside the password is a sentence, or that a password may be one."""
_TOLD_OF = re.compile(
    "提示|关于|關於|[对對]$|看法|小说|小說|童话|童話|故事|电影|電影|[剧劇]|游戏|遊戲|动画|動畫|书里|書裡|好的?$|任何|如果|假如|每[个個]"
)
_FOLLOWED = "的框提页頁规規错錯策学學里要吗嗎"
"""Behind a word for a password: it is another word, or a sentence goes on."""
_ON_SPELLING = re.compile("标点|標點|空格|大小写|大小寫|小写|小寫|大写|大寫|拼音|字|中文|连[写着]|連[寫著]|引号|引號")
"""What is said of a phrase before it is told."""
_ABOUT = re.compile(
    "密[码碼]|口令|至少|管理[员員]|生成|[设設]置|修改|字符|位[数數]|保密|泄露|洩露|[输輸]入|大小[写寫]|用[户戶]|[随隨][机機]|登[录錄]|[联聯]系|越.{1,3}越|removed"
)
_BEGINS_ABOUT = re.compile(
    "不[要能得可许許准用]|[别別](?![来來])|[请請]|切?勿|必[须須]|[应應][该該当當]|由|[见見][附下上文]|看附|[参參][见見考]|如[下果图圖]|以[下上后後]|忘[记記]|[记記]得|你(?:小时|小時|的|最)|[它这這]"
    "|其[实實]|因[为為]|只[有要能]|每[次人个個隔]|又.又|需|可以|什[么麼]|[为為]什|怎[么麼][设設改办辦]|多少"
)
_KNOWN = frozenset(("芝麻开门", "芝麻開門", "天王盖地虎", "天王蓋地虎", "宝塔镇河妖", "寶塔鎮河妖"))
"""Of tales that everybody knows."""


def find(text: str) -> Iterator[Span]:
    """The sentence: what is in the quotes, or up to the end of the clause, and the next line of a verse."""
    yield from dict.fromkeys(_all(text))


def _all(text: str) -> Iterator[Span]:
    if text.isascii() or not _NAMES.is_in(text):
        return
    for pattern in (_SAID_TO_BE, _IS_CALLED, _PHRASE):
        for match in pattern.finditer(text):
            start, end = match.span()
            tail = match["tail"] if pattern is not _PHRASE else None
            if (
                _OTHER_THING.search(match["between"] or "")
                or (tail and not _ON_SPELLING.search(tail))
                or _TOLD_OF.search(text, max(0, start - _BEFORE), start)
            ):
                continue
            is_quoted = bool(match["open"] or match["quote"] or (pattern is _PHRASE and match["only"]))
            said = text[start:end]
            yield from _quoted(text, end) if is_quoted else _clause(text, end, is_verse=_VERSE.search(said) is not None)
    for match in _QUOTED_FIRST.finditer(text):
        start, end = match.span("secret")
        if (match["behind"] or " ") not in _FOLLOWED and _is_told(text[start:end], _LEAST):
            yield start, end


def _quoted(text: str, start: int) -> Iterator[Span]:
    closing = _QUOTE_ENDS.search(text, start, start + _REACH)
    if closing and closing[0] != "\n" and _is_told(text[start : closing.start()], _LEAST_QUOTED):
        yield start, closing.start()


def _clause(text: str, start: int, *, is_verse: bool) -> Iterator[Span]:
    clause = _CLAUSE.match(text, start, min(len(text), start + _REACH))
    if not clause or not _is_told(clause[0], _LEAST):
        return
    end = clause.end()
    line = _NEXT_LINE.match(text, end, min(len(text), end + _REACH)) if is_verse else None
    yield start, line.end() if line and len(line[1]) == len(clause[0]) else end


def _is_told(value: str, least: int) -> bool:
    """Whether it is a sentence of some length, and none about passwords."""
    return (
        sum(not c.isascii() for c in value) >= least
        and value not in _KNOWN
        and not _ABOUT.search(value)
        and not _BEGINS_ABOUT.match(value)
    )


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_NAMES,)
