"""The pages behind ``/ui/recalls``: plain functions from traces to HTML. No script, no build, nothing from elsewhere.

Every value is escaped, and the content security policy allows this style sheet by its hash and nothing else: not even
what somebody might smuggle into a session's name could run.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlencode

from app.core.trace import CandidateTrace, CutTrace, RecallTrace, Verdict

_STYLE = """
:root{color-scheme:light dark;--bg:#f7f7f5;--card:#fff;--ink:#1d1f23;--soft:#6a6f78;--line:#e4e4df;--hover:#f1f1ed;
--good:#15803d;--good-bg:#e3f4e8;--bad:#b42318;--bad-bg:#fdeae7;--mild:#57606a;--mild-bg:#ecedef;--kept:#2f7d5b;
--gone:#b9bec6;--signal:#e0a526;--cut:#c2410c;--accent:#24598f;--track:#efefeb}
@media(prefers-color-scheme:dark){:root{--bg:#131518;--card:#1b1e22;--ink:#e7e8ea;--soft:#9aa1ab;--line:#2c3036;
--hover:#22262b;--good:#6fd08c;--good-bg:#173323;--bad:#ff9a8a;--bad-bg:#3c1d19;--mild:#aab1bb;--mild-bg:#2a2e34;
--kept:#4fb286;--gone:#4a5059;--signal:#e3b341;--cut:#ff9457;--accent:#86b7ea;--track:#24282d}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI","Noto Sans",
"Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif}
main{max-width:1080px;margin:0 auto;padding:32px 20px 64px}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
a:focus-visible,input:focus-visible,button:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
h1{font-size:24px;line-height:1.25;margin:0;font-weight:650;letter-spacing:-.01em}
h2{font-size:16px;margin:36px 0 10px;font-weight:650}
p{margin:6px 0}.soft{color:var(--soft)}.small{font-size:13px}
.mono,code{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.top{display:flex;justify-content:space-between;align-items:flex-end;gap:16px;flex-wrap:wrap;margin-bottom:20px}
form{display:flex;gap:8px;flex-wrap:wrap}
input,button{font:inherit;font-size:14px;padding:6px 10px;border:1px solid var(--line);border-radius:8px;
background:var(--card);color:var(--ink)}button{cursor:pointer;font-weight:600}button:hover{background:var(--hover)}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;overflow-x:auto}
table{border-collapse:collapse;width:100%}
th{font-size:12px;font-weight:600;color:var(--soft);text-align:left;padding:10px 14px 8px;white-space:nowrap}
td{padding:9px 14px;border-top:1px solid var(--line);vertical-align:middle}
tbody tr:hover{background:var(--hover)}
.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.nowrap{white-space:nowrap}.cut{max-width:250px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.tag{display:inline-block;padding:1px 9px;border-radius:99px;font-size:12.5px;font-weight:600;white-space:nowrap;
background:var(--mild-bg);color:var(--mild)}.tag.good{background:var(--good-bg);color:var(--good)}
.tag.bad{background:var(--bad-bg);color:var(--bad)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:1px;background:var(--line);
border:1px solid var(--line);border-radius:12px;overflow:hidden;margin-top:20px}
.facts div{background:var(--card);padding:11px 14px;min-width:0}.facts dt{font-size:12px;color:var(--soft)}
.facts dd{margin:2px 0 0;font-weight:600;overflow-wrap:anywhere}dl{margin:0}
.points{display:flex;flex-wrap:wrap;gap:8px;padding:0;margin:10px 0 0;list-style:none}
.points li{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:4px 10px;font-size:14px}
.points b{font-variant-numeric:tabular-nums;margin-right:6px}.plus{color:var(--good)}.minus{color:var(--bad)}
svg{display:block;width:100%;height:22px}
.track{fill:var(--track)}.kept{fill:var(--kept)}.gone{fill:var(--gone)}.lift{fill:var(--signal)}
.line{stroke:var(--cut);stroke-width:2.5}
.bars{padding:6px 0}.row{display:grid;grid-template-columns:minmax(180px,1.25fr) minmax(180px,1.6fr) 64px
minmax(150px,1fr);gap:14px;align-items:center;padding:7px 14px;border-top:1px solid var(--line)}
.row:first-child{border-top:0}.row .name{min-width:0;overflow-wrap:anywhere;font-size:14px}
.row.out .name,.row.out .num{color:var(--soft)}
.legend{display:flex;gap:18px;flex-wrap:wrap;font-size:13px;color:var(--soft);margin:0 0 10px;align-items:center}
.legend svg{width:14px;height:14px;display:inline-block;vertical-align:-2px;margin-right:6px}
.empty{padding:44px 20px;text-align:center}.next{margin-top:16px}pre{white-space:pre-wrap;overflow-wrap:anywhere;
margin:0;padding:12px 14px}
@media(max-width:720px){.row{grid-template-columns:1fr 60px}.row .bar{grid-column:1/-1;grid-row:2}
.row .why{grid-column:1/-1}}
"""
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

_BAR_WIDTH = 400
_TROUBLE = frozenset({"deadline_exceeded", "openviking_unavailable", "openviking_rejected"})
_SECTION_TITLES = {"experiences": "Agent experiences", "memories": "Long-term memories"}
_HOW = {
    "fresh": "asked",
    "cached": "from the cache",
    "joined": "shared with an equal search",
    "stale": "an older answer, the backend was late",
}


def list_page(recalls: Sequence[RecallTrace], *, session: str, since: str, next_cursor: str | None) -> str:
    """The list of recalls, newest first, with a filter and a link to older ones."""
    rows = "".join(_list_row(trace) for trace in recalls)
    table = (
        '<div class="card"><table><thead><tr><th>Time (UTC)</th><th>Outcome</th><th>Session</th><th>Agent</th>'
        '<th>Experiences</th><th class="num">Injected</th><th class="num">Took</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
        if recalls
        else '<div class="card empty"><p>No recalls here yet.</p><p class="soft small">Every '
        "<code>/assemble</code> with recall leaves one.</p></div>"
    )
    older = ""
    if next_cursor:
        query = urlencode({"session": session, "since": since, "cursor": next_cursor})
        older = f'<p class="next"><a href="/ui/recalls?{escape(query)}">Older recalls</a></p>'
    return _document(
        "Recalls",
        '<div class="top"><div><h1>Recalls</h1><p class="soft">What was looked up for each message, and what came of '
        'it.</p></div><form method="get" action="/ui/recalls">'
        f'<input name="session" value="{escape(session)}" placeholder="Session id or key" aria-label="Session">'
        f'<input name="since" value="{escape(since)}" placeholder="Since 2026-03-18" aria-label="Since">'
        f"<button>Filter</button></form></div>{table}{older}",
    )


def detail_page(trace: RecallTrace) -> str:
    """One recall: outcome, gate, searches, and every candidate as a bar with the line it had to reach."""
    sections = [_candidates(cut, [c for c in trace.candidates if c.section == cut.section]) for cut in trace.cuts]
    return _document(
        f"Recall {trace.trace_id}",
        f'<p class="small"><a href="/ui/recalls">All recalls</a></p><div class="top"><h1>{_headline(trace)}</h1>'
        f"<div>{_tag(trace.reason)}</div></div>{_facts(trace)}{_query(trace)}{_gate(trace)}{_searches(trace)}"
        + "".join(sections),
    )


def missing_page() -> str:
    """For a recall that is not (or no longer) kept, or belongs to another tenant."""
    return _document(
        "Not found",
        '<p class="small"><a href="/ui/recalls">All recalls</a></p><h1>No such recall</h1>'
        '<p class="soft">It may be older than what is kept.</p>',
    )


def _document(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main>{body}</main></body></html>"
    )


def _list_row(trace: RecallTrace) -> str:
    link = f"/ui/recalls/{escape(trace.trace_id)}"
    forced = trace.gate.trigger not in (None, "task_start")
    experiences = ("forced" if forced else "yes") if trace.gate.recall else '<span class="soft">no</span>'
    injected = f"{trace.kept} of {len(trace.candidates)}" if trace.candidates else '<span class="soft">none</span>'
    return (
        f'<tr><td class="nowrap"><a href="{link}">{_time(trace.at)}</a></td><td>{_tag(trace.reason)}'
        f'{" " + _tag("degraded") if trace.degraded else ""}</td><td class="cut mono" title="{escape(trace.session)}">'
        f'{escape(trace.session)}</td><td class="cut">{escape(trace.agent)}</td><td>{experiences}</td>'
        f'<td class="num">{injected}</td><td class="num">{_ms(trace.timings_ms.get("total", 0))}</td></tr>'
    )


def _headline(trace: RecallTrace) -> str:
    if trace.kept:
        return f"{trace.kept} of {len(trace.candidates)} candidates injected"
    return "Nothing injected"


def _facts(trace: RecallTrace) -> str:
    facts = [
        ("Time (UTC)", _time(trace.at)),
        ("Session", f'<span class="mono">{escape(trace.session)}</span>'),
        ("Agent", escape(trace.agent)),
        ("Injected as", escape(trace.inject)),
        ("Block", f"{trace.block_chars:,} characters"),
        ("Took", _ms(trace.timings_ms.get("total", 0))),
    ]
    cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{cells}</dl>'


def _query(trace: RecallTrace) -> str:
    if trace.query is None:
        return (
            f'<h2>Query</h2><p class="soft">{trace.query_chars:,} characters. The text is only kept when '
            "<code>SIDECAR_TRACE__TEXTS</code> is on.</p>"
        )
    return f'<h2>Query</h2><div class="card"><pre>{escape(trace.query)}</pre></div>'


def _gate(trace: RecallTrace) -> str:
    gate = trace.gate
    verdict = {
        "forced": f"Experiences were looked up without asking: {escape(gate.trigger or '')}.",
        "task": f"This looks like a task: probability {gate.score:.2f}, 0.50 is enough.",
        "not_a_task": f"This does not look like a task: probability {gate.score:.2f}, 0.50 is needed.",
        "task_too_short": "Too short for a task.",
        "query_too_short": "Nothing to look up.",
        "experience_disabled": "Experience recall is switched off.",
    }.get(gate.reason, "Not asked.")
    points = "".join(
        f'<li><b class="{"plus" if value >= 0 else "minus"}">{value:+g}</b>{escape(name)}</li>'
        for name, value in gate.parts
    )
    return f"<h2>Experience gate</h2><p>{verdict}</p>" + (f'<ul class="points">{points}</ul>' if points else "")


def _searches(trace: RecallTrace) -> str:
    if not trace.searches:
        return ""
    longest = max(search.ms for search in trace.searches) or 1
    rows = "".join(
        f"<tr><td>{escape(search.target)}</td><td>{escape(_HOW.get(search.how, ''))}"
        f'{"" if search.how in _HOW else _tag(search.how)}</td><td class="num">{search.hits} hits</td>'
        f'<td class="num">{_ms(search.ms)}</td><td>{_plain_bar(search.ms / longest, search.how in _HOW)}</td></tr>'
        for search in trace.searches
    )
    return f'<h2>Searches</h2><div class="card"><table><tbody>{rows}</tbody></table></div>'


def _candidates(cut: CutTrace, candidates: Sequence[CandidateTrace]) -> str:
    title = _SECTION_TITLES.get(cut.section, cut.section)
    if not candidates:
        return f'<h2>{escape(title)}</h2><p class="soft">The search found nothing.</p>'
    bar = max(cut.threshold, cut.relative)
    ordered = sorted(candidates, key=lambda c: c.verdict is not Verdict.KEPT)
    rows = "".join(_candidate_row(candidate, bar) for candidate in ordered)
    legend = (
        '<p class="legend"><span><svg viewBox="0 0 14 14"><rect class="kept" width="14" height="14" rx="3"/></svg>'
        'injected</span><span><svg viewBox="0 0 14 14"><rect class="gone" width="14" height="14" rx="3"/></svg>left '
        'out</span><span><svg viewBox="0 0 14 14"><rect class="lift" width="14" height="14" rx="3"/></svg>added by '
        'signals</span><span><svg viewBox="0 0 14 14"><line class="line" x1="7" x2="7" y2="14"/></svg>needed: '
        f"{bar:.2f}</span></p>"
    )
    return f'<h2>{escape(title)}</h2>{legend}<div class="card bars">{rows}</div>'


def _candidate_row(candidate: CandidateTrace, bar: float) -> str:
    kept = candidate.verdict is Verdict.KEPT
    name = escape(_short(candidate.uri))
    text = f'<p class="small soft">{escape(candidate.text[:400])}</p>' if candidate.text else ""
    origin = ", of a peer" if candidate.origin == "peer" else ""
    return (
        f'<div class="row{"" if kept else " out"}"><div class="name" title="{escape(candidate.uri)}">{name}'
        f'<div class="small soft">{escape(candidate.category)}{origin}</div>{text}</div>'
        f'<div class="bar">{_score_bar(candidate, bar, kept)}</div>'
        f'<div class="num" title="{escape(_parts(candidate))}">{candidate.score:.3f}</div>'
        f'<div class="why small">{_tag("injected", "good") if kept else escape(candidate.verdict.meaning)}'
        f'<div class="soft">{escape(_parts(candidate))}</div></div></div>'
    )


def _short(uri: str) -> str:
    """The last part of a URI; with the one before it when it says little by itself, such as a number."""
    *_, folder, name = ("", *uri.rstrip("/").rsplit("/", 2))
    return name if len(name.removesuffix(".md")) > 3 else f"{folder}/{name}".strip("/")


def _score_bar(candidate: CandidateTrace, bar: float, kept: bool) -> str:
    own = min(candidate.score, candidate.parts.get("backend", candidate.score)) * _BAR_WIDTH
    full = candidate.score * _BAR_WIDTH
    line = f'<line class="line" x1="{bar * _BAR_WIDTH:.1f}" x2="{bar * _BAR_WIDTH:.1f}" y1="0" y2="22"/>' if bar else ""
    return (
        f'<svg viewBox="0 0 {_BAR_WIDTH} 22" preserveAspectRatio="none" role="img" '
        f'aria-label="score {candidate.score:.3f}, needed {bar:.2f}"><rect class="track" y="5" width="{_BAR_WIDTH}" '
        f'height="12" rx="3"/><rect class="lift" y="5" width="{full:.1f}" height="12" rx="3"/>'
        f'<rect class="{"kept" if kept else "gone"}" y="5" width="{own:.1f}" height="12" rx="3"/>{line}</svg>'
    )


def _plain_bar(share: float, good: bool) -> str:
    return (
        f'<svg viewBox="0 0 {_BAR_WIDTH} 22" preserveAspectRatio="none" aria-hidden="true"><rect '
        f'class="{"kept" if good else "gone"}" y="7" width="{max(2, share * _BAR_WIDTH):.1f}" height="8" rx="2"/></svg>'
    )


def _parts(candidate: CandidateTrace) -> str:
    """The parts of a score that say something: the backend's, and each signal that spoke."""
    return _joined(
        f"{name} {part:.3f}" if name in {"backend", "freshness"} else f"{name} +{part:.2f}"
        for name, part in candidate.parts.items()
        if part
    )


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _tag(code: str, tone: str = "") -> str:
    tone = tone or {"ok": "good"}.get(code, "bad" if code in _TROUBLE or code == "degraded" else "")
    return f'<span class="tag {tone}">{escape(code.replace("_", " "))}</span>'


def _time(at: str) -> str:
    return escape(at[:19].replace("T", " "))


def _ms(value: float) -> str:
    return f"{value:,.1f} ms" if value < 100 else f"{value:,.0f} ms"
