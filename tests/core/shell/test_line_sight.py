from holdfast.core.shell.line_sight import MAX_PIECES, sight_of


def test_words_are_seen_through_quotes_escapes_and_punctuation() -> None:
    sight = sight_of("\x1b[200~a;$(r'm' -rf /x/y)\x1bOP{b,c=d:e}\x1b")

    assert sight.pieces == ("a", "rm", "-rf", "/x/y", "b,c=d:e")
    assert {"y", "b", "c", "d", "e"} <= sight.everything
    assert "" not in sight.everything


def test_however_much_is_seen_little_is_kept_in_order() -> None:
    sight = sight_of(" ".join(f"w{number}" for number in range(5000)))

    assert len(sight.pieces) == len(sight.distinct) == MAX_PIECES
    assert "w4999" in sight.everything
