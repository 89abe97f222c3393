from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.capsule.changes import (
    Change,
    Facts,
    Kind,
    Sort,
    counts,
    judge,
    plan,
)

FILE = Facts(Sort.FILE, 0o644, (1, 1), 3, changed_ns=5)
FOLDER = Facts(Sort.FOLDER, 0o755, (1, 1), changed_ns=5)


def judged(
    before: Facts | None, now: Facts | None, *, same: bool = False, began: int = 9
) -> Change | None:
    return judge("a", before, now, began, is_same_content=same)


def test_i1_what_is_the_same_is_no_change() -> None:
    assert judged(None, None) is None
    assert judged(FILE, FILE._replace(changed_ns=8), same=True) is None
    assert judged(FOLDER, FOLDER._replace(changed_ns=8)) is None
    link = Facts(Sort.LINK, target="x")
    assert judged(link, link._replace(changed_ns=8)) is None


def test_what_was_made_changed_and_deleted() -> None:
    made, gone = judged(None, FILE), judged(FILE, None)
    changed = judged(FILE, FILE._replace(size=7))

    assert made == Change("a", Kind.MADE, None, FILE)
    assert (made.sort, made.sizes) == (Sort.FILE, (0, 3))
    assert gone == Change("a", Kind.DELETED, FILE, None)
    assert (gone.sort, gone.sizes) == (Sort.FILE, (3, 0))
    assert changed is not None
    assert (changed.kind, changed.sizes) == (Kind.CHANGED, (3, 7))
    assert counts([made, gone, changed, changed]) == {
        "made": 1,
        "changed": 2,
        "deleted": 1,
    }
    assert Change("a", Kind.MADE, None, None).sort is Sort.FILE


def test_another_mode_owner_attribute_or_target_is_a_change() -> None:
    for other in (
        FILE._replace(mode=0o600),
        FILE._replace(owner=(1, 2)),
        FILE._replace(attributes=(("user.x", b""),)),
        FILE._replace(sort=Sort.PIPE),
    ):
        assert judged(FILE, other, same=True) is not None
    assert judged(Facts(Sort.LINK, target="x"), Facts(Sort.LINK, target="y"))


def test_what_changed_outside_since_the_layer_began_is_a_conflict() -> None:
    for now in (None, FILE._replace(size=7)):
        late, early = judged(FILE, now, began=4), judged(FILE, now, began=5)
        assert late is not None
        assert late.is_conflict
        assert early is not None
        assert not early.is_conflict
    folder = judged(FOLDER, None, began=1)
    assert folder is not None
    assert not folder.is_conflict


def test_a_file_in_the_place_of_a_file_is_not_removed_first() -> None:
    over = Change("a", Kind.CHANGED, FILE, FILE._replace(size=7))
    other = Change("b", Kind.CHANGED, FOLDER, FILE)
    whole = Change("c", Kind.CHANGED, FOLDER, FOLDER._replace(mode=0))

    gone = Change("d", Kind.DELETED, FILE, None)
    made = Change("e", Kind.MADE, None, FILE)

    steps = plan([over, other, whole, gone, made])

    assert steps.remove == (gone, other)
    assert steps.make == (over, other, whole, made)
    assert steps.finish == (whole,)


parts = st.sampled_from(["a", "a!", "b"])
names = st.lists(parts, min_size=1, max_size=4).map("/".join)
facts = st.one_of(st.none(), st.sampled_from([FILE, FOLDER]))


@given(st.dictionaries(names, st.tuples(facts, facts)))
def test_i2_and_i3_the_order_is_one_in_which_it_can_be_done(
    told: dict[str, tuple[Facts | None, Facts | None]],
) -> None:
    found = [
        one
        for path, (before, now) in told.items()
        if (one := judge(path, before, now, 9, is_same_content=False))
    ]

    steps = plan(found)

    removed = [one.path for one in steps.remove]
    made = [one.path for one in steps.make]
    for place, path in enumerate(removed):
        assert not any(later.startswith(f"{path}/") for later in removed[place + 1 :])
    for place, path in enumerate(made):
        assert not any(path.startswith(f"{later}/") for later in made[place + 1 :])
    for change in steps.remove:
        assert change.now is None or change.before != change.now, "I3"
    assert {one.path for one in found} == {*removed, *made}
