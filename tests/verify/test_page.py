from html.parser import HTMLParser

from tests.verify.samples import BROKEN, HOLDS, MISSING, finding, report

from holdfast.verify.finding import Control
from holdfast.verify.page import page

VOID = {"meta", "br"}


class Tags(HTMLParser):
    """Collects the tags of a page, and complains about those not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [str(value) for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    return tags


def test_a_page_is_one_file_without_a_script() -> None:
    tags = parsed(page(report(finding(1, HOLDS), finding(2, BROKEN, MISSING))))

    assert not {"script", "link", "img", "iframe"} & set(tags.seen)
    assert set(tags.links) == {"#mode-1", "#mode-2"}


def test_what_was_seen_is_shown_and_not_obeyed() -> None:
    text = page(report(finding(2, BROKEN)))

    assert "&lt;b&gt;it lives&lt;/b&gt;" in text
    assert "<b>it lives" not in text


def test_the_title_says_what_came_of_it() -> None:
    assert "<h1>holdfast: 1 of 2 failure modes broke a promise</h1>" in page(
        report(finding(1, HOLDS), finding(2, BROKEN))
    )
    assert "<h1>holdfast: 1 of 2 failure modes, and every promise held</h1>" in page(
        report(finding(1, HOLDS), finding(2, MISSING))
    )


def test_what_could_not_be_checked_is_never_shown_as_passed() -> None:
    text = page(report(finding(3, MISSING)))

    assert '<article id="mode-3" class="unavailable">' in text
    assert "not available here: no CRIU &amp; no luck" in text
    assert 'class="passed"' not in text


def test_others_stand_beside_our_own_result_of_the_same_injection() -> None:
    controls = (
        Control("tmux", "server killed", survived=False, seen="gone"),
        Control("tmux", "two writers", survived=None, seen="not installed"),
        Control("tmux", "client killed", survived=True, seen="ticks on"),
    )

    text = page(report(finding(1, HOLDS), finding(7, BROKEN), controls=controls))

    kept = '<td class="passed"><b>kept</b><small><a href="#mode-1">mode 1</a></small>'
    lost = '<td class="failed"><b>lost</b><small>gone</small>'
    assert f"<th>server killed</th>{kept}</td>{lost}" in text
    assert '<th>two writers</th><td class="failed"><b>lost</b>' in text
    parsed(text)


def test_our_own_cell_is_empty_if_its_mode_was_not_run() -> None:
    controls = (Control("tmux", "two writers", survived=True, seen="no"),)

    assert "<b>not run</b>" in page(report(finding(1, HOLDS), controls=controls))
    assert "<b>not available</b>" in page(
        report(finding(7, MISSING), controls=controls)
    )
