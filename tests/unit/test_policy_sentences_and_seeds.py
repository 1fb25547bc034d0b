"""Passphrases that are called a sentence or have words of two scripts, seeds of one-time codes, tokens of webhooks."""

from types import ModuleType

import pytest

from app.policy.detectors import DETECTORS, passphrases, said_sentences, totp_seeds, webhooks
from app.policy.linear_patterns import any_of
from app.policy.policy import Policy

DEFAULT = Policy.of({}, {})
SEED = "K5QXE3DPMN2GKZLM"
HEX_SEED = "5fa1c09e7b3d2846a1b0c9d8e7f60512843b9cde"
PART = "t7wq2mz9xk4vb8hn3rj6pd5s"
FOUND = {
    "sentences": [
        ("备份盘的密码是一句诗：落霞与孤鹜齐飞，别写错", "落霞与孤鹜齐飞"),
        ("密码就是这句话：小狗喜欢在雨里追火车", "小狗喜欢在雨里追火车"),
        ("保险柜的暗号是这几个字：竹杖芒鞋轻胜马。", "竹杖芒鞋轻胜马"),
        ("口令短语：青蛙骑着单车去上班", "青蛙骑着单车去上班"),
        ("接头的密语是「雪人不肯戴帽子」", "雪人不肯戴帽子"),
        ("NAS 的 passphrase 是一句中文：月亮掉进了豆浆碗里", "月亮掉进了豆浆碗里"),
        ("密碼是一句話：貓咪每天凌晨都要開會", "貓咪每天凌晨都要開會"),
        ("硬盘的口令改成了一句歌词（不带标点）：海鸥从来不吃辣椒酱", "海鸥从来不吃辣椒酱"),
        ("用「老虎下山只吃素」这句话当密码", "老虎下山只吃素"),
        ("这句话就是解压口令：海鸥从来不吃辣椒酱", "海鸥从来不吃辣椒酱"),
        ("“海鸥从来不吃辣椒酱”这句话就是解压口令", "海鸥从来不吃辣椒酱"),
        ("口令是两句诗：竹外桃花三两枝，春江水暖鸭先知。", "竹外桃花三两枝，春江水暖鸭先知"),
        ("密码是一句话，没有标点：我家的robot会唱京剧", "我家的robot会唱京剧"),
        ("密码就这六个字：豆腐脑要甜的", "豆腐脑要甜的"),
        ("门禁口令其实是一首诗的第一句：松下问童子", "松下问童子"),
        ("主密码设成了一整句话: 外婆的收音机会打喷嚏", "外婆的收音机会打喷嚏"),
    ],
    "words": [
        (
            "The password is a sentence: the owl on my roof plays cards at noon.",
            "the owl on my roof plays cards at noon",
        ),
        (
            "The archive password is one line of a poem: all the trains slept under paper snow, no capitals.",
            "all the trains",
        ),
        ("the vault's passphrase is this sentence: “A heron reads our mail”", "A heron reads our mail"),
        (
            "Bitwarden 的 master password 改成了 yellow kettle hums 到半夜 softly，别存",
            "yellow kettle hums 到半夜 softly",
        ),
        ("passphrase 换成了 blue 鲸鱼 eats 火锅 nightly", "blue 鲸鱼 eats 火锅 nightly"),
        ("主密码 设为 blue whale 在厨房 dances", "blue whale 在厨房 dances"),
        ("主密码改成了 blue whale dances loudly", "blue whale dances loudly"),
        ("master password: blue 鲸鱼 dances 天天", "blue 鲸鱼 dances 天天"),
        ("密码改成 blue whale 在厨房 dances，记住", "blue whale 在厨房 dances"),
        ("The passphrase is blue ウサギ jumps 毎日", "blue ウサギ jumps 毎日"),
        ("passphrase 設成了 green 茶壺 sings 夜曲 twice", "green 茶壺 sings 夜曲 twice"),
        ("口令：鲸鱼 paints 小船 with butter", "鲸鱼 paints 小船 with butter"),
        ("Passphrase was changed to yellow kettle hums again.", "yellow kettle hums again"),
        ("Master password is now yellow kettle hums again", "yellow kettle hums again"),
        ("the passphrase has been reset to seven otters juggle lemons", "seven otters juggle lemons"),
    ],
    "seeds": [
        (f"run oathtool --totp -b {SEED} for the code", SEED),
        (f"oathtool --base32 --totp '{SEED[:4]} {SEED[4:8]} {SEED[8:12]} {SEED[12:]}'", SEED[:4]),
        (f"oathtool --totp=sha256 -d 8 -s 60s {HEX_SEED}", HEX_SEED),
        (f'oathtool -v --totp -N "2031-02-03 04:05:06 UTC" {HEX_SEED}', HEX_SEED),
        (f"用 `oathtool -b --totp {SEED.lower()}` 就能生成动态码", SEED.lower()),
        (f"oathtool -b --totp \\\n  {SEED}", SEED),
        (f"echo {SEED} | mintotp", SEED),
        (f"printf '%s' \"{SEED}\" | oathtool --totp -b -", SEED),
        (f"mintotp <<< {SEED}", SEED),
        ('pass otp insert mail <<< "otpauth://totp/Mail:ada?secret=KVQXEWDPMNSGKZLM&issuer=Mail"', "KVQXEWDPMNSGKZLM"),
        ("扫不了就手填 otpauth://totp/ada?issuer=Mail&secret=KVQXEWDPMNSGKZLM", "KVQXEWDPMNSGKZLM"),
        (f"ykman oath accounts add -t github {SEED}", SEED),
        (f"totp-cli add work github {SEED}", SEED),
        (f"otp-cli generate --key {SEED}", SEED),
        (f'print(pyotp.TOTP("{SEED}").now())', SEED),
        (f"const code = authenticator.generate('{SEED}')", SEED),
        (f"speakeasy.totp({{ secret: '{SEED}', encoding: 'base32' }})", SEED),
        (f"Put {SEED} into the authenticator app", SEED),
    ],
    "webhooks": [
        (f"webhook: https://alerts.birch.example/in/{PART}", PART),
        (f"webhook_configs:\n  - url: https://alerts.birch.example/in/{PART}\n    send_resolved: true", PART),
        (f"webhooks:\n  ops:\n    url: https://alerts.birch.example/a/{PART}", PART),
        (f"https://chat.birch.example/hooks/{PART}", PART),
        (f"https://hook.eu1.birch.example/{PART}", PART),
        ("https://ci.birch.example/webhook/Zk3vR9tLq2XwB7nM4cHs8P", "Zk3vR9tLq2XwB7nM4cHs8P"),
        ("POST to https://ci.birch.example/webhooks/build/Zk3v-R9tLq2XwB7nM4c_Hs8P now", "Zk3v-R9tLq2XwB7nM4c_Hs8P"),
        (f"ALERT_WEBHOOK_URL=https://alerts.birch.example/a/{PART}", PART),
        (f'{{"webhookUrl": "https://alerts.birch.example/a/{PART}?v=1"}}', PART),
        (f"群机器人的 webhook 地址：https://bot.birch.example/send/{PART}，别外传", PART),
        (f"钩子地址是 https://bot.birch.example/send/{PART}", PART),
        (f"https://hooks.birch.example/incoming/{'9f2c41d07be85a63' * 2}", "9f2c41d07be85a63"),
        (f"curl -d @x.json https://git.birch.example/incoming/{PART}/push", PART),
    ],
}
STAYS = {
    "sentences": [
        "密码是多少？",
        "密码是产品经理定的，一句话就能说清。",
        "密码提示是一句话：你小时候住过的地方",
        "密码的要求就是一句话：不要写在纸上",
        "关于密码我只有一句话：别用生日",
        "我对口令的看法是一句话：越长越好记",
        "密码策略是一句话：至少十二个字符",
        "口令红包是一句话：恭喜发财大吉大利",
        "密码错误时弹出的是一句话：请重新输入密码",
        "密码框下面写的是这几个字：忘记了点这里",
        "童话里的口令是一句话：芝麻开门",
        "小说里的暗号是一句诗：床前明月光",
        "口令短语：至少四个词，越怪越好",
        "密码短语：由管理员统一生成",
        "密码是一句诗，好记。",
        "密码安全是一句老话：防人之心不可无",
        "密码本上写着一句话：祝你生日快乐呀",
        "他问我密码，我回了一句话：自己去找找看",
        "密码可以是一句话：这样比较容易记住",
        "密码最好是一句话：又长又好记",
        "密码不是一句话：它是随机生成的",
    ],
    "words": [
        "The password is a sentence: long, odd and easy to type.",
        "A good passphrase is a sentence: nobody guesses five random words.",
        "The password hint is a line of a poem: the one that you learnt at school",
        "The passphrase is a phrase: see the vault for it.",
        "passphrase 改成了 hardware key 解锁 plus PIN",
        "master password 是 Alice 设的，问她",
        "主密码 设为 required 之后 users 都要 重设",
        "master password 改成了 SSO 登录，不再需要",
        "密码改成 bcrypt 加密 之后 login 变慢了",
        "密码：请用 four words 以上 的组合",
        "passphrase 是 optional 的 字段 in the form",
        "master password 换成了 one time 的 token",
        "密码是 the same 跟以前 一样",
        "主密码换成了 passkey",
        "The passphrase was changed to something that nobody remembers.",
        "The passphrase has been changed to expire every ninety days",
        "master password reset to defaults after firmware update",
        "The master password is now stored in the vault.",
        "The master password is now managed by the security team",
        "口令：见 the wiki page 上的 说明",
        "passphrase 换成 longer one please 谢谢 team",
        "passphrase：click the gear 打开 then scan 二维码",
        "密码 改为 random string 生成 and stored",
    ],
    "seeds": [
        "oathtool --totp -b $SEED",
        'oathtool --totp -b "$(pass show mail/seed)"',
        "oathtool --totp -b - < seed.txt",
        "oathtool --totp --base32 @seed.txt",
        "oathtool 2.6.11 from oath-toolkit-2.6.11.tar.gz",
        f"oathtool sha1 {HEX_SEED}",
        "apt install oathtool libpam-google-authenticator",
        "oathtool --totp -b JBSWY3DPEHPK3PXP",
        'pyotp.TOTP("JBSWY3DPEHPK3PXP").now()',
        "mintotp computes time-based one-time passwords",
        "totp-cli add work github",
        "the authenticator ABSTRACTAUTHENTICATORFACTORY is a class",
        "new TOTP(process.env.TOTP_SEED_OF_THE_ROBOT)",
        "otpauth://totp/ada?issuer=Mail&secret={secret}",
        'alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"  # of totp',
        "oathtool --totp -b ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        f"totp 0.0.1 {HEX_SEED}",
        f"git log of oathtool, commit {HEX_SEED}",
    ],
    "webhooks": [
        "webhook: https://github.com/birch/app/commit/5fa1c09e7b3d2846a1b0c9d8e7f60512843b9cde",
        "The webhook guide is at https://docs.birch.example/guides/how-to-verify-webhook-signatures-2031",
        "GET https://api.birch.example/v1/webhooks/3f2a9c1e-7b4d-4e6a-9c8b-1d2e3f4a5b6c",
        "GET https://api.birch.example/v1/webhooks/64f1c0e2a9b3d4e5f6071829/deliveries",
        "webhook design: https://docs.google.com/document/d/1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX3yZ4/edit",
        "the webhook failed, see https://ci.birch.example/runs/a1b2c3d4e5f6g7h8i9j0k1l2/log",
        "webhook: https://hooks.birch.example/services/<your-token-goes-here-1234>",
        "webhook: https://hooks.birch.example/incoming/${HOOK_TOKEN_OF_THE_TEAM_1}",
        "https://hooks.birch.example/incoming/your-webhook-token-here-123",
        "pre-commit hooks: https://git.birch.example/tools/pre-commit-hooks-v4-5-0-2031",
        "webhook image: https://reg.birch.example/v2/hook/blobs/5fa1c09e7b3d2846a1b0c9d8e7f60512843b9cde5fa1c09e7b3d2846",
        f"https://files.birch.example/share/{PART}",
        f"the webhook is off\nand so is the mirror\nhttps://files.birch.example/a/{PART}",
        "webhook: https://api.birch.example/v1/webhook_endpoints/we_1MtjSzLkdIwHu7ixupvv5Tpe",
        "The webhook posts to https://api.birch.example/v2/projects/payments/events/subscription-updated-2031",
        "https://hooks.birch.example/k8s-prod-eu1-web2-node3-x86/status",
        "webhook: https://ci.birch.example/generic-webhook-trigger/invoke",
        "import { useLongNamedHook2 } from 'https://esm.birch.example/react-hooks-collection-v18-2-0'",
    ],
}


@pytest.mark.parametrize(("text", "value"), [pair for pairs in FOUND.values() for pair in pairs])
def test_what_is_told_is_masked(text: str, value: str) -> None:
    hidden = DEFAULT.text(text)
    assert value not in hidden and "[secret removed]" in hidden


@pytest.mark.parametrize(("text", "value"), [*FOUND["sentences"], *FOUND["words"]])
def test_a_phrase_goes_as_a_whole_and_nothing_else_does(text: str, value: str) -> None:
    hidden = DEFAULT.text(text)
    assert hidden.count("[secret removed]") == 1
    before, _, behind = text.partition(value)
    assert hidden.startswith(before) and hidden[-1:] in (behind[-1:], "]", ".", "”")


@pytest.mark.parametrize("text", [text for texts in STAYS.values() for text in texts])
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert DEFAULT.text(text) == text


UNITS = [
    "密码是一句话：",
    "这句话是口令：小猫爱吃鱼",
    "“小猫爱吃鱼”这句话是口令",
    "password is a line: ",
    "passphrase 改成了 a 猫 b 狗 ",
    "oathtool -b -d ",
    f"echo {SEED} | mintotp ",
    "totp('",
    "otpauth://totp/?secret=",
    f"hook https://a.b/{PART}/",
    "https://hook.a/hook/",
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("detector", [said_sentences, passphrases, totp_seeds, webhooks])
def test_they_find_no_more_than_a_long_text_holds(unit: str, detector: ModuleType) -> None:
    found = list(detector.find(unit * 2_000))
    assert len({*found}) == len(found) <= 8_000


@pytest.mark.parametrize("text", [text for pairs in FOUND.values() for text, _ in pairs])
def test_a_text_that_breaks_off_anywhere_is_read(text: str) -> None:
    for end in range(1, len(text) + 1):
        for detector in DETECTORS:
            assert detector.signs is not None
            if any(detector.find(text[:end])):
                assert any_of(tuple(detector.signs())).is_in(text[:end]), (detector.name, end)
