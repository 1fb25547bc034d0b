"""Where a secret stands that no word beside it names: in a table, behind a user, in a phrase, behind a prompt."""

from types import ModuleType

import pytest

from app.policy.detectors import dials, formats, han_passwords, login_codes, logins, passphrases, tables
from app.policy.policy import Policy

DEFAULT = Policy.of({}, {})


def masked(text: str) -> str:
    return DEFAULT.text(text)


TABLES = {
    "comma": "system,user,password\nblog,ada,{}\nshop,eve,{}\n",
    "semicolon": "password;user\n{};ada\n{};eve",
    "tab": "user\tpass\nada\t{}\neve\t{}\n",
    "spaces": "HOST      USER   PASSWORD\nblog-1    ada    {}\nshop-1    eve    {}",
    "markdown": "| At | User | Password |\n| --- | :---: | --- |\n| blog | ada | {} |\n| shop | eve | `{}` |\n\nEnd.",
    "drawn": "+-----+---------+\n| who | db_pass |\n+-----+---------+\n| ada | {} |\n| eve | {} |\n+-----+---------+",
    "quoted": '"name","passwd"\n"ada","{}"\n"eve","{}"',
    "chinese": "| 系统 | 账号 | 登录密码 |\n|---|---|---|\n| 财务 | ada | {} |\n| 人事 | eve | {} |",
    "german": "Dienst;Benutzer;Kennwort\nblog;ada;{}\nshop;eve;{}",
}


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("value", ["Nutmeg_4410_Nutmeg", "clove77clove", "Anis!Anis!3"])
def test_the_column_below_a_head_for_passwords_is_masked(form: str, value: str) -> None:
    other = value[::-1]
    text = masked(TABLES[form].format(value, other))
    assert value not in text and other not in text
    assert text.count("\n") == TABLES[form].count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "name,type,password\nuser_id,int,\nemail,text,required",
        "| field | password |\n| --- | --- |\n| length | 12 characters |\n| rotated | 2024-05-01 |",
        "token\tcount\nhello\t17\nworld\t12",
        "| key | action |\n|---|---|\n| Ctrl+K2 | search |",
        "user,password,role\nada,${ADA_PASSWORD},admin\neve,********,reader",
        "password,since\nsee the vault,2024",
        "def matches(self, password):\n    return check_password_hash(self.password_hash, password)\n",
        "if check(stored, password):\n    flash('Login successful!', 'success')\n",
        "    if not user or not verify(user.hash, password):\n        return failed('Invalid credentials', 401)\n",
    ],
)
def test_other_columns_stay(text: str) -> None:
    assert masked(text) == text


def test_a_head_may_say_more_in_brackets() -> None:
    assert list(tables.find("user,password (initial)\nada,Nutmeg_4410\n")) == [(28, 39)]


def test_a_table_ends_where_its_rows_do() -> None:
    text = "user,password\nada,Nutmeg_4410\n\nbuild,release-2024-b7\n"
    assert list(tables.find(text)) == [(18, 29)]


@pytest.mark.parametrize(
    "frame",
    [
        "log in to the wiki with ada/{}",
        "Sign-in for the camera: admin / {}",
        "用 admin/{} 登录就能看到报表",
        "账号：lihua/{}",
        "カメラのログイン admin / {}",
        "streaming: ada@example.org, {}",
        "共享账号 ada.li@example.com {}，别改",
        "use team@example.org, then type {} when it asks",
        "the demo user is demo_ro / {}, on the old host",
    ],
)
@pytest.mark.parametrize("value", ["Saffron!2081", "cardamom#44"])
def test_a_password_behind_a_user_is_masked(frame: str, value: str) -> None:
    text = masked(frame.format(value))
    assert value not in text and text.startswith(frame[:4])


@pytest.mark.parametrize(
    "text",
    [
        "the login is handled in auth/login-form2.tsx and users/Session3",
        "log in as admin/editor and open reports/2024",
        "uses: docker/login-action@v3",
        "login fails with OAuth/RFC6749 clients",
        "登录逻辑在 auth/TokenStore2 里",
        "root:x:0:0:root:/root:/bin/bash",
        "sign in at https://id.example.org/users/Kim2024",
        "write to ada@example.org, room B204, or call",
        "ada@example.org / C++17 and Rust2021",
        "mails: ada@example.org, eve+news@example.org",
    ],
)
def test_what_only_looks_like_a_user_and_a_password_stays(text: str) -> None:
    assert list(logins.find(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "The passphrase is quiet lemon rides backwards",
        "The passphrase of my key is quiet lemon rides backwards.",
        "ssh passphrase: quiet lemon rides backwards\nhost: blog-1",
        "Passphrase = quiet-lemon-rides-backwards",
        "La phrase de passe est quiet lemon rides backwards.",
    ],
)
def test_a_passphrase_of_words_without_quotes_is_masked(text: str) -> None:
    joined = masked(text)
    assert "[secret removed]" in joined and "lemon" not in joined


@pytest.mark.parametrize(
    "text",
    [
        "The passphrase is stored in the vault.",
        "The passphrase is wrong again today.",
        "passphrase: at least four words",
        "A passphrase is better than a short password.",
        "Passphrase: minimum length twenty characters",
        "passphrase: optional",
    ],
)
def test_what_is_said_about_passphrases_stays(text: str) -> None:
    assert list(passphrases.find(text)) == []
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    ["保险箱口令是“东风夜放花千树”，记住。", "硬盘的密码是「猫咪不吃胡萝卜」", "我把备份的口令设成了“一船星光到江南”"],
)
def test_a_quoted_phrase_of_chinese_characters_is_masked(text: str) -> None:
    assert "[secret removed]" in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "点“忘记密码”就会收到邮件。",
        "提示“密码错误次数过多”，怎么办？",
        "密码框的标题改成“请输入旧密码”",
        "口令红包写的是“恭喜发财”",
    ],
)
def test_the_words_of_a_page_about_passwords_stay(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    "line",
    [
        "mqtt-cli pub -h broker -u ada -P {} -t garden -m on",
        "backup-tool --user ada --verbose -p '{}' daily",
        "importer -p {} -u ada orders",
        "net use Z: \\\\files\\docs {} /user:ada",
        "snmpget -v2c -c {} 10.9.8.7 sysName.0",
    ],
)
def test_the_password_of_a_command_that_names_a_user_is_masked(line: str) -> None:
    assert "Thyme_5512" not in masked(line.format("Thyme_5512"))


@pytest.mark.parametrize(
    "line",
    [
        "docker run -u 1000:1000 -p 8080:80 web:2.1",
        "docker run -u app -p 127.0.0.1:5432:5432 db",
        "ssh -p 2222 -u ada host",
        "make -u -p4 all",
        "tool -u ada -p $PASSWORD",
        "snmpwalk -v2c -c public 10.9.8.7",
    ],
)
def test_ports_and_places_of_commands_stay(line: str) -> None:
    assert masked(line) == line


@pytest.mark.parametrize(
    "text",
    [
        "Secret Access Key [None]: pQ7rXw2LkZ9vTn4BcYh8JmEa5sUdGf3iOq6RtWxA",
        "API token (leave empty to skip): 9f2c41d07be85a63c1d94e7f20ab58c3",
        'SIGNING_KEY = bytes.fromhex("9f2c41d07be85a63c1d94e7f20ab58c39f2c41d07be85a63")',
        'apiToken = SecretStr("tansy-77-TANSY-x9")',
        "Пароль от старой базы поставщика: Romashka_4417",
        "Das Passwort für den alten Server im Keller: Distel_4417",
    ],
)
def test_a_value_at_the_end_of_what_names_it_is_masked(text: str) -> None:
    assert "[secret removed]" in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "Press the access key Ctrl+Shift+K2 to search.",
        "The token contract is 0x52908400098527886E0F7030069857D2E4169EE7.",
        "the token helpers moved to auth/SessionStore3",
        "Key: reports/2025/02/part-00007-3f9c.parquet",
        'headers.set("Authorization", "Token "+conf.Token)',
    ],
)
def test_keys_of_other_kinds_stay(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "auth:\n  token: ${API_TOKEN}\n  timeout-ms: 43200000",
        "token=[hidden] agent=Opera/9.80 build=20250211",
        "PASSWORD=<in the vault>\nMAX_AGE=43200000",
    ],
)
def test_fields_with_other_names_stay_beside_one_for_a_secret(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('open("mysql", "ada:Fennel9Fennel@tcp(10.9.8.7:3306)/garden")', "Fennel9Fennel"),
        ("dsn=ada:Fennel9Fennel@unix(/run/mysqld.sock)/garden", "Fennel9Fennel"),
        ("https://garden.example/back#access_token=Qx7Lm2Vt9Rw4Kp8Z&state=4", "Qx7Lm2Vt9Rw4Kp8Z"),
    ],
)
def test_the_password_of_a_driver_and_the_token_of_a_fragment_are_masked(text: str, value: str) -> None:
    assert value not in masked(text)


@pytest.mark.parametrize("number", ["6901234567892", "6921168509256"])
def test_the_number_of_an_article_is_no_card(number: str) -> None:
    assert masked(f"商品条码 {number}，一箱 12 瓶") == f"商品条码 {number}，一箱 12 瓶"


@pytest.mark.parametrize("key", ["#", "*"])
def test_the_key_that_is_pressed_behind_a_code_goes_with_it(key: str) -> None:
    assert masked(f"The door code is 4417{key}, come in.") == "The door code is [secret removed], come in."


@pytest.mark.parametrize(
    "unit",
    [
        "password,a1\n",
        "user\tpass\nx\ty1!zz\n",
        "| password |\n",
        "admin/x1!yyyy login ",
        "passphrase: ab cd ef.\n",
        "-u a -p b1cd\n",
    ],
)
@pytest.mark.parametrize("detector", [dials, han_passwords, login_codes, tables, logins, passphrases, formats])
def test_each_place_is_found_once_in_a_text_of_any_length(unit: str, detector: ModuleType) -> None:
    counts: list[int] = []
    for size in (1_000, 2_000):
        found = list(detector.find(unit * size))
        assert len({*found}) == len(found)
        counts.append(len(found))
    assert counts[1] <= 2 * counts[0] + 2


@pytest.mark.parametrize(
    "text",
    [
        "The gym lock: left to 14, right to 33, then left to 5.",
        "Tresor im Keller: rechts 14, links 33, rechts 5",
        "仓库保险柜：左14右33左5，别忘了",
        "coffre : à gauche 14, à droite 33, à gauche 5",
    ],
)
def test_the_numbers_of_a_dial_are_masked(text: str) -> None:
    hidden = masked(text)
    assert not any(number in hidden for number in ("14", "33", "5")), hidden


@pytest.mark.parametrize(
    "text",
    [
        "Drive left after 14 km, right at exit 33, left at 5th street.",
        "Safe trip! Turn left at 14, left again at 33, then left at 5.",
        "The lock is on the left, 14 cm from the right edge.",
        "左转14公里后右转33号公路左转5号出口",
    ],
)
def test_other_turns_stay(text: str) -> None:
    assert list(dials.find(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Punch in 72915 then OFF.",
        "voicemail: enter 72915 and press pound",
        "Es piept: 72915 eingeben und mit der Raute bestätigen",
        "进门后输入72915再按井号",
    ],
)
def test_a_code_for_a_keypad_is_masked(text: str) -> None:
    assert "72915" not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "const shop = Stripe('pk_test_Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9');",
        "message SID MM0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b has an error",
        "open the key map and give the Menu key to F13",
        "enter 2000 and 3000 in the form, then save",
    ],
)
def test_what_is_made_to_be_shown_stays(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    "frame",
    [
        'echo "db.internal:5432:orders:app:{}" >> ~/.pgpass',
        "put this in .pgpass: db.internal:5432:*:app:{}",
        "  db.internal:5432:orders:app:{}",
        "ssh-keygen -p -P {} -N Gr0undnut-9 -f id_rsa",
        "ssh-keygen -p -P Gr0undnut-9 -N {} -f id_rsa",
        "Enter passphrase for key '/home/mo/.ssh/id_ed25519': {}",
        "[sudo] password for mo: {}",
        "光猫后台用 admin 登录，后面那串是 {}",
        "路由器登录的时候输 admin 再输 {} 就行",
    ],
)
@pytest.mark.parametrize("value", ["Saffron!2081", "Kestrel#19"])
def test_what_is_typed_where_one_signs_in_is_masked(frame: str, value: str) -> None:
    assert value not in masked(frame.format(value))


@pytest.mark.parametrize(
    "text",
    [
        "Password for the portal: see KeePass entry 12",
        "Enter passphrase for key '/home/mo/.ssh/id_ed25519': ",
        "路由器用的是 AX3000，后台是 v2.3.1 版",
        "the router takes RJ45-CAT6 cables, the account uses iso8601-dates",
        "10.0.0.4:5432:open:tcp is what the scan said, see .pgpass",
    ],
)
def test_what_is_said_about_signing_in_stays(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("frame", ["密码是{}", "家里WiFi密码：{}，别外传", "压缩包密码是「{}」", "登录口令改成了“{}”"])
@pytest.mark.parametrize("value", ["春风十里2024", "小猫爱吃鱼88"])
def test_a_password_of_chinese_characters_with_digits_is_masked_whole(frame: str, value: str) -> None:
    assert masked(frame.format(value)) == frame.format("[secret removed]")


@pytest.mark.parametrize(
    "text", ["密码为空的用户有123", "密码是上个月5号换的", "密码：请看附件第12页", "密码 错误次数15"]
)
def test_what_is_said_about_a_password_in_chinese_stays(text: str) -> None:
    assert masked(text) == text
