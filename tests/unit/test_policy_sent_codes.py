"""Secrets that no word names, or that only their place tells: codes sent to a telephone, cookies, calls, tools."""

import pytest

from app.policy.detectors import client_calls, cookies
from app.policy.policy import Policy

DEFAULT = Policy.of({}, {})
DRAWN = "Vb6Nm1Kj8Hg4Vb6Nm1Kj8Hg4"
UUID = "6f1e2d3c-9a8b-4c7d-8e6f-5a4b3c2d1e0f"
HEX = "7c6d5e4f3a2b7c6d5e4f3a2b7c6d5e4f"


@pytest.mark.parametrize(
    "text",
    [
        "Your verification code is {}, do not share it.",
        "SMS says {} is the login code for the bank",
        "验证码 {}，5 分钟内有效",
        "登录要短信码，刚收到 {} ，快填",
        "Der Einmalcode lautet {}.",
        "El código de verificación es {}",
        "認証コードは{}です",
        "2FA code 是 {}，快 login",
    ],
)
@pytest.mark.parametrize("code", ["662914", "662-914"])
def test_a_code_that_was_sent_is_masked(text: str, code: str) -> None:
    assert code not in DEFAULT.text(text.format(code))


@pytest.mark.parametrize(
    "text",
    [
        "The verification code never came, I tried 3 times and waited 120 seconds.",
        "取件码 4-2-7718，两天内取",
        "验证码 60 秒后可以重发，错误码 40012",
        "coupon code HARVEST15, booking reference QX7MPL",
        "const OTP_LENGTH = 6;",
        "The dishwasher shows code 5012 and the door is shut.",
    ],
)
def test_what_is_said_of_codes_stays(text: str) -> None:
    assert DEFAULT.text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"my api key {UUID} for the weather box",
        f"vault write auth/approle/login role_id=1 secret_id={UUID}",
        f"snyk auth {UUID}",
        f"bash uploader.sh -t {UUID} -f coverage.xml",
        f"deploy --token {UUID}",
        f"http://weather.example/v1?q=Lyon&appid={HEX}&units=metric",
        f"https://pay.example/notify?mch=1&sign={HEX.upper()}",
        f"登录后的 cookie 是 JSESSIONID={DRAWN}，还能用",
        f"抓包看到的 Cookie 值：{DRAWN}",
        f"Set-Cookie: connect.sid={DRAWN}; Path=/",
        f'const mail = new Resend("{DRAWN}");',
        f'search = algoliasearch("A1B2C3D4E5", "{HEX}")',
        f"127.0.0.1:6379> AUTH {DRAWN}\nOK",
        f"sqlplus ledger/{DRAWN}@//db:1521/ORCL",
        f"key AKIAQRSTUV234567WXYZ with the other half {'Vb6/Nm1K' * 5}",
        f"-----BEGIN USER NKEY SEED-----\n{'SUAB' + 'KX7LYA' * 9}\n------END USER NKEY SEED------",
        f"部署用这个私钥：0x{HEX}{HEX}",
    ],
)
def test_what_its_place_tells_is_masked(text: str) -> None:
    masked = DEFAULT.text(text)
    assert "[secret removed]" in masked
    assert not any(value in masked for value in (UUID, HEX, HEX.upper(), DRAWN, "Vb6/Nm1K", "KX7LYA"))


@pytest.mark.parametrize(
    "text",
    [
        f"request {UUID} failed, the token had expired",
        f'"client_id": "{UUID}"',
        f"commit {HEX} removes the secret",
        "https://x.example/?appid=wx12ab34cd12ab34cd&state=9",
        "cookie: theme=dark; lang=en-GB; _ga=GA1.2.1834567890.1700000000",
        'api.get("7c6d5e4f3a2b7c6d5e4f3a2b7c6d5e4f7c6d5e4f")',
        'requests.get(url, auth=("user", "<password>"))',
        "redis> AUTH <password>\n(error) WRONGPASS",
        'sentry: "https://7c6d5e4f3a2b7c6d5e4f3a2b7c6d5e4f@o1234.ingest.sentry.io/5" for browsers',
        'Get-Credential -Message "Domain account"',
        "The CSC of the course is 101.",
    ],
)
def test_what_stands_at_such_a_place_and_is_none_stays(text: str) -> None:
    assert DEFAULT.text(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("curl -u 'ana:winter coat 88' https://files.example", "winter coat 88"),
        ('curl --user "ana:winter coat 88" https://files.example', "winter coat 88"),
        ('driver(url, auth=("graph", "yeast-barley-yeast"))', "yeast-barley-yeast"),
        ("server.login('ops@mail.example', 'Lark!Lark!7')", "Lark!Lark!7"),
        ("ansible_ssh_pass=Barley=Barley ansible_user=ops", "Barley=Barley"),
        ("[mail]\nlogin = ops\npasswd = barley_malt_barley\n", "barley_malt_barley"),
        ("解压密码：maiya-maiya-hua，别外传", "maiya-maiya-hua"),
    ],
)
def test_words_that_are_a_password_by_their_place_are_masked(text: str, value: str) -> None:
    assert value not in DEFAULT.text(text)


def test_repeated_words_of_a_wallet_in_a_chinese_sentence_are_masked() -> None:
    words = "barley copper barley copper lantern meadow lantern meadow silver pilot silver pilot"
    assert words not in DEFAULT.text(f"钱包的十二个词 {words} ，导进新手机")


def test_the_code_of_a_card_is_masked_whatever_it_is_called() -> None:
    for name in ("CID", "CSC", "security code", "Prüfziffer", "cryptogramme"):
        assert "4481" not in DEFAULT.text(f"Amex 3714 496353 98004, {name} 4481")


def test_calls_and_cookies_are_searched_in_linear_time() -> None:
    """What is read twice lies within bounds: many beginnings without an end find nothing."""
    assert list(client_calls.find('new Client("' * 20_000)) == []
    assert list(cookies.find("cookie session=" * 20_000)) == []
