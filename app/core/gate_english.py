"""English for the experience gate: who is asked to do what, and what is only talked about.

Every word list is closed-class or general vocabulary, by meaning; none comes from a data set. A verb counts
where somebody
is asked to do it: at the start of a clause (imperative), after a polite form ("could you", "I need you to", "would you
mind"), or as something that is due ("needs to be renamed"). Elsewhere it is part of a story or of a question.
"""

import re
from collections.abc import Iterator

from app.core.gate_signs import Found, Sentence, Sign


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SIDE_EFFECT = _words("""
    free strip include exclude embed retire revise refresh reprint relabel retag reindex recalculate refill
    restock replenish
    rearrange reinstate escalate flag nudge warn tighten loosen overwrite pack paste prepend prefix rebrand reconnect
    relaunch reload rent request retry reroute separate shift silence snooze star stream substitute suspend tune
    underline unify unpack unzip wash widen withdraw service deliver activate deactivate reactivate allocate backfill
    bundle centralise centralize chmod chown clip color colour concatenate consolidate customise customize deprecate
    dispatch distribute duplicate enlarge enrol enroll evict finalise finalize fold gzip inject inform launch lengthen
    mirror nominate number offload omit overhaul package paint parameterise parameterize park partition permit photocopy
    preload quarantine recolor recolour recycle redistribute redraw re-enable refile reimburse remap remount renumber
    repaint replicate repost republish requeue reseed reshape resubmit retitle retract reupload re-upload reverse rewire
    sanitise sanitize segment shard shred slice snapshot spawn stamp standardise standardize strengthen style symlink
    trigger truncate uncomment comment unfollow follow unload unplug uppercase lowercase vacate widen zero quit
    write edit modify change amend alter delete remove drop erase wipe purge clear migrate deploy redeploy
    release publish
    unpublish ship configure reconfigure patch add insert append create make generate regenerate set reset setup install
    reinstall uninstall upgrade downgrade update bump rename move relocate copy clone fork merge rebase squash revert
    rollback undo redo commit push tag replace swap convert export import upload download sync synchronise synchronize
    backup restore archive unarchive compress zip unzip extract scale resize restart reboot start stop kill terminate
    shutdown shut enable disable toggle switch grant revoke rotate renew provision register unregister subscribe
    unsubscribe cancel reschedule schedule postpone book rebook reserve order reorder buy purchase pay refund return
    redeem send resend email e-mail mail forward reply respond text message dm notify invite call phone dial post tweet
    share submit assign reassign delegate close reopen open label apply fill draft compose prepare render format
    reformat
    organise organize reorganise reorganize tidy split combine join dedupe deduplicate normalise normalize anonymise
    anonymize redact mask encrypt decrypt populate transfer wire approve decline block unblock mute unmute ban
    unban lock
    unlock dim brighten raise lower increase decrease reduce adjust preheat arm disarm play pause resume queue remind
    alert save store put place attach detach link unlink connect disconnect mount unmount pin unpin bookmark print scan
    sign log record track file design sketch draw turn crop trim rewrite transcribe upload stage unstage stash
    containerise containerize dockerise dockerize prune seed flush invalidate expose redirect route charge invoice bill
    claim dispute donate hire recruit onboard offboard promote demote feed water vacuum charge mow heat clean
    hide unhide highlight freeze unfreeze sort group bold indent collapse expand inline minify obfuscate
    localise localize
    blacklist whitelist throttle pin vendor cut round shorten pad align center centre wrap stub""")

EXECUTION = _words("""
    fix debug test retest build rebuild run rerun implement refactor integrate troubleshoot compile execute launch
    benchmark profile optimise optimize automate port wire hook finish complete resolve solve repair handle
    tackle verify
    validate investigate diagnose trace inspect audit review analyse analyze examine look find search locate figure
    research calculate compute count measure monitor watch crawl scrape fetch pull query grep reproduce bisect document
    plot chart graph reconcile parse mock lint check double-check crosscheck cross-check cover modernise
    modernize rework
    simplify speed harden secure hunt dig scaffold bootstrap code develop program script train retrain finetune
    fine-tune
    evaluate simulate deduct tabulate itemise itemize aggregate correlate sample benchmark stress-test load-test
    smoke-test
    confirm determine identify pinpoint process adapt extend improve correct address patch ensure negotiate arrange sort
    organise plan coordinate track source transpile polyfill annotate type-check typecheck dry-run replay redesign""")

LOOKUP = _words(
    "get grab collect gather list show give compare pick choose read view display see bring pull let have receive "
    "obtain"
)

SAYING = _words("""
    explain describe teach define clarify elaborate tell recommend suggest advise discuss debate imagine guess name
    enlighten educate interpret predict argue rate rank outline brainstorm compare consider picture suppose say""")
"""Verbs whose result is talk: an answer, not an act."""

REWORDING = _words(
    "sum recap translate summarise summarize paraphrase rephrase reword proofread polish condense tldr tl;dr rewrite "
    "recap"
)

_LET_KNOW = re.compile(r"(?!me\b|us\b)(?:\w+ ){1,5}know\b")
_CONVERSATION = re.compile(
    r"\b(?:(?:last|previous|above|these|our) (?:\w+ )?(?:messages|replies|exchanges?|chat|conversation|discussion)|"
    r"this (?:chat|conversation|discussion)|what we (?:\w+ )?(?:discussed|said|talked|covered|agreed)|we (?:just "
    r")?(?:discussed|talked about|covered|went over)|(?:discussion|conversation) (?:so far|above))\b"
)
EFFECTIVE_REWORDING = _words("rewrite polish condense")
"""Verbs that rework text only if their object says so: one rewrites a module too."""

_GIVEN_OBJECT = re.compile(
    r"(?:(?:the )?(?:grammar|wording|tone|spelling|style|flow|length) )?(?:of |in )?(?:this|these|that|the following|"
    r"the above|my|the) "
    r"(?:\w+ )?(?:sentences?|paragraphs?|phrases?|text|passages?|poem|essay|words?|wording|grammar|abstract|quote|"
    r"message)\b"
    r"|(?:this|it|that)(?: \w+){0,3} (?:more|less|as an?|in an?|into|so that|so it|sound|shorter|formal\w*|polite\w*|"
    r"friendl\w*|simpler|clear\w*)\b"
)
REMEMBERING = _words("remember note memorise memorize know recall bear keep fyi btw")

PHRASAL = {
    "set": ("up",), "roll": ("back", "out", "forward"), "spin": ("up", "down"), "do": ("the same", "the rest", "it for", "that for", "this for", "a dry", "a full", "a quick", "something about"), "take": ("offline", "live", "it from here", "this over", "a look", "care of", "down", "over", "out", "screenshots", "a screenshot", "a backup", "a snapshot", "notes"),
    "look": ("into", "at", "up", "for", "through", "over"), "dig": ("into",), "sort": ("out",), "clean": ("up",), "go": ("through", "over", "ahead"),
    "have": ("a look", "a go", "someone"), "get": ("rid of",), "follow": ("up",), "sign": ("up", "me up", "us up"), "put": ("together", "in"), "bring": ("up", "back", "down"),
    "tear": ("down",), "scale": ("up", "down"), "back": ("up",), "throw": ("out", "away"), "work": ("out", "on", "through"), "write": ("up",), "draw": ("up",),
    "check": ("in",), "chase": ("up",), "pick": ("up",), "ping": ("",), "hook": ("up",), "cut": ("a",), "kick": ("off",), "hand": ("over",), "come": ("up",), "stand": ("up",),
    "carry": ("out",), "stick": ("it", "this"), "pull": ("up", "out"), "rip": ("out",), "see": ("why", "what's wrong", "what is wrong", "if", "whether"), "track": ("down",), "break": ("up", "down", "out", "into"), "knock": ("up", "together"),
    "map": ("out",), "mark": ("",), "fire": ("off", "up"), "reach": ("out",), "drop": ("a",), "let": ("everyone know", "the team know"),
}  # fmt: skip
"""Verbs that are an act together with the particle (or, with an empty one, whatever follows)."""

_LEAD = _words("""
    please pls plz kindly ok okay hey hi hello yo now then so also and but next first firstly second secondly
    third finally
    lastly just alright right well actually oh quick quickly again afterwards plus yes yeah yep sure great cool
    thanks thx
    otherwise maybe perhaps instead once meanwhile immediately simply either step todo task or ps hmm urgent
    asap guys team
    today tomorrow tonight bot assistant agent claude buddy mate sorry still 1 2 3 4 5 6 1. 2. 3. 1) 2) 3) • - * [ ]""")

_POLITE = re.compile(
    r"(?:\b(?:can|could|would|will|might) (?:you|u|ya|we|someone|somebody|anyone|one of you)"
    r"|\b(?:i|we)(?:'d| would)? (?:need|want|like|love|ask) (?:you|someone|somebody) to"
    r"|\b(?:i|we) (?:need|have|want|must|got|gotta|wanna|should)(?: to)?\b"
    r"|\b(?:i|we)(?:'d| would) like to"
    r"|\b(?:you|u) (?:could|can|should|need to|must|have to|might want to)\b"
    r"|\b(?:would|do|could) you mind\b|\bmind(?= \w+ing\b)|\b(?:how about|why don't|why not) you\b|\bhelp (?:me|"
    r"us)\b(?: to| with| out)?|\blet's\b|\blet us\b|\blets\b"
    r"|\bgo ahead and\b|\bmake sure(?: to| that| you| the| we| it)*|\bbe sure to\b|\b(?:do not|don't) forget to\b|"
    r"\btry (?:to|and)\b"
    r"|\b(?:is it|would it be) possible (?:for (?:you|us|me|someone) )?to\b|\bany (?:chance|way) (?:you|we) (?:could|"
    r"can)\b|\bit's time to\b|\btime to\b"
    r"|\byour (?:job|task|goal|mission) (?:is|will be) to\b|\b(?:the )?(?:goal|task|todo|plan|ask) is to\b|\bi was "
    r"hoping you\b|\b(?:next|last|remaining|first|final) (?:step|thing|job|item|task|bit) is(?: to)?\b|\b(?:can|"
    r"could|may) (?:i|we)(?= (?:get|have)\b))"
    r"(?: (?:please|kindly|also|just|quickly|maybe|possibly|perhaps|help me|help us|go ahead and|try to|now|then|to|"
    r"pls|quick|again|go|all|get someone to|first|either|at least|help))*"
)
_LATIN = re.compile(r"[a-z]{2}")
_CJK = re.compile(r"[\u3400-\u9fff]")
_YOU = (
    "can ",
    "could ",
    "would ",
    "will ",
    "might ",
    "help ",
    "any ",
    "is it",
    "would it",
    "mind",
    "do you mind",
    "i was",
)
_PLEASE = re.compile(r"\b(?:please|pls|plz)$")
EVIDENCE = 40
_ABILITY = re.compile(r"\b(?:can|could|would|should|do|may|shall) (?:i|they|he|she|it|one|people)\b")
_HOW_TO = re.compile(
    r"\b(?:how|why|when|where|what|which|who|whether|if)(?: \w+){0,2}? (?:can|could|would|should|do|does|did|will|to|"
    r"might|is|are)\b"
    r"|\b(?:best|right|proper|good|easiest|correct|recommended|idiomatic|safe|cleanest|simplest|preferred|common|"
    r"standard) (?:way|practice|approach|method|time|place)\b"
)
_ASKING = re.compile(
    r"^(?:(?:so|and|but|ok|okay|hey|hi|also|btw|by the way|just|quick question|question|curious|wondering|out of "
    r"curiosity|um|well|oh)[ ,]+)*"
    r"(?:how|why|what|whats|what's|which|who|who's|whose|whom|when|where|where's|how's|why's|is|are|am|was|were|does|"
    r"do|did|(?:has|have|had) (?:you|we|i|they|he|she|it|anyone|anybody|the|your|my)|should|shall|may|"
    r"isn't|aren't|wasn't|doesn't|don't|didn't|can i|could i|can it|could it|can they|would it|would they|will it|"
    r"will there|would a|can a|any idea|any thoughts|thoughts|"
    r"i wonder|i'm wondering|i'm curious|i am curious|do you think|can't|won't|wouldn't|shouldn't|tell me (?:about|"
    r"how|why|what|more|something|whether|if))\b"
)
_OPINION = re.compile(
    r"\b(?:do you (?:think|like|prefer|believe|reckon|know)|what do you think|your (?:opinion|thoughts|favou?rite|"
    r"view|take)|in your (?:view|opinion)|would you (?:rather|prefer|say|recommend|choose|use|ever|like)|"
    r"worth it|is it worth|better than|difference between|differences between|pros and cons|trade-?offs?|versus|"
    r"vs\.?|which is better|what if|does it make sense|make sense to|should (?:i|we|one)|"
    r"can you (?:explain|describe|tell|define|speak|understand|recommend|suggest|teach|compare|clarify|elaborate|"
    r"remember|recall|believe|imagine|feel|see|hear|guess|think|name|say|sing))\b"
)
_PAST_TALK = re.compile(
    r"\b(?:(?:did|have|had|do) (?:you|we|i) (?:\w+ )?(?:say|said|tell|told|mention|mentioned|talk|talked|discuss|"
    r"discussed|agree|agreed|decide|decided|settle|settled|remember|recall|ask|asked|already|suggest|recommend|"
    r"choose|chose|pick|picked|promise|call|name|conclude|cover|have|go with|end up|land on|use|do|want|figure|fix|"
    r"change|pay|make|show)"
    r"|(?:you|we|i) (?:said|told|mentioned|talked|discussed|agreed|decided|were talking|were discussing|were saying|"
    r"settled|covered|spoke|chatted|came up with|went over|asked|suggested|recommended|chose|picked) (?:\w+ "
    r"){0,4}?(?:earlier|before|last|yesterday|about|on|me|you|that|previously|ago|to|in)\b"
    r"|last time (?:we|i|you)|remind me (?:what|which|who|how|why|when|where|again)|earlier (?:you|we|today you)|in "
    r"our (?:last|previous|earlier)|what was (?:that|the) (?:\w+ ){0,3}(?:we|you|i)\b|you (?:just )?said)"
)
_NARRATION = re.compile(
    r"^(?:(?:so|and|but|ok|okay|well|also|anyway|btw|good news|update|fyi|just|yesterday|today|earlier|this morning|"
    r"last (?:week|night|month|year)|finally|never ?mind|hey|heads up|phew|all good)[ ,]+)*"
    r"(?:(?:i|we|he|she|they|it|you|someone|my \w+|the \w+|our \w+|the \w+ \w+|everything|all \w+)(?:'ve|'s| have| "
    r"has|'re|'m| was| were| had| am)?(?: \w+ly| just| already| finally| also| been| now| both| all| only)* "
    r"(?:(?!need|feed|speed|exceed|proceed|seed|embed)\w{2,}ed|did|went|got|made|sent|wrote|took|found|ran|built|"
    r"bought|paid|put|set|came|saw|gave|told|said|thought|felt|had|was|were|began|broke|chose|drove|fell|flew|forgot|"
    r"kept|left|lost|met|read|rebuilt|reran|shut|slept|spent|spoke|stood|won|done|gone|been|seen|written|taken|given|"
    r"works|passes|runs|looks|is (?:done|fixed|live|green|fine|good|ready|up|back|working|resolved|finished|deployed|"
    r"merged|complete|over|passing|online|now|great|perfect|so)|are (?:done|green|passing|fine|up|all|back|working|"
    r"live|ready|good)|being|working|going|doing|using|learning|reading|building|trying|watching|thinking|playing|"
    r"moving)\b"
    r"|(?:just|finally|already) (?:(?!need|feed|speed|exceed|proceed|seed|embed)\w{2,}ed|did|went|got|made|sent|"
    r"wrote|took|found|ran|built|bought|paid|put|set|came|back)\b|(?:i|we)(?:'ve|'m)\b|(?:i|we) (?:use|used|usually|"
    r"always|never|often|prefer|like|love|hate|enjoy|work|live|think|believe|guess|feel|hope|wish|wonder|know|tend|"
    r"am)\b|(?:i|we)(?:'ll| will|'m going to|'re going to| am going to| are going to|'m gonna|'m about to)\b|my \w+ "
    r"(?:is|are|was|loves|likes|works|lives)\b)"
)
_FEELING = re.compile(
    r"\b(?:i (?:really |just |honestly |kind of |kinda |so )*(?:love|hate|enjoy|like|feel|miss|dread|regret|can't "
    r"stand|am so|wish)|i'm (?:so|really|very|pretty|kind of|a bit|just|feeling|exhausted|tired|happy|sad|glad|"
    r"worried|excited|nervous|bored|stressed|proud|sick|afraid|scared|burned|fed)|"
    r"so (?:tired|happy|excited|frustrat\w+|annoy\w+|proud|bored)|drives me|driving me|makes me|made my day|lol|lmao|"
    r"haha+|ugh|sigh|yay|wow|omg|phew|luckily|fortunately|at least|glad|relieved|thankfully|awesome|congrat\w*|"
    r"amazing|beautiful|hilarious|funny|boring|exhausting|great job|good job|got it|no worries|no problem|sounds "
    r"good|makes sense|noted|sure thing|all good|fair enough|that's (?:ok|okay|fine|great|good)|well done|nice work|"
    r"nice job|you rock|you're the best|thank you|thanks|thx|cheers|appreciate|in my opinion|imo|imho|i think|i "
    r"believe|i guess|i feel|honestly|overrated|underrated)\b"
)
_STORY = re.compile(
    r"\b(?:years ago|(?:a|one|two|many|some) (?:years?|months?|decades?) ago|back in|at my (?:first|old|last|"
    r"previous)|when i was|once upon|once had|used to (?:have|work|be)|funny story|true story|guess what|can you "
    r"believe|believe it or not|"
    r"you'll (?:enjoy|love|never believe|laugh)|you won't believe|one (?:day|night|friday|monday|morning|summer|"
    r"winter|evening|time)\b(?!s)|the other day|turns out|turned out|in college|in high school|at university|as a "
    r"kid|my first job|long story|story time|let me tell you|reminds me of|looking back|to this day|back then|ever "
    r"since)\b"
)
_CHAT = re.compile(
    r"\b(?:jokes?|riddles?|limericks?|haikus?|poems?|fun fact|puns?|sing me|sing a|song about|make me (?:laugh|"
    r"smile)|good (?:morning|night|evening|afternoon)|how are you|how's it going|what's up|bedtime story|horoscope|"
    r"roast me|cheer me up|entertain me|keep me company|let's (?:chat|talk|play)|play a game|trivia|compliment|"
    r"motivat\w+|pretend)\b"
)
_EXPERIENCE = re.compile(
    r"\b(?:best practices?|lessons?(?: learned)?|pitfalls?|gotchas?|avoid(?:ing)?|last time this|common mistakes?|"
    r"same (?:mistake|trap) as|past experience)\b"
)
_FAILURE = re.compile(
    r"\b(?<!no )(?<!any )(?<!zero )(?<!without )(?:errors?|exceptions?|cut off|stale|outdated|out of date|misaligned|"
    r"misspell?ed|overlap(?:s|ping)?|flicker(?:s|ing)|unreadable|fail(?:s|ed|ing|ure|ures)?|crash(?:es|ed|ing)?|"
    r"broken?|breaks|broke|breaking|traceback|stack ?trace|time[sd]?[ -]?out|timing out|timeouts?|hangs|hanging|hung|"
    r"stuck|freez(?:es|ing)|frozen|"
    r"[45]\d\d(?= |$|s\b)|not (?:working|loading|starting|responding|showing|syncing|opening|building|compiling|"
    r"connecting|sending|charging|turning|found|printing|updating|triggering|firing)|(?:doesn|don|didn|won|can|isn|"
    r"aren|wasn|couldn|hasn|haven)'t (?:\w+ ){0,2}?(?:work|start|open|load|connect|log|run|build|compile|send|show|"
    r"sync|respond|boot|install|save|update|print|match|find|get|access|go|come|arrive|arrived|turn|add|play|render|"
    r"display|reach|trigger|fire|see|sent|received|working|loading|running)\w*|"
    r"cannot|unable to|segfaults?|oom|out of memory|panics?|deadlocks?|leak(?:s|ing|ed)?|regressions?|regressed|"
    r"corrupt(?:ed)?|missing|wrong|incorrect\w*|bugs?|buggy|denied|refused|undefined|null pointer|npe|nan|flaky|"
    r"slow(?:ly)?|slower(?! than)|laggy|unreachable|offline|down|stopped|stops|no longer|overdue|duplicated?|"
    r"duplicates|disconnect(?:s|ed|ing)|garbled|blank|unresponsive|rejected|bounced|bouncing|expired|off by|"
    r"mismatch(?:es|ed)?|spik(?:e|es|ing|ed)|dropped|drops|vanished|disappeared|gone|acting up|weird|throws?|"
    r"throwing|thrown|outage|incident|double[- ](?:booked|charged)|overcharged|at 100%)\b"
)
_HANDOVER = re.compile(
    r"\b(?:over to you|all yours|it's yours|yours to (?:fix|handle|finish)|take it from here|leave (?:it|this|that|"
    r"them|the rest) (?:to|with) you|(?:it|this|that|one)'s on you|in your hands|same (?:thing|again|procedure|"
    r"treatment|change|fix|here) (?:for|on|in|with|to)|ditto for|likewise for|be my guest and|your turn|anything "
    r"(?:you|we|anyone) can do|do (?:something|anything) about|need (?:it|this|that|them) (?:working|fixed|up|"
    r"running|back|done|sorted|gone|resolved|ready|live|online)|"
    r"needs? (?:a fix|fixing|your help|attention|to work|looking)|need (?:this|it|that|help)|please (?:help|advise)|"
    r"help(?: me| us)? (?:with|please|debug|fix|figure)|any (?:fix|ideas what|idea what's|idea why)|what's (?:wrong|"
    r"going on|broken)|what is (?:wrong|going on)|what went wrong|what happened (?:to|with)|can you help|could you "
    r"help|help!)\b"
    r"|(?<!did )(?<!we )(?:^|, |\band |\byou |\bplease |\bpls )(?:(?:take|have) (?:a|another) look|look into|look at "
    r"(?:it|this|that|what)|figure (?:it|this|that) out|find out|get to the bottom|sort (?:it|this|that) out|deal "
    r"with (?:it|this)|fix (?:it|this|that|please))\b"
)
_SPECIFIC_WHY = re.compile(
    r"\b(?:(?:why|how come|where|since when)\b(?: [\w']+){0,4}? (?:the|my|our|this|these|that|their|his|her|it|we|i)\b"
    r"|what(?:'s| is| was| are| could be)? (?:\w+ )?(?:wrong|causing|making|eating|breaking|blocking|happening|going "
    r"on|up with|broken|behind|slowing|killing))"
)
_MEANING = re.compile(
    r"\b(?:mean|means|meaning|stand for|called|defined?|definition|usually|generally|typically|in general|normally)\b"
)
_OUGHT = re.compile(
    r"^(?:the|every|all|each|our|this|that|these|those|its)(?: (?!developers|people|everyone|engineers|companies|"
    r"programmers|students|kids|teams|men|women|government)[\w'-]+){1,6}? "
    r"(?:should|must|has to|have to|needs? to|ought to)\b(?! be (?:able|free|fun|good|nice))"
    r"|^(?:the|our|my|this|that) (?:[\w'-]+ ){1,4}?(?:needs|lacks|is missing|are missing|lack)\b"
)
"""How a thing ought to behave, said of what is before us: "every link in the footer should open in a new tab"."""
_TAGS = frozenset({"will you", "would you", "can you", "could you", "ok", "okay", "please", "alright", "won't you"})
_DUE = re.compile(
    r"\b(?:needs?|has|have|ought|got|must|should|wants?|supposed|still)(?: still| also| now)?(?: to)? be (\w+)|"
    r"\bneeds? (?:a |some )?(\w+ing)\b|\b(?:needs?|wants?) (\w+ed)\b|\b(?:get|have|want|need|like) (?:\w+ "
    r"){1,4}?(\w{3,}ed|sent|rewritten|rebuilt|done|written|set)\b"
)
_WANTED = re.compile(
    r"\b(?:i|we) (?:need|want)\b(?! to\b| you\b)|\b(?:i|we)(?:'d| would|'ll| will) (?:need|want|like|take)\b(?! to\b|"
    r" you\b)"
    r"|\blooking for\b|\bneed(?:ed)?:|\bwanted:|^need\b|^want\b"
)
_HELD_BACK = re.compile(
    r"\b(?:(?:don't|do not|no need to|never|not to) (?:\w+ )?(?:do|change|touch|deploy|fix|run|send|write|delete|"
    r"edit|book|act|start|make|bother|worry|push|merge|reply|look|need|modify)\b[^.]{0,60}?(?:yet|anything|for now|"
    r"now|today)|hold off|(?:haha+|lol|lmao|just kidding|\bjk)\W{0,3}$|just (?:wanted|needed) to (?:vent|say|share|"
    r"let you know|tell)|just (?:thinking|wondering|curious|venting|saying|sharing|asking|fyi)|no action|nothing to "
    r"do|no need|never ?mind|forget (?:it|about)|not asking you to)\b"
)
_REMEMBER = re.compile(
    r"\b(?:just so you know|for your information|so you know|just fyi|in case you (?:ever )?(?:need|wonder|ask|"
    r"order))\b|^(?:(?:please|pls|just|also|and|so|ok|okay|hey|btw|can you|could you|always)[ ,]+)*(?:(?:remember|"
    r"note|keep in mind|bear in mind|know|memori[sz]e|don't forget|make a (?:mental )?note|mental note|take note|for "
    r"(?:the record|your information|future reference|context|next time)|fyi|just so you know|heads up|from now on|"
    r"in future|in the future|going forward)\b(?! to\b)|(?:i want|i'd like|would like) you to (?:remember|know))"
)
_REMIND = re.compile(
    r"\b(?:remind (?:me|us|him|her|them|everyone|\w+) (?:to|at|in|on|about|tomorrow|tonight|every|before|when|next|"
    r"that|of|by|this|30|15|an)|set (?:a|an|the|me)|wake me)\b"
)
_EXISTING = re.compile(
    r"\b(?:this (?:chat|conversation|discussion|thread|session|paragraph|sentence|text|email|message|phrase|passage|"
    r"article|poem|abstract|word|line)|(?:our|the) (?:chat|conversation|discussion|session)|above|so far|what we|"
    r"following|these (?:sentences|lines|words|paragraphs|notes)|everything we|into (?:\w+ )?(?:english|chinese|"
    r"french|german|spanish|japanese|korean|italian|russian|portuguese|arabic|mandarin|dutch|latin)|to (?:english|"
    r"chinese|french|german|spanish|japanese|korean|italian|russian|portuguese|arabic|mandarin)|in (?:plain|simple|"
    r"one|two|three|your own|\d+) \w+)\b|“”|``"
)
_RECAP = re.compile(r"\b(?:recap|summary|summarization|overview|rundown|gist|translation|tl;?dr)\b")
_STORED_TEXT = re.compile(
    r"\b(?:files?|docs?|readme|repo|folder|directory|spreadsheet|sheet|pdf|strings|locale|i18n|website|site|page|ui|"
    r"app|transcripts?|recording|tickets?|inbox|emails|reports?|logs?|issues?|prs?|wiki|slides|deck|deck|module|"
    r"function|class|code|script|query|config|component|manual|contract|changelog|comments)\b|\.\w{2,4}\b"
)
_AUX = _words("""
    is are was were has have had will would did does do can could should keeps kept failed fails works worked takes took
    looks look seems seem got gets sounds sucks rocks goes went came comes isn't aren't wasn't doesn't didn't
    won't can't
    passed passes broke breaks finished crashed hangs stopped stops needs runs ran feels matters means helps
    makes made""")
_ADJECTIVES = _words(
    "cool clean clear correct complete open close dim secure sort fine slow level narrow round even better lower"
)
_DETERMINERS = _words(
    "the a an my our your his her its their this these those all every each both some any it them me us him"
)
_RELATIVE = _words(
    "that which what who why if whether how when where while because so until after before as and then once unless "
    "whatever but"
)
OBJECT_WORDS = _words("""
    docker dockerfile docker-compose postgres postgresql mongo mongodb regex regexp auth oauth authentication webpage
    ansible api app aws azure back-end backend banner bash branch branches bucket build button cache cargo cd cell
    cert certificate changelog checkout ci ci/cd class classes cluster code codebase column commit compiler
    component config configuration container cpu crawler cron cronjob crontab css csv daemon dashboard database
    dataframe dataset db dependencies dependency deploy deployment disk django dns dockerfile docs documentation
    domain drop-down dropdown ec2 embedding endpoint env environment eslint excel extension firewall flag flask font
    footer form formula front-end frontend function gcp git github gitlab golang gpu gradle header helm homepage
    hook html http icon image import index indexes issue java javascript jest jira json k8s kafka kubernetes lambda
    laptop layout link linter linux lock log login macos makefile maven memory menu merge method migration modal
    model module mr mypy mysql navbar nginx node node.js nodejs notebook npm package parser payment pip pipeline pivot
    plugin pod popup port pr printer process prod production proxy pytest python queries query queue ram react
    readme redis release repo repositories repository router rust s3 schema scraper script search secret sensor
    server service shell sidebar signup site socket spreadsheet sql sqlite ssh ssl staging tab table terraform test
    thermostat thread ticket tls token toml tool toolbar tooltip typescript typo ubuntu url variable version vite
    vpn vue webhook webpack website wi-fi widget wifi windows workbook worker yaml yarn""")
_WORD = re.compile(r"[a-z][a-z0-9+./-]*[a-z0-9]")
_CODE_SHAPE = re.compile(
    r"``|`[^`\n]{1,120}`|\b[\w-]{1,60}\.(?:py|ts|tsx|js|jsx|mjs|go|rs|java|kt|rb|php|cs|cpp|cc|hpp|sh|sql|ya?ml|toml|"
    r"json|ini|cfg|conf|env|md|txt|csv|xlsx?|docx?|pptx?|pdf|html?|css|scss|vue|ipynb|lock|log|tf|proto|xml|zip|tar|"
    r"png|jpe?g|svg)\b"
    r"|(?:^|\s)[~.]{0,2}/[\w.-]{1,60}(?:/[\w.-]{1,60}){0,12}|\b[\w-]{1,60}/[\w.-]{1,60}/[\w./-]{1,120}|"
    r"\b[a-z]\w{0,60}_\w{1,60}\b|\b\w{1,60}\(\)|(?:^|\s)--?[a-z][\w-]{2,30}|(?:^|\s)#\d{1,6}\b|"
    r"\b[a-z]{2,8}-\d{2,6}\b|\b\w{1,40}(?:error|exception)\b|https?://"
)
THING_WORDS = _words("""
    account agenda alarm appointment backlog bill blinds booking budget bus calendar camera candidate car chart
    checklist client contact contract customer cv deck deliveries delivery dentist diagram doc doctor document door
    email estimate expense figures flight flyer folder form garage graph groceries heating hotel interview inventory
    invoice itineraries itinerary lamp lead letter light list logo meeting membership memo minutes mockup music nda
    newsletter notes numbers order oven package parcel passport payment payroll photo plan playlist plumber post
    poster presentation price proposal questionnaire quote receipt reminder rent rental report reservation
    restaurant resume revenue roadmap room sales schedule seat shipment shopping slides slot song standup stock
    subscription supplier survey sync table tax taxes taxi temperature template thermostat thumbnail ticket timeline
    timer train tv tweet uber vacuum vendor vet video visa volume wireframe""")


_NO_TERSE = {Sign.SIDE_EFFECT, Sign.EXECUTION, Sign.KNOWLEDGE, Sign.GIVEN_TEXT, Sign.CHAT, Sign.PAST_TALK}


def read(sentence: Sentence) -> Iterator[Found]:
    """The signs in the English of one sentence."""
    if not _LATIN.search(sentence.text):
        return
    text = sentence.text
    asks = sentence.asks and sentence.clauses[-1] not in _TAGS
    found = [*_about(text, asks), *(item for clause in sentence.clauses for item in _asked(clause, asks))]
    yield from found
    if any(map(_PLEASE.search, sentence.clauses)) and not any(item.sign in _NO_TERSE for item in found):
        yield from _terse(text)


def objects(text: str) -> Iterator[Found]:
    """Things named anywhere: engineering objects, everyday objects, failures, experience. ``text`` is lower case."""
    words = _WORD.findall(text)
    for sign, shown in ((Sign.OBJECT, _named(words, OBJECT_WORDS)), (Sign.THING, _named(words, THING_WORDS))):
        if shown:
            yield Found(sign, shown)
    for sign, pattern in ((Sign.OBJECT, _CODE_SHAPE), (Sign.FAILURE, _FAILURE), (Sign.EXPERIENCE, _EXPERIENCE)):
        if match := pattern.search(text):
            yield Found(sign, match[0].strip())


def _named(words: list[str], names: frozenset[str]) -> str | None:
    """The first of ``words`` that is one of ``names``, in the singular or with an s."""
    return next((word for word in words if word in names or (word[-1] == "s" and word[:-1] in names)), None)


def _about(text: str, asks: bool) -> Iterator[Found]:
    """What the sentence as a whole is: talk, question, story, reminder, feeling."""
    for sign, pattern in ((Sign.CHAT, _CHAT), (Sign.PAST_TALK, _PAST_TALK), (Sign.REMEMBER, _REMEMBER),
                          (Sign.NARRATION, _NARRATION), (Sign.STORY, _STORY), (Sign.FEELING, _FEELING), (Sign.HELD_BACK, _HELD_BACK)):  # fmt: skip
        if match := pattern.search(text):
            yield Found(sign, match[0])
    if match := _HANDOVER.search(text):
        yield Found(Sign.HANDOVER, match[0])
    about = _MEANING.search(text)
    polite = _POLITE.search(text)
    question = (None if polite and polite.start() < 16 else _ASKING.search(text)) or _OPINION.search(text)
    if question and _FAILURE.search(text) and _SPECIFIC_WHY.search(text) and not (about or _ABILITY.search(text)):
        yield Found(Sign.HANDOVER, question[0])
    elif question or (asks and not polite):
        yield Found(Sign.KNOWLEDGE, question[0] if question else text[-20:])


def _asked(clause: str, asks: bool) -> Iterator[Found]:
    """The acts that this clause asks for."""
    if _REMIND.search(clause) and not _PAST_TALK.search(clause):
        yield Found(Sign.SIDE_EFFECT, clause)
    for match in _POLITE.finditer(clause):
        before = clause[: match.start()].split()
        if (
            before
            and before[-1] in {"how", "why", "what", "which", "where", "when", "who", "if"}
            and before[-1] != "if"
        ):
            continue
        rest = clause[match.end() :]
        acts = list(_act(rest.split(), polite=True))
        if match[0].startswith(_YOU) and (acts or not rest.isascii()):
            yield Found(Sign.ADDRESSED, match[0])
        yield from acts
    if _CJK.search(clause):
        return
    words = clause.split()
    if not words:
        return
    start = _lead(words)
    if (not asks and not _is_noun(words, start)) or (
        asks and words[start : start + 1] and words[start] in EXECUTION and not _is_noun(words, start)
    ):
        yield from _act(words[start:], polite=False)
    for index, word in enumerate(() if words[start] in SAYING or "between" in words else words):
        if (
            word in {"and", "then", "&", "or", "but"}
            and 0 < index < len(words) - 1
            and (not asks or _POLITE.search(clause))
        ):
            after = _lead(words[index:]) + index
            if not _is_noun(words, after) and not _is_noun(words, start):
                yield from _act(words[after:], polite=False)
    if not asks and (match := _OUGHT.search(clause)):
        yield Found(Sign.EXECUTION, match[0])
    for match in _DUE.finditer(clause):
        verb = base(next(group for group in match.groups() if group))
        if verb and not asks:
            yield from _act([verb], polite=True)
            if verb in LOOKUP:
                yield Found(Sign.EXECUTION, match[0])
    if not asks and (match := _WANTED.search(clause)):
        yield Found(Sign.LOOKUP, match[0])
        yield Found(Sign.REQUEST, match[0])


def _terse(clause: str) -> Iterator[Found]:
    """A request without a verb: "logo bigger on mobile, please"."""
    if thing := _named(_WORD.findall(clause), THING_WORDS | OBJECT_WORDS):
        yield Found(Sign.LOOKUP, clause)
        yield Found(Sign.THING, thing)
    yield Found(Sign.ADDRESSED, clause[-EVIDENCE:])


def _act(words: list[str], *, polite: bool) -> Iterator[Found]:
    """The act whose verb stands first in ``words``."""
    if not words:
        return
    if words[:2] == ["for", "you"]:
        words = words[2:]
    if not words:
        return
    verb = words[0].strip("*_:;.()[]“”\"'")
    if verb not in _VERBS and polite:
        verb = base(verb) or verb
    rest = " ".join(words[1:])
    evidence = " ".join(words)
    if verb == "let" and _LET_KNOW.match(rest):
        yield Found(Sign.SIDE_EFFECT, evidence)
        yield Found(Sign.REQUEST, evidence)
        return
    if _GIVEN_OBJECT.match(rest):
        yield Found(Sign.GIVEN_TEXT, evidence)
        return
    if verb in LOOKUP | {"put", "turn", "condense", "list", "write", "make", "collect"} and _CONVERSATION.search(rest):
        yield Found(Sign.GIVEN_TEXT, evidence)
        return
    if verb in REWORDING:
        stored = (
            verb in EFFECTIVE_REWORDING
            or _STORED_TEXT.search(rest)
            and not re.match(r"(?:this|these|the following|the above|our|it|that)\b", rest)
        )
        yield Found(Sign.EXECUTION if stored else Sign.GIVEN_TEXT, evidence)
        if not stored:
            return
    elif verb in PHRASAL and any(not p or rest.startswith(p) or f" {p}" in f" {rest}"[:40] for p in PHRASAL[verb]):
        yield Found(Sign.SIDE_EFFECT if verb in SIDE_EFFECT else Sign.EXECUTION, evidence)
    elif verb in SIDE_EFFECT:
        yield Found(Sign.SIDE_EFFECT, evidence)
    elif verb in EXECUTION:
        yield Found(Sign.EXECUTION, evidence)
    elif verb in LOOKUP and _RECAP.search(rest):
        yield Found(Sign.GIVEN_TEXT, evidence)
        return
    elif verb in LOOKUP and not re.match(
        r"(?:me |us )?(?:how|what|why|about|an? example|an? overview|the difference)\b", rest
    ):
        yield Found(Sign.LOOKUP, evidence)
    elif verb in SAYING or verb in LOOKUP:
        yield Found(Sign.KNOWLEDGE, evidence)
        return
    else:
        return
    yield Found(Sign.REQUEST, evidence)


def _lead(words: list[str]) -> int:
    """Where the clause really starts, after "ok, now please"."""
    index = 0
    while index < len(words) - 1 and (words[index].strip(",.!:") in _LEAD or words[index].startswith("@")):
        index += 1
    return index


def _is_noun(words: list[str], start: int) -> bool:
    """True when the first word is the subject of a statement: "test coverage is down", "build failed"."""
    if words[start + 1 : start + 2] and words[start + 1] in _DETERMINERS:
        return False
    for word in words[start + 1 : start + 5]:
        if word in _RELATIVE:
            return False
        if word in _AUX:
            return True
    return False


_VERBS = SIDE_EFFECT | EXECUTION | LOOKUP | SAYING | REWORDING | frozenset(PHRASAL)
ACTS = SIDE_EFFECT | EXECUTION
_IRREGULAR = {
    "sent": "send", "brought": "bring", "redone": "redo", "rewritten": "rewrite", "broken": "split", "kept": "save", "shown": "show", "given": "give", "hidden": "hide", "written": "write", "rewritten": "rewrite", "built": "build", "rebuilt": "rebuild", "paid": "pay", "put": "put", "set": "set", "made": "make",
    "found": "find", "taken": "take", "bought": "buy", "drawn": "draw", "split": "split", "run": "run", "cut": "cut", "shut": "shut", "done": "complete",
}  # fmt: skip


def base(word: str) -> str | None:
    """The base form of a known verb given as ``-ed``, ``-ing`` or irregular participle; None for an unknown one."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending in ("ed", "ing", "d", "s", "es"):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            for candidate in (stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem, stem[:-1] + "y"):
                if candidate in _VERBS:
                    return candidate
    return None
