"""Which messages are no query: nothing could usefully be looked up for "hi", "好的", "continue" or a bare "/new".

A message is no query when it is made of filler phrases *only*; one word that names something makes it a query. So
the text is covered from left to right with phrases of a fixed list, and what can not be covered decides. Linear:
only texts of at most 160 characters can be filler, and each position tries phrases of bounded length.
"""

import re
import unicodedata

MAX_FILLER_CHARS = 160
"""A longer text is never filler (a host's retry wrapper excepted)."""


def _phrases(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.replace("\n", ",").split(",") if part.strip())


_GREETING = _phrases("""
    hi, hii, hiii, hello, helo, hey, heya, hiya, howdy, yo, sup, what's up, whats up, wassup, good morning, good
    afternoon, good evening,
    good night, goodnight, good day, morning, mornin, evening, afternoon, gm, gn, greetings, how are you, how
    are you doing, how's it going, hows it going,
    how are things, how you doing, how do you do, nice to meet you, long time no see, welcome back, are you
    there, you there, anyone there, anybody there,
    is anyone there, anybody home, anyone home, knock knock, anyone around, anybody around, are you around, you
    around, are you awake, you awake, you up, still there, are you still there, bye, bye bye, byebye, goodbye,
    good bye, see you, see ya, cya, see you later, see you tomorrow,
    talk to you later, talk later, talk soon, ttyl, later, take care, have a good day, have a good one, have a
    nice day, have a great day, have a good night, have a good weekend, have a nice weekend, sleep well, sweet
    dreams, cheers, hi there, hello there, hey there,
    good to see you, hola, bonjour, ciao, hallo, i'm back, im back, back, i'm here, im here, here, happy friday,
    happy monday, brb, afk, bbl, be right back,
    你好, 您好, 你好啊, 你好呀, 嗨, 哈喽, 哈啰, 嘿, 喂, 早, 早啊, 早呀, 早上好, 早安, 上午好, 中午好, 下午好,
    晚上好, 晚安, 大家好, 在吗, 在么, 在不在, 在嘛, 在不,
    有人吗, 有人在吗, 你在吗, 还在吗, 你还在吗, 再见, 拜拜, 拜, 回见, 回头见, 明天见, 回头聊, 改天聊, 下次聊,
    下次见, 先这样, 就这样, 先下了, 下班了, 睡了,
    好久不见, 最近好吗, 最近怎么样, 你好吗, 吃了吗, 吃了没, 幸会, 久仰, 周末愉快, 节日快乐, 新年快乐, 辛苦, 辛苦啦,
    我来了, 我回来了, 我来啦, 回来了, 哈罗, hi呀, 忙吗, 在忙吗,
    安, 好梦, 我先撤了, 先撤了, 我先走了, 走了, 撤了, 先忙, 去忙吧, 你忙, 你先忙, 你忙吧, 您忙, 先去吃饭了,
    先去忙了, 我先去忙了""")

_ACKNOWLEDGEMENT = _phrases("""
    ok, okay, okey, okie, okk, k, kk, kay, oki, okey dokey, okie dokie, yes, yeah, yep, yup, ya, yea, yess, yah,
    aye, no, nope, nah, nay, not really, sure, sure thing, of course, certainly, absolutely, definitely,
    exactly,
    indeed, right, alright, all right, alrighty, correct, true, agreed, i agree, fine, cool, nice, great, good,
    perfect, awesome, excellent, amazing, wonderful, fantastic, brilliant, lovely, sweet, neat, super, wow,
    whoa, woah, oh, ooh, ah, aha, oh wow,
    got it, gotcha, i got it, i see, understood, i understand, makes sense, that makes sense, noted, roger,
    roger that, copy, copy that, will do, sounds good, sounds great, sounds like a plan, looks good, looks good
    to me, looks great, lgtm, works for me, good to know, fair enough, fair, good point, good idea,
    that works, that's fine, thats fine, that's good, that's great, that's right, that's it, that's all, thats
    all, that is all, that will be all, that'll be all, that'll do, all good, all set, no problem, np, no
    worries, nw, never mind, nevermind, nvm, forget it, don't worry, no need, no thanks, nothing, nothing else,
    not now, maybe, maybe later, perhaps, i guess, i think so, i guess so, i hope so, if you say so, whatever,
    who knows, idk, i don't know, dunno, not sure,
    thanks, thank you, thx, thanx, tnx, ty, tysm, tyvm, thanks a lot, thanks a bunch, thanks a million, thanks a
    ton, many thanks, thank you so much, thank you very much, thanks so much, much appreciated, appreciated,
    appreciate it, i appreciate it, you're welcome, youre welcome, welcome, my pleasure, anytime, well done,
    good job, great job, great work, nice work, good work, nice one, good one, nice job, bravo, congrats,
    congratulations, you rock, you're the best, you are the best, you're awesome, good bot, love it, i love it,
    like it, i like it, love you,
    that was helpful, very helpful, that helps, that helps a lot, this helps, helpful, really helpful, super
    helpful, so helpful, you're a lifesaver, lifesaver, legend, much better, better, even better, it works,
    works, it worked, that worked, worked, done, finished, ready, i'm ready, sorry, my bad, oops, whoops,
    apologies, sorry about that, excuse me, pardon, come on, please, pls, plz, please do, do it, yes do it, yes
    please do, go for it, you bet, i'm good, im good, i'm fine, im fine, good for now, ok for now, later then,
    i'll remember that, i will remember that, i'll remember, i'll keep that in mind, i'll keep it in mind,
    i've noted that, i noted that, duly noted, good choice, great choice, nice choice, happy to help, glad to help,
    glad i could help, glad to hear that, glad to hear it,
    too, you too, same, same here, same to you, me too, me neither, likewise, deal, done deal, bingo, voila,
    yay, hooray, woohoo, woo, yippee, phew, ugh, meh, sigh, hmm, hm, hmmm, mm, mmm, mhm, mmhm, uh, um, uhh, umm,
    er, erm, eh, huh, uh huh, uh-huh, ah ok, oh ok, oh okay, oh i see, ah i see, i see now, really, seriously,
    for real, no way, omg, oh my god, oh my, gosh, damn, dang, wtf, lol, lmao, rofl, haha, hahaha, hahahaha,
    hehe, heh, hihi, xd, jk, just kidding, kidding, tbh, imo, fyi, btw, test, testing, ping, pong, foo, asdf,
    blah, blah blah,
    好, 好的, 好吧, 好啊, 好呀, 好哒, 好滴, 好嘞, 好咧, 好了, 好好, 好好好, 好的呢, 好哦, 行, 行吧, 行啊, 行了,
    行的, 可以, 可以的, 可以了, 可以啊, 没问题, 没毛病, 没事,
    没事了, 没事儿, 没关系, 不客气, 不用谢, 不用了, 不用, 不需要, 不必了, 不要了, 不了, 算了, 算了吧, 对, 对的,
    对对, 对对对, 对啊, 是, 是的, 是啊, 是呀, 是吧, 是吗, 嗯,
    嗯嗯, 嗯嗯嗯, 嗯呐, 恩, 恩恩, 唔, 哦, 哦哦, 噢, 喔, 哦好, 啊, 呀, 呃, 额, 那个, 这个, 哎, 唉, 哎呀, 诶, 欸, 哇,
    哇塞, 哇哦, 记住了, 记住啦, 我记住了, 我会记住的, 已记住, 已记录, 我记下了, 已记下, 很高兴能帮到你,
    天哪, 天啊, 我的天, 明白, 明白了,
    懂了, 懂, 了解, 了解了, 知道了, 知道, 我知道了, 晓得了, 清楚了, 收到, 收到了, 已收到, 已阅, 记下了, 妥, 妥了,
    妥妥的, 同意, 赞同, 赞成, 没错, 确实, 的确, 当然, 必须的,
    有道理, 说得对, 你说得对, 说的对, 你说的对, 原来如此, 原来是这样, 这样啊, 这样, 是这样, 这样子, 也是, 也对,
    也行, 都行, 都可以, 随便, 无所谓, 再说, 再说吧, 以后再说, 看情况,
    也许, 可能吧, 大概吧, 应该吧, 不知道, 不清楚, 不晓得, 不是, 不对, 不行, 没有, 没, 没了, 没有了, 没别的了,
    没什么, 没啥, 没啥事, 没什么事,
    谢谢, 谢谢你, 谢谢您, 谢谢啦, 谢谢了, 谢了, 谢啦, 谢, 多谢, 多谢啦, 多谢了, 感谢, 非常感谢, 十分感谢, 太感谢了,
    感激不尽, 万分感谢, 3q, 3ks, 麻烦你了, 麻烦了, 麻烦您了,
    劳驾, 辛苦了, 辛苦你了, 您辛苦了, 你辛苦了, 棒, 真棒, 很棒, 太棒了, 太好了, 真好, 很好, 非常好, 挺好, 挺好的,
    不错, 很不错, 还不错, 真不错, 不错不错, 厉害, 厉害了,
    太厉害了, 真厉害, 牛, 牛啊, 牛逼, 牛批, 牛b, 太牛了, 强, 太强了, 给力, 给力啊, 赞, 点赞, 完美, 优秀, 绝了, 可爱,
    爱了, 爱你, 爱你哟, 加油, 恭喜, 恭喜恭喜, 哈哈,
    哈哈哈, 哈哈哈哈, 呵呵, 嘿嘿, 嘻嘻, 嘻嘻嘻, 呜呜, 呜呜呜, 啧, 啧啧, 666, 6, 66, 6666, 233, 2333, 88, 886, 520,
    ok的, okk, ok啦, ok了,
    搞定, 搞定了, 完事, 完成了, 解决了, 可以用了, 好用, 有用, 很有用, 有帮助, 很有帮助, 帮大忙了, 帮了大忙, 抱歉,
    对不起, 不好意思, 打扰了, 打扰啦, 失礼了, 真的吗, 真的,
    真的假的, 不会吧, 不是吧, 笑死, 笑死我了, 无语, 晕, 汗, 服了, 佩服, 来了, 来啦, 准备好了, 我准备好了, 测试,
    测试一下, 试试, 那好, 那好吧, 那行, 那就好, 那就这样,
    那就这样吧, 就这样吧, 就这样定了, 就这么办, 就这么定了, 先这样吧, 暂时没有, 暂时不用, 暂时没有了, 我想想,
    让我想想, 我再想想, 我看看, 我先看看, 等下, 等一下, 稍等, 等等, 等我一下,
    等会, 等会儿, 稍后, 一会儿再说, 回头再说, 先不用, 先不了, 没意见, 我没意见, 听你的, 按你说的来, 按你说的办,
    你看着办, 你定, 你决定""")

_GOING_ON = _phrases("""
    continue, please continue, go on, go ahead, keep going, carry on, proceed, resume, next, more, again, one
    more, one more time, once more, retry, try again, try that again, repeat, next one, next please, next step,
    and, and then, then, so, so what, well, go, start, start over, let's go, lets go, let's start, let's begin,
    begin, let's do it, lets do it, let's do this, let's continue, let's move on, move on, moving on, stop,
    wait, wait a second, wait a sec, wait a minute, hold on, one sec, one second, one moment, just a moment,
    just a sec, just a second, just a minute, sec, give me a second, give me a sec, give me a minute, give me a
    moment, let me see, let me think, let me check, i'll be back, finish it, finish, keep on, tell me more, say
    more, elaborate, any update, any updates, any news, updates, update, hello again, what else, anything else,
    what now, now what, what next, what's next, and now, is that all, is that it, are you done, you done, done
    yet, ready, are you ready, ok next, where were we, yes continue, yes go on, continue from where you left
    off, continue where you left off, pick up where you left off, please go on, pls continue, cont, cont., do
    that, do so, yes do that, as you like, up to you, your call, you decide, you choose, either, both, either
    way, whatever you think, anything, surprise me, option a, option b, a, b, c, d, 1, 2, 3, 4, 5, y, n, first
    one, second one, the first one, the second one, the first, the second, the former, the latter, number one,
    number two,
    继续, 请继续, 接着, 接着来, 接着说, 接着讲, 接着干, 接着做, 继续吧, 继续说, 继续讲, 继续写, 继续做, 继续干,
    继续啊, 往下, 往下说, 往下讲, 往下走, 下一步, 下一个, 下一条,
    下一页, 然后, 然后呢, 还有呢, 还有吗, 还有, 后来呢, 那么, 那, 所以, 所以呢, 再来, 再来一次, 再来一个, 再来一遍,
    再试一次, 再试试, 重试, 重来, 重新来, 再说一遍, 再说一次,
    再讲一遍, 开始, 开始吧, 走, 走吧, 走起, 来吧, 来, 冲, 上, 干吧, 搞起, 就这么做, 就这么干, 照做, 停, 停一下,
    别停, 慢着, 没说完, 说完, 说下去, 讲下去, 做下去, 快点,
    快, 赶紧, 赶快, 更多, 多说点, 多讲点, 展开说说, 详细点, 具体点, 说详细点, 从刚才的地方继续, 接着刚才的,
    接着刚才的说, 接着上面的, 接着上文, 从断的地方继续, 好了吗, 完了吗, 好了没,
    弄完了吗, 做完了吗, 完成了吗, 进展如何, 怎么样, 怎么样了, 如何了, 怎样, 第一个, 第二个, 前者, 后者, 都要, 选一,
    选二, 选a, 选b, 一, 二, 三, 有, 要, 不要""")

_SMALL_TALK = _phrases("""
    how's everything, hows everything, how is everything, how's life, how have you been, how are you today,
    how's your day, how was your day, hope you're well, hope you are well, hope all is well, hope you're doing well,
    good to hear, glad to hear it, glad to hear that, glad to hear,
    great to hear, happy to hear that, nice to hear, all clear, all clear now, clear, crystal clear, keep it coming,
    keep it up, let me think about it, i'll think about it, i will think about it, let me know, hang on,
    hang on a sec, hang tight, interesting, that's interesting, how interesting,
    funny, that's funny, very funny, good stuff, great stuff, nice stuff, impressive, incredible, beautiful, superb,
    terrific, splendid, marvelous, magnificent, fabulous, stellar, top, spot on, on point, bang on, right on,
    you got it, you bet, you're right, you are right, that's correct, that's true, true that, touche,
    my bad, no biggie, no big deal, it's fine, it's ok, it's okay, that's fair, all right then, very well,
    as you wish, suit yourself, be my guest, please go ahead, by all means, why not, sure why not, of course not,
    not yet, not now thanks, later maybe, some other time, next time, another time, never, always, sometimes, often,
    i'm done, we're done, that's enough, enough, stop it, please stop, cancel that, cancel, abort, skip, skip it,
    pass, nothing for now, nothing more, nothing else for now, that'll be all for today, that's all for today,
    thanks again, thank you again, thanks anyway, thanks though, thanks in advance, bless you, god bless, respect,
    kudos, props, hats off, well played, same old, not much, not bad, so so, could be better, can't complain,
    sleepy, good luck, wish me luck, fingers crossed, happy birthday, merry christmas, happy new year,
    happy holidays, enjoy, have fun, have a safe trip, safe travels, get well soon, long day, what a day, tgif,
    monday again, testing testing, test test, is this thing on, can you hear me, do you copy, are you alive,
    you alive, you ok, are you ok, are you okay, are you busy, busy, got a minute, got a sec, can we talk,
    i have a question, quick question, question, one question, one more thing, one more question, help, help me,
    i need help, can you help me, can you help, could you help me,
    在的, 我在, 在呢, 好耶, 耶, 好家伙, 绝绝子, 真牛, 太强啦, 可太好了, 甚好, 极好, 好极了, 好得很, 不赖, 还行,
    还可以, 一般般, 马马虎虎, 凑合, 有意思, 挺有意思, 有点意思, 真有意思, 好玩, 笑了, 笑哭, 乐了, 绷不住了, 救命,
    心累, 好累, 累了, 好困, 困了, 好饿, 饿了, 好烦, 唉好吧, 随你, 随意, 看你, 都听你的, 你说了算, 就它了, 就它吧,
    就这个吧, 就这个, 这个吧, 可以的呀, 中, 成, 成吧, 得嘞, 得了, 妥了妥了, 安排, 安排上, 冲鸭, 奥利给, 加油鸭,
    打卡, 签到, 路过, 顶, 沙发, 求助, 帮帮我, 帮帮忙, 帮我一下, 有个问题, 问个问题, 请教一下, 请问, 请问一下,
    方便吗, 有空吗, 忙不忙, 你忙吗, 听得到吗, 能听到吗, 收到吗, 收到没, 看到了吗, 看到了, 看见了, 看完了, 我看完了,
    我懂了, 我明白了, 我清楚了, 我了解了, 清楚, 很清楚, 非常清楚, 讲得很清楚, 说得很清楚, 学到了, 长见识了,
    长知识了, 涨姿势了, 受教了, 有收获, 祝好, 祝你好运, 一路平安, 生日快乐, 圣诞快乐, 元旦快乐, 中秋快乐, 国庆快乐,
    恭喜发财, 万事如意, 早点休息, 早点睡, 好好休息, 注意休息, 注意身体, 保重, 慢走, 不送, 不见不散, 一会儿见,
    待会见, 待会儿见, 下周见, 周一见, 改天见, 失陪, 我去忙了, 我忙去了, 我先下了, 我去吃饭了, 吃饭去了, 我去睡了,
    去睡了, 下线了, 溜了, 闪了, 撤""")

_SOFTENERS = _phrases("""
    quick, quickly, super, just now, with thanks, honestly, truly, everything, my, your, now then, kind, sir, then,
    now, so, very, much, very much, a lot, again, please, pls, just, too, and, but, to you, for that, for
    this, for now, for it, for your help, for the help, for everything, for all your help, for all, for the
    info, for the update, for the quick reply, for the explanation, for explaining, for confirming, for letting
    me know, for the heads up, for the tip, for the tips, for the answer, for helping, for helping me, for
    helping out, for being here, for your time, for today, everyone, everybody, all, guys, folks, team, there,
    man, dude, bro, buddy, mate, friend, my friend, pal, sir, boss, assistant, bot, claude, gpt, chatgpt, claw,
    openclaw, clawd, jarvis, alexa, siri, dear, honey, again, today, tomorrow, tonight, it, that, this, i, you,
    me, it's, its, is, really, so much, indeed, as well, still, the, a, to, of, in, at, on, with, for, help,
    i'm, im, we, we're, are, be, was, not, quite, pretty, actually, all, well, oh, think, know, good, that's,
    thats, bit, a bit, great, one, fine,
    非常, 特别, 十分, 万分, 挺, 这, 那就, 好生, 么, 嗷, 噢, 哇, 耶, 麻烦, 有帮助, 及时, 耐心, 这么, 那么, 又, 再,
    吧, 啊, 呀, 哦, 啦, 呢, 嘛, 哈, 哟, 喽, 咯, 哒, 滴, 吗, 了, 的, 你, 您, 我, 那, 就, 先, 太, 很, 真, 都, 也, 还,
    请, 老师, 老板, 大佬, 哥, 姐, 亲,
    兄弟, 朋友, 朋友们, 各位, 大家, 助手, 小助手, 机器人, 小爱, 小度, 同学, 伙计, 宝, 宝贝, 小伙伴, 师傅, 一下,
    今天, 明天, 回答, 解答, 帮助, 帮忙, 的帮助, 你的帮助,
    的回答, 的解答, 指点, 提醒, 的提醒, 支持""")
"""Words that name nothing themselves and only stand around a filler."""

_FILLER = _GREETING | _ACKNOWLEDGEMENT | _GOING_ON | _SMALL_TALK
_LONGEST = 8
"""Words of the longest English phrase that is tried."""

_NAMING = re.compile(r"[a-z0-9'#@_+./-]+|[^\W_a-z0-9]+")
"""Words of a text in small letters: of Latin letters and digits, or of any other script."""
_COMMAND = re.compile(r"/[A-Za-z][\w:-]{0,40}(?:@\w{1,40})?")
_CONTROL = re.compile(
    r"/(?:new|reset|stop|clear|compact|status|help|exit|quit|undo|redo|retry|continue|resume|restart|abort|think|"
    r"thinking|verbose|reasoning|model|models|queue|usage|mode|fast|elevated|activation|send|tools|skills|context|"
    r"session|sessions|history|login|logout|config|settings|approve|deny|whoami|version|cost|init|mute|unmute|start|"
    r"menu|lang|language|debug|trace|t|v)"
    r"(?: [\w./:-]{1,40}){0,2}", re.IGNORECASE)  # fmt: skip
_WRAPPER = re.compile(
    r"\[?(?:continue where you left off|(?:the )?(?:previous|last) (?:model )?(?:attempt|request|run|response|turn|"
    r"reply) (?:failed|timed out|was (?:interrupted|aborted|cut off|empty|incomplete))|"
    r"openclaw heartbeat|heartbeat(?:_ok| poll| check)?\b|no_reply\b|read heartbeat\.md|your (?:previous|last) "
    r"(?:response|reply|message|turn) (?:was|got|had|did|contained|only)|"
    r"(?:system(?: message| note)?: ?)?(?:\[)?(?:auto[- ]?retry|automatic retry|retry(?:ing)?(?: after| attempt| \d| "
    r"\(|:|\b.{0,20}error))|please (?:retry|try again|continue) (?:after|because|since|from)|(?:the )?(?:connection|"
    r"stream|request) (?:was )?(?:lost|interrupted|aborted|timed out|dropped|reset)\b.{0,40}(?:continue|retry|again)|"
    r"(?:resume|continue|retry)\b.{0,30}(?:interrupted|failed|aborted|previous|last) (?:attempt|turn|request|"
    r"response|run|task|reply|generation)|\[?request interrupted|上一次(?:请求|尝试|回复|调用|模型).{0,12}(?:失败|"
    r"超时|中断)|请从(?:上次|"
    r"刚才)?(?:中断|断开|停下)的地方继续|(?:自动)?重试[:：(（\[]|系统(?:消息|提示)[:：].{0,20}(?:重试|继续|中断))",
    re.IGNORECASE,
)


def no_query_reason(text: str) -> str | None:
    """Why nothing can be looked up: ``empty``, ``symbols``, ``command``, ``wrapper``, ``filler``; None for a query."""
    head = text[: 4 * MAX_FILLER_CHARS].strip()
    if not head:
        return "empty" if not text.strip() else None
    if len(text) <= 4 * MAX_FILLER_CHARS and _WRAPPER.match(head) and len(text.split("\n")) <= 6:
        return "wrapper"
    if len(text.strip()) > MAX_FILLER_CHARS:
        return None
    if _COMMAND.fullmatch(head) or _CONTROL.fullmatch(head):
        return "command"
    words = [word for word in _NAMING.findall(_plain(head)) if any(map(str.isalnum, word))]
    if not words:
        return "symbols"
    return "filler" if _is_filler(words) else None


def is_no_query(text: str) -> bool:
    """True when nothing could usefully be looked up for ``text``; false for a short text that names something."""
    return no_query_reason(text) is not None


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("‘", "'")
    return "".join(c for c in folded if unicodedata.category(c) not in {"So", "Sk", "Cf", "Mn", "Cn"})


def _is_filler(words: list[str]) -> bool:
    """Whether the words can be covered by fillers and softeners, with at least one filler."""
    index, fillers = 0, 0
    while index < len(words):
        if "\u3400" <= words[index][0] <= "\u9fff":
            covered = _covers_chinese(words[index])
            if covered is None:
                return False
            fillers, index = fillers + covered, index + 1
            continue
        for size in range(min(_LONGEST, len(words) - index), 0, -1):
            phrase = " ".join(words[index : index + size]).strip(".-'")
            if phrase in _FILLER or phrase in _SOFTENERS or not phrase or _is_stretched(phrase):
                fillers += phrase in _FILLER or _is_stretched(phrase)
                index += size
                break
        else:
            return False
    return fillers > 0


_STRETCHED = re.compile(
    r"(?:(?:ha)+h?|(?:he)+h?|l+o+l+|h+m+|m+h*m+|a+h+|o+h+|u+h+|y+a+y+|w+o+w+|y+e+s+|n+o+|so+|h+i+|h+e+y+|o+k+|t+h+x+|"
    r"a+w+|x+d+|z+|6+|2?3{2,}|8{2,3}|7{3})"
)


def _is_stretched(word: str) -> bool:
    return len(word) <= 24 and _STRETCHED.fullmatch(word) is not None


def _covers_chinese(run: str) -> int | None:
    """How many fillers cover this run of Chinese characters whole (as many as possible); None if they do not."""
    best: list[int | None] = [0] + [None] * len(run)
    for start in range(len(run)):
        reached = best[start]
        if reached is None:
            continue
        for end in range(start + 1, min(len(run), start + 10) + 1):
            piece = run[start:end]
            if (
                piece in _FILLER
                or piece in _SOFTENERS
                or (piece == run[start] * (end - start) and piece[0] in "哈嗯哦啊呵嘿嘻呜好对是行")
            ):
                best[end] = max(best[end] or 0, reached + (piece in _FILLER))
    return best[-1]
