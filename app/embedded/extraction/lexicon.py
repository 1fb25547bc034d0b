"""Closed classes of words that tell a value from what only stands where a value would: English and Chinese.

A rule looks at the shape of a value first (`app.embedded.extraction.values`); these are the words whose shape deceives.
"""

import re

from app.text.dates import MONTHS, WEEKDAYS

CORRECTS = re.compile(
    r"\b(?:actually|correction|now|nowadays|these days|no longer|any ?more|instead|new|changed"
    r"|switched|became|not|sorry"
    r"|typo|from now on|meant|updated?)\b|n't\b"
    r"|现在|現在|其实|其實|改|换|換|不再|不是|新|更正|纠正|糾正|说错|說錯|搞错|搞錯|以后|以後|从今|已经|已經|不做|不当",
    re.IGNORECASE,
)
"""A word that says that something was otherwise before."""
PASSING = re.compile(
    r"\b(?:today|tonight|right now|at the moment|for now|for the moment|this (?:morning|afternoon|evening|week|weekend"
    r"|month|year)|until|till|these few days|currently (?:in|on|at)|temporarily|again|for (?:a"
    r"|two|three|a few) (?:days?|weeks?))\b"
    r"|今天|今晚|今早|明天|这周|這週|本周|本週|这几天|這幾天|这两天|這兩天|暂时|暫時|临时|臨時"
    r"|这会儿|這會兒|正在|这个月|這個月|出差",
    re.IGNORECASE,
)
"""A word that says that something holds for the time being only."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CALENDAR = WEEKDAYS | MONTHS - {"may"} | _words("christmas easter halloween thanksgiving")
"""Capitalised, and no names of people or places."""

DEMONYMS = _words(
    "african american arab argentine argentinian asian australian austrian belgian brazilian british bulgarian canadian"
    " chilean chinese colombian croatian cuban czech danish dutch egyptian english estonian european finnish french"
    " german ghanaian greek hungarian icelandic indian indonesian iranian iraqi irish israeli italian japanese kenyan"
    " korean latvian lebanese lithuanian malaysian mexican moroccan nigerian norwegian pakistani peruvian polish"
    " portuguese romanian russian scottish serbian singaporean slovak slovenian spanish swedish swiss syrian taiwanese"
    " thai tunisian turkish ukrainian venezuelan vietnamese welsh"
    " buddhist catholic christian hindu jewish mormon muslim protestant"
)
"""Adjectives with a capital letter."""

SOFTWARE = _words(
    "android angular ansible arch aws azure bash bitbucket bootstrap c# c++ chatgpt chrome"
    " chromium claude clojure cobol"
    " css cursor dart debian django docker dropbox eclipse edge elasticsearch elixir elm"
    " emacs erlang excel express"
    " fastapi fedora figma firebase firefox fish flask flutter fortran gcp gemini git github"
    " gitlab gmail go golang"
    " gradle grafana graphql haskell helix heroku html intellij ios java javascript jenkins"
    " jetbrains jira julia"
    " jupyter kafka kotlin kubernetes laravel linear linux lua mac macos markdown matlab"
    " maven mongodb mysql nano"
    " neovim netlify next.js nginx node node.js notion npm nushell obsidian office openai"
    " oracle outlook pandas pascal"
    " perl php pip pnpm poetry postgres postgresql powershell prometheus pulumi pycharm python pytorch quarkus r rails"
    " react redis redux reddit ruby rust safari sass scala scrum signal skype slack sql sqlite sublime svelte swift"
    " tailwind teams telegram tensorflow terraform tmux trello typescript ubuntu unix uv vercel vi vim vite vs vscode"
    " vue webpack whatsapp windows wordpress yarn zed zig zoom zsh kanban discord mastodon"
    " twitter linkedin instagram facebook youtube spotify netflix steam bluesky"
    " confluence asana basecamp miro canva evernote onenote thunderbird opera brave wayland"
    " xorg nixos nix freebsd"
)
"""What one can move to, work in and live in without leaving the house."""

STATES = _words(
    "able absent afraid alive alone angry annoyed anxious asleep available awake aware away awesome awful back bad"
    " better big bored broken burned busy calm cheap clean clear cloudy cold confused convinced cool crazy critical"
    " curious dead deaf different dirty done down drunk dry due dying early easy empty exhausted expensive fast fine"
    " finished fixed free fresh frozen fun full furious glad gone good great grumpy happy hard here high hidden home"
    " hot huge hungry ill impatient important impossible inside invalid jealous known late lazy like long lost loud low"
    " mad mean missing moving near nervous new next nice noisy off offline ok okay old on online open out outdated"
    " outside over overdue overwhelmed pending pissed pleased possible private proud public quick quiet rainy ready"
    " real red right sad safe scared serious short shut shy sick silly silent simple sleeping slow small smart sold"
    " sorry spelled spelt stolen stressed strict strong stuck stupid sunny sure surprised taken the there thirsty tight"
    " tired true ugly unavailable unclear unhappy unknown unsure up upset useless vague warm weak weird well wet"
    " wonderful worried worse worth wrong yours mine same always never often sometimes usually really very quite so too"
    " pretty rather hardly still not just also already almost soon yet again currently probably maybe perhaps"
    " definitely all more less most nothing something everything anything nobody everyone someone"
)
"""What somebody or something is for the time being, and words that qualify; no values."""

ABSTRACT_PLACES = _words(
    "fear peace hope hell denial exile poverty harmony sin silence pain chaos limbo luxury comfort darkness hiding"
    " isolation misery terror shame wonder bliss agony solitude squalor anticipation"
)

ORGANISATIONS = _words(
    "agency airline airport bakery bank bar brewery bureau café cafe charity chain church city clinic club college"
    " company consultancy cooperative council court dealership department embassy factory farm firm foundation"
    " government gym hospital hotel institute insurer kindergarten lab laboratory library magazine ministry museum ngo"
    " newspaper nonprofit observatory office organisation organization pharmacy plant practice publisher refinery"
    " restaurant retailer school shop startup start-up store studio supermarket theatre theater university utility"
    " warehouse winery workshop zoo"
)

OCCUPATIONS = _words(
    "accountant actress analyst architect artisan assistant athlete attorney butcher captain carpenter cfo ceo chef"
    " clerk coach consultant cook cop cto dba dean detective devops diplomat doctor electrician economist florist guard"
    " guide handyman hostess intern journalist judge lecturer librarian locksmith mathematician mechanic midwife"
    " musician nurse nutritionist optician paralegal paramedic pharmacist photographer"
    " physician physicist pilot plumber"
    " poet politician postdoc priest principal professor psychologist receptionist sailor"
    " scientist secretary soldier"
    " student sre statistician steward surgeon tailor technician therapist translator tutor"
    " vet veterinarian waitress"
    " zoologist apprentice freelancer designer developer engineer programmer teacher writer"
    " driver painter"
)

NO_OCCUPATIONS = _words(
    "beginner believer brother carer caregiver customer daughter drinker eater father fighter foreigner follower gamer"
    " hater learner liar listener loner loser lover member mother neighbor neighbour newcomer"
    " newbie newsletter outsider"
    " owner player reader riser runner sister smoker speaker starter stickler subscriber"
    " sufferer supporter swimmer"
    " thinker user visitor voter walker winner worrier wanderer admirer dreamer sleeper hiker"
    " biker climber number"
    " matter other computer monster disaster minor major sponsor survivor hoarder spender"
    " saver commuter"
    " procrastinator collector pushover meticulous morning person fan bit little lot big"
)
"""Words with an agent's ending for what no one is paid for."""

SINGLE_PEOPLE = _words(
    "boss manager supervisor wife husband partner spouse girlfriend boyfriend fiancé fiancée fiance fiancee mother mom"
    " mum father dad doctor dentist therapist landlord landlady mentor"
    " 妻子 老婆 太太 丈夫 老公 女朋友 男朋友 妈妈 媽媽 爸爸 老板 老闆 经理 經理 领导 領導 导师 導師 上司 主管"
)
"""Relations that one has one of at a time."""

CITIES_ZH = _words(
    "北京 上海 天津 重庆 重慶 广州 廣州 深圳 杭州 南京 苏州 蘇州 武汉 武漢 成都 西安 长沙"
    " 長沙 郑州 鄭州 青岛 青島 大连 大連 厦门 廈門"
    " 宁波 寧波 无锡 無錫 福州 济南 濟南 合肥 昆明 沈阳 瀋陽 哈尔滨 哈爾濱 长春 長春 石家庄"
    " 石家莊 太原 南昌 南宁 南寧 贵阳 貴陽 海口 三亚 三亞"
    " 兰州 蘭州 银川 銀川 西宁 西寧 拉萨 拉薩 呼和浩特 乌鲁木齐 烏魯木齊 珠海 佛山 东莞 東莞"
    " 温州 溫州 常州 徐州 扬州 揚州 烟台 煙台 香港 澳门 澳門"
    " 台北 臺北 高雄 台中 臺中 台南 臺南 新加坡 东京 東京 大阪 首尔 首爾 纽约 紐約 伦敦 倫敦"
    " 巴黎 柏林 悉尼 墨尔本 墨爾本 多伦多 多倫多 旧金山 舊金山"
    " 洛杉矶 洛杉磯 美国 美國 英国 英國 日本 德国 德國 法国 法國 加拿大 中国 中國"
)

SURNAMES_ZH = frozenset(
    "赵趙钱錢孙孫李周吴吳郑鄭王冯馮陈陳褚卫衛蒋蔣沈韩韓杨楊朱秦尤许許何吕呂施张張孔曹严嚴华華金魏陶姜戚谢謝邹鄒喻柏水窦竇章云雲苏蘇潘葛奚范"
    "彭郎鲁魯韦韋昌马馬苗凤鳳花方俞任袁柳鲍鮑史唐费費廉岑薛雷贺賀倪汤湯滕殷罗羅毕畢郝邬鄔安常乐樂于时時傅皮卞齐齊康伍余元卜顾顧孟平黄黃和穆萧蕭"
    "尹姚邵湛汪祁毛禹狄米贝貝明臧计計伏成戴谈談宋茅庞龐熊纪紀舒屈项項祝董梁杜阮蓝藍闵閔席季麻强強贾賈路娄婁危江童颜顏郭梅盛林刁钟鍾徐邱骆駱高夏蔡"
    "田樊胡凌霍虞万萬支柯管卢盧莫房裘缪繆干解应應宗丁宣邓鄧郁洪包诸諸左石崔吉龚龔程邢裴陆陸荣榮翁荀羊甄曲封储儲靳段富巫焦巴牧车車侯全班仰秋仲伊"
    "宫宮宁寧仇甘厉厲祖武符刘劉景詹龙龍叶葉幸司黎薄印宿白蒲鄂索咸赖賴卓屠蒙池乔喬阴陰能苍蒼双雙闻聞莘党黨翟谭譚贡貢劳勞姬申扶堵冉宰郦酈桑桂牛寿壽边邊"
    "燕冀尚农農温溫庄莊晏柴瞿阎閻充慕连連茹习習艾鱼魚容向古易慎戈廖庾终終居衡步都耿满滿弘匡国國文寇广廣东東欧歐沃利越隆师師巩鞏聂聶晁敖融冷辛那简簡饶饒"
    "曾关關游丘肖涂仝佟"
)
