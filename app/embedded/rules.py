"""The rules that tell whether a sentence states something, in English and Chinese: patterns, and what each stands for
(`app.embedded.statements`). The first that matches counts."""

import re
from collections.abc import Callable
from dataclasses import replace

from app.embedded.statements import (
    Statement,
    event,
    fact,
    favourite,
    habit,
    like,
    named,
    occupation,
    prefer,
    relation,
    slug,
)

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], str], Statement | None]]

TOLD = 0.95
"""Confidence of what a user asked to remember."""

_REMEMBER = re.compile(
    r"^(?:(?:please|pls|also|and|ok|okay|hey|so|but|just|can you|could you)[ ,]+){0,3}"
    r"(?:remember|don't forget|do not forget|never forget|keep in mind|bear in mind|note|make a note"
    r"|take note|memorize)"
    r"(?:[ ,:]+(?:that|this|the following|down))?[ ,:]+(?P<what>\S.{3,})"
    r"|(?:请|請|帮我|幫我|你要|务必|一定要)?(?:记住|記住|记下|記下|牢记|牢記|记得|記得|记一下|記一下|别忘了|別忘了|不要忘记|不要忘了)"
    r"(?:一下)?[：:，,、 ]*(?P<zh>\S.{2,})",
    re.IGNORECASE,
)
_END = r"(?= (?:with|on|at|because|since|so|and|but)\b|[,.;!()]|$)"
_PLACE = r"(?= (?:for|in|when|with|on|at|because|since|so|and|but)\b|[,.;!()]|$)"


def statement_in(sentence: str, day: str) -> tuple[Statement, str] | None:
    """What ``sentence`` states, and the words that state it; ``day`` (``YYYY-MM-DD``) is when it was said.

    A sentence of at most some hundred characters is expected: the patterns look at it many times.
    """
    told = _REMEMBER.match(sentence)
    said = (told["what"] or told["zh"]).strip() if told else sentence
    found = _first_match(said, day)
    if told:
        found = found or Statement("fact", f"note.{slug(said)}", "entities/notes.md", "Notes", TOLD)
        return replace(found, confidence=TOLD), said
    return (found, said) if found else None


def asks_to_remember(sentence: str) -> bool:
    """True for a sentence that begins by asking to remember something."""
    return bool(_REMEMBER.match(sentence))


def _first_match(said: str, day: str) -> Statement | None:
    for pattern, make in _RULES:
        match = pattern.search(said)
        statement = make(match, said) if match else None
        if statement:
            return statement
    if _DECISION.search(said):
        return event("decision", said, day, 0.85)
    if _DATED.search(said) and _PERSONAL.search(said):
        return event("event", said, day, 0.6)
    return None


_PERSONAL = re.compile(r"\b(?:i|i'm|i'll|i've|we|we'll|we've|we're|my|our)\b|我|咱|我们|我們", re.IGNORECASE)
_DECISION = re.compile(
    r"\b(?:we|i|the team|team)(?:'ve| have|'ll| will)? (?:finally |just |all |both )?"
    r"(?:decided|agreed|chose|settled on|approved|opted)\b|\bdecision:"
    r"|\b(?:let's|we'll|we will|we're going to|we are going to) "
    r"(?:use|go with|switch to|adopt|stick with|migrate to|move to)\b"
    r"|\b(?:deployed|released|shipped|launched) (?:v?\d|the |our )"
    r"|(?:我们|我們|我|团队|團隊|大家|已经|已經|最终|最終)?(?:决定|決定|商定|约定|約定|敲定|选定|選定|同意)(?!不了)"
    r"|(?:改用|采用|採用|统一用|統一用|换成|換成)|发布了|發布了|上线了|上線了|部署了",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]{0,6}\.? \d{1,2}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\b(?:yesterday|tomorrow|tonight|(?:last|next|this) (?:week|weekend|month|year|summer|winter|spring|fall"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b|\bon (?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\d{4}年|\d{1,2}月\d{1,2}[日号號]|昨天|明天|后天|後天|前天|[上下这這本](?:周|週|星期|个月|個月|礼拜|禮拜)|周[一二三四五六日天]|星期[一二三四五六日天]",
    re.IGNORECASE,
)
_ZH_STOP = r"(?=[，,。；;！!（(]|$)"

_RULES: tuple[_Rule, ...] = (
    # preferences
    (
        re.compile(
            r"\bI(?:'d| would| do| really| much| strongly| generally| usually| still| now)* (?:prefer|favor|favour)"
            r"(?:red)? (?:to use |using |to )?(?P<a>[^,.;!]{1,60}?)(?: (?:over|to|rather than|instead of) "
            rf"(?P<b>[^,.;!]{{1,60}}?))?(?: (?:for|when|in) (?P<ctx>[^,.;!]{{1,60}}?))?{_END}",
            re.IGNORECASE,
        ),
        prefer,
    ),
    (
        re.compile(
            r"\bmy (?:all-time |absolute )?favou?rite (?P<topic>[^,.;!]{1,40}?) (?:is|are|was)\b", re.IGNORECASE
        ),
        favourite,
    ),
    (re.compile(r"我最(?:喜欢|喜歡|爱|愛)的(?P<topic>.{1,12}?)(?:是|就是)"), favourite),
    (
        re.compile(
            r"\bI(?: really| absolutely| just| also| do| still)* (?:like|love|enjoy|adore|hate|dislike|detest|"
            rf"can't stand|cannot stand|don't like|do not like)(?: to| using)? (?P<a>[^,.;!]{{2,60}}?){_PLACE}",
            re.IGNORECASE,
        ),
        like,
    ),
    (
        re.compile(
            r"\bI (?:always|usually|normally|never|only) (?:use|write|work|want|run|drink|eat|take)\b(?P<a>.{2,60})",
            re.I,
        ),
        habit,
    ),
    (
        re.compile(
            r"^(?:please |from now on,? |in (?:the )?future,? )+"
            r"(?:always|never|don't|do not|use|answer|reply|write|keep)\b(?P<a>.{2,80})",
            re.IGNORECASE,
        ),
        habit,
    ),
    (
        re.compile(
            r"我(?:更|比较|比較|还是|還是|一般|平时|平時|一直|现在|現在)*(?:喜欢|喜歡|偏好|偏爱|偏愛|倾向于|傾向於|倾向|宁愿|寧願|习惯|習慣)"
            rf"(?:于|於)?(?:使用|用)?(?P<a>[^，,。；;！!]{{1,40}}?)(?:(?:而不是|胜过|勝過|多过|多過)(?P<b>[^，,。；;！!]{{1,20}}))?{_ZH_STOP}"
        ),
        prefer,
    ),
    (
        re.compile(
            r"我(?:很|特别|特別|非常|超|真的|最|不太|也|都)*(?:爱|愛|讨厌|討厭|不喜欢|不喜歡|受不了|不爱|不愛|不吃|不喝)(?:用)?"
            rf"(?P<a>[^，,。；;！!]{{1,30}}?){_ZH_STOP}"
        ),
        like,
    ),
    (
        re.compile(
            r"(?:^|[，,])(?:以后|以後|今后|今後|从现在起|從現在起)(?:都|请|請|要|回答|写|寫)*(?P<a>.{2,60})"
            r"|我(?:总是|總是|一般|通常|从不|從不|一直)(?:都)?(?:用|写|寫|喝|吃)(?P<b>.{1,40})"
        ),
        habit,
    ),
    # profile
    (
        re.compile(
            r"\bmy (?:full |first |last |nick)?name is\b|\b(?:please |you can )?call me [A-Z]\w|\bI go by [A-Z]", re.I
        ),
        named("name"),
    ),
    (
        re.compile(r"我(?:的名字)?(?:叫做|叫|名叫)(?!你|他|她|它|人|车|車|外卖|外賣)|我的名字是|请叫我|請叫我"),
        named("name"),
    ),
    (
        re.compile(
            r"\bI(?:'m| am)? (?:now |currently |just )*(?:live|living|moved|relocated|based|reside)d? "
            r"(?:in|to|at|near)\b",
            re.I,
        ),
        named("location"),
    ),
    (re.compile(r"我(?:现在|現在|目前|刚|剛)?(?:住在|搬到|搬去|定居|家在)"), named("location")),
    (
        re.compile(
            r"\bI(?:'m| am)? (?:now |currently |just )*(?:work|working|joined|employed) (?:at|for|by|with|in)\b", re.I
        ),
        named("work"),
    ),
    (re.compile(r"我(?:现在|現在|目前)?在.{1,20}(?:工作|上班|任职|任職|就职|就職|实习|實習)"), named("work")),
    (re.compile(r"\bI work as\b|\bmy (?:job|occupation|profession|role|title) is\b", re.I), named("occupation")),
    (re.compile(rf"\b(?:I'm|I am) (?:also )?an? (?P<a>[a-z][^,.;!]{{2,40}}?){_PLACE}", re.I), occupation),
    (
        re.compile(
            r"我是(?:一名|一位|一个|一個|个|個|做)?.{0,14}(?:师|師|员|員|生|家|经理|經理|医|醫|人|者|主管|总监|總監|的)(?=[，,。；;！!]|$)"
        ),
        named("occupation", 0.7),
    ),
    (
        re.compile(
            r"\bmy (?P<what>(?:work |home |personal )?"
            r"(?:email|e-mail|phone|phone number|number|address|birthday|time ?zone|age|wife|husband|partner|girlfriend"
            r"|boyfriend|son|daughter|kid|brother|sister|mother|mom|father|dad|boss|manager|colleague|teammate|friend"
            r"|dog|cat|pet|team|company|school|university|doctor|dentist|car|laptop|computer|editor|ide"
            r"|operating system|os|shell|keyboard|deadline|hobby|native language|blood type|allergy|diet)"
            r"(?:'s [a-z]{2,20})?)(?: (?:name|address|number|date))? (?:is|are|was|has|lives|works)\b",
            re.IGNORECASE,
        ),
        relation,
    ),
    (
        re.compile(
            r"我(?:的)?(?P<what>邮箱|郵箱|电话|電話|手机号|手機號|地址|生日|时区|時區|年龄|年齡|妻子|老婆|太太|丈夫|老公|女朋友|男朋友|儿子|兒子|女儿|"
            r"女兒|哥哥|弟弟|姐姐|妹妹|妈妈|媽媽|爸爸|老板|老闆|经理|經理|领导|領導|同事|朋友|狗|猫|貓|宠物|寵物|公司|学校|學校|团队|團隊|车|車|电脑|電腦|"
            r"编辑器|編輯器|血型|母语|母語)(?:的?名字)?(?:是|叫|在|住)"
        ),
        relation,
    ),
    (
        re.compile(
            r"\bI(?:'m| am) allergic to\b|\bI(?:'m| am) (?:a )?(?:vegan|vegetarian)\b|我对.{1,10}过敏|我對.{1,10}過敏",
            re.I,
        ),
        named("diet"),
    ),
    # people and projects
    (
        re.compile(
            r"(?:^|[,;] )(?P<name>(?:(?:The|the|Our|our|Project|project) )?[A-Z][\w.-]{1,30}"
            r"(?: (?:[A-Z][\w.-]{0,30}|service|repo|project|team|server|database|API|app|cluster|pipeline)){0,3}) "
            r"(?P<verb>is an|is a|is our|is the|is my|works at|works on|works for|works as|lives in|leads|owns"
            r"|maintains|manages|uses|runs on|runs in|runs at|depends on|is owned by|is written in|is hosted on"
            r"|is hosted at|is deployed on|is built with|is due|listens on|was moved to|moved to) (?P<a>[^;!]{2,200})"
        ),
        fact,
    ),
    (
        re.compile(
            r"(?:^|[，,])(?P<name>[A-Za-z][\w.-]{1,30}(?:项目|項目|服务|服務|系统|系統)?|[一-鿿]{2,8}?(?:项目|項目|服务|服務|系统|系統|团队|團隊|平台)|"
            r"[老小][一-鿿]|[一-鿿]{2,3}?)(?P<verb>是我们的|是我們的|是我的|是一个|是一个|是一位|是一名|是个|负责|負責|使用|运行在|運行在|部署在|依赖|依賴|"
            r"住在|用的是|的负责人是|的負責人是|的端口是|的截止日期是)(?P<a>[^，,。；;！!]{1,60})"
        ),
        fact,
    ),
)
