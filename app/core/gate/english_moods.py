"""How English asks, tells, remembers and feels: the patterns by which the experience gate reads the mood of a sentence.

Every repetition is bounded and every text is short (`signs` cuts it), so the time is bounded too.
"""

import re

LET_KNOW = re.compile(r"(?!me\b|us\b)(?:\w+ ){1,5}know\b")

CONVERSATION = re.compile(
    r"\b(?:(?:last|previous|above|these|our) (?:\w+ )?(?:messages|replies|exchanges?|chat|conversation|discussion)|"
    r"this (?:chat|conversation|discussion)|what we (?:\w+ )?(?:discussed|said|talked|covered|agreed)|we (?:just "
    r")?(?:discussed|talked about|covered|went over)|(?:discussion|conversation) (?:so far|above))\b"
)

GIVEN_OBJECT = re.compile(
    r"(?:(?:the )?(?:grammar|wording|tone|spelling|style|flow|length) )?(?:of |in )?(?:this|these|that|the following|"
    r"the above|my|the) "
    r"(?:\w+ )?(?:sentences?|paragraphs?|phrases?|text|passages?|poem|essay|words?|wording|grammar|abstract|quote|"
    r"message)\b"
    r"|(?:this|it|that)(?: (?:a|bit|much|little|slightly|way|sound|be|look|read|even|lot|far))* (?:more|less|"
    r"as an?|in an?|into|so that|so it|sound|shorter|formal\w*|polite\w*|"
    r"friendl\w*|simpler|clear\w*)\b"
)

POLITE = re.compile(
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

LATIN = re.compile(r"[a-z]{2}")

CJK = re.compile(r"[\u3400-\u9fff]")

YOU = (
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

PLEASE = re.compile(r"\b(?:please|pls|plz)$")

ABILITY = re.compile(r"\b(?:can|could|would|should|do|may|shall) (?:i|they|he|she|it|one|people)\b")

ASKING = re.compile(
    r"^(?:(?:so|and|but|ok|okay|hey|hi|also|btw|by the way|just|quick question|question|curious|wondering|out of "
    r"curiosity|um|well|oh)[ ,]+)*"
    r"(?:how|why|what|whats|what's|which|who|who's|whose|whom|when|where|where's|how's|why's|is|are|am|was|were|does|"
    r"do|did|(?:has|have|had) (?:you|we|i|they|he|she|it|anyone|anybody|the|your|my)|should|shall|may|"
    r"isn't|aren't|wasn't|doesn't|don't|didn't|can i|could i|can it|could it|can they|would it|would they|will it|"
    r"will there|would a|can a|any idea|any thoughts|thoughts|"
    r"i wonder|i'm wondering|i'm curious|i am curious|do you think|can't|won't|wouldn't|shouldn't|tell me (?:about|"
    r"how|why|what|more|something|whether|if))\b"
)

OPINION = re.compile(
    r"\b(?:do you (?:think|like|prefer|believe|reckon|know)|what do you think|your (?:opinion|thoughts|favou?rite|"
    r"view|take)|in your (?:view|opinion)|would you (?:rather|prefer|say|recommend|choose|use|ever|like)|"
    r"worth it|is it worth|better than|difference between|differences between|pros and cons|trade-?offs?|versus|"
    r"vs\.?|which is better|what if|does it make sense|make sense to|should (?:i|we|one)|"
    r"can you (?:explain|describe|tell|define|speak|understand|recommend|suggest|teach|compare|clarify|elaborate|"
    r"remember|recall|believe|imagine|feel|see|hear|guess|think|name|say|sing))\b"
)

PAST_TALK = re.compile(
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

NARRATION = re.compile(
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

FEELING = re.compile(
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

STORY = re.compile(
    r"\b(?:years ago|(?:a|one|two|many|some) (?:years?|months?|decades?) ago|back in|at my (?:first|old|last|"
    r"previous)|when i was|once upon|once had|used to (?:have|work|be)|funny story|true story|guess what|can you "
    r"believe|believe it or not|"
    r"you'll (?:enjoy|love|never believe|laugh)|you won't believe|one (?:day|night|friday|monday|morning|summer|"
    r"winter|evening|time)\b(?!s)|the other day|turns out|turned out|in college|in high school|at university|as a "
    r"kid|my first job|long story|story time|let me tell you|reminds me of|looking back|to this day|back then|ever "
    r"since)\b"
)

CHAT = re.compile(
    r"\b(?:jokes?|riddles?|limericks?|haikus?|poems?|fun fact|puns?|sing me|sing a|song about|make me (?:laugh|"
    r"smile)|good (?:morning|night|evening|afternoon)|how are you|how's it going|what's up|bedtime story|horoscope|"
    r"roast me|cheer me up|entertain me|keep me company|let's (?:chat|talk|play)|play a game|trivia|compliment|"
    r"motivat\w+|pretend)\b"
)

EXPERIENCE = re.compile(
    r"\b(?:best practices?|lessons?(?: learned)?|pitfalls?|gotchas?|avoid(?:ing)?|last time this|common mistakes?|"
    r"same (?:mistake|trap) as|past experience)\b"
)

FAILURE = re.compile(
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

HANDOVER = re.compile(
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

SPECIFIC_WHY = re.compile(
    r"\b(?:(?:why|how come|where|since when)\b(?: [\w']+){0,4}? (?:the|my|our|this|these|that|their|his|her|it|we|i)\b"
    r"|what(?:'s| is| was| are| could be)? (?:\w+ )?(?:wrong|causing|making|eating|breaking|blocking|happening|going "
    r"on|up with|broken|behind|slowing|killing))"
)

MEANING = re.compile(
    r"\b(?:mean|means|meaning|stand for|called|defined?|definition|usually|generally|typically|in general|normally)\b"
)

OUGHT = re.compile(
    r"^(?:the|every|all|each|our|this|that|these|those|its)(?: (?!developers|people|everyone|engineers|companies|"
    r"programmers|students|kids|teams|men|women|government)[\w'-]+){1,6}? "
    r"(?:should|must|has to|have to|needs? to|ought to)\b(?! be (?:able|free|fun|good|nice))"
    r"|^(?:the|our|my|this|that) (?:[\w'-]+ ){0,4}?(?:needs|lacks|is missing|are missing|lack)\b"
)
"""How a thing ought to behave, said of what is before us: "every link in the footer should open in a new tab"."""

TAGS = frozenset({"will you", "would you", "can you", "could you", "ok", "okay", "please", "alright", "won't you"})

DUE = re.compile(
    r"\b(?:needs?|has|have|ought|got|must|should|wants?|supposed|still)(?: still| also| now)?(?: to)? be (\w+)|"
    r"\bneeds? (?:a |some )?(\w+ing)\b|\b(?:needs?|wants?) (\w+ed)\b|\b(?:get|have|want|need|like) (?:\w+ "
    r"){1,4}?(\w{3,}ed|sent|rewritten|rebuilt|done|written|set)\b"
)

WANTED = re.compile(
    r"\b(?:i|we) (?:need|want)\b(?! to\b| you\b)|\b(?:i|we)(?:'d| would|'ll| will) (?:need|want|like|take)\b(?! to\b|"
    r" you\b)"
    r"|\blooking for\b|\bneed(?:ed)?:|\bwanted:|^need\b|^want\b"
)

HELD_BACK = re.compile(
    r"\b(?:(?:don't|do not|no need to|never|not to) (?:\w+ )?(?:do|change|touch|deploy|fix|run|send|write|delete|"
    r"edit|book|act|start|make|bother|worry|push|merge|reply|look|need|modify)\b[^.]{0,60}?(?:yet|anything|for now|"
    r"now|today)|hold off|(?:haha+|lol|lmao|just kidding|\bjk)\W{0,3}$|just (?:wanted|needed) to (?:vent|say|share|"
    r"let you know|tell)|just (?:thinking|wondering|curious|venting|saying|sharing|asking|fyi)|no action|nothing to "
    r"do|no need|never ?mind|forget (?:it|about)|not asking you to)\b"
)

REMEMBER = re.compile(
    r"\b(?:just so you know|for your information|so you know|just fyi|in case you (?:ever )?(?:need|wonder|ask|"
    r"order))\b|^(?:(?:please|pls|just|also|and|so|ok|okay|hey|btw|can you|could you|always)[ ,]+)*(?:(?:remember|"
    r"note|keep in mind|bear in mind|know|memori[sz]e|don't forget|make a (?:mental )?note|mental note|take note|for "
    r"(?:the record|your information|future reference|context|next time)|fyi|just so you know|heads up|from now on|"
    r"in future|in the future|going forward)\b(?! to\b)|(?:i want|i'd like|would like) you to (?:remember|know))"
)

REMIND = re.compile(
    r"\b(?:remind (?:me|us|him|her|them|everyone|\w+) (?:to|at|in|on|about|tomorrow|tonight|every|before|when|next|"
    r"that|of|by|this|30|15|an)|set (?:a|an|the|me)|wake me)\b"
)

RECAP = re.compile(r"\b(?:recap|summary|summarization|overview|rundown|gist|translation|tl;?dr)\b")

STORED_TEXT = re.compile(
    r"\b(?:files?|docs?|readme|repo|folder|directory|spreadsheet|sheet|pdf|strings|locale|i18n|website|site|page|ui|"
    r"app|transcripts?|recording|tickets?|inbox|emails|reports?|logs?|issues?|prs?|wiki|slides|deck|deck|module|"
    r"function|class|code|script|query|config|component|manual|contract|changelog|comments)\b|\.\w{2,4}\b"
)

WORD = re.compile(r"[a-z][a-z0-9+./-]*[a-z0-9]")

CODE_SHAPE = re.compile(
    r"``|`[^`\n]{1,120}`|\b[\w-]{1,60}\.(?:py|ts|tsx|js|jsx|mjs|go|rs|java|kt|rb|php|cs|cpp|cc|hpp|sh|sql|ya?ml|toml|"
    r"json|ini|cfg|conf|env|md|txt|csv|xlsx?|docx?|pptx?|pdf|html?|css|scss|vue|ipynb|lock|log|tf|proto|xml|zip|tar|"
    r"png|jpe?g|svg)\b"
    r"|(?:^|\s)[~.]{0,2}/[\w.-]{1,60}(?:/[\w.-]{1,60}){0,12}|\b[\w-]{1,60}/[\w.-]{1,60}/[\w./-]{1,120}|"
    r"\b[a-z]\w{0,60}_\w{1,60}\b|\b\w{1,60}\(\)|(?:^|\s)--?[a-z][\w-]{2,30}|(?:^|\s)#\d{1,6}\b|"
    r"\b[a-z]{2,8}-\d{2,6}\b|\b\w{1,40}(?:error|exception)\b|https?://"
)

POINTING = re.compile(r"(?:this|these|the following|the above|our|it|that)\b")
TELLING = re.compile(r"(?:me |us )?(?:how|what|why|about|an? example|an? overview|the difference)\b")
"""Behind "show" or "give": an explanation is wanted."""

OTHERS = re.compile(r"(?!me\b|us\b|you\b|yourself|him to|about|a\b|an\b|of\b)[\w']+ ")
"""Behind "tell" or "ask": somebody else is to be told."""
