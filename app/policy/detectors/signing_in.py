"""Who signs in and with what, where no word says password: ``log in as ops with Sparrow!7781``, ``als gast mit ...``."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.features import form_of
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder

_AS = (
    r"as|under|using|with|user|account|username|als|unter|mit|über|konto|benutzer|en tant qu[e'’]|comme|sous|avec|compte|utilisateur|"
    r"como|con|cuenta|usuario|com|conta|usuário|come|utente|met|gebruiker|jako|как|под|логин|логином|пользователем|пользователь|用"
)
_JOINT = (
    r"(?:[ \t]{0,2}[,/|:+][ \t]{1,2}|[ \t]{0,2}[，、：和加][ \t]{0,2}"
    r"|[ \t]{1,2}(?:and|with|plus|then|using|und|mit|et|avec|y|con|e|com|en|met|i|z|и|с|со)[ \t]{1,2})"
)
_CALLED = (
    r"password|passwd|pass|pwd|pw|passwort|kennwort|mot de passe|mdp|contraseña|clave|senha|wachtwoord|hasło|hasłem|"
    r"пароль|паролем|密码|口令"
)
_CHOSEN = r"[^\s\"'`,;，。；、<>(){}\[\]]{6,64}"
_PAIR = Pattern(
    rf"(?i)(?:^|[\s(,;:：，。])(?:{_AS})[ \t]{{1,2}}(?:(?:the|user|den|le|el|o) |l['’])?[\"'`]?(?P<user>\p{{L}}[\p{{L}}\d_.@+\\-]{{1,60}})[\"'`]?"
    rf"{_JOINT}(?:(?:the|das|dem|le|la|el|a|o|its) )?(?:(?:{_CALLED})[ \t:：=]{{1,3}})?[\"'`]?(?P<secret>{_CHOSEN})"
)
_HEADED = Pattern(
    r"(?i)(?:^|[\s(,;，。*-]|\p{Han})(?:log[ -]?ins?|sign[ -]?in|creds|credentials|account|zugang(?:sdaten)?|anmeldung|connexion|accès|identifiants|acceso|"
    r"credenciales|acesso|credenciais|вход|доступ|логин|登录|登陆|登入|账号|帐号|账号密码|凭证|アカウント|ログイン|管理画面)(?:[ \t][\w.-]{1,24}){0,2}(?:[ \t]{0,2}[:：]|用|は)[ \t]{0,2}"
    rf"(?P<user>[A-Za-z\d][\w.@+-]{{1,60}})[ \t]{{0,2}}[,/|，、；;と][ \t]{{0,2}}[\"'`]?(?P<secret>{_CHOSEN})"
)
"""A name and a password behind a head for both."""
_OWNED = Pattern(
    r"(?i)(?:^|[^\w/.@-])(?:root|admin(?:istrator)?|sa|postgres|sysadmin|pi|ubuntu)[ \t](?:on|at|for|auf|für|sur|en|на|в)[ \t](?:the |dem |le |el )?[\w.-]{2,40}"
    rf"(?:[ \t]{{0,2}}(?:→|->|=>|[:：=])[ \t]{{1,2}}|[ \t](?:is|ist|est|es|now)[ \t](?:now )?|[^\n.?!]{{0,24}}\?[ \t]{{0,2}}\n[^\n:]{{0,32}}:[ \t])[\"'`]?(?P<secret>{_CHOSEN})(?:$|[\s\"'`,;.)，。])"
)
"""Whose it is and where, and what: also as the answer of another speaker."""
_SIGNING = Pattern(
    r"(?i)log(?:s|ged|ging)?[ -]?(?:in|on)|\bg[eo]ts? in\b|sign(?:s|ed|ing)?[ -]?(?:in|on)\b|connect|access|credential|\bcreds\b|\bssh\b|\brdp\b|\bvpn\b|"
    r"einlogg|anmeld|\bmelde\b|logge|zugang|identifiant|connexion|accès|acceso|acced|ingres|\bentr[ae]r?\b|inicia|acesso|accedi|inlog|zaloguj|"
    r"войди|войти|заход|вход|登录|登陆|登入|账号|ログイン"
)
_BEFORE = 96
_SIGNS = frozenset("!@#$%^&*+=?~")
_FORMS = frozenset(("mixed", "strong", "random", "numbered", "signs"))
_ANYWHERE = frozenset(("strong", "random"))
_LEAST_CHARS, _LEAST_DIGITS = 8, 3
_TERM = re.compile(
    r"(?:[A-Za-z]{1,16}-?v?\d{1,4}(?:\.\d{1,3}){0,3}[a-z]?|ed25519|[\w./-]{1,40}(?:={1,2}[\d.]{1,20}|@[v^~]?\d{1,3}(?:\.[\w-]{1,12}){0,4})|id_\w+|[\w-]{1,40}?-?v?\d{1,3}(?:\.\d{1,3}){1,3})[,!]?"
)
"""Products, versions and algorithms."""


def find(text: str) -> Iterator[Span]:
    """What stands behind a user's name: chosen with a sign and a digit, or of another such form where one signs in."""
    for start, end in _HEADED.spans(text, "secret"):
        value = text[start:end].rstrip(".?:")
        if _is_told(value) and (not _SIGNS.isdisjoint(value) or sum(map(str.isdigit, value)) >= _LEAST_DIGITS):
            yield start, start + len(value)
    for start, end in _OWNED.spans(text, "secret"):
        value = text[start:end].rstrip(".?:")
        if _is_told(value) and len(value) >= _LEAST_CHARS:
            yield start, start + len(value)
    for match in _PAIR.finditer(text):
        start, end = match.span("secret")
        value = text[start:end].rstrip(".?:")
        bare = value.rstrip("!")
        is_strong = not _SIGNS.isdisjoint(bare) and len(value) >= _LEAST_CHARS and form_of(value) in _ANYWHERE
        if _is_told(value) and (is_strong or _signs_in(text, match.span()[0], start)):
            yield start, start + len(value)


def _is_told(value: str) -> bool:
    """Whether it has letters and digits and the form of a password, and is no term with a number."""
    return (
        any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and form_of(value) in _FORMS
        and not is_placeholder(value)
        and not _TERM.fullmatch(value)
        and "://" not in value
    )


def _signs_in(text: str, start: int, end: int) -> bool:
    return _SIGNING.is_in(text[max(0, start - _BEFORE) : end])


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_PAIR, _HEADED, _OWNED)
