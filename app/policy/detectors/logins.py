"""A user or an address and a password side by side where no word says password: ``log in with ops/Sparrow!7781``."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.features import form_of
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder

_USERS = (
    r"admin|administrator|root|sa|sysadmin|superuser|postgres|guest|nacos|tomcat|kibana|elastic|minioadmin|weblogic|"
    r"manager|operator|oracle|ubuntu|centos|ec2-user|pi"
)
_CHOSEN = r"(?:[A-Za-z0-9!@#$%^&*_+=?~.-]|\)[A-Za-z0-9]){6,64}"
_PAIR = Pattern(
    rf"(?:^|[^\w/.@\\:-])(?:(?P<known>{_USERS})|[A-Za-z][\w.-]{{1,30}})(?: ?[/|] ?|[:：])(?P<secret>{_CHOSEN})"
    r"(?:$|[^\w/\\:@(\[<])"
)
_SPACED = Pattern(rf"(?:^|[^\w/.@\\:-])[A-Za-z][\w.@-]{{1,60}} / [\"'`]?(?P<secret>{_CHOSEN})(?:$|[^\w/\\:@(\[<])")
_NAMES_LOGINS = Pattern(
    r"(?i)log[ -]?in\b|credential|\bcreds\b|\baccount\b|router|\bnas\b|admin|登录|登陆|账号|帐号|凭证|ログイン|アカウント|"
    r"zugang|anmeld|identifiant|connexion|accès|acceso|credencia|usuari|acesso|логин|вход|доступ"
)
"""What stands before a pair with spaces around its stroke."""
_HOSTS = Pattern(
    r"(?i)堡垒机|跳板机|服务器|后台|系统|数据库|远程|server|サーバ|сервер|\bhost\b|portal|jump ?host|bastion"
)
_LEAST_LETTERS = 4
_RELEASE = re.compile(r"v?\d{1,4}\.\d{1,4}(?:\.\d{1,4})?$")
_KNOWN = Pattern(rf"(?:^|[^\w/.@\\:-])(?:{_USERS})(?: ?[/|] ?|[:：]){_CHOSEN}")
_LOGIN = Pattern(
    r"(?i)log(?:ged)?[ -]?[io]n|sign[ -]?in|登录|登陆|登入|账号|帐号|帳號|账户|ログイン|アカウント|로그인|계정|anmeld|einlogg|connexion|"
    r"connecte|acced|accesso|acceso|acesso|accès|identifiant|credenc|credential|\bcreds\b|zugang|凭证|凭据|entrar|iniciar sesi|войти|вход|логин|zaloguj|inlog"
)
_NAMED = Pattern(
    r"(?i)(?:^|[^a-z])(?:u/pw?|usr/pwd?|user(?:name)?/pass(?:word|wd)?|login/pass(?:word)?|(?:账号|帐号|用户名)/密码)[ \t]{0,2}[:=：][ \t]{0,2}"
    r"[\w.@+-]{2,64} ?[/|] ?(?P<secret>[^\s/|,，。；<>]{5,64})"
)
_WIFI = Pattern(
    r"(?i)(?:^|[^a-z])(?:wi-?fi|wlan|ssid)[ \t]{0,2}[:=： ][ \t]{0,2}[^\s/\n：:=][^/\n：:=]{0,31}? / (?P<secret>[^\s/,，。；]{8,63})(?:\s|$|[,，。；])"
)
"""A password for a wireless network has eight characters at least."""
_USER = Pattern(
    rf"(?i)(?:^|[^a-z])(?:user|login|benutzer|usuario|utilisateur|utente|用户|用戶|账户|帐户|ユーザー)[^\n/]{{0,32}} / (?P<secret>{_CHOSEN})"
    r"(?:$|[^\w/\\:@(\[<])"
)
_MAILED = Pattern(
    r"(?:^|[^\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}"
    rf"(?:[ \t]{{0,2}}(?:[,;:/|、，；：]|->|→)[ \t]{{0,2}}|[ \t]{{1,2}}|[ \t]{{0,2}}\n[ \t>-]{{0,8}})(?:(?:and|und|et|y|then|dann|type|pw)[ \t]){{0,2}}(?P<secret>{_CHOSEN})(?:$|[\s,;，；。）)])"
)
_TYPED = Pattern(
    r"(?i)(?:log(?:s|ged|ging)?[ -]?(?:in|on)|sign(?:s|ed|ing)?[ -]?in|account|portal|router|admin (?:page|panel)|einloggen|anmelden)\b[^\n.!?;]{0,60}?"
    r"[ \t](?:uses|wants|takes|accepts|expects|with|then|type|enter|mit)[ \t](?:[\"'`])?(?P<en>[A-Za-z0-9!@#$%^&*_+=?~.-]{6,64})"
    r"|(?:登录|登陆|登入|登錄|后台|後台|管理页|管理界面|光猫|路由器|网关|账号|帐号|帳號)[^\n。！？；]{0,40}?(?:要?填|输入|输|輸入|敲|打的?是|再输|那串是|就是|用的是)[ \t:：]{0,2}"
    r"[\"'“「]?(?P<zh>[A-Za-z0-9!@#$%^&*_+=?~.-]{6,64})"
)
"""What is typed where one signs in."""
_ADDRESS = Pattern(r"\w@\w")
_VERSION = re.compile(r"@v\d|@\d+\.\d")
"""Of a package or an action: ``actions/login@v3``."""
_BEFORE, _BEHIND = 48, 24
_CHOSEN_FORMS = frozenset({"mixed", "strong", "random", "numbered"})
_SIGNS = frozenset("!@#$%^&*+=?~")


def find(text: str) -> Iterator[Span]:
    """What stands behind a user's name and looks chosen: with a sign that no path has, or many digits."""
    for match in _PAIR.finditer(text):
        start, end = match.span("secret")
        value = text[start:end].rstrip(".?-=")
        if not _is_chosen(value):
            continue
        around = text[max(0, start - _BEFORE) : start] + "\n" + text[end : end + _BEHIND]
        is_named = text[max(0, match.span()[0] - 1) : match.span()[0] + 1].strip()[-1:] in tuple(":：")
        if (match["known"] and (is_named or not _SIGNS.isdisjoint(value))) or _LOGIN.is_in(around):
            yield start, start + len(value)
    for start, end in _SPACED.spans(text, "secret"):
        value = text[start:end].rstrip(".?-=")
        around = text[max(0, start - _BEFORE) : start]
        is_at_host = not _SIGNS.isdisjoint(value) and _HOSTS.is_in(around)
        if _has_a_form(value) and (is_at_host or _NAMES_LOGINS.is_in(around)):
            yield start, start + len(value)
    for pattern, group, is_password in _PLACES:
        for start, end in pattern.spans(text, group):
            value = text[start:end].rstrip(".?-=")
            if is_password(value):
                yield start, start + len(value)
    for pattern in (_NAMED, _WIFI):
        for start, end in pattern.spans(text, "secret"):
            value = text[start:end].rstrip(".;")
            if any(c.isdigit() for c in value) and not is_placeholder(value):
                yield start, start + len(value)


def _is_chosen(value: str) -> bool:
    """With letters and digits, and a sign that no path has or at least three digits that are no number of a model."""
    digits = sum(c.isdigit() for c in value)
    if not digits or not any(c.isalpha() for c in value) or is_placeholder(value) or _VERSION.search(value):
        return False
    return not _SIGNS.isdisjoint(value) or (
        digits >= 3 and not _RELEASE.search(value) and form_of(value) in {"mixed", "long", "strong"}
    )


def _has_a_sign(value: str) -> bool:
    """Chosen, and no name of a product: one signs in "with Office365", too."""
    return _is_chosen(value) and not _SIGNS.isdisjoint(value[1:])


def _is_no_name(value: str) -> bool:
    """Whether the value has a sign, or a capital or three digits, unlike the name of a step or a release."""
    if not _SIGNS.isdisjoint(value):
        return True
    chosen = any(c.isupper() for c in value) or sum(map(str.isdigit, value)) >= 3
    return chosen and sum(map(str.isalpha, value)) >= _LEAST_LETTERS and not _RELEASE.search(value)


def _has_a_form(value: str) -> bool:
    return (
        form_of(value) in _CHOSEN_FORMS
        and any(c.isdigit() for c in value)
        and _is_no_name(value)
        and not is_placeholder(value)
    )


_PLACES = (
    (_MAILED, "secret", _has_a_sign),
    (_USER, "secret", _has_a_form),
    (_TYPED, "en", _has_a_sign),
    (_TYPED, "zh", _is_chosen),
)
"""Where a password stands, the group that holds it, and what it must look like there."""


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_KNOWN, _LOGIN, _SPACED, _ADDRESS, _USER, _TYPED, _NAMED, _WIFI)
