"""Passwords of Chinese characters, of which no space tells where they begin: ``WiFi密码是春风十里2024``, and spoken ones
that are a sentence, ``口令：月亮掉进第三口井里``."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_NAMED = Pattern(
    r"(?:密码|密碼|口令|暗号|パスワード)(?:就|还|還|现在|現在)?(?:[ \t]{0,2}(?:是|为|為|叫|[:：=]|改成了?|换成了?|換成了?|设成了?|設成了?|设为|設為|は)[ \t]{0,2})"
    r"(?:[\"“「『'](?P<quoted>\p{Han}{2,12}\d{1,8})[\"”」』']|(?P<bare>\p{Han}{2,12}\d{2,8})(?:[\s，。；！、,;!)）]|$))"
)
_SPOKEN = Pattern(
    r"(?:口令|暗号|暗號|密语|密語|接头语|暗语|合言葉|(?:密码|密碼)(?:是|为)?一(?:句|首))(?:是)?(?:一句话|一句話|一句诗|一句詩|话|诗|这句|這句)?"
    r"(?:[ \t]{0,2}(?:[:：]|就是|还是|還是|改成了?|换成了?|改为|是|叫|は)[ \t]{0,2})"
    r"(?:[\"“「『'](?P<quoted>[\p{Han}\p{Hiragana}\p{Katakana}]{4,24})[\"”」』']|(?P<bare>[\p{Han}\p{Hiragana}\p{Katakana}]{5,24})(?:[\s，。；！、,;!)）]|$))"
)
_ANSWERED = Pattern(
    r"(?:口令|暗号|暗號|密语|接头语|暗语)[^\n。！？]{0,16}?(?:就说|就回|就答|就念|要说|回答说?)[ \t:：]{0,2}[\"“「『]?(?P<bare>\p{Han}{5,24})(?:[\s，。；！、,;!)）”」』]|$)"
)
"""What one says when the word is asked for."""
_SAYING = frozenset("的了在于於有位年个個第约約超到过過至共和或与與错錯含前后後")
"""Characters that join a sentence, where one is more likely than a password."""
_ABOUT_TEXT = (
    "设置 设定 生成 获取 联系 管理 默认 错误 正确 输入 修改 忘 过期 统一 发给 发送 找回 随机 自动 系统 用户 密码 口令 账号 帐号 手机 邮箱 下面 上面 如下 以下 什么 多少 哪 吗 呢 至少 必须 不能 "
    "不要 别 请 需要 应该 一样 不对 失效 无效 加密 存储 保存 保密 约定 商量 每 长度 字符 数字 字母 大家 机制 功能 方式 登录 验证 公司 规定 部门 同事 不同 相同 日常 混 平时 一般 通常 見 见 忘れ 何 教え 決め 必要 変わ 変え ません ください です ます 安全 泄露 红包 我们 他们 你们 谁 怎么 简单 复杂 老样子 没变 没有 已经"
)
_ABOUT = tuple(_ABOUT_TEXT.split())
"""What a sentence about such a word has in it."""


def find(text: str) -> Iterator[Span]:
    """What stands in quotes, or to the end of the clause."""
    for match in _NAMED.finditer(text):
        for name in ("quoted", "bare"):
            start, end = match.span(name)
            if start >= 0 and (name == "quoted" or _SAYING.isdisjoint(text[start:end])):
                yield start, end
    for match in _SPOKEN.finditer(text):
        yield from (span for span in (match.span("quoted"), match.span("bare")) if _is_told(text, span))
    yield from (span for span in _ANSWERED.spans(text, "bare") if _is_told(text, span))


def _is_told(text: str, span: Span) -> bool:
    value = text[slice(*span)]
    return span[0] >= 0 and not any(word in value for word in _ABOUT) and not value.startswith(("的", "由", "在", "从"))


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_NAMED, _SPOKEN, _ANSWERED)
