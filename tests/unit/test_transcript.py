# ruff: noqa: E501 (one example, one line)
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.injection import fence
from app.core.recall.transcript import MIN_CHARS, MIN_TURNS, REPLY_ASSIST, is_transcript

TRANSCRIPTS = {
    "name colon": "Nora: did the crates arrive?\nBill: two of three\nNora: which one is missing?\nBill: the glasses, tomorrow they say",
    "request above": "Save this please:\n\nNora: lunch at one?\nBill: make it half past\nNora: ok, the usual place\nBill: see you there",
    "chinese full-width colon": "小陈：明天几点集合？\n阿芳：八点，北门\n小陈：好，我带水\n阿芳：别忘了地图",
    "whatsapp android": "03/05/2024, 09:12 - Nora: morning! are we still on?\n03/05/2024, 09:13 - Bill: yes, leaving now\n03/05/2024, 09:14 - Nora: great, I'll make coffee",
    "whatsapp ios": "[03.05.24, 09:12:10] Nora Lind: morning!\n[03.05.24, 09:13:44] Bill: leaving now\n[03.05.24, 09:14:02] Nora Lind: great, I'll make coffee",
    "irc": "<nora> anyone tried the new ferry?\n<bill> yes, rough sea\n<nora> worth it though?\n<bill> for the view, sure",
    "irc with time": "[10:01] <nora> anyone tried the new ferry?\n[10:02] <bill> yes, rough sea\n[10:02] <nora> worth it though?",
    "slack": "nora  10:32 AM\nwho broke the kettle?\nbill  10:33 AM\nnot me, I drink tea cold\nnora  10:35 AM\nthen who was it?\nbill  10:36 AM\nask Tom",
    "slack one space": "Nora Lind 9:02 AM\nwho broke the kettle?\n\nBill 9:05 AM\nnot me, I was at home\n\nNora Lind 9:06 AM\nthen who was it?",
    "discord": "Nora — Today at 10:32 AM\nwho broke the kettle?\nBill — Today at 10:33 AM\nnot me\nNora — Today at 10:34 AM\nsure...",
    "teams": "[10:32] Lind, Nora\nWho broke the kettle?\n[10:33] Bill Ogden\nNot me, I was at home.\n[10:35] Lind, Nora\nThen who was it?",
    "teams meeting": "Nora Lind   0:04\nShall we begin? I have two points.\n\nBill Ogden   0:09\nGo ahead, we're all here.\n\nNora Lind   0:12\nFirst the kettle.",
    "zoom chat": "10:01:12 From Nora Lind to Everyone: can you all see my screen?\n10:01:20 From Bill to Everyone: yes we can\n10:02:03 From Nora Lind to Everyone: great, let's start",
    "zoom chat with breaks": "10:01:12\t From  Nora Lind : can you all see my screen?\n10:01:20\t From  Bill : yes we can\n10:02:03\t From  Nora Lind : great, let's start",
    "vtt": "WEBVTT\n\n1\n00:00:01.000 --> 00:00:04.000\nNora Lind: So, shall we begin?\n\n2\n00:00:04.500 --> 00:00:06.000\nBill: Yes, go ahead.\n\n3\n00:00:06.500 --> 00:00:09.000\nNora Lind: First point is the budget.",
    "vtt voices": "WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Nora Lind>So, shall we begin?</v>\n\n00:00:04.500 --> 00:00:06.000\n<v Bill>Yes, go ahead.</v>\n\n00:00:06.500 --> 00:00:09.000\n<v Nora Lind>First the budget.</v>",
    "wechat": "阿芳 2024-03-05 09:12:33\n还去不去？\n\n小陈 2024-03-05 09:13:01\n去，等我十分钟\n\n阿芳 2024-03-05 09:14:22\n好，我在楼下",
    "wechat name colon line": "阿芳:\n还去不去？\n\n小陈:\n去，等我十分钟\n\n阿芳:\n好，我在楼下",
    "dingtalk": "小陈(陈立) 10:21\n方案我看了，预算有点高\n阿芳(林芳) 10:22\n高在哪一块？\n小陈(陈立) 10:24\n主要是场地，能不能换一家？",
    "chinese half-day times": "周敏 上午9:12\n还去不去？\n\n小陈 上午9:13\n去，等我十分钟\n\n周敏 下午1:02\n好，我在楼下",
    "chinese without punctuation": "[09:12] 阿芳：水管又漏了\n[09:13] 小陈：换过垫圈没有\n[09:14] 阿芳：上周刚换的\n[09:20] 物业-老李：下午派人上门",
    "qq": "2024/3/5 9:12:33 阿芳\n还去不去？\n2024/3/5 9:13:01 小陈\n去，等我\n2024/3/5 9:14:22 阿芳\n好，我在楼下",
    "bold markdown": "**Nora:** Any news from the bank?\n**Bill:** They want one more signature.\n**Nora:** Mine or yours?\n**Bill:** Both, I'm afraid.",
    "heading names": "### Nora\nAny news from the bank?\n\n### Bill\nThey want one more signature.\n\n### Nora\nMine or yours?",
    "screenplay": "NORA: You never called.\nBILL: I lost my phone in the lake.\nNORA: Again?\nBILL: It was a different lake.",
    "roles with asides": "Host (laughing): welcome back, everyone.\nDr. Amin (by phone): thank you, glad to be here.\nHost: so tell us, why bees?\nDr. Amin: because they don't argue.",
    "customer support": "Customer: my parcel never came\nAgent: I'm sorry to hear that, what is the number?\nCustomer: 4471, it was due on Monday\nAgent: it's on the van now",
    "user and assistant": "User: how do I get ink out of wool?\nAssistant: Cold water and a little soap, never rub.\nUser: and if it is dry?\nAssistant: Then soak it overnight.",
    "numbered speakers": "Speaker 1: so when did you notice the smell?\nSpeaker 2: on Sunday, I think.\nSpeaker 1: and nobody had used the stove?\nSpeaker 2: no, we were away.",
    "chat quote marks": "> Nora: did you feed the cat?\n> Bill: twice, she lied to you\n> Nora: that cat, I swear",
    "chinese interview": "记者：您为什么选择回到村里？\n王奶奶：城里住不惯，睡不着。\n记者：孩子们支持您吗？\n王奶奶：他们说我犟，可我高兴。",
    "meeting minutes zh": "【产品会 6月3日】\n张工：登录改版下周能上吗？\n李静：设计还差两个页面。\n张工：那先上一半？\n李静：可以，我周三给你。",
    "chinese time in front": "[09:12] 阿芳：还去不去？\n[09:13] 小陈：去，等我十分钟\n[09:14] 阿芳：好，我在楼下",
    "chinese family": "妈妈：吃饭了没？\n我：还没，刚下班\n妈妈：冰箱里有饺子\n我：知道啦",
    "mixed languages": "Mei: 明天的 demo ready 了吗？\nTom: almost, 还差 slides\nMei: 那今晚 sync 一下？\nTom: sure, 九点",
    "telegram": "Nora Lind, [05.03.24 09:12]\nstill on for tonight?\n\nBill, [05.03.24 09:13]\nyes, I'm bringing the cake\n\nNora Lind, [05.03.24 09:15]\nyou're the best",
    "signal": "Nora (9:12 AM): still on for tonight?\nBill (9:13 AM): yes, I'm bringing the cake\nNora (9:15 AM): good, don't drop it",
    "three people, long turns": "Ines: I went through the numbers twice and we can't afford the second van this year.\nOmar: That means the northern round stays with the courier.\nIles: They raised their price again, didn't they?\nInes: By six percent, and they were late four times.\nOmar: Then let's ask the cousin of Paul.",
    "otter": "Nora Lind  0:01\nOkay, I think we can start.\n\nBill Ogden  0:05\nSure. I have the list here.\n\nNora Lind  0:09\nGo on then.",
    "dash names": "Nora - did you feed the cat?\nBill - twice, she lied to you\nNora - that cat, I swear\nBill - she has her ways",
    "continued lines": "Nora: I have two questions.\nThe first one is about the roof.\nBill: what about it?\nNora: it leaks.\nAnd the second is about the bill.\nBill: let me guess, it leaks too?",
    "list bullets": "- Nora: did you feed the cat?\n- Bill: twice, she lied to you\n- Nora: that cat, I swear",
    "no space behind the time": "【09:12】小陈：还去不去？\n【09:13】阿芳：去，等我十分钟\n【09:14】小陈：好，我在楼下",
    "roles that could be keys": "Owner: are you coming to look at the tap?\nTenant: it has dripped since Monday\nOwner: tomorrow at nine then\nTenant: nine is good",
    "flat numbers": "502 老吴 08:17\n怎么又停水\n\n[业主] 小雅 08:18\n没通知啊\n\n502 老吴 08:20\n问问物业吧",
    "quoted mail thread": "> Ben wrote:\n> did you water the plants?\n> Ida wrote:\n> yes, also the cactus\n> Ben wrote:\n> the cactus is plastic",
    "terse talk": "[18:03] Vera: where are the chairs\n[18:04] Noel: still in the truck\n[18:05] Vera: and the truck?\n[18:09] Noel: on its way",
    "interview": "Q: When did you start painting?\nA: At forty, after the divorce.\nQ: Did you take lessons?\nA: Never. I copied postcards.",
    "interview zh": "问：您第一次登台是什么时候？\n答：九岁，演一棵树。\n问：您紧张吗？\n答：树不用紧张，站着就行。",
    "names like days and months": "Marta: did the sun come out?\nMonty: not yet, it rains\nMarta: so we stay in?\nMonty: yes, bring the cards",
}  # fmt: skip

OTHERS = {
    "yaml": "version: 3\nservices:\n  api:\n    image: shop:1\n    restart: always\n  db:\n    image: pg:16\n    restart: always",
    "python": "def area(r: float) -> float:\n    return 3.14 * r * r\n\nclass Box:\n    size: int = 3\n    name: str = 'x'",
    "json": '{\n  "name": "shop",\n  "port": 80,\n  "nested": {\n    "name": "inner"\n  }\n}',
    "log": "2024-03-05 09:12:33 INFO: starting\n2024-03-05 09:12:34 WARN: retry, no answer\n2024-03-05 09:12:35 INFO: connected\n2024-03-05 09:12:36 ERROR: lost, giving up",
    "syslog": "Mar  5 09:12:33 web1 sshd[811]: Accepted publickey for deploy\nMar  5 09:12:34 web1 sshd[811]: session opened for user deploy\nMar  5 09:12:39 web1 cron[99]: job started\nMar  5 09:12:44 web1 sshd[811]: session closed",
    "container log": "db-1   | ready to accept connections\nweb-1  | listening on 8080\ndb-1   | checkpoint complete\nweb-1  | GET /health 200",
    "roster": "Early shift: Ana, Bob\nLate shift: Cem\nNight shift: Dora, Eli\nStandby: Finn",
    "roster zh": "早班：小陈、阿芳\n中班：老王\n晚班：小李\n机动：阿强",
    "recipe": "Flour: 300 g\nButter: 120 g\nSugar: two spoons\nSalt: a pinch\nOven: 180 degrees, 25 minutes",
    "contacts": "Nora Lind: +47 22 33 44\nBill Ogden: +44 20 7946\nInes Roy: +33 1 23 45\nOmar: +20 2 555",
    "email": "From: Nora\nTo: Bill\nSubject: the kettle\n\nHi Bill,\n\ndid you break it? I would like to know.\n\nBest,\nNora",
    "letter": "Dear Bill,\n\nthank you for the kettle. It works well: we use it daily, and the children love the whistle.\n\nPS: the lid is loose.\n\nYours,\nNora",
    "story": "“You never called,” said Nora.\n“I lost my phone,” Bill answered, “in the lake.”\n“Again?” she asked.\nHe shrugged and looked out of the window: it was raining.",
    "story zh": "阿芳问：“还去不去？”\n小陈低头看表，说：“等我十分钟。”\n她叹了口气，转身下楼去了。",
    "question about one": "In yesterday's call Nora said: we can't afford it. What did Bill answer, and who has the last word?",
    "question with quoted line": "What did Bill mean here?\nBill: see you there",
    "plain": "I was thinking about the garden. The north bed never gets sun, so let's try ferns.",
    "agenda": "Agenda for Friday\n09:00: welcome\n09:30: numbers\n10:15: break\n10:30: open questions, all\n12:00: lunch",
    "headings": "# Plan\n\n## Goals\n- ship it\n- sleep\n\n## Risks\n- time: short\n- money: short",
    "dictionary": "apple: a round fruit\npear: a longer fruit\nplum: a small fruit with a stone\nquince: hard, but good in jelly",
    "commits": "fix: close the pool\nfeat: add the export\nfix: handle empty rows\ndocs: explain the export",
    "shell": "$ ls -la\ntotal 8\n$ cat notes.txt\nremember: milk\n$ git status\nOn branch main",
    "env": "PORT=80\nHOST=localhost\nDEBUG: true\nLOG_LEVEL: info",
    "pros and cons": "Pros: cheap, near the lake\nCons: no lift, loud\nPros: nice neighbours\nCons: far from work",
    "one speaker": "Nora: I have three points.\nNora: first, the kettle.\nNora: second, the lake.\nNora: that's all, thanks",
    "two lines": "Nora: lunch?\nBill: sure",
    "table": "| Name | Role |\n|---|---|\n| Nora | captain |\n| Bill | cook |\n| Ines | sailor |",
    "csv": "name,age,city\nNora,41,Oslo\nBill,39,Leeds\nInes,28,Lyon",
    "traceback": 'Traceback (most recent call last):\n  File "a.py", line 3, in run\n    go()\n  File "b.py", line 9, in go\nKeyError: \'x\'',
    "prices": "Ticket: 12 euros\nParking: 5 euros\nTicket, child: 6 euros\nParking, bus: 20 euros",
    "survey form zh": "姓名：陈立\n年龄：34\n职业：木匠\n爱好：钓鱼、下棋\n备注：周末有空",
    "todo by person": "Ana: book the hall\nBob: call the printer\nCem: order chairs\nDora: invite the press",
    "schedule zh": "周一：开会\n周二：写方案\n周三：出差\n周四：出差\n周五：总结",
    "faq": "Q: Where is the key?\nA: Under the mat.\nQ: Is there parking?\nA: Behind the house, free of charge.",
    "faq about oneself": "Q: How do I change my password?\nA: Open your profile and click Security.\nQ: Can I delete my account?\nA: Yes, you can, under Privacy.",
    "faq zh": "问：怎么修改收货地址？\n答：请在订单里点击修改。\n问：多久能退款？\n答：您申请以后三天到账。",
    "steps": "Step 1: remove the screws.\nStep 2: lift the lid, it is heavy.\nStep 1: again, check the screws.\nStep 2: close it.",
    "votes": "Alice: 3 votes\nBob: 5 votes\nAlice: 7 votes\nBob: 4 votes",
    "empty": "",
    "slash": "/new",
}  # fmt: skip


@pytest.mark.parametrize("text", TRANSCRIPTS.values(), ids=TRANSCRIPTS)
def test_talk_of_several_people_is_a_transcript(text: str) -> None:
    assert is_transcript(text)


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_what_only_looks_like_talk_is_none(text: str) -> None:
    assert not is_transcript(text)


@given(st.text(max_size=2000))
def test_any_text_gets_an_answer(text: str) -> None:
    assert not is_transcript(text) or len(text.splitlines()) >= MIN_TURNS


@given(
    st.lists(
        st.sampled_from(["Ann", "Bo", ":", " ", "\n", "12:30", "[", "]", "(", "-", "小陈：", ",", "*", "|", "<"]),
        max_size=400,
    )
)
def test_pieces_of_exports_in_any_order_get_an_answer(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert not is_transcript(text) or (
        text.count("\n") + 1 >= MIN_TURNS and sum(map(len, text.split())) >= MIN_CHARS / 3
    )


def test_the_note_is_stripped_like_the_block() -> None:
    assert fence.strip_blocks(fence.put_before(REPLY_ASSIST, "Nora: hi")) == "Nora: hi"


def test_the_note_asks_for_an_answer() -> None:
    assert REPLY_ASSIST.startswith("<ingest-reply-assist>") and REPLY_ASSIST.endswith("</ingest-reply-assist>")
    assert "NO_REPLY" in REPLY_ASSIST
