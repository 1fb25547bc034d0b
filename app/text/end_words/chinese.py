"""Chinese, simplified and traditional."""

from app.text.end_words.language import Language

_WEEKS = ("周", "週", "星期", "礼拜", "禮拜")

CHINESE = Language(
    until=("到", "截止", "截至"),
    remind=("提醒", "别忘", "別忘"),
    remind_unless="[过過了]",
    this_week=tuple(this + week for this in "这這本" for week in ("周", "週", "星期")),
    this_month=("这个月", "這個月", "这月", "這月", "本月"),
    weekdays=(
        *("|".join(week + day for week in _WEEKS) for day in "一二三四五六"),
        "|".join(week + day for week in _WEEKS for day in "日天"),
    ),
    months=tuple(f"{n}月|{n}月份" if n > 9 else f"{n}月|0{n}月|{n}月份" for n in range(1, 13)),
    dates=("(?:{year}年)?(?<!\\d){month}{day}[日号號]?", "{year}年{month}(?!\\d)"),
    remind_dates=(r"(?<!\d){month}(?!\d)",),
    end_of_week="周末|週末",
    end_of_month="月底|月末",
    end_of_year="年底|年末",
    tomorrow="明天|明日|明晚",
    today="今天|今晚|今日",
    until_today="今天|今晚",
    small="本|这个?|這個?|了|于|於",
    next_before="下个?|下個",
    last_before=("上", "上个", "上個"),
    goes_on="每|再也不|总是|總是|通常|经常|經常|常常|往往|一般|至少|生日|周年|週年|[从從自](?:这|這|本)(?:周|週|星期|个?月|個月)"
    "|(?:这|這|本)(?:周|週|星期|个?月|個月)(?:起|开始|開始)",
    past="了|才|过(?!年)|過(?!年)|昨天|上周|上週",
    day_first=False,
    spaced=False,
)
