"""Values as people tell them in everyday sentences: codes read out in Chinese, passwords of two scripts, agreed words.

For the slots of ``examples/secrets.jsonl``, as `training.secret_values` has for what is typed.
"""

import string
from random import Random

_NUMERALS = "零一二三四五六七八九"
_SURNAMES = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜谢邹喻柏窦章云苏潘葛范彭郎鲁韦马苗方俞任袁柳"
)
_PINYIN_TEXT = (
    "xiaoyu dangui laowang feifei yingtao huahua chunjie wanzi tudou heliu nanshan beimen lele maomao "
    "doudou qingqing shuishui yueyue jiaozi baozi guaiguai xinxin pangpang chuncao dongfeng haiyang "
    "mianbao yangguang jiujiu taiyang"
)
_ENGLISH_TEXT = (
    "Panda Rocket Turtle Zelda Pikachu Steve Dragon Noodle Lucky Mango Cookie Tiger Robot Banana Captain "
    "Sunny Mochi Totoro Elsa Sonic Ninja Kitty Moon Pepper Wizard Penguin Cherry Bubble Donut Toffee"
)
_ADJECTIVES_TEXT = (
    "大 小 胖 懒 蓝 红 绿 白 黑 老 圆圆的 爱哭的 会飞的 戴帽子的 打呼噜的 迷路的 睡不醒的 花 傻 金色的 "
    "隔壁的 不穿鞋的 奶奶家的 发光的"
)
_BEINGS_TEXT = (
    "白鹅 刺猬 骆驼 海豚 松鼠 熊猫 河马 乌龟 蚂蚁 狐狸 企鹅 猫头鹰 鲸鱼 螃蟹 斑马 公鸡 青蛙 蜗牛 猴子 "
    "石狮子 机器人 雪人 恐龙 考拉 鸭子 老虎 橘猫 金鱼"
)
_DOING_TEXT = "吃光 不吃 偷走 喜欢 追着 数 抱着 梦见 想念 驮着 煮 种了 捡到 借走 画 骑着 害怕 躲着 唱着 跳进 卖 看见"
_THINGS_TEXT = (
    "糖画 西瓜 月亮 火锅 雨伞 风筝 豆腐脑 星星 棉花糖 向日葵 萝卜 钥匙 小船 灯笼 臭豆腐 年糕 葡萄干 "
    "云朵 拖拉机 毛线 橡皮 板凳 石榴 蒲公英 秋千 汤圆 花生米 竹筐"
)
_PLACES_TEXT = (
    "老地方 外婆桥 石桥镇 三号楼 桂花巷 南湖边 青石街 铁路大院 望江亭 柳树湾 火车站 大槐树下 西湖边 "
    "白杨林 鼓楼东 枣树沟 二中操场 码头边 酱油厂 木棉路 红旗小学"
)
_LINES_TEXT = (
    "岁岁平安 花好月圆 再见了小黄楼 我爱我家 一路顺风 有你真好 雨过天晴 爸妈辛苦了 春暖花开 好好学习 "
    "平平安安回家 人间烟火 开心每一天 团圆饭真香 青春万岁 我们的夏天 月落乌啼霜满天 春风又绿江南岸 "
    "大漠孤烟直 白日依山尽 夜来风雨声 停车坐爱枫林晚 小楼一夜听春雨 两岸猿声啼不住 山重水复疑无路 "
    "采菊东篱下 孤帆远影碧空尽 一行白鹭上青天 千里共婵娟 松下问童子 浪淘沙 蝶恋花 满江红 明月松间照 "
    "清泉石上流 欲穷千里目 更上一层楼 海上生明月 星垂平野阔 姑苏城外寒山寺 桃花潭水深千尺 不见不散 老友记 "
    "幸福一家人 相亲相爱 九九归一 福如东海 风调雨顺 五谷丰登 万事如意 十全十美 步步高升 六六大顺 天天向上 "
    "百年好合 紫气东来 小桥流水人家 向阳而生 二十年的酒 宿舍六兄弟 奶奶做的红烧肉 石榴花开了 下雨天留客 "
    "舍不得的六班 我们的三年二班 吵闹的七班 怀念的阶梯教室 难舍的宿舍楼 "
    "今晚打老虎 蚂蚁搬家 铁树开花 对牛弹琴 守株待兔 刻舟求剑 画蛇添足 亡羊补牢"
)
_GIVEN_TEXT = (
    "桂香 淑兰 建国 秀英 志强 玉梅 德福 小满 春花 文博 雅琴 国庆 彩霞 永年 海燕 明远 翠萍 卫东 晓岚 佩珍 "
    "大勇 素云 宝生 慧君 长林"
)
_DAYS_TEXT = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August "
    "September October November December Easter Christmas"
)
_ROLES_TEXT = "老师 校长 阿姨 师傅 同学 奶奶 医生 班长"
_HEADS_TEXT = (
    "Pol Hart Ash Wood Kel Tully Thorn Mar Win Stan Ever Brad Cold Glen Dun Inver Lang Mill Oak Red Rox "
    "Sher Tarn Whit Elm Fair Gran Hel Kirk Lin North Pres Raven Sand Tor Wal York Cam Hol Birch Ast Cran "
    "Ders"
)
_TAILS_TEXT = (
    "mark tower ridge ington wick ford bury ham stead worth mouth brook ley mere combe shaw well field "
    "stone by thorpe minster gate water burn hurst grove bridge more dale cliff den low sea ville pool"
)
_PETS_TEXT = (
    "Biscuit Rusty Pickles Bruno Snowy Marmalade Fergus Tilly Bonzo Socks Nugget Waffles Duchess Pippin "
    "Gizmo Otis Clover Bandit Truffle Mitzi"
)
_PLAIN_TEXT = (
    "scarlet orange silver velvet copper rusty sleepy brave hungry golden frozen crooked dusty tiny noisy "
    "striped yellow lobster teapot lantern pelican badger cactus marble turnip saddle anchor pickle comet "
    "otter trumpet ladder pancake hedgehog puddle waffle giraffe cushion kettle parrot snowman blanket "
    "dolphin muffin beetle rhubarb sausage"
)
_PINYIN = _PINYIN_TEXT.split()
_ENGLISH = _ENGLISH_TEXT.split()
_ADJECTIVES = _ADJECTIVES_TEXT.split()
_BEINGS = _BEINGS_TEXT.split()
_DOING = _DOING_TEXT.split()
_THINGS = _THINGS_TEXT.split()
_PLACES = _PLACES_TEXT.split()
_LINES = _LINES_TEXT.split()
_GIVEN = _GIVEN_TEXT.split()
_DAYS = _DAYS_TEXT.split()
_ROLES = _ROLES_TEXT.split()
_HEADS = _HEADS_TEXT.split()
_TAILS = _TAILS_TEXT.split()
_PETS = _PETS_TEXT.split()
_PLAIN = _PLAIN_TEXT.split()


def _digits(rng: Random, least: int, most: int) -> str:
    return "".join(rng.choices(string.digits, k=rng.randint(least, most)))


def spoken(rng: Random) -> str:
    """A number read out in Chinese."""
    return "".join(rng.choices(_NUMERALS, k=rng.choice((3, 3, 4, 4, 4, 6))))


def person(rng: Random) -> str:
    """A Chinese name, often with what the person is."""
    return rng.choice(_SURNAMES) + rng.choice(_GIVEN) + rng.choice(("", "", rng.choice(_ROLES)))


def sentence(rng: Random) -> str:
    """Characters that somebody chose for a password: a line, a place, or a small nonsense."""
    form = rng.randrange(10)
    if form < 4:
        return rng.choice(_LINES)
    if form < 6:
        told = rng.choice(_BEINGS) + rng.choice(_DOING) + rng.choice(_THINGS)
        return rng.choice(("", rng.choice(_ADJECTIVES))) + told
    if form == 6:
        return rng.choice(_PLACES) + rng.choice(("", "见", rng.choice(_THINGS)))
    if form == 7:
        return rng.choice(_THINGS) + rng.choice(("配", "加", "和", "换", "比")) + rng.choice(_THINGS)
    if form == 8:
        return person(rng) if rng.random() < 0.4 else rng.choice(_ADJECTIVES[9:]) + rng.choice(_BEINGS)
    return rng.choice(_PLACES) + "的" + rng.choice(_BEINGS)


def of_two_scripts(rng: Random) -> str:
    """Characters with letters or digits among them."""
    han = rng.choice((rng.choice(_LINES)[:5], rng.choice(_BEINGS), rng.choice(_DOING) + rng.choice(_THINGS)))
    number = _digits(rng, 1, 4)
    form = rng.randrange(7)
    if form == 0:
        return rng.choice(_PINYIN) + han + number
    if form == 1:
        return rng.choice(_PINYIN) + han
    if form == 2:
        return rng.choice(_ENGLISH) + han + rng.choice(("", number))
    if form == 3:
        return han + number + rng.choice("声号天年桥楼颗只岁次里站")
    if form == 4:
        return han + rng.choice((*_ENGLISH, *_PINYIN)) + rng.choice(("", number))
    if form == 5:
        return number + han + rng.choice(_ENGLISH).lower()
    return han + number


def name(rng: Random) -> str:
    """A word with a capital that people remember: a place, a surname, a pet."""
    form = rng.randrange(6)
    if form == 0:
        return rng.choice(_PETS)
    return rng.choice(_HEADS) + rng.choice(_TAILS) if form < 5 else rng.choice(_PLAIN).capitalize()


def plain(rng: Random) -> str:
    """A few small words."""
    return " ".join(rng.sample(_PLAIN, rng.choice((2, 2, 3))))


def keyed(rng: Random) -> str:
    """Digits for a keypad with its keys before or behind them."""
    code = _digits(rng, 4, 6)
    return rng.choice((f"*{code}#", f"#{code}", f"#{code}#", f"*{code}", f"{code}*", f"**{code}"))


def joined(rng: Random) -> str:
    """Two words, or a word and a number, with a sign between."""
    first, second = rng.sample(_PLAIN, 2)
    form = rng.randrange(4)
    if form == 0:
        return f"{first.capitalize()}={_digits(rng, 2, 3)}"
    if form == 1:
        return f"{first}{rng.choice('&+=%')}{second}"
    if form == 2:
        return f"{first.capitalize()}{rng.choice('!&+=%')}{second.capitalize()}{rng.choice(('', _digits(rng, 2, 4)))}"
    return f"{first}{rng.choice('&+%')}{second}{_digits(rng, 1, 2)}"


def grouped(rng: Random) -> str:
    """A code in two groups of digits."""
    size = rng.choice((3, 4, 4, 4, 4, 5))
    return _digits(rng, size, size) + rng.choice("-- ") + _digits(rng, size, size)


def day(rng: Random) -> str:
    """A day or a month, which begins with a capital as names do."""
    return rng.choice(_DAYS)
