"""Values for the slots of ``examples/secrets.jsonl``: secrets as people choose and machines draw them, and what is none.

Drawn anew for each use, so that the model learns forms and not values. ``SECRET`` slots are what is to be found.
"""

import base64
import json
import string
from collections.abc import Callable
from pathlib import Path
from random import Random

from training import everyday_values

SIGNS = json.loads(
    (Path(__file__).parents[1] / "app" / "policy" / "weights" / "signs.json").read_text(encoding="utf-8")
)
WORDS = [
    "maple",
    "river",
    "stone",
    "falcon",
    "copper",
    "meadow",
    "winter",
    "orange",
    "silver",
    "garden",
    "candle",
    "pepper",
    "walnut",
    "harbor",
    "velvet",
    "tiger",
    "rocket",
    "planet",
    "button",
    "forest",
    "mirror",
    "bridge",
    "castle",
    "dragon",
    "lemon",
    "cherry",
    "salmon",
    "thunder",
    "purple",
    "coffee",
    "monkey",
    "hunter",
    "sommer",
    "blume",
    "katze",
    "wolke",
    "berg",
    "fenster",
    "apfel",
    "himmel",
    "soleil",
    "jardin",
    "mouton",
    "fromage",
    "lapin",
    "lune",
    "nuage",
    "montagne",
    "cielo",
    "perro",
    "gato",
    "verano",
    "luna",
    "playa",
    "fuego",
    "montana",
    "caballo",
    "zapato",
    "tortuga",
    "sakura",
    "yama",
    "neko",
    "hana",
    "umi",
    "kaze",
    "inu",
    "tori",
    "kumo",
    "xiaoming",
    "haitang",
    "shanshui",
    "yueliang",
    "taohua",
    "pengyou",
    "baobao",
    "laoshi",
    "jintian",
    "wanan",
    "dalian",
    "changjiang",
    "huanghe",
    "beihai",
    "moscow",
    "sobaka",
    "koshka",
    "zima",
    "leto",
    "solnce",
    "barsik",
    "merhaba",
    "kedi",
    "deniz",
    "bahar",
    "yildiz",
    "quick",
    "brown",
    "jumps",
    "lazy",
    "early",
    "night",
]
PLAIN = [
    "swordfish",
    "letmein",
    "opensesame",
    "sunshine",
    "trustno",
    "iloveyou",
    "dragon",
    "football",
    "monkey",
    "qwertz",
]
THINGS = {
    "en": "the wiki|the staging server|the router|my laptop|the NAS|the database|the office Wi-Fi|the VPN|the printer|GitHub|Jira|the bank|"
    "the admin panel|the test account|my e-mail|the archive|the backup disk|the old server|the Christmas shop|the school portal|Netflix|"
    "the CI bot|the mail server|production|the tax office|the shared drive|the camera|the shop|the guest network|the export|root|Elena's account",
    "zh": "数据库|测试库|后台|路由器|邮箱|服务器|堡垒机|跳板机|银行卡|手机|门锁|保险柜|网银|打印机|家里Wi-Fi|公司VPN|学校系统|监控|管理员|测试环境|"
    "生产环境|网盘|支付宝|微信|工资卡|电脑|图书馆|压缩包|备份|教务系统|机器人|云盘|游戏账号|会员|旧服务器|对账系统|小程序",
    "de": "den Server|das Wiki|die Datenbank|mein Konto|das WLAN|die Cloud|den Router|das Schulportal|die Bank|das Postfach",
    "fr": "la base|mon compte|le serveur|la banque|le wifi|la messagerie|l'imprimante|la box|le portail de l'école",
    "es": "la base de datos|mi cuenta|el servidor|el banco|la casa|el correo|la impresora|el portal|la nube",
    "pt": "o servidor|minha conta|o banco|a impressora|o e-mail|a casa|o portal da escola",
    "ja": "社内NAS|サーバー|管理画面|Wi-Fi|銀行|メール|ルーター|テスト環境|会員サイト",
    "ko": "서버|관리자|와이파이|은행|메일|공유기|테스트 계정",
    "ru": "сервера|почты|роутера|базы|банка|админки|вайфая|школьного портала",
    "": "Jenkins|GitLab|Grafana|MySQL|Redis|Nexus|AWS|Azure|Stripe|Slack|MinIO|Postgres|Wi-Fi|VPN|NAS|OpenAI|Cloudflare|Zoom|Steam|SAP",
}
_SETTINGS = [
    "DB",
    "MYSQL",
    "REDIS",
    "APP",
    "ADMIN",
    "SMTP",
    "JWT",
    "POSTGRES",
    "MONGO",
    "AWS",
    "S3",
    "API",
    "SERVICE",
    "ROOT",
    "PG",
    "KAFKA",
    "LDAP",
    "FTP",
    "GITHUB",
    "STRIPE",
    "OPENAI",
    "WX",
    "ALIYUN",
]
_SECRET_NAMES = [
    "PASSWORD",
    "PASS",
    "PASSWD",
    "PWD",
    "SECRET",
    "TOKEN",
    "API_KEY",
    "SECRET_KEY",
    "ACCESS_KEY",
    "AUTH_TOKEN",
    "PRIVATE_KEY",
    "CLIENT_SECRET",
    "ROOT_PASSWORD",
    "ACCESS_TOKEN",
    "APP_SECRET",
    "ENCRYPTION_KEY",
    "SIGNING_KEY",
    "WEBHOOK_SECRET",
    "SECRET_ACCESS_KEY",
    "APP_KEY",
    "SK",
    "PSK",
]
_OTHER_NAMES = [
    "HOST",
    "USER",
    "PORT",
    "REGION",
    "NAME",
    "CLIENT_ID",
    "TENANT_ID",
    "APP_ID",
    "TRACE_ID",
    "REQUEST_ID",
    "BUCKET",
    "DATABASE",
    "LOG_LEVEL",
    "BUILD_ID",
    "COMMIT_SHA",
    "VERSION",
    "MODEL",
    "ENDPOINT",
    "NAMESPACE",
    "USERNAME",
    "IMAGE_DIGEST",
    "TIMEOUT",
    "MAX_SIZE",
    "CACHE_DIR",
    "ENV",
]
_MODELS = [
    "gpt-4o",
    "claude-3-5-sonnet",
    "qwen2-72b",
    "deepseek-chat",
    "M2400",
    "RX-580",
    "ESP32",
    "iPhone15",
    "BCM2835",
    "llama-3",
    "ThinkPad-X1",
]
_TERMS = [
    "SHA-256",
    "OAuth2",
    "OAuth2.0",
    "AES-256",
    "RSA-4096",
    "TLS1.3",
    "HTTP/2",
    "PBKDF2",
    "bcrypt",
    "argon2",
    "PKCS12",
    "UTF-8",
    "2FA",
    "HMAC-SHA1",
    "RS256",
    "ES256",
    "X.509",
    "K8s",
    "S3",
    "IPv6",
    "ISO27001",
    "WPA3",
    "WPA2",
    "MD5",
    "base64",
    "ed25519",
    "FIDO2",
]
_PARTS_TEXT = "src app auth users token session lib pages exports test2 utils api admin tools keys 2026 06"
_PARTS = _PARTS_TEXT.split()
_PLACEHOLDERS = [
    "${DB_PASSWORD}",
    "$TOKEN",
    "<your-key>",
    "<password>",
    "********",
    "xxxxxxxx",
    "changeme",
    "your_api_key",
    "<YOUR_TOKEN>",
    "{{password}}",
    "%(password)s",
    "sk-...",
    "[REDACTED]",
    "none",
    "null",
    "AKIAIOSFODNN7EXAMPLE",
    "<在这里填写>",
    "•••••••",
    "{{.Values.auth.password}}",
    "${env:TOKEN}",
    "%PASSWORD%",
    "#{token}",
    "@Value",
    "$(cat_secret)",
    "${{secrets.TOKEN}}",
    "YOUR-API-KEY-HERE",
]


def _case(rng: Random, word: str) -> str:
    return rng.choice((word, word, word.capitalize(), word.capitalize(), word.upper()))


def _of(rng: Random, alphabet: str, least: int, most: int) -> str:
    return "".join(rng.choices(alphabet, k=rng.randint(least, most)))


def _digits(rng: Random, least: int, most: int) -> str:
    return _of(rng, string.digits, least, most)


def _leet(word: str) -> str:
    return word.translate(str.maketrans("oiea", "0134"))


def password(rng: Random) -> str:
    """What people choose: words with digits and signs, often the same word again, or drawn."""
    a, b = rng.choice(WORDS), rng.choice(WORDS)
    sign = rng.choice("!@#$%&*+-_.~=?^:;/")
    if rng.random() < 0.2:
        b = a
    joint = rng.choice("-_.!@#+~ "[:8])
    number = _digits(rng, 1, 4) if rng.random() < 0.7 else str(rng.randint(1950, 2031))
    form = rng.randrange(16)
    if form < 2:
        return f"{_case(rng, a)}{sign}{number}"
    if form < 4:
        return f"{_case(rng, a)}{joint}{_case(rng, b)}{joint}{number}"
    if form < 6:
        return f"{_case(rng, a)}{number}"
    if form == 6:
        return f"{a}{rng.choice(('', joint))}{number}{_of(rng, string.ascii_lowercase, 1, 3)}"
    if form == 7:
        return f"{_leet(_case(rng, a))}{joint}{_case(rng, b)}"
    if form == 8:
        return f"{_case(rng, a)}{_case(rng, b)}{number}{rng.choice(('', sign))}"
    if form == 9:
        return f"{a}{joint}{b}{joint}{number}"
    if form == 10:
        return f"{number}{a}{number}{b}"
    if form == 11:
        return f"{a}_{number}_{b}"
    if form == 12:
        return _leet(a) + sign + _leet(b).capitalize()
    if form == 13:
        return _case(rng, a) + sign + _case(rng, b) + rng.choice(("", sign)) + number
    inner = string.ascii_letters + string.digits + ("!@#$%^&*-_+=?~" if form == 14 else "")
    drawn = _of(rng, inner, 8, 16)
    return rng.choice(string.ascii_letters) + drawn + rng.choice(string.digits + string.ascii_letters)


def key(rng: Random) -> str:
    """What machines draw; some of few characters, so that repetition is no sign that a key is none."""
    drawn = _key(rng)
    if rng.random() < 0.25:
        size = rng.randint(4, 12)
        return (drawn[:size] * (len(drawn) // size + 1))[: len(drawn)]
    return drawn


def _key(rng: Random) -> str:
    form = rng.randrange(9)
    if form < 2:
        return (
            _of(rng, "0123456789abcdef", 16, 16) * rng.choice((1, 2)) if form else _of(rng, "0123456789abcdef", 32, 64)
        )
    if form < 5:
        return _of(rng, string.ascii_letters + string.digits, 16, 48)
    if form == 5:
        return _of(rng, string.ascii_letters + string.digits + "-_", 20, 60).strip("-_") + "a"
    if form == 6:
        return _of(rng, string.ascii_lowercase + string.digits, 14, 32)
    if form == 7:
        return b64(rng)
    return (
        rng.choice(("tok", "key", "app", "sec", "live", "prod", "svc", "pat"))
        + rng.choice("_-")
        + _of(rng, string.ascii_letters + string.digits, 12, 36)
    )


def b64(rng: Random) -> str:
    """Base64 of random bytes."""
    return base64.b64encode(rng.randbytes(rng.choice((12, 16, 20, 24, 32, 48)))).decode()


def uuid(rng: Random) -> str:
    """A UUID."""
    return "-".join(_of(rng, "0123456789abcdef", n, n) for n in (8, 4, 4, 4, 12))


def _identifier(rng: Random) -> str:
    parts = [
        rng.choice(
            [*WORDS[:40], "user", "order", "main", "feature", "config", "token", "auth", "cache", "depot", "api"]
        )
        for _ in range(rng.randint(1, 3))
    ]
    return (
        rng.choice(("_", "-", ".")).join(parts)
        if rng.random() < 0.8
        else parts[0] + "".join(p.capitalize() for p in parts[1:])
    )


def _name(rng: Random, names: list[str]) -> str:
    return rng.choice(names) if rng.random() < 0.35 else f"{rng.choice(_SETTINGS)}_{rng.choice(names)}"


def _member(rng: Random, names: list[str]) -> str:
    parts = _name(rng, names).lower().split("_")
    form = rng.randrange(4)
    if form == 0:
        return "_".join(parts)
    if form == 1:
        return "-".join(parts)
    return parts[0] + "".join(part.capitalize() for part in parts[1:])


def _value(rng: Random) -> str:
    form = rng.random()
    if form < 0.80:
        return password(rng)
    if form < 0.87:
        return "".join(rng.choices(WORDS, k=rng.randint(2, 4)))
    if form < 0.91:
        return _of(rng, string.ascii_lowercase, 8, 16) if rng.random() < 0.4 else _of(rng, string.ascii_letters, 9, 16)
    if form < 0.94:
        return _digits(rng, 6, 10)
    return key(rng)


def _date(rng: Random) -> str:
    y, m, d = rng.randint(2019, 2027), rng.randint(1, 12), rng.randint(1, 28)
    return rng.choice(
        (
            f"{y}-{m:02}-{d:02}",
            f"{d}.{m}.{y}",
            f"{m:02}/{d:02}/{y}",
            f"{y}年{m}月{d}日",
            f"{d} May {y}",
            f"{y}/{m:02}/{d:02}",
            f"{y}{m:02}{d:02}",
        )
    )


def _combination(rng: Random) -> str:
    if rng.random() < 0.25:
        return "-".join(_digits(rng, 1, 1) for _ in range(rng.choice((3, 4, 5))))
    return rng.choice("- ").join(f"{rng.randint(0, 99):02}" for _ in range(rng.choice((3, 3, 4))))


def _code(rng: Random) -> str:
    alphabet = rng.choice(
        (string.digits, string.ascii_lowercase + string.digits, string.ascii_uppercase + string.digits)
    )
    return rng.choice("- " if alphabet == string.digits else "-").join(_of(rng, alphabet, 4, 5) for _ in range(2))


def _grouped(rng: Random, alphabet: str, size: int, count: int) -> str:
    return " ".join(_of(rng, alphabet, size, size) for _ in range(count))


def _backup(rng: Random) -> str:
    """One of the codes that are given out for the day the telephone is lost."""
    form = rng.randrange(5)
    if form == 0:
        return f"{_digits(rng, 4, 4)} {_digits(rng, 4, 4)}"
    if form == 1:
        return _digits(rng, 8, 8)
    if form == 2:
        return f"{_of(rng, string.ascii_lowercase + string.digits, 5, 5)}-{_of(rng, string.ascii_lowercase + string.digits, 5, 5)}"
    if form == 3:
        return f"{_of(rng, string.ascii_uppercase + string.digits, 4, 4)}-{_of(rng, string.ascii_uppercase + string.digits, 4, 4)}"
    return _of(rng, string.ascii_lowercase + string.digits, 8, 12)


_HANZI_TEXT = (
    "青山不老绿水长流 三只狐狸过河去 半夜下雨要收伞 老槐树下第二块砖 白云深处有人家 蓝色铁盒装星星 冬至吃汤圆不吃饺子 骑牛看戏到天亮 石榴裙边数蚂蚁 海边的灯塔不睡觉 二姨家的橘猫很胖 "
    "七弦琴上落桃花 东坡先生爱竹笋 小火车开往北方 纸船载着月光走 胡同口卖糖人的老头 左手画圆右手画方 明月何时照我还 一碗热干面加辣 风筝断线挂电线杆"
)
_HANZI = _HANZI_TEXT.split()
"""Phrases that somebody chose; cut anew for each use."""
_NOTICES_TEXT = (
    "忘记密码 密码错误 修改密码 用户名或密码错误 密码不能为空 请输入密码 重置密码 密码强度太弱 两次密码不一致 登录已过期 令牌无效 请输入验证码 记住密码 显示密码 密钥管理 安全中心 "
    "账号与安全 新建密钥 访问令牌 复制密钥 密码已过期 找回密码 设置支付密码 权限不足 芝麻开门 天王盖地虎 恭喜发财 新年快乐 春天的故事 你好世界 隐私政策 个人设置 立即登录 下一步 确认修改 "
    "个人中心"
)
_NOTICES = _NOTICES_TEXT.split()
"""What is quoted beside the words for passwords and is none: titles, buttons, messages."""


def _hanzi(rng: Random) -> str:
    """A phrase in Chinese characters: part of one, or of two."""
    a, b = rng.choice(_HANZI), rng.choice(_HANZI)
    if rng.random() < 0.5:
        return a[: rng.randint(4, len(a))]
    return a[: rng.randint(2, 5)] + b[-rng.randint(2, 5) :]


_COMMON = (
    "password123 Password1 Passwort123 12345678 123456 1234567890 qwerty qwerty123 abc123 letmein iloveyou admin123 "
    "welcome1 P@ssw0rd P@ssword1 passw0rd 111111 000000 motdepasse1 azerty contraseña1 senha123 password1! Summer2024 "
    "hunter2 test1234 qwertz parola123 haslo123 hallo123 1q2w3e4r asdf1234 11111111 Qwerty1! heslo123 sifre123 1234 0000"
)


def _weak(rng: Random) -> str:
    """What everybody chooses: a password where it is told as one, an example where rules are explained."""
    if rng.random() < 0.5:
        return rng.choice(_COMMON.split())
    return _case(rng, rng.choice(WORDS)) + rng.choice(("1", "12", "123", "1234", "01", str(rng.randint(1990, 2027))))


def _nick(rng: Random) -> str:
    """What is told in small talk: words in small letters, run together, often with a number."""
    word = rng.choice(WORDS) + rng.choice((*WORDS, "", "lol", "king", "boi", "xd", "pro", "_", "."))
    if rng.random() < 0.1:
        return f"xX{word.strip('_.')}Xx"
    if rng.random() < 0.15:
        return word.strip("_.") + rng.choice("_-") + rng.choice(WORDS)
    return word.strip("_.") + rng.choice(("", "", _digits(rng, 1, 4), "420", "69", "!"))


def _fake(rng: Random) -> str:
    """What programmers write in tests."""
    joint = rng.choice("-_-_.")
    parts = rng.sample(
        ["test", "secret", "token", "user", "password", "key", "abc", "foo", "bar", "old", "new", "valid"],
        k=rng.randint(2, 3),
    )
    return joint.join([*parts, *rng.choice(((), ("1",), ("123",), ("42",)))])


def _resource(rng: Random) -> str:
    """The name of an object that holds a secret."""
    parts = [
        *rng.sample(WORDS[:40], k=rng.randint(1, 2)),
        *rng.sample(
            ["db", "api", "app", "prod", "staging", "svc", "mysql", "redis", "partner", "ci"], k=rng.randint(0, 2)
        ),
    ]
    parts.append(
        rng.choice(("credentials", "secret", "secrets", "token", "password", "auth", "creds", "key", "keys", "tls"))
    )
    return "-".join([*parts, *rng.choice(((), (), ("v2",), ("v1",), ("2024",), ("eu1",)))])


def _once(rng: Random) -> str:
    """A code that is sent to a telephone and used once."""
    form = rng.randrange(10)
    if form < 6:
        return _digits(rng, *rng.choice(((6, 6), (6, 6), (4, 4), (5, 5), (8, 8), (7, 7))))
    if form < 8:
        return rng.choice("- ").join((_digits(rng, 3, 3), _digits(rng, 3, 3)))
    if form == 8:
        return f"{rng.choice('GFBTM')}-{_digits(rng, 5, 6)}"
    return _of(rng, string.ascii_uppercase + string.digits, 6, 6)


def _compound(rng: Random) -> str:
    """Words joined by signs, which programs name things by as well."""
    words = rng.sample(WORDS, rng.choice((2, 3, 3, 4)))
    if rng.random() < 0.5:
        words[-1] = words[0]
    words = [word.capitalize() for word in words] if rng.random() < 0.2 else words
    joint = rng.choice("--_.")
    return joint.join([*words, *rng.choice(((), (), (_digits(rng, 1, 3),)))])


Slot = Callable[[Random], str]
SECRET: dict[str, Slot] = {
    "spoken": everyday_values.spoken,
    "person": everyday_values.person,
    "sent": everyday_values.sentence,
    "mixs": everyday_values.of_two_scripts,
    "memo": everyday_values.name,
    "twos": everyday_values.plain,
    "keyed": everyday_values.keyed,
    "eqw": everyday_values.joined,
    "g44": everyday_values.grouped,
    "v": _value,
    "v2": password,
    "k": key,
    "k2": key,
    "b64s": b64,
    "hanzis": _hanzi,
    "joined": lambda r: "".join(r.sample(WORDS, r.choice((2, 3, 3, 4)))),
    "drawn": lambda r: _of(r, string.ascii_letters + string.digits, 8, 13),
    "phrase": lambda r: f"{r.choice(WORDS)} {r.choice(WORDS).capitalize()} {_digits(r, 1, 4)}{r.choice(WORDS)[:2]}",
    "words": lambda r: " ".join(r.sample(WORDS, r.choice((3, 3, 4, 5)))),
    "pin": lambda r: _digits(r, *r.choice(((4, 4), (4, 4), (6, 6), (5, 8)))),
    "pin2": lambda r: _digits(r, *r.choice(((4, 4), (6, 6)))),
    "cvv": lambda r: _digits(r, 3, 3),
    "combo": _combination,
    "code": _code,
    "totp": lambda r: _of(r, string.ascii_uppercase + "234567", 16, 32),
    "num20": lambda r: _digits(r, 16, 24),
    "seed": lambda r: _grouped(
        r, r.choice((string.ascii_uppercase, string.ascii_lowercase)) + "234567", 4, r.choice((4, 4, 6, 8))
    ),
    "app": lambda r: _grouped(r, string.ascii_lowercase, 4, 4),
    "hexs": lambda r: _of(r, "0123456789abcdef", 32, 32) if r.random() < 0.7 else _of(r, "0123456789abcdef", 40, 64),
    "bk": lambda r: _backup(r),
    "apt2": lambda r: _digits(r, 1, 3) + r.choice(("A", "B", "C", "К", "#", "*", "A", "B")) + _digits(r, 1, 4),
    "puk": lambda r: _digits(r, 8, 8),
    "pw4": lambda r: _of(r, string.ascii_lowercase + string.digits, 4, 4),
    "door": lambda r: _digits(r, 3, 6) + r.choice(("", "", "", "#", "*")),
    "weaks": lambda r: _weak(r),
    "nick": lambda r: _nick(r),
    "once": _once,
    "cpds": _compound,
    "uuids": uuid,
    "eqs": lambda r: f"{_case(r, r.choice(WORDS))}{r.choice('==/:+')}{_case(r, r.choice(WORDS))}{_digits(r, 0, 2)}",
    "hex0x": lambda r: "0x" + _of(r, "0123456789abcdef", 64, 64),
    "apt": lambda r: _digits(r, 2, 4) + r.choice("ABCDE") + _digits(r, 0, 2),
    "lic": lambda r: "-".join(_of(r, string.ascii_uppercase + string.digits, 5, 5) for _ in range(r.choice((3, 4, 5)))),
}
OTHER: dict[str, Slot] = {
    "ospoken": everyday_values.spoken,
    "operson": everyday_values.person,
    "osent": everyday_values.sentence,
    "omemo": everyday_values.name,
    "otwos": everyday_values.plain,
    "og44": everyday_values.grouped,
    "day": everyday_values.day,
    "hz": _hanzi,
    "notice": lambda r: r.choice(_NOTICES),
    "sub": lambda r: (
        "/".join(r.choice(_PARTS) for _ in range(r.choice((1, 1, 2, 3))))
        + "/"
        + r.choice((_identifier(r), r.choice(WORDS).capitalize() + r.choice(("Store2", "V2", "Service", "3"))))
        + r.choice(("", "", ".ts", ".py", f"-{_digits(r, 3, 5)}", f"#{_digits(r, 1, 4)}"))
    ),
    "composed": lambda r: (
        "#".join(
            (
                r.choice(("tenant", "order", "user", "item")),
                r.choice((r.choice(WORDS), _digits(r, 2, 6), f"2026-{_digits(r, 2, 2)}-{_digits(r, 2, 2)}")),
            )
        )
        + r.choice(("", f"#{_digits(r, 3, 6)}"))
    ),
    "os": lambda r: (
        r.choice(("iOS", "Android", "macOS", "Win", "Ubuntu", "Chrome", "Firefox", "iPad", "Pixel", "Safari"))
        + str(r.randint(7, 140))
    ),
    "weak": lambda r: _weak(r),
    "fake": lambda r: _fake(r),
    "res": lambda r: _resource(r),
    "fpg": lambda r: _grouped(r, "0123456789ABCDEF", 4, r.choice((4, 10, 10))),
    "tok": lambda r: str(r.randint(100, 250_000)),
    "longgroups": lambda r: " ".join(_digits(r, 4, 4) for _ in range(r.choice((6, 7, 11, 11, 12)))),
    "isbn": lambda r: r.choice(
        (
            "978-" + "-".join((_digits(r, 1, 1), _digits(r, 3, 4), _digits(r, 4, 5), _digits(r, 1, 1))),
            "978" + _digits(r, 10, 10),
        )
    ),
    "imei": lambda r: r.choice(("35", "86")) + _digits(r, 13, 13),
    "last4": lambda r: r.choice(("**** ", "•••• ", "…", "", "x")) + _digits(r, 4, 4),
    "hexother": lambda r: (
        _of(r, "0123456789abcdef", 32, 32) if r.random() < 0.5 else _of(r, "0123456789abcdef", 40, 64)
    ),
    "n": lambda r: str(r.randint(1, 40)),
    "n2": lambda r: str(r.randint(10, 99)),
    "n3": lambda r: str(r.randint(100, 999)),
    "n4": lambda r: str(r.randint(1000, 99999)) if r.random() < 0.7 else f"{r.randint(1, 400)},{r.randint(0, 999):03}",
    "n5": lambda r: _digits(r, 5, 5),
    "n8": lambda r: _digits(r, 8, 8),
    "n9": lambda r: _digits(r, 9, 10),
    "n12": lambda r: _digits(r, 12, 12),
    "n20": lambda r: _digits(r, 20, 20),
    "ver": lambda r: (
        r.choice(("", "v"))
        + ".".join(str(r.randint(0, 30)) for _ in range(r.choice((2, 3, 3))))
        + r.choice(("", "", "-rc2", "-beta.1", "+build7"))
    ),
    "ver2": lambda r: f"0.{r.randint(1, 99)}",
    "date": _date,
    "time": lambda r: f"{r.randint(0, 23):02}:{r.randint(0, 59):02}" + r.choice(("", f":{r.randint(0, 59):02}")),
    "exp": lambda r: f"{r.randint(1, 12):02}/{r.randint(25, 33)}",
    "sha1": lambda r: _of(r, "0123456789abcdef", 40, 40),
    "sha7": lambda r: _of(r, "0123456789abcdef", 7, 10),
    "md5": lambda r: _of(r, "0123456789abcdef", 32, 32),
    "sha256": lambda r: _of(r, "0123456789abcdef", 64, 64),
    "sri": lambda r: "sha512-" + base64.b64encode(r.randbytes(64)).decode(),
    "b64hash": lambda r: base64.b64encode(r.randbytes(r.choice((32, 64)))).decode(),
    "b64short": lambda r: base64.b64encode(r.choice(WORDS).encode()).decode(),
    "uuid": uuid,
    "bcrypt": lambda r: "$2b$12$" + _of(r, string.ascii_letters + string.digits + "./", 53, 53),
    "fp": lambda r: "SHA256:" + base64.b64encode(r.randbytes(32)).decode().rstrip("="),
    "pub": lambda r: (
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{base64.b64encode(r.randbytes(33)).decode()} {r.choice(WORDS)}@desk"
    ),
    "pubk": lambda r: f"AAAAC3NzaC1lZDI1NTE5{base64.b64encode(r.randbytes(33)).decode()}",
    "otp": lambda r: _digits(r, *r.choice(((6, 6), (4, 4), (6, 8)))),
    "order": lambda r: r.choice(
        (
            _digits(r, 8, 15),
            f"{_digits(r, 3, 3)}-{_digits(r, 7, 7)}-{_digits(r, 7, 7)}",
            f"INV-{_digits(r, 4, 4)}-{_digits(r, 4, 6)}",
            f"2026-{_digits(r, 5, 5)}",
            f"SO{_digits(r, 6, 9)}",
        )
    ),
    "track": lambda r: r.choice(("1Z", "SF", "YT", "RB", "JD")) + _of(r, string.digits + "ABEFX", 11, 16),
    "promo": lambda r: r.choice(WORDS).upper() + _digits(r, 2, 2),
    "pnr": lambda r: _of(r, string.ascii_uppercase + string.digits, 6, 6),
    "flight": lambda r: r.choice(("CA", "LH", "BA", "MU", "AF")) + _digits(r, 3, 4),
    "room": lambda r: r.choice("ABCDEFG") + _digits(r, 1, 3),
    "quarter": lambda r: r.choice(("Q1", "Q2", "Q3", "Q4", "H1", "FY26")),
    "phone": lambda r: r.choice(
        (
            f"1{r.randint(30, 99)}{_digits(r, 8, 8)}",
            f"+44 20 {_digits(r, 4, 4)} {_digits(r, 4, 4)}",
            f"(555) {_digits(r, 3, 3)}-{_digits(r, 4, 4)}",
            f"021-{_digits(r, 8, 8)}",
            f"0{r.randint(30, 99)} {_digits(r, 6, 8)}",
        )
    ),
    "ip": lambda r: ".".join(str(r.randint(1, 254)) for _ in range(4)),
    "mac": lambda r: ":".join(_of(r, "0123456789abcdef", 2, 2) for _ in range(6)),
    "port": lambda r: str(r.choice((22, 80, 443, 3306, 5432, 6379, 8080, 8443, 27017, 22022))),
    "host": lambda r: (
        f"{r.choice(WORDS)}{r.choice(('-1', '', '2'))}.{r.choice(WORDS)}.{r.choice(('example', 'internal', 'com', 'cn', 'io'))}"
    ),
    "url": lambda r: f"https://{r.choice(WORDS)}.example/{r.choice(WORDS)}/{_digits(r, 1, 5)}",
    "mail": lambda r: f"{r.choice(WORDS)}.{r.choice(WORDS)}@{r.choice(WORDS)}.example",
    "user": lambda r: r.choice(
        (
            r.choice(WORDS),
            f"{r.choice(WORDS)}{_digits(r, 1, 3)}",
            f"{r.choice(WORDS)}.{r.choice(WORDS)}",
            "admin",
            "root",
            "ops",
            "svc_app",
            "deploy-bot",
            f"{r.choice(WORDS)}@{r.choice(WORDS)}.example",
        )
    ),
    "ssid": lambda r: r.choice(
        (
            r.choice(WORDS).capitalize(),
            f"{r.choice(WORDS).capitalize()}-Guest",
            f"{r.choice(WORDS)}_5G",
            f"{r.choice(WORDS).capitalize()}_{r.choice(('5G', '2G', 'EG', 'OG1'))}_{r.choice(('Guest', 'Office', 'Home'))}",
            f"TP-LINK_{_of(r, '0123456789ABCDEF', 4, 4)}",
            f"{r.choice(WORDS).capitalize()}{_digits(r, 1, 2)}",
            f"{r.choice(WORDS).capitalize()}{r.choice(WORDS).capitalize()}{r.choice(('_', '-', ''))}{_digits(r, 1, 2)}",
        )
    ),
    "path": lambda r: (
        r.choice(("/etc/", "/run/secrets/", "~/.config/", "./conf/", "src/", "C:\\conf\\"))
        + r.choice(WORDS)
        + r.choice(("", ".yaml", ".env", "/token.txt", ".py"))
    ),
    "file": lambda r: (
        r.choice(WORDS) + r.choice((".env", ".yaml", ".json", ".py", ".toml", ".zip", ".tar.gz", ".pdf", ".sql", ".md"))
    ),
    "ident": _identifier,
    "env": lambda r: _name(r, _SECRET_NAMES),
    "unit": lambda r: r.choice(
        (
            "128k",
            "30s",
            "15 min",
            "2h",
            "5%",
            "10%",
            "86ms",
            "256-bit",
            "16-character",
            "12px",
            "90 days",
            "3.1 s",
            "2048-bit",
            "20 GB",
            "4x",
            "1.5h",
        )
    ),
    "money": lambda r: r.choice(("$", "€", "£", "¥", "")) + str(r.randint(1, 900)) + r.choice(("", ".50", ".99")),
    "color": lambda r: "#" + _of(r, "0123456789abcdef", 6, 6),
    "model": lambda r: r.choice(_MODELS),
    "term": lambda r: r.choice(_TERMS),
    "header": lambda r: r.choice(("X-Api-Key", "Authorization", "X-Auth-Token", "Proxy-Authorization")),
    "sign": lambda r: r.choice("!@#$%") + r.choice("!@#$%"),
    "word": lambda r: r.choice(WORDS),
    "hanzi": lambda r: "".join(r.sample("天王盖地虎宝塔镇河妖新年快乐恭喜发财芝麻开门平安健康", 5)),
    "id": lambda r: r.choice(
        (
            _of(r, "0123456789abcdef", 16, 24),
            _of(r, string.ascii_letters + string.digits, 10, 20),
            "wx" + _of(r, "0123456789abcdef", 16, 16),
            r.choice(("cus_", "ch_", "usr_", "ord_", "req_")) + _of(r, string.ascii_letters + string.digits, 12, 24),
            _of(r, string.ascii_uppercase + string.digits, 10, 16),
        )
    ),
    "argon": lambda r: (
        f"$argon2id$v=19$m=65536,t={r.randint(1, 4)},p={r.randint(1, 8)}${_of(r, string.ascii_letters, 11, 22)}${_of(r, string.ascii_letters + string.digits, 43, 43)}"
    ),
    "zoom": lambda r: f"{_digits(r, 3, 3)} {_digits(r, 4, 4)} {_digits(r, 4, 4)}",
    "agepub": lambda r: "age1" + _of(r, "023456789acdefghjklmnpqrstuvwxyz", 58, 58),
    "n15": lambda r: _digits(r, 15, 15),
    "hex40": lambda r: "0x" + _of(r, "0123456789abcdef", 40, 40),
    "hex64": lambda r: "0x" + _of(r, "0123456789abcdef", 64, 64),
    "sortcode": lambda r: "-".join(_digits(r, 2, 2) for _ in range(3)),
    "plate": lambda r: r.choice("京沪浙粤") + r.choice("ABCDE") + _of(r, string.digits + "ABCDEFG", 5, 5),
    "jira": lambda r: r.choice(("AUTH", "OPS", "DEV", "SEC")) + "-" + _digits(r, 2, 4),
    "year": lambda r: str(r.randint(1984, 2027)),
    "code2": lambda r: f"{r.randint(1, 9)}-{r.randint(1, 9)}-{_digits(r, 4, 4)}",
    "ph": lambda r: r.choice(_PLACEHOLDERS),
    "N": lambda r: _name(r, _SECRET_NAMES),
    "I": lambda r: _name(r, _OTHER_NAMES),
    "J": lambda r: _member(r, _SECRET_NAMES),
    "Q": lambda r: _member(r, [*_OTHER_NAMES, "ID", "DIGEST", "ETAG", "COMMIT", "HASH", "CHECKSUM"]),
}


def thing(rng: Random, lang: str) -> str:
    """What has a password, in the language."""
    named = THINGS.get({"mixed": ""}.get(lang, lang), THINGS[""])
    return rng.choice((named if rng.random() < 0.75 else THINGS[""]).split("|"))


NOUNS = {
    "S": "secret",
    "P": "pin",
    "C": "code",
    "L": "lock",
    "D": "card",
    "F": "fake",
    "X": "factor",
    "K": "not",
    "O": "otp",
    "U": "once",
    "H": "id",
}
"""Slots that take a word of a class of `app.policy.signs`, in the language of the sentence."""


def noun(rng: Random, kind: str, lang: str) -> str:
    """A word of the language for a secret, a PIN, or another class."""
    of = SIGNS[kind]
    lang = "en" if lang not in of or (lang == "mixed") else lang
    some = [w for w in of[lang] if w not in _NO_NOUNS]
    word = rng.choice(some[:8] if rng.random() < 0.5 else some)
    return word.capitalize() if rng.random() < 0.12 else word


_NO_NOUNS = frozenset(
    [
        "log in",
        "sign in with",
        "log in with",
        "ak",
        "sk",
        "dsn",
        "auth",
        "bearer",
        "basic",
        "authorization",
        "cookie",
        "sess",
        "session",
        "sid",
        "jwt",
        "csrf",
        "xsrf",
        "sig",
        "signature",
        "pgpassword",
        "requirepass",
        "masterauth",
        "unlock",
        "login",
        "creds",
        "credentials",
        "the safe word",
        "the safe words",
        "a safe word",
        "security question",
        "security questions",
        "secret question",
        "secret questions",
        "密保问题",
        "sicherheitsfrage",
        "sicherheitsfragen",
        "question secrète",
        "question de sécurité",
        "pregunta secreta",
        "pregunta de seguridad",
        "秘密の質問",
        "连接串",
        "种子",
        "密文",
    ]
)
