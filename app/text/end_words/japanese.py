"""Japanese."""

from app.text.end_words.language import Language

JAPANESE = Language(
    until=("まで", "迄"),
    until_behind=True,
    remind=("リマインド", "リマインダー", "忘れずに", "忘れないで", "思い出させて"),
    remind_unless="(?:を|が)?(?:され|した|して(?:くれた|もらった)|くれた)",
    this_week=("今週", "今週末"),
    this_month=("今月",),
    weekdays=tuple(f"{day}曜日|{day}曜" for day in "月火水木金土日"),
    months=tuple(f"{n}月" if n > 9 else f"{n}月|0{n}月" for n in range(1, 13)),
    dates=("(?:{year}年)?(?<!\\d){month}{day}日(?:[(（][月火水木金土日][)）])?", "{year}年{month}(?!\\d)(?:末)?"),
    remind_dates=(r"(?<!\d){month}に",),
    end_of_week="今?週末",
    end_of_month="今?月末|今月いっぱい|今月の終わり",
    end_of_year="年末|今年いっぱい|今年の終わり",
    tomorrow="明日|あした|あす",
    today="今日|本日|今夜|今晩",
    until_today="今日|本日|今夜|今晩",
    small=r"の?(?:午前|午後|朝|昼|夕方|夜|晩|中|\d{1,2}時(?:半|\d{1,2}分)?|いっぱい|頃|ごろ|終わり)",
    next_before="(?:来週|次)の?",
    last_before=("先週の", "先週", "前の"),
    goes_on="二度と|毎|たいてい|だいたい|ふだん|いつも|普段|通常|必ず毎|少なくとも|誕生日|記念日|(?:今週|今月)(?:から|以降)|ごと|おきに",
    past="かった|(?:(?<!あし)た|[んい]だ)(?=$|[。、,.!！?？)」\\s]|の|ん|が|けど|から|と(?!え)|し|よ|ね|な|わ|ば|こ|時|とき)|だった|でした|ました|ていた|先週|昨日",
    day_first=False,
    spaced=False,
)
