"""Secrets that are told beside a user, a network or a command, and phrases, where nothing calls them a password."""

from types import ModuleType

import pytest

from app.policy.detectors import (
    DETECTORS,
    app_passwords,
    han_passwords,
    logins,
    passphrases,
    powershell,
    signing_in,
    wireless,
)
from app.policy.policy import Policy

DEFAULT = Policy.of({}, {})
FOUND = {
    "signing in": [
        ("Log in as kiosk with Ferret%Dune31 and check the printer.", "Ferret%Dune31"),
        ("the user signs in to https://desk.acme.example as nils with Harbor!Elk8; likes tea", "Harbor!Elk8"),
        ("You get in as auditor with Linden_Quarry9 until Friday.", "Linden_Quarry9"),
        ("ssh as deploy with fenrir.Oak.71", "fenrir.Oak.71"),
        ("Melde dich als gast mit Kiesel-Tor-12 an", "Kiesel-Tor-12"),
        ("Melde dich mit leitung und Hagel#Dach5 an.", "Hagel#Dach5"),
        ("On se connecte avec le compte stagiaire et Mistral!64", "Mistral!64"),
        ("Inicia sesión como invitado con Cactus_Luz19", "Cactus_Luz19"),
        ("Entre como suporte com Tucano!779", "Tucano!779"),
        ("Зайди под root с паролем Klyukva_29", "Klyukva_29"),
        ("系统登录：zhoumin，Zm#20251108", "Zm#20251108"),
        ("登录用 chenhui / qinghe_9931，用完退出", "qinghe_9931"),
        ("Credentials for staging: anton / velvetBrook82", "velvetBrook82"),
        ("1. Router: admin / Bluebell.88", "Bluebell.88"),
        ("Connexion : luc / Pétanque_1988", "Pétanque_1988"),
        ("アカウント: guest / Kujira!44", "Kujira!44"),
        ("管理画面は admin と Momo#Taro4 で入れます", "Momo#Taro4"),
        ("登录用 13800001111 / Mm112234!", "Mm112234!"),
        ("mail\n  info@hof.example\n  Heuboden!1986", "Heuboden!1986"),
        ("Camera: admin/Hawk2022eye", "Hawk2022eye"),
        ("登录用 huangfei，Hf#Beijing2", "Hf#Beijing2"),
        ("ssh 用 root 和 Guizhou_Maotai8 登录", "Guizhou_Maotai8"),
        ("Kira: admin on the old switch?\nBen: Tarmac-Viola-87", "Tarmac-Viola-87"),
        ("root on nas2 → orchid-Gneiss-18", "orchid-Gneiss-18"),
    ],
    "lists": [
        ("User: anna\nPass: Brunnen!Weg44", "Brunnen!Weg44"),
        ("FTP\n  Username - web\n  Password - l1ghtship-Bay", "l1ghtship-Bay"),
        ("用户 lisi\n密码 Lisi@0986", "Lisi@0986"),
        ("账号wangli密码Songhe@3319", "Songhe@3319"),
        ("这个接口的秘匙是f0e1d2c3b4a5968778695a4b3c2d1e0f", "f0e1d2c3b4a5968778695a4b3c2d1e0f"),
    ],
    "wireless": [
        ("the wifi is elm-river-lamp-7", "elm-river-lamp-7"),
        ("Guest network “Willow”, key paper-kite-sunday.", "paper-kite-sunday"),
        ("wifi up at the lake is RedOtter_pond31, the network is just Lake", "RedOtter_pond31"),
        ("the guest wifi at the shop uses kV8pelm4Zr as its password", "kV8pelm4Zr"),
        ("wi-fi “SeaBreeze”, otter-canvas-melon is the password", "otter-canvas-melon"),
        ("If you visit: the wifi's pear-tart-oven-2", "pear-tart-oven-2"),
        ("Das WLAN ist lampe-fluss-esche-9", "lampe-fluss-esche-9"),
        ("le wifi c'est poire-rivière-lampe-4", "poire-rivière-lampe-4"),
        ("无线是 xiaohe-liushui-66", "xiaohe-liushui-66"),
        ("вайфай: kot-pod-oknom-5", "kot-pod-oknom-5"),
    ],
    "phrases": [
        (
            "The vault opens with the phrase eight quiet badgers hum at dawn, spaces included.",
            "eight quiet badgers hum",
        ),
        ("My password manager opens with six wet kites on Pier 9.", "six wet kites on Pier 9"),
        ("The disk passphrase is four plain words: harbor violet engine moon.", "harbor violet engine moon"),
        ("My passphrase is six words, ribbon cactus hollow jam vapor thumb, no capitals.", "ribbon cactus hollow"),
        ("It asks for the disk passphrase. Mine is nine herons borrow a velvet ladder.", "nine herons borrow"),
        ("VPN 的 passphrase 是 green willow never counts its rain，用户名用工号", "green willow never counts"),
        ("The phrase for the alarm company is grey heron at midnight.", "grey heron at midnight"),
        ("Der Tresor öffnet mit blaue kuh am fenster.", "blaue kuh am fenster"),
        ("Кодовая фраза — рыжий пёс спит на рояле", "рыжий пёс спит на рояле"),
        ("My secret phrase is foggy pelican under ice; the doorman asks.", "foggy pelican under ice"),
        ("секретная фраза: семь котов на ёлке", "семь котов на ёлке"),
    ],
    "signs": [("云主机 203.0.113.77，root / Vk9)tGm2=wPq，先装个 nginx", "Vk9)tGm2=wPq")],
    "applications": [("corpid=ww52, corpsecret=_Q7n2qs0DLii-nmiJbn4qxmKEcDJ0Y5EIadRFxzXnT7", "Q7n2qs0DLii")],
    "stores": [
        ("llm = Client(key='sk-aqtdfybixbncntsyzpmwbmqlctfnkezritvtjybygklieuyq')", "aqtdfybixbncnts"),
        ("obsutil config -i=0WI8DYI0X48TJFU7B279 -k=q7rKanTBbBqhq5cNS8gnaIJF9a161Xxv8y0VY -e=obs.test", "q7rKanTB"),
        ("ossutil64 config -i LTAIuse1example00 -k 8sdf7Hhq2kLmnPq0vTz3YwXb5RcD1e -e oss.test", "8sdf7Hhq2k"),
    ],
    "programs": [
        ("Google app password for the scanner: xkqd wmlp zrtb hcvn", "xkqd wmlp zrtb hcvn"),
        ("Apple 的 app-specific password，填到 SMTP 那一栏：qvmd-hxtz-pwle-kanj", "qvmd-hxtz-pwle-kanj"),
    ],
    "windows": [
        ("$s = ConvertTo-SecureString 'Granite!Stoat88' -AsPlainText -Force", "Granite!Stoat88"),
        ('ConvertTo-SecureString -AsPlainText -Force -String "Yarrow#Dell61"', "Yarrow#Dell61"),
        ("'Basalt_Lynx!19' | ConvertTo-SecureString -AsPlainText -Force", "Basalt_Lynx!19"),
        ('[System.Net.NetworkCredential]::new("svc", "Plum&Plover27")', "Plum&Plover27"),
        (r"net use Z: \\files\share /user:CORP\maria quarrystone /persistent:yes", "quarrystone"),
        ('net use K: \\\\10.0.0.5\\k /user:backup "two words 98"', "two words 98"),
        ("net user helpdesk Garnet!Dale40 /add", "Garnet!Dale40"),
        (r"schtasks /create /tn x /tr c:\b.cmd /ru CORP\svc /rp Iris%Chert08", "Iris%Chert08"),
    ],
}
STAYS = [
    "Upgraded: libc6 1:2.38-3ubuntu1 -> 1:2.38-3ubuntu2, passwd 1:4.13+dfsg1-4ubuntu3.2",
    "ii  login  1:4.13+dfsg1-3build1  amd64  system login tools",
    "Unpacking login (1:4.11.1+dfsg1-2ubuntu1.1) over (1:4.8.1-2ubuntu2.1) ...",
    "openssl-libs-1:3.0.7-27.el9.x86_64 and token-tools-2.1-4.fc39 installed",
    "Log in as root with ed25519 or rsa4096.",
    "Log in as admin with your usual account and two-factor.",
    "Login flow: step_1 / step_2 / step_3",
    "login-form-v2.3.1 / login-form-v2.3.2",
    "Credentials / secrets belong in the vault.",
    "Inicia sesión como invitado con permisos de lectura.",
    "Our wifi is called oak-river-lamp-7, ask at the desk.",
    "The wifi is not-so-great in the kitchen.",
    "The wifi is Fjord_Guest_5G",
    "The wi-fi is state-of-the-art.",
    "The passphrase should be at least four words and easy to type.",
    "The disk unlocks with the passphrase you chose during setup.",
    "The backup drive opens with Finder on macOS 14.",
    "The password manager opens with the browser at startup.",
    "secret phrase of the episode: tune in next week for more",
    "the wifi is mesh-pro-6e, two nodes",
    "My laptop unlocks with face recognition or a fingerprint.",
    "The safe opens with the code that Dad has.",
    "My favourite phrase is better late than never.",
    "口令是系统随机生成的，不用记",
    "通关密语是芝麻开门那一幕，请改写成儿童剧",
    "Почему сайт пишет, что токен недействителен?",
    "密码：请联系管理员获取",
    "电影里的特工对暗号，一个说“天王盖地虎”",
    "App passwords look like abcd-efgh-ijkl-mnop and can be revoked.",
    "Password reset done with your name here once more",
    "ConvertTo-SecureString $env:SVC_PASSWORD -AsPlainText -Force",
    "ConvertTo-SecureString -String $plain -AsPlainText -Force",
    r"net use Z: \\server\share /user:CORP\maria *",
    "net user bob /active:no",
    "the net user experience improved",
    "admin on staging: version 2.3.1",
    "root on web3 is locked, use sudo",
    "works with react and vue@3.4.1, types with ts and numpy==1.26.4",
    "登录用 oauth2 / saml2",
    "口令：见纸条",
    "The master password is never stored on the server or in the cloud.",
    "La phrase de passe est demandée à chaque démarrage du poste.",
    "Passphrase: see the note on the fridge door.",
    "The network code is well-tested-and-reviewed.",
    "Das WLAN ist bis-auf-weiteres aus.",
    "пароль меняет администратор",
]


@pytest.mark.parametrize(("text", "value"), [pair for pairs in FOUND.values() for pair in pairs])
def test_what_is_told_plainly_is_masked(text: str, value: str) -> None:
    assert value not in DEFAULT.text(text)


@pytest.mark.parametrize("text", STAYS)
def test_what_only_sounds_like_it_stays(text: str) -> None:
    assert DEFAULT.text(text) == text


UNITS = [
    "wifi ",
    "wifi is a-b-",
    "as a with ",
    "login: a/b1",
    "passphrase ",
    "the vault opens with ab ",
    "口令是",
    "abcd-",
]
UNITS += ["ConvertTo-SecureString ", "net use /user:a ", "1:2.", "PSCredential('a',", "a / b1", "wifi key "]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "detector", [app_passwords, han_passwords, logins, passphrases, powershell, signing_in, wireless]
)
def test_they_find_no_more_than_a_long_text_holds(unit: str, detector: ModuleType) -> None:
    """What is read twice lies within bounds, however often a beginning comes again."""
    counts = [len(list(detector.find(unit * size))) for size in (1_000, 2_000)]
    assert counts[1] <= 2 * counts[0] + 2


@pytest.mark.parametrize(
    "text", [*(text for pairs in FOUND.values() for text, _ in pairs), *STAYS, "The vault opens with a kite."]
)
def test_a_text_that_breaks_off_anywhere_is_read(text: str) -> None:
    for end in range(len(text)):
        for detector in DETECTORS:
            for span in detector.find(text[:end]):
                assert 0 <= span[0] < span[1] <= end
