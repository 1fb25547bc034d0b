"""How Chinese says something about the user, or the user's people and things: where the value begins."""

import re

from app.embedded.extraction import values, values_chinese
from app.embedded.extraction.slots import LOCATION, NAME, THINGS, Slot, Slots
from app.text.scripts import HAN

_SINCE = (
    "(?:上个月|上個月|上周|上週|去年|今年|最近|昨天|前天|前几天|刚刚|剛剛|刚才|刚|剛|现在"
    "|現在|目前|如今|其实|其實|已经|已經|一直|又|还|還|就|都|家(?!在)|全家|们|們|应该|應該)*+"
)
"""When, or how surely, between the subject and the verb."""

OPENINGS: tuple[tuple[re.Pattern[str], Slots], ...] = (
    (re.compile(r"我[对對](?P<name>[^，,。；]{1,10})[过過]敏"), (Slot("allergy", values.anything, certain=False),)),
    (
        re.compile(
            r"(?:我(?:现在|現在|其实|其實|已经|已經|还是|還是)?(?:的(?:中文|英文|全|真)?(?:名字|姓名)(?:现在|現在|其实|其實)?(?:是|叫|改成|改为|改為|改叫)|(?P<change>改名(?:叫|为|為|成))|(?:名叫|叫做|叫)))(?:做)?"
        ),
        (NAME,),
    ),
    (re.compile(r"(?:大家都|你可以|可以|以后|以後|就|请|請)*叫我(?:做)?"), (NAME,)),
    (
        re.compile(rf"(?:我{_SINCE}|(?<=[，,；;])(?:我)?(?:现在|現在|目前|如今))(?:住在|定居在|定居|家在|生活在|住)"),
        (LOCATION,),
    ),
    (
        re.compile(
            rf"我{_SINCE}(?:从(?P<old>[{HAN}A-Za-z ]{{2,12}}?))?(?P<change>搬家到|搬到|搬去|搬来|搬來"
            rf"|迁到|遷到|移居到?|搬回)了?"
        ),
        (LOCATION,),
    ),
    (
        re.compile(r"(?:我|^|(?<=[，,；;]))(?:现在|現在|目前|已经|已經|刚|剛)*在"),
        (Slot("work", values_chinese.employer_zh), Slot("work", values_chinese.institution_zh, certain=False)),
    ),
    (
        re.compile(
            rf"我(?:现在|現在|已经|已經|刚|剛)*(?P<change>加入了?|入职了?|入職了?|跳槽到了?|跳槽去了?|去了?(?=[{HAN}A-Za-z]{{2,12}}?(?:工作|上班)))"
        ),
        (Slot("work", values_chinese.employer_zh),),
    ),
    (
        re.compile(r"我(?:已经|已經|现在|現在)*(?P<change>转行|轉行|改行)(?:去)?(?:当|當|做|成)了?"),
        (Slot("occupation", values_chinese.job_zh),),
    ),
    (
        re.compile(r"(?:我|(?<=[，,；;]))(?:现在|現在|目前|其实|其實|已经|已經)*(?:是|当|當|做)"),
        (Slot("occupation", values_chinese.job_zh, certain=False),),
    ),
)

_PEOPLE = (
    "妻子|老婆|太太|丈夫|老公|女朋友|男朋友|儿子|兒子|女儿|女兒|哥哥|弟弟|姐姐|妹妹|妈妈|媽媽"
    "|爸爸|老板|老闆|经理|經理|领导|領導|上司|主管|导师|導師|同事|朋友|狗|猫|貓|宠物|寵物"
)
_THINGS = "|".join(sorted((thing for thing in THINGS if not thing.isascii()), key=len, reverse=True))
_KIN = "奶奶|爷爷|爺爺|外婆|外公|姥姥|姥爷|母亲|母親|父亲|父親|父母|爸妈|爸媽|孩子|室友|闺蜜|閨蜜"
TASTE = re.compile(
    rf"我(?:的)?(?P<what>{_PEOPLE}|{_KIN})(?:的(?:爱好|愛好|兴趣|興趣)是"
    r"|(?:也|很|最|特别|特別|非常|超|真的|一直|不太|都)*(?:喜欢|喜歡|热爱|熱愛|爱|愛|讨厌|討厭|不喜欢|不喜歡|迷上了?|对(?=[^，,。]{1,10}过敏)))"
)
"""What the user's people like: ``what`` is the person."""
RELATION = re.compile(
    rf"(?:(?:^|(?<=[，,；;。]))(?P<name>[{HAN}]{{2,4}}?|[A-Z][a-z]+)(?:现在|現在|已经|已經)?是)?(?:我(?:换|換)了新的?|我(?:的)?(?:新的?|现任|現任)?|(?<=[，,；;])(?:现在|現在)的|(?<=[，,；;])新的?)(?:只|条|條)?(?P<what>{_PEOPLE}|{_THINGS})(?P<of>的?名字|的?生日|的?电话|的?電話)?{_SINCE}"
    r"(?(name)(?=\s*(?:$|[，,。了]))|(?:(?P<change>改成|改为|改為|换成|換成|变成|變成|改叫"
    r"|[，,]\s*(?:是)?)|(?:不是(?P<old>[^，,。；]{1,20})[，,](?:而)?(?P<new>是))|(?P<verb>是"
    r"|叫|在|住在|住))了?(?:[：: ])?)"
)
