"""Codes and words as people tell them in everyday sentences: by what to do, what opens, what is said at a door."""

from types import ModuleType

import pytest

from app.policy.clauses import clauses
from app.policy.detectors import DETECTORS, dials, login_codes, passphrases, wireless
from app.policy.policy import Policy

DEFAULT = Policy.of({}, {})
FOUND = {
    "what to do": [
        ("Settings > Age > enter 7153 and then the telly plays again, don't tell the kids.", "7153"),
        ("At the yard door press star and then 60318, the latch is slow.", "60318"),
        ("touch the hash sign and then 7716, push hard", "7716"),
        ("院门先按星号再按7716，听到响声就推。", "7716"),
        ("Hold your card to the copier and then type 58120, it is what our team uses to print.", "58120"),
        ("刷完卡再按58120，文印室的机器就出纸。", "58120"),
        ("儿童锁怎么解：设置—家长控制，输7153，看完再锁。", "7153"),
        ("for the roof it is *8035# on the keypad", "8035"),
        ("公寓新的 access code 是 *8035#，室友记一下。", "8035"),
    ],
    "what opens": [
        ("The study safe opens with 41 left, 8 right, 23 left, then turn the handle.", "41 left"),
        ("I put the little wheels of the trolley case at 382, so you can open it.", "382"),
        ("She set the tumblers on the chain to 7153.", "7153"),
        ("皮箱的锁拨到五一八就开了，药在夹层里。", "五一八"),
        ("健身房更衣柜52号，四位码3806，毛巾在里面。", "3806"),
        (
            "The stereo is locked since the battery died. The code is in the manual, in red ink: 2946. Saved here.",
            "2946",
        ),
    ],
    "two scripts": [
        ("茶馆的无线叫“听雨”，密码tingyu看荷花88，别外传。", "tingyu看荷花88"),
        ("书房的网，口令laoli爱下棋，给常客的。", "laoli爱下棋"),
        ("密钥加了口令，口令定为小舟从此逝2046声。", "小舟从此逝2046声"),
        ("平板账号 password 我改成了 Kitty爱睡觉66，别让他乱买。", "Kitty爱睡觉66"),
        ("演出的录像传到云上了，解压还要密码石桥上的旧时光，周末就删。", "石桥上的旧时光"),
    ],
    "agreed words": [
        ("If the alarm people ring they want the safe word, it's Thornwick. Speak slowly.", "Thornwick"),
        ("The bank by phone asks for my memorable word: it is Glenmoor.", "Glenmoor"),
        ("Kindergarten form: collection password to be said at the door: crooked lantern.", "crooked lantern"),
        ("论坛密保问题选的是外婆，答案填孙玉梅奶奶。", "孙玉梅奶奶"),
        ("家里暗号改了，要问他口令，答得出“小蜗牛爱坐电梯”才开门。", "小蜗牛爱坐电梯"),
    ],
    "notes": [
        ("Backup codes from when we made his game account: 5170-2238, 6641-9035 and 1187-4420.", "6641-9035"),
        (
            'A note behind the frame says "Juniper!Hockey1968 dont tell the boys", it opened the laptop.',
            "Juniper!Hockey1968",
        ),
        ("The pictures are online, it'll ask for a password: ribbon&thunder. Family only.", "ribbon&thunder"),
        ("Auntie's email works at last. It's Radishes=41 with a capital R.", "Radishes=41"),
    ],
}
STAYS = [
    "The admin password stays in the manager; the board's uid is qk3vbd72mwxyta, see panel 41.",
    "Picks for the release branch, the login fix is the last\n7be31f09ac\n40d2c6a91f\nc93e7710db",
    "By hand it looks like otpauth://totp/LABEL?secret=BASE32SECRET&issuer=Shop&digits=6",
    "前台说 4186 室有快递，no access code any more。",
    "Your starting password follows by post. Case no.: HB4-2026-q7TN.",
    "The Wi-Fi is HarbourView_3, and the key you need is printed on the card in the hall.",
    "恢复码谁存了？我只有续费单号：2045 7716、8190 3364，这些不能用来登录。",
    "The safe word is something only we two know.",
    "Collection password: agreed by phone with Ms Finch.",
    "密码忘在老家的本子里了，口令回头再定。",
    "密保问题的答案我填什么都不对。",
    "密码由老师当面告诉大家。",
    "We are in room 614, and then you open the door on the left.",
    "公交三七二路改道了，在大门口等不到。",
    "At the gate go left 300 m, then right, then left at the lock.",
    "Press 2 for English, then 4 for bookings.",
    "Open the book at page 372 and read to page 380.",
    "她住在三栋614室，门铃坏了。",
    "I set the oven to 180 and the timer to 25.",
    "ring the bell for flat 4471, someone will open the door",
]


EVERYDAY = [
    "We are in room 614, the lift is on the left and breakfast is downstairs.",
    "Bus 4471 leaves from bay 7, and then you change at the market.",
    "Platform 12, coach 5, seats 61 and 62, the train is at 14:07.",
    "The bag was 39.90, the lock 12.50, so 52.40 altogether.",
    "We won 3-1 and then 21-19, 21-17 in the second round.",
    "Open the book at page 372 and then read to page 380.",
    "The house was built in 1974 and the front door is from 2012.",
    "Your order 48021176 has been shipped, the suitcase comes on Friday.",
    "Add 250 g of flour, then 120 ml of milk, then let it stand for 30 minutes.",
    "At the gate go left for 300 m, then right for 200 m, then left again for 50 m.",
    "Left at the mill, 2 km, right at the chapel, 3 km, left at the lock, and you are there.",
    "I set the oven to 180 and the timer to 25.",
    "Turn the dial to 6 and wait until the light is green.",
    "The alarm rings at 6:45, the second one at 7:10.",
    "Press 2 for English, then 4 for bookings.",
    "The garage is number 1207, behind the school, the key is under the mat.",
    "The safe weighs 48 kg and costs 614 euros.",
    "Locker 212 is mine, locker 213 is free.",
    "The gate opens at 9 and the last ride is at 17:30.",
    "The museum opens with 140 paintings from 1890.",
    "Channel 104 has the cartoon, the TV in the kitchen only gets 36.",
    "The child lock on the car door is the small lever, see page 57.",
    "The radio plays on 98.6, in the car it is preset 4.",
    "Printer 3 is out of paper, job 30418 waits since Monday.",
    "Tap your badge at desk 14 and then go to floor 3.",
    "The combination of red and blue gives 60 votes.",
    "The unit has 82 flats, 4 lifts and 120 parking places.",
    "My suitcase weighs 23.5 kg, the limit is 20.",
    "The wheels of the pram are 30 cm, the lock is 8 mm.",
    "Our flat is 4B, ring twice, and then come up to the third floor.",
    "The phone number of the plumber is 555 0134, he comes at 10.",
    "It says door 7 on the ticket, row 14, seat 21.",
    "Take exit 23, then the second left, then it is house 118.",
    "In 1066 they opened the gate, that's what the guide said.",
    "The score was 101 to 98 when the hall closed its doors.",
    "Chapter 12 opens with a letter from 1823.",
    "Bring 24 eggs, 6 lemons and 2 kg of sugar to the house.",
    "He ran 5000 m in 15:32 and then 800 m in 2:04.",
    "The code review took 45 minutes, 312 lines changed.",
    "Dial 112 in an emergency, then wait for help.",
    "The answer to number 7 is 144, and number 8 is 96.",
    "The answer is Paris, and not London, said the teacher.",
    "她住在三栋614室，电梯到六楼左转。",
    "坐4471路公交到大门口，再走五分钟。",
    "火车在12站台，5车厢，61号座。",
    "这个箱子399块，锁另算，一共452。",
    "比分21比19，第二局21比17。",
    "翻到第372页，念到380页。",
    "房子是1974年盖的，门是2012年换的。",
    "订单48021176已经发货，行李箱周五到。",
    "面粉250克，牛奶120毫升，静置30分钟。",
    "出了大门左转300米，再右转200米，就到了。",
    "烤箱调到180度，定25分钟。",
    "闹钟六点四十五响，再睡十分钟也行。",
    "拨10086，再按2转人工。",
    "车库在1207号后面，钥匙在门口垫子底下。",
    "保险柜重48公斤，卖614块。",
    "212号柜子是我的，213号空着。",
    "大门九点开，末班车十七点三十。",
    "动画片在104频道，厨房的电视只有36个台。",
    "收音机调到98.6，车里是第四个台。",
    "三号打印机没纸了，任务30418排着队。",
    "到二〇二四年底小区一共八百二十户。",
    "公交三七二路改道了，在门口等不到。",
    "答案是144，下一题是96。",
    "答案是北京，老师说不是南京。",
    "门票写着7号门14排21座。",
    "他跑五千米用了15分32秒，开门红。",
    "数到三二一就开门放气球。",
    "Zug 4471 fährt von Gleis 12, Wagen 5, Platz 61.",
    "Am Tor links, nach 300 m rechts, nach 200 m wieder links.",
    "Le bus 372 s'arrête devant la porte, puis le 614 va à la gare.",
    "La habitación 614 está a la izquierda, el desayuno a las 8.",
]
"""Numbers of daily life in sentences that talk of doors, locks, safes and keys."""


@pytest.mark.parametrize(("text", "value"), [pair for pairs in FOUND.values() for pair in pairs])
def test_what_people_tell_is_masked(text: str, value: str) -> None:
    assert value not in DEFAULT.text(text)


@pytest.mark.parametrize("text", [*STAYS, *EVERYDAY])
def test_everyday_numbers_and_words_stay(text: str) -> None:
    assert DEFAULT.text(text) == text


UNITS = [
    "密码",
    "密码我",
    "答案填密码",
    "三七二",
    "32 left, 7 right, ",
    "press star and then ",
    "safe word a ",
    "wifi is A_b1xxxx, ",
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("detector", [dials, login_codes, passphrases, wireless])
def test_they_find_no_more_than_a_long_text_holds(unit: str, detector: ModuleType) -> None:
    """What is read twice lies within bounds, however often a beginning comes again."""
    counts = [len(list(detector.find(unit * size))) for size in (1_000, 2_000)]
    assert counts[1] <= 2 * counts[0] + 2


@pytest.mark.parametrize("unit", UNITS)
def test_clauses_are_no_more_than_a_text_holds(unit: str) -> None:
    counts = [len(list(clauses(unit * size, 0, len(unit) * size))) for size in (1_000, 2_000)]
    assert counts[1] <= 2 * counts[0] + 2


@pytest.mark.parametrize("text", [*(text for pairs in FOUND.values() for text, _ in pairs), *STAYS])
def test_a_text_that_breaks_off_anywhere_is_read(text: str) -> None:
    for end in range(len(text)):
        for detector in DETECTORS:
            for span in detector.find(text[:end]):
                assert 0 <= span[0] < span[1] <= end
