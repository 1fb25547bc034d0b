"""How English asks, tells, remembers and feels: the phrases by which the experience gate reads the mood of a sentence.

Lists of phrases are looked up (`vocabulary`), the patterns are for what no list can say. Every repetition is bounded
and every text is short (`signs` cuts it), so the time is bounded too.
"""

import re

from app.core.gate.vocabulary import by_first_word, each, phrases, word_set

LATIN = re.compile(r"[a-z]{2}")
WORD = re.compile(r"[a-z][a-z0-9+./-]*[a-z0-9]")

LET_KNOW = re.compile(r"(?!me\b|us\b)(?:\w+ ){1,5}know\b")

CONVERSATION = re.compile(
    r"\b(?:(?:last|previous|above|these|our) (?:\w+ )?(?:messages|replies|exchanges?|chat|conversation|"
    r"talk|discussion|thread)|"
    r"this (?:chat|conversation|discussion|thread)|(?:what )?we(?:'ve| have)? (?:\w+ )?(?:discussed|said|talked|"
    r"covered|"
    r"agreed|went over)|(?:discussion|conversation|thread) (?:so far|above))\b"
)

LANGUAGES = word_set("""
    arabic chinese czech danish dutch english finnish french german greek hebrew hindi hungarian italian japanese
    korean latin mandarin norwegian polish portuguese romanian russian spanish swedish thai turkish ukrainian
    vietnamese""")
GIVEN_OBJECT = re.compile(
    r"(?:(?:the )?(?:grammar|wording|tone|spelling|style|flow|length) )?(?:of |in )?(?:this|these|that|the following|"
    r"the above|my|the) (?:\w+ )?(?:sentences?|paragraphs?|phrases?|text|passages?|poem|essay|words?|wording|grammar|"
    r"abstract|quote|message)\b"
    r"|(?:this|it|that)(?: (?:to|a|bit|much|little|slightly|way|be|look|read|even|lot|far|more|less))* (?:sound\w*|"
    r"shorter|formal\w*|polite\w*|friendl\w*|simpler|clear\w*|casual\w*|professional\w*|concise\w*|natural\w*|"
    r"readable|"
    r"(?:as|in|into) (?:an? )?(?:poem|haiku|tweet|sentence|paragraph|bullets?|bullet points|english|plain|"
    r"simple)\w*)\b"
)

_YOU = "you, u, ya, we, someone, somebody, anyone, one of you"
_KEENLY = each("i, we", "really, urgently, still, also, just, badly")
_WISHING = "i, we, i'd, we'd, i would, we would"
POLITE = by_first_word(f"""
    {each("can, could, would, will, might", _YOU)},
    {each(_WISHING, each("need, want, like, love, ask", "you to, someone to, somebody to"))},
    {each("i, we", "need, need to, have, have to, want, want to, must, got, got to, gotta, wanna")}, we should,
    {each(_KEENLY, "need, need to, want, want to")},
    {each("i'd, we'd, i would, we would", "like to, love to")}, can i, could i, may i, may we,
    {each("you, u", "could, can, should, need to, must, have to, might want to")},
    would you mind, do you mind, could you mind, mind, how about, how about you, why don't you, why not you,
    let's, let us, lets,
    help me, help us, help me with, help us with, help me out, help us out, go ahead and,
    {each("make sure, be sure", "to, that, you, the, we, it, that the, that you, that we, that it")},
    make sure, be sure,
    do not forget to, don't forget to, try to, try and, try, worth,
    {each("is it possible, would it be possible", "to, for you to, for us to, for me to, for someone to")},
    {each("any chance, any way", each("you, we", "could, can"))}, time to, time we, time you,
    {each("your job, your task, your goal, the goal, the task, the plan, the ask, todo", "is to")},
    {each("i was hoping you, i was wondering if you", "could, can, would, might")}, i was hoping you,
    {each(each("next, last, remaining, first, final", "step, thing, job, item, task, bit"), "is, is to")}""")
"""What an act may stand behind when it is asked for."""
BEFORE_ING = frozenset({"mind", "try", "worth", "how about"})
"""Those of them that a gerund must follow: "mind checking"."""
BEFORE_GET = frozenset({"can i", "could i", "may i", "may we"})
"""Those of them that ask for a thing: "can i get"."""
HOW = ("how", "why", "what", "which", "where", "when", "who")
NOT_IN_QUESTIONS = frozenset({"worth", "time to", "time we", "time you"})
SOFTENERS = by_first_word("""
    please, kindly, also, just, quickly, maybe, possibly, perhaps, help me, help us, go ahead and, try to, now,
    then, to, pls, quick, again, go, all, get someone to, first, either, at least, help, finally, still, be able to,
    be so kind as to, be kind enough to""")
"""What may stand between those and the verb."""
TO_YOU = (
    "can ", "could ", "would ", "will ", "might ", "may ", "help ", "any ", "is it", "mind", "do you mind", "i was",
    "i need you", "i want you", "i'd like you", "i would like you",
)  # fmt: skip
"""How those of them begin that speak to the agent; whatever verb follows is asked of it."""

PLEASE = re.compile(r"\b(?:please|pls|plz)$")

ABILITY = re.compile(r"\b(?:can|could|would|should|do|may|shall) (?:i|they|he|she|it|one|people)\b")

OPENING = by_first_word("""
    so, and, but, ok, okay, hey, hi, also, btw, by the way, quick question, question, curious, wondering, out of
    curiosity, um, well, oh, anyway, good news, update, fyi, yesterday, today, earlier, this morning, last week,
    last night, last month, last year, nevermind, never mind, heads up, phew, all good, haha, between us""")
"""What may stand before a question or a report."""

ASKING = by_first_word("""
    how, why, what, whats, what's, which, who, who's, whose, whom, when, where, where's, how's, why's, is, are, am,
    was, were, does, do, did, has you, has the, have you, have we, have i, have they, has he, has she, has it, has
    anyone, have your, has your, has my, had you, had we, should, shall, may, isn't, aren't, wasn't, doesn't, don't,
    didn't, can i, could i, can it, could it, can they, would it, would they, will it, will there, would a, can a,
    any idea, any thoughts, thoughts, i wonder, i'm wondering, i'm curious, i am curious, can't, won't, wouldn't,
    shouldn't, tell me about, tell me how, tell me why, tell me what, tell me more, tell me something, tell me
    whether, tell me if, in what, in which, at what, for what, since when""")

OPINION = phrases("""
    do you think, do you like, do you prefer, do you believe, do you reckon, do you know, what do you think, your
    opinion, your thoughts, your favorite, your favourite, your view, your take, in your view, would you rather,
    would you prefer, would you say, would you recommend, would you choose, would you use, would you ever, would you
    like, worth it, is it worth, better than, difference between, differences between, pros and cons, tradeoff,
    tradeoffs, trade-off, trade-offs, versus, vs, which is better, what if, does it make sense, make sense to,
    should i, should we, should one""",
    r"\b(?:can|could) you (?:explain|describe|tell|define|speak|understand|recommend|suggest|teach|compare|clarify|"
    r"elaborate|remember|recall|believe|imagine|feel|see|hear|guess|think|name|say|sing)\b",
)  # fmt: skip

_SPOKE = """
    say, said, tell, told, mention, mentioned, talk, talked, discuss, discussed, agree, agreed, decide, decided,
    settle,
    settled, remember, recall, ask, asked, already, ever, suggest, recommend, choose, chose, pick, picked, promise,
    call,
    name, conclude, cover, have, go with, end up, land on, use, do, want, figure, fix, change, pay, make, show"""
PAST_TALK = phrases(f"""
    {each(each("did, have, had, do", "you, we, i"), _SPOKE)}, last time we, last time i, last time you, earlier you,
    earlier we, earlier today you, {each("in our", "last, previous, earlier")}, you said, you just said,
    {each("remind me", "what, which, who, how, why, when, where, again")}""",
    r"\b(?:you|we|i) (?:said|told|mentioned|talked|discussed|agreed|decided|were talking|were discussing|were saying|"
    r"settled|covered|spoke|chatted|came up with|went over|asked|suggested|recommended|chose|picked) (?:\w+ ){0,4}?"
    r"(?:earlier|before|last|yesterday|about|on|me|you|that|previously|ago|to|in)\b|"
    r"remind me, (?:what|which|who|how)\b|what was (?:that|the) (?:\w+ ){0,3}(?:we|you|i)\b",
)  # fmt: skip

FEELING = phrases("""
    i love, i hate, i enjoy, i like, i feel, i miss, i dread, i regret, i can't stand, i am so, i wish, i really
    love, i really hate, i really like, i really enjoy, i really feel, i just love, i just hate, i just feel, i
    honestly love, i kind of like, i kind of feel, i so wish, i'm so, i'm really, i'm very, i'm pretty, i'm kind of,
    i'm a bit, i'm just, i'm feeling, i'm exhausted, i'm tired, i'm happy, i'm sad, i'm glad, i'm worried, i'm
    excited, i'm nervous, i'm bored, i'm stressed, i'm proud, i'm sick, i'm afraid, i'm scared, i'm burned, i'm fed,
    so tired, so happy, so excited, so frustrated, so frustrating, so annoyed, so annoying, so proud, so bored,
    drives me, driving me, makes me, made my day, lol, lmao, haha, hahaha, ugh, sigh, yay, wow, omg, phew, luckily,
    fortunately, at least, glad, relieved, thankfully, awesome, congrats, congratulations, amazing, beautiful,
    hilarious, funny, boring, exhausting, great job, good job, got it, no worries, no problem, sounds good, makes
    sense, noted, sure thing, all good, fair enough, that's ok, that's okay, that's fine, that's great, that's good,
    well done, nice work, nice job, you rock, you're the best, thank you, thanks, thx, cheers, appreciate,
    appreciated, in my opinion, imo, imho, i think, i believe, i guess, honestly, overrated, underrated""")

STORY = phrases("""
    years ago, a year ago, a month ago, months ago, decades ago, back in, at my first, at my old, at my last, at my
    previous, when i was, once upon, once had, used to have, used to work, used to be, funny story, true story,
    guess what, can you believe, believe it or not, you'll enjoy, you'll love, you'll never believe, you'll laugh,
    you won't believe, one day, one night, one friday, one monday, one morning, one summer, one winter, one evening,
    one time, the other day, turns out, turned out, in college, in high school, at university, as a kid, my first
    job, long story, story time, let me tell you, reminds me of, looking back, to this day, back then, ever since""")

CHAT = phrases("""
    joke, jokes, riddle, riddles, limerick, limericks, haiku, haikus, poem, poems, fun fact, fun facts, pun, puns,
    sing me, sing a, song about, make me laugh, make me smile, funny story, bedtime story, horoscope, roast me,
    cheer me up, entertain me, keep me company, let's chat, let's talk, let's play, play a game, trivia, compliment,
    motivate me, motivational, pretend""",
    r"\bif (?:[\w']+ ){1,5}(?:were|was|had|could)\b.{0,60}\bwould (?:you|we|i)\b",
)  # fmt: skip

EXPERIENCE = phrases("""
    best practice, best practices, lesson, lessons, lessons learned, pitfall, pitfalls, gotcha, gotchas, avoid,
    avoiding, last time this, common mistake, common mistakes, same mistake as, same trap as, past experience""")

_GOING = """
    working, loading, starting, responding, showing, syncing, opening, building, compiling, connecting, sending,
    charging, turning, found, printing, updating, triggering, firing"""
FAILURE = phrases(f"""
    {each("not", _GOING)},
    error, errors, exception, exceptions, cut off, stale, outdated, out of date, misaligned, misspelled, mispelled,
    overlap, overlaps, overlapping, flickers, flickering, unreadable, fail, fails, failed, failing, failure,
    failures, crash, crashes, crashed, crashing, broke, broken, breaks, breaking, traceback, stack trace,
    stacktrace, timeout, timeouts, time out, times out, timed out, timing out, hangs, hanging, hung, stuck, freezes,
    freezing, frozen, cannot, unable to, segfault, segfaults, oom, out of memory, panic, panics, deadlock,
    deadlocks, leak, leaks, leaking, leaked, regression, regressions, regressed, corrupt, corrupted, missing, wrong,
    incorrect, incorrectly, bug, bugs, buggy, denied, refused, undefined, null pointer, npe, nan, flaky, slow,
    slowly, laggy, unreachable, offline, down, stopped, stops, no longer, overdue, duplicate, duplicated,
    duplicates, disconnect, disconnects, disconnected, disconnecting, garbled, blank, unresponsive, rejected,
    bounced, bouncing, expired, off by, mismatch, mismatches, mismatched, spike, spikes, spiking, spiked, dropped,
    drops, vanished, disappeared, gone, acting up, weird, throw, throws, throwing, thrown, outage, incident,
    double-booked, double booked, double-charged, double charged, overcharged, at 100%""",
    r"\b[45]\d\d(?= |$|s\b)|\bslower(?! than)"
    r"|(?:doesn|don|didn|won|can|isn|aren|wasn|couldn|hasn|haven)'t (?:\w+ ){0,2}?(?:work|start|open|load|"
    r"connect|log|"
    r"run|build|compile|send|show|sync|respond|boot|install|save|update|print|match|find|get|access|go|come|"
    r"arrive|turn|add|"
    r"play|render|display|reach|trigger|fire|see|sent|receive)",
    unless=("no ", "any ", "zero ", "without ", "not a "),
)  # fmt: skip

HANDOVER = phrases(f"""
    over to you, all yours, it's yours, yours to fix, yours to handle, yours to finish, take it from here, in your
    hands, it's on you, this is on you, that's you, that's on you, this one's on you, this one's yours, same thing
    for, same thing on, same thing in, same thing with, same again for, same procedure for, same treatment for, same
    change for, same change in, same fix for, same fix in, same here for, ditto for, likewise for, be my guest and,
    your turn, do something about, do anything about, anything you can do, anything we can do, anything anyone can
    do, need help, need this, need that, need it, needs a fix, need a fix, needs fixing, needs your help, needs
    attention, needs to work, needs looking, please help, please advise, help please, help with, help debug, help
    fix, help figure, help me debug, help me fix, help me figure, help us fix, any fix, what's wrong, what's broken,
    what is wrong, what is broken, what went wrong, what happened to, what happened with,
    {each("leave it, leave this, leave that, leave them, leave the rest", "to you, with you")},
    can you help, could you help""",
    unless=("i'll ", "i will ", "i can ", "we'll "),
)  # fmt: skip

SPECIFIC_WHY = re.compile(
    r"\b(?:(?:why|how come|where|since when)\b(?: [\w']+){0,4}? (?:the|my|our|this|these|that|their|his|her|it|"
    r"we|i)\b"
    r"|what(?:'s| is| was| are| could be)? (?:\w+ )?(?:wrong|causing|making|eating|breaking|blocking|happening|going "
    r"on|up with|broken|behind|slowing|killing))"
)

MEANING = phrases("""
    mean, means, meaning, stand for, called, define, defined, definition, usually, generally, typically, in general,
    normally""")

_DUE = r"(?:should|must|ha(?:s|ve) to|needs? to|ought to)\b(?! be (?:able|free|fun|good|nice|fine|ok|okay|said|true))"
OUGHT = re.compile(
    r"^(?:the|every|all|each|our|this|that|these|those|its)(?: (?!developers|people|everyone|engineers|companies|"
    rf"programmers|students|kids|teams|men|women|government)[\w'-]+){{1,6}}? {_DUE}"
    r"|^(?:the|our|my|this|that) (?:[\w'-]+ ){0,4}?(?:needs|lacks|is missing|are missing|lack)\b"
    r"|^(?:that|this|it|they|these|those)(?: really| still| also| just)? (?:should|must|has to|have to|needs? to|"
    r"needs an?)\b(?! be | work\b| help\b)"
)
"""How a thing ought to behave, said of what is before us: "every link in the footer should open in a new tab"."""

TAGS = frozenset({"will you", "would you", "can you", "could you", "ok", "okay", "please", "alright", "won't you"})

DUE = re.compile(
    r"\b(?:needs?|has|have|ought|got|must|should|wants?|supposed|still)(?: still| also| now)?(?: to)? be (\w+)|"
    r"\bneeds? (?:a |some )?(\w+ing)\b|\b(?:needs?|wants?) (\w+ed)\b|\b(?:get|have|want|need|like) (?:\w+ "
    r"){1,4}?(\w{3,}ed|sent|rewritten|rebuilt|done|written|set)\b"
)

_GOOD = (
    "be great, be nice, be lovely, be good, be helpful, be useful, be cool, be handy, be really great, be really nice"
)
_IF = each(f"{_GOOD}, help, love it, appreciate it, prefer it, like it", "if")
WANTED = by_first_word(f"""
    {each("i, we", "need, want")}, {each(_KEENLY, "need, want")},
    {each("i'd, i'll, we'd, we'll, i would, we would", "need, want, like, love, take")},
    {each("it would, it'd, i'd, i would, would", _IF)},
    i'd rather, i'd appreciate, looking for, needed, wanted""")
"""How a thing or a change is wished for; not with "to" or "you" behind, which say what is to be done."""
WANTING = word_set("need want")
"""How a clause begins that leaves out who wants."""
CAN_BE = re.compile(r"^(?:can|could) (?:the|our|my|this|these|those|all|every)(?: [\w'-]+){1,5}? be (\w+)")
"""A request in the passive: "can the results be cached"."""

HELD_BACK = phrases(
    "",
    r"\b(?:(?:don't|do not|no need to|never|not to) (?:\w+ )?(?:do|change|touch|deploy|fix|run|send|write|delete|"
    r"edit|book|act|start|make|bother|worry|push|merge|reply|look|need|modify)\b[^.]{0,60}?(?:yet|anything|for now|"
    r"now|today)|hold off|(?:ha(?:ha+)?|lol|lmao|just kidding|\bjk)\W{0,3}$|just (?:wanted|needed) to (?:vent|"
    r"say|share|"
    r"let you know|tell)|just (?:thinking|wondering|curious|venting|saying|sharing|asking|fyi)|no action|nothing to "
    r"do|no need|never ?mind|forget (?:it|about)|not asking you to|"
    r"leave (?:[\w'-]+ ){1,4}(?:alone|as (?:it|they) (?:is|are)))\b",
)

TO_REMEMBER = by_first_word("""
    please, pls, just, also, and, so, ok, okay, hey, btw, can you, could you, always, i want you to, i'd like you
    to, i would like you to""")
REMEMBER = by_first_word("""
    remember, note, keep in mind, bear in mind, know, memorize, memorise, don't forget, make a note, make a mental
    note, mental note, take note, for the record, for your information, for future reference, for context, for next
    time, fyi, just so you know, heads up, from now on, in future, in the future, going forward""")
"""How a fact to keep is introduced, at the start of a sentence."""
IN_PASSING = phrases("""
    just so you know, so you know, just so you have it, for your information, just fyi, in case you need, in case
    you ever need, in case you wonder, in case you ask, keep that in mind""",
    r"\byour (?:answers|replies|responses)\b|\b(?:answer|reply|respond|speak|call me|"
    r"address me)\b.{0,40}\b(?:from now on|in future|always)",
)  # fmt: skip

REMIND = re.compile(
    r"\b(?:remind (?:me|us|him|her|them|everyone|\w+) (?:to|at|in|on|about|tomorrow|tonight|every|before|when|next|"
    r"that|of|by|this|30|15|an)|set (?:a|an|the|me)|wake me)\b"
)

RECAP = phrases("recap, summary, summarization, overview, rundown, gist, translation, tldr, tl")

STORED_TEXT = phrases("""
    file, files, doc, docs, readme, repo, folder, directory, spreadsheet, sheet, pdf, strings, locale, i18n,
    website, site, page, ui, app, transcript, transcripts, recording, ticket, tickets, inbox, emails, report,
    reports, log, logs, issue, issues, pr, prs, wiki, slides, deck, module, function, class, code, script, query,
    sql, config, component, manual, blog, article, draft, contract, changelog, comments""",
    r"\.\w{2,4}\b",
)  # fmt: skip

CODE_SHAPE = re.compile(
    r"`|_(?<=\w_)\w|\((?<=\w\()\)|/(?<=\w/)[\w.-]{1,60}/\w|/(?<!\S/)[\w.-]|/(?<=[~.]/)[\w.-]|-(?<!\S-)-?[a-z][\w-]{2}"
    r"|-(?<=[a-z]-)\d{2,6}\b|#(?<!\S#)\d{1,6}\b|e(?<=\we)(?:rror|xception)\b|://"
)
"""Something in a word that only code, files and addresses have; begins with a fixed mark, so that it is found fast."""

EXTENSION = re.compile(r"\.(?<=\w\.)(\w{1,5})\b")
FILES = word_set("""
    py ts tsx js jsx mjs go rs java kt rb php cs cpp cc hpp sh sql yml yaml toml json ini cfg conf env md txt csv xls
    xlsx doc docx ppt pptx pdf htm html css scss vue ipynb lock log tf proto xml zip tar png jpg jpeg svg""")
"""How the name of a file ends."""

POINTING = re.compile(r"(?:this|these|the following|the above|our|it|that)\b")
TELLING = re.compile(r"(?:me |us )?(?:how|what|why|about|an? example|an? overview|the difference)\b")
"""Behind "show" or "give": an explanation is wanted."""

OTHERS = re.compile(r"(?!me\b|us\b|you\b|yourself|him to|about|a\b|an\b|of\b)[\w']+ ")
"""Behind "tell" or "ask": somebody else is to be told."""
