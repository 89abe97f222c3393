"""A report as one HTML page: no script, no other file, for a phone as for a desk."""

from html import escape

from holdfast.verify.finding import Check, Control, Finding, Outcome, Report, Verdict
from holdfast.verify.mode import NOT_PROMISED
from holdfast.verify.text import WORDS, summary

CONTROL_MODES = {
    "client killed": 1,
    "server killed": 1,
    "new version": 1,
    "two writers": 7,
    "who typed it": 8,
}
"""The mode in which holdfast itself goes through an injection of the controls."""

FEW = 8
"""Checks that are shown at once; more of them are opened by a click."""

_SIGNS = {Outcome.HOLDS: "✓", Outcome.BROKEN: "✗", Outcome.UNAVAILABLE: "–"}  # noqa: RUF001  # a dash is meant

_STYLE = """
:root{color-scheme:light dark;--paper:#f6f6f3;--card:#fff;--ink:#1d2126;--soft:#5d6670;
--line:#dfe1dc;--passed:#1a7f4b;--partly:#9a6400;--failed:#c22f2f;--unavailable:#6b7480;
--tint:#eef0ec}
@media(prefers-color-scheme:dark){:root{--paper:#14171a;--card:#1c2024;--ink:#e8eaec;
--soft:#9aa4ae;--line:#30363c;--passed:#4cc38a;--partly:#e0a83e;--failed:#ff7b72;
--unavailable:#8b949e;--tint:#23282d}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.5;
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:62rem;margin:0 auto;padding:2rem 1rem 4rem}
h1{font-size:1.9rem;line-height:1.15;margin:0 0 .4rem;letter-spacing:-.02em}
h2{font-size:1.15rem;line-height:1.3;margin:0}
.lead{font-size:1.1rem;margin:.2rem 0}
.meta{color:var(--soft);font-size:.9rem;margin:0 0 1.4rem}
.strip{display:grid;grid-template-columns:repeat(9,1fr);gap:.4rem;margin:0 0 1.6rem;
padding:0;list-style:none}
.strip a{display:block;height:100%;padding:.5rem .55rem .6rem;border-radius:.5rem;
background:var(--card);border:1px solid var(--line);border-top:4px solid var(--v);
color:inherit;text-decoration:none;font-size:.8rem;line-height:1.25}
.strip b{display:block;font-size:1.1rem;color:var(--v)}
.strip small{display:block;color:var(--v);font-weight:600;margin-top:.25rem}
article,section{background:var(--card);border:1px solid var(--line);
border-radius:.7rem;padding:1.1rem 1.2rem;margin:0 0 1rem}
article{border-left:5px solid var(--v)}
header.mode{display:flex;flex-wrap:wrap;gap:.3rem .8rem;align-items:baseline}
.badge{margin-left:auto;color:var(--v);font-weight:700;white-space:nowrap}
.badge i{font-style:normal;font-weight:400;color:var(--soft);font-size:.85rem}
dl{display:grid;grid-template-columns:7rem 1fr;gap:.35rem 1rem;margin:.8rem 0}
dt{color:var(--soft);font-size:.88rem;padding-top:.1rem}
dd{margin:0}
summary{cursor:pointer;color:var(--soft);font-size:.92rem}
.seen{list-style:none;margin:.6rem 0 0;padding:0}
.seen li{padding:.45rem 0 .45rem 1.5rem;border-top:1px solid var(--line);
position:relative}
.seen li::before{content:attr(data-sign);position:absolute;left:.1rem;font-weight:700;
color:var(--v)}
.facts{display:flex;flex-wrap:wrap;gap:.25rem .4rem;margin-top:.25rem}
.facts span{background:var(--tint);border-radius:.3rem;padding:.05rem .4rem;
font:.78rem/1.5 ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.facts em{font-style:normal;color:var(--soft)}
.wide{overflow-x:auto;margin-top:.7rem}
table{border-collapse:collapse;width:100%;min-width:40rem;font-size:.88rem}
th,td{text-align:left;vertical-align:top;padding:.5rem .7rem .5rem 0;
border-top:1px solid var(--line)}
thead th{border-top:0;color:var(--soft);font-weight:600}
td b{color:var(--v)}td small{display:block;color:var(--soft);line-height:1.35;
overflow-wrap:anywhere}
.passed,.holds{--v:var(--passed)}.partly{--v:var(--partly)}
.failed,.broken{--v:var(--failed)}.unavailable{--v:var(--unavailable)}
@media(max-width:46rem){.strip{grid-template-columns:repeat(3,1fr)}
dl{grid-template-columns:1fr;gap:.05rem}dd{margin-bottom:.5rem}
main{padding-top:1.2rem}.badge{margin-left:0}}
@media print{body{background:#fff}article{break-inside:avoid}}
"""


def page(report: Report) -> str:
    """Return the page."""
    title = _title(report)
    cards = "".join(_card(one) for one in report.findings)
    limits = "".join(f"<li>{escape(one)}</li>" for one in NOT_PROMISED)
    about = f"holdfast {report.version} · {report.system} · {report.began}"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main>
<h1>{escape(title)}</h1>
<p class="lead">Failures were injected with real processes on a real machine: \
{escape(summary(report))}.</p>
<p class="meta">{escape(about)}</p>
<ul class="strip">{"".join(_tile(one) for one in report.findings)}</ul>
{cards}{_controls(report)}
<section><h2>What holdfast does not promise</h2><ul>{limits}</ul></section>
<p class="meta">Made by <code>holdfast verify --report</code>. \
Run it on your own machine.</p>
</main></body></html>
"""


def _title(report: Report) -> str:
    count = len(report.findings)
    if failed := report.count(Verdict.FAILED):
        return f"holdfast: {failed} of {count} failure modes broke a promise"
    held = report.count(Verdict.PASSED) + report.count(Verdict.PARTLY)
    return f"holdfast: {held} of {count} failure modes, and every promise held"


def _tile(finding: Finding) -> str:
    mode = finding.mode
    return (
        f'<li><a class="{finding.verdict}" href="#mode-{mode.number}">'
        f"<b>{mode.number}</b>{escape(mode.title)}"
        f"<small>{WORDS[finding.verdict]}</small></a></li>"
    )


def _card(finding: Finding) -> str:
    mode, verdict = finding.mode, finding.verdict
    hold = sum(one.outcome is Outcome.HOLDS for one in finding.checks)
    few = len(finding.checks) <= FEW
    is_open = " open" if few or verdict is not Verdict.PASSED else ""
    seen = "".join(_check(one) for one in finding.checks)
    return f"""<article id="mode-{mode.number}" class="{verdict}">
<header class="mode"><h2>{mode.number}. {escape(mode.title)}</h2>
<span class="badge">{WORDS[verdict]} <i>{finding.seconds:.1f} s</i></span></header>
<dl><dt>Trigger</dt><dd>{escape(mode.trigger)}</dd>
<dt>Guarantee</dt><dd>{escape(mode.guarantee)}</dd>
<dt>Handed off</dt><dd>{escape(mode.handed_off)}</dd></dl>
<details{is_open}><summary>Seen: {hold} of {len(finding.checks)} checks hold</summary>
<ul class="seen">{seen}</ul></details></article>
"""


def _check(check: Check) -> str:
    why = escape(check.why)
    if check.outcome is Outcome.UNAVAILABLE:
        why = f"not available here: {why}"
    text = escape(check.what) + (f": {why}" if why else "")
    facts = "".join(
        f"<span><em>{escape(name.replace('_', ' '))}</em> {escape(str(value))}</span>"
        for name, value in check.evidence.items()
    )
    return (
        f'<li class="{check.outcome}" data-sign="{_SIGNS[check.outcome]}">{text}'
        f'<div class="facts">{facts}</div></li>'
    )


def _controls(report: Report) -> str:
    if not report.controls:
        return ""
    programs = list(dict.fromkeys(one.program for one in report.controls))
    injections = list(dict.fromkeys(one.injection for one in report.controls))
    by_place = {(one.injection, one.program): one for one in report.controls}
    heads = "".join(f"<th>{escape(one)}</th>" for one in ("", "holdfast", *programs))
    rows = ""
    for injection in injections:
        cells = "".join(_cell(by_place[injection, one]) for one in programs)
        rows += f"<tr><th>{escape(injection)}</th>{_own(report, injection)}{cells}</tr>"
    return f"""<section><h2>The same injections elsewhere</h2>
<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>
</div></section>
"""


def _cell(control: Control) -> str:
    kind, word = {
        True: ("passed", "kept"),
        False: ("failed", "lost"),
        None: ("unavailable", "not available"),
    }[control.survived]
    seen = escape(control.seen)
    return f'<td class="{kind}"><b>{word}</b><small>{seen}</small></td>'


def _own(report: Report, injection: str) -> str:
    number = CONTROL_MODES.get(injection)
    found = [one for one in report.findings if one.mode.number == number]
    if not found:
        return '<td class="unavailable"><b>not run</b></td>'
    verdict = found[0].verdict
    word = "lost" if verdict is Verdict.FAILED else "kept"
    word = "not available" if verdict is Verdict.UNAVAILABLE else word
    return (
        f'<td class="{verdict}"><b>{word}</b>'
        f'<small><a href="#mode-{number}">mode {number}</a></small></td>'
    )
