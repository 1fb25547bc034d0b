"""The English vocabulary of the experience gate: verbs by what they do, and things by their names.

General vocabulary, by meaning; none of it comes from a data set.
"""

from app.core.gate.vocabulary import by_first_word, word_set

SIDE_EFFECT = word_set("""
    free halve double triple whip strip include exclude embed retire revise refresh reprint relabel retag reindex
    recalculate refill restock replenish rearrange reinstate escalate flag nudge warn tighten loosen overwrite pack
    paste prepend prefix rebrand reconnect relaunch reload rent request retry reroute separate shift silence snooze
    star stream substitute suspend tune underline unify unpack unzip wash widen withdraw service deliver activate
    deactivate reactivate allocate backfill bundle centralise centralize chmod chown clip color colour concatenate
    consolidate customise customize deprecate dispatch distribute duplicate enlarge enrol enroll evict finalise
    finalize fold gzip inject inform launch lengthen mirror nominate number offload omit overhaul package paint
    parameterise parameterize park partition permit photocopy preload quarantine recolor recolour recycle redistribute
    redraw re-enable refile reimburse remap remount renumber repaint replicate repost republish requeue reseed reshape
    resubmit retitle retract reupload re-upload reverse rewire sanitise sanitize segment shard shred slice snapshot
    spawn stamp standardise standardize strengthen style symlink trigger truncate uncomment comment unfollow follow
    unload unplug uppercase lowercase vacate widen zero quit write edit modify change amend alter delete remove drop
    erase wipe purge clear migrate deploy redeploy release publish unpublish ship configure reconfigure patch add
    insert append create make generate regenerate set reset setup install reinstall uninstall upgrade downgrade update
    bump rename move relocate copy clone fork merge rebase squash revert rollback undo redo commit push tag replace
    swap convert export import upload download sync synchronise synchronize backup restore archive unarchive compress
    zip unzip extract scale resize restart reboot start stop kill terminate shutdown shut enable disable toggle switch
    grant revoke rotate renew provision register unregister subscribe unsubscribe cancel reschedule schedule postpone
    book rebook reserve order reorder buy purchase pay refund return redeem send resend email e-mail mail forward
    reply respond text message dm notify invite call phone dial post tweet share submit assign reassign delegate close
    reopen open label apply fill draft compose prepare render format reformat organise organize reorganise reorganize
    tidy split combine join dedupe deduplicate normalise normalize anonymise anonymize redact mask encrypt decrypt
    populate transfer wire approve decline block unblock mute unmute ban unban lock unlock dim brighten raise lower
    increase decrease reduce adjust preheat arm disarm play pause resume queue remind alert save store put place
    attach detach link unlink connect disconnect mount unmount pin unpin bookmark print scan sign log record track
    file design sketch draw turn crop trim rewrite transcribe upload stage unstage stash containerise containerize
    dockerise dockerize prune seed flush invalidate expose redirect route charge invoice bill claim dispute donate
    hire recruit onboard offboard promote demote feed water vacuum charge mow heat clean hide unhide highlight freeze
    unfreeze sort group bold indent collapse expand inline minify obfuscate localise localize untar plug boost bulk
    calibrate capitalise capitalize categorise categorize chunk classify compact curate decouple defer diff discard
    dump encode enforce enrich enqueue exempt flatten flip hotfix inject instrument invert mitigate outsource
    parallelise parallelize poll prefill pre-fill prioritise prioritize reclaim recover repurpose reposition
    repopulate repoint retrieve scrub shrink shuffle skip stabilise stabilize streamline surface tally transform
    transpose untangle vet void weed lighten darken lift cap exchange loop hand borrow return lend deduplicate
    whiten blur cache cherry-pick force-push fast-forward reindex rehost re-run re-sync resync restructure reclassify
    reissue blacklist whitelist throttle pin vendor cut round shorten pad align center centre wrap stub""")

EXECUTION = word_set("""
    fix debug test retest build rebuild run rerun implement refactor integrate troubleshoot compile execute launch
    benchmark profile optimise optimize automate port wire hook finish complete resolve solve repair handle tackle
    verify validate investigate diagnose trace inspect audit review analyse analyze examine look find search locate
    figure research calculate compute count measure monitor watch crawl scrape fetch pull query grep reproduce bisect
    document plot chart graph reconcile parse mock lint check double-check crosscheck cross-check cover modernise
    modernize rework simplify speed harden secure hunt dig scaffold bootstrap code develop program script train
    retrain finetune fine-tune evaluate simulate deduct tabulate itemise itemize aggregate correlate sample benchmark
    stress-test load-test smoke-test confirm determine use gather collect identify pinpoint process adapt extend
    improve correct address patch ensure negotiate arrange sort organise plan coordinate track source transpile
    polyfill annotate type-check typecheck dry-run replay redesign""")

LOOKUP = word_set(
    "get grab list show give compare pick choose read view display see bring pull let have receive obtain"
)

SAYING = word_set("""
    explain describe teach define clarify elaborate tell recommend suggest advise discuss debate imagine guess name
    enlighten educate interpret predict argue rate rank outline brainstorm compare consider picture suppose say""")
"""Verbs whose result is talk: an answer, not an act."""

REWORDING = word_set(
    "sum recap translate summarise summarize paraphrase rephrase reword proofread polish condense tldr tl;dr rewrite "
    "recap"
)

RETELLING = LOOKUP | {"put", "turn", "condense", "list", "write", "make", "collect"}
EFFECTIVE_REWORDING = word_set("rewrite polish condense")
"""Verbs that rework text only if their object says so: one rewrites a module too."""

PHRASAL = {
    first: tuple(phrase.partition(" ")[2] for phrase in phrases)
    for first, phrases in by_first_word("""
    back up, break up, break down, break out, break into, bring up, bring back, bring down, carry out, chase up,
    check in, clean up, come up, cut a, dig into, do that, do this, do it, do the same, do the rest, do it for, do
    that for, do this for, do a dry, do a full, do a quick, do something about, draw up, drop a, fire off, fire
    up, follow up, get rid of, get it, get this, get that, get them, go through, go over, go ahead, hand over,
    have a look, have a go, have someone, hook up, kick off, knock up, knock together, let everyone know, let me
    have, let us have, let the team know, look into, look at, look up, look for, look through, look over, map out,
    mark, pick up, ping, pull up, pull out, put together, put in, reach out, rip out, roll back, roll out, roll
    forward, scale up, scale down, see why, see to, see what's wrong, see what is wrong, see if, see whether, set
    up, sign up, sign me up, sign us up, sort out, spin up, spin down, stand up, stick it, stick this, take
    offline, take live, take it from here, take this over, take a look, take care of, take down, take over, take
    out, take screenshots, take a screenshot, take a backup, take a snapshot, take notes, tear down, throw out,
    throw away, track down, work out, work on, work through, write up, plug in, hand out, hand in, wrap up, phase
    out, weed out, fill in, fill out, lay out, block out, book in, get someone, get started on, give it, give
    this, put this, put that, put it, put back, put up, keep an eye, keep track, bring in, move on to, send over,
    send out, shut down, shut off, turn on, turn off, switch on, switch off, tidy up, top up, try out, wire up,
    tie up, strip out, filter out, comb through, keep only, leave out, leave only""").items()
}
"""Verbs that are an act together with the particle (or, with an empty one, whatever follows)."""

LEAD = word_set("""
    please pls plz kindly ok okay hey hi hello yo now then so also and but next first firstly second secondly third
    finally lastly just alright right well actually oh quick quickly again afterwards plus yes yeah yep sure great
    cool thanks thx otherwise maybe perhaps instead once meanwhile immediately simply either step todo task or ps hmm
    urgent asap guys team today tomorrow tonight bot assistant agent claude buddy mate sorry still 1 2 3 4 5 6 1. 2.
    3. 1) 2) 3) • - * [ ]""")

AUX = word_set("""
    is are was were has have had will would did does do can could should keeps kept failed fails works worked takes
    took looks look seems seem got gets sounds sucks rocks goes went came comes isn't aren't wasn't doesn't didn't
    won't can't passed passes broke breaks finished crashed hangs stopped stops needs runs ran feels matters means
    helps makes made""")

DETERMINERS = word_set(
    "someone somebody everyone everybody the a an my our your his her its their this these those all every each "
    "both some any it them me us him"
)

OBJECT_MARKS = word_set("the a an my our his her its their this that these those all every each both it them")
"""Behind the first word of a clause these tell an order, whatever the verb: "plug the leak"."""

PARTICLES = word_set("up out off down away back apart")

PLEADING = word_set("please pls plz kindly")

RELATIVE = word_set(
    "that which what who why if whether how when where while because so until after before as and then once unless "
    "whatever but"
)

OBJECT_WORDS = word_set("""
    docker dockerfile docker-compose postgres postgresql mongo mongodb regex regexp auth oauth authentication webpage
    ansible api app cli sdk aws azure back-end backend banner bash branch branches bucket build button cache cargo cd
    cell cert certificate changelog checkout ci ci/cd class classes cluster code codebase column commit compiler
    component config configuration container cpu crawler cron cronjob crontab css csv daemon dashboard database
    dataframe dataset db dependencies dependency deploy deployment disk django dns dockerfile docs documentation
    domain drop-down dropdown ec2 embedding endpoint env environment eslint excel extension firewall flag flask font
    footer form formula front-end frontend function gcp git github gitlab golang gpu gradle header helm homepage hook
    html http icon image import index indexes issue java javascript jest jira json k8s kafka kubernetes lambda laptop
    layout link linter linux lock log login macos makefile maven memory menu merge method migration modal model module
    mr mypy mysql navbar nginx node node.js nodejs notebook npm package parser payment pip pipeline pivot plugin pod
    popup port pr printer process prod production proxy pytest python queries query queue ram react readme redis
    release repo repositories repository router rust s3 schema scraper script search secret sensor server service
    shell sidebar signup site socket spreadsheet sql sqlite ssh ssl staging tab table terraform test thermostat thread
    ticket tls token toml tool toolbar tooltip typescript typo ubuntu url variable version vite vpn vue webhook
    webpack website wi-fi widget wifi windows workbook worker yaml yarn""")

THING_WORDS = word_set("""
    account agenda alarm appointment backlog bill blinds booking budget bus calendar camera candidate car chart
    checklist client contact contract customer cv deck deliveries delivery dentist diagram doc doctor document door
    email estimate expense figures flight flyer folder form garage graph groceries heating hotel interview inventory
    invoice itineraries itinerary lamp lead letter light list logo meeting membership memo minutes mockup music nda
    newsletter notes numbers order oven package parcel passport payment payroll photo plan playlist plumber post
    poster presentation price proposal questionnaire quote receipt reminder rent rental report reservation restaurant
    resume revenue roadmap room sales schedule seat shipment shopping slides slot song standup stock subscription
    supplier survey sync table tax taxes taxi temperature template thermostat thumbnail ticket timeline timer train tv
    tweet uber vacuum vendor vet video visa volume wireframe""")

VERBS = SIDE_EFFECT | EXECUTION | LOOKUP | SAYING | REWORDING | frozenset(PHRASAL)

ACTS = SIDE_EFFECT | EXECUTION

NO_VERB = word_set("""
    i you he she it we they me him us them who what which that this these those there here the a an my your his her
    its our their all any both each every either neither some none half such quite rather only just even not no yes
    never always often sometimes maybe perhaps hopefully soon later almost about above across after against along
    among around as at before behind below beneath beside besides between beyond but by concerning considering despite
    during except excluding following for from given if in including inside into like minus near of off on once onto
    opposite or out outside over past per plus regarding save since so than then though although through throughout
    till to toward towards under unless unlike until up upon versus via whereas whether while with within without and
    nor yet because how why when where am is are was were be been being do does did has have had will would shall
    should can could may might must ought need dare got gets went came saw met left lost won ran fell took made broke
    spent forgot found felt heard knew kept told wrote gave grew drew drove flew ate paid said sold stood taught threw
    woke bought brought built caught began chose became love like hate enjoy miss wish hope think know believe
    remember understand feel see hear want seem appear sound mean own contain cost weigh doubt trust deserve admire
    envy regret thank thanks bless damn happy sad glad sorry good great nice cool fine bad poor funny sure okay ok
    hello hi hey wow oh haha lol sounds looks one two three four five six seven eight nine ten many much more most few
    less least several enough other another same monday tuesday wednesday thursday friday saturday sunday today
    tomorrow yesterday tonight next last first turns be become stay live work sleep eat drink swim dance sing cry
    laugh die explain speak talk chat discuss imagine guess wonder suppose mind care bet swear promise notice recall
    forgive excuse welcome congratulate""")
"""Words that begin no order: the small words, pasts, feelings, and what nobody is told to do to a thing."""


def may_be_verb(word: str) -> bool:
    """Whether an unknown ``word`` can be the verb of an order, by its shape."""
    return word.replace("-", "").isalpha() and word.isascii() and word not in NO_VERB and not word.endswith(NO_ENDINGS)


NO_ENDINGS = ("ly", "ing", "ed", "tion", "ness", "ment", "es", "'s", "ts", "ks", "ds", "rs", "ns", "ls")

IRREGULAR = {
    pair.partition(":")[0]: pair.partition(":")[2]
    for pair in [
        "bought:buy",
        "broken:split",
        "brought:bring",
        "built:build",
        "cut:cut",
        "done:complete",
        "drawn:draw",
        "found:find",
        "given:give",
        "hidden:hide",
        "kept:save",
        "made:make",
        "paid:pay",
        "put:put",
        "rebuilt:rebuild",
        "redone:redo",
        "rewritten:rewrite",
        "run:run",
        "sent:send",
        "set:set",
        "shown:show",
        "shut:shut",
        "split:split",
        "taken:take",
        "written:write",
    ]
}


def base(word: str) -> str | None:
    """The base form of a known verb given as ``-ed``, ``-ing`` or irregular participle; None for an unknown one."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    for ending in ("ed", "ing", "d", "s", "es"):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            for candidate in (stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem, stem[:-1] + "y"):
                if candidate in VERBS:
                    return candidate
    return None
