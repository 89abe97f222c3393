"""Images that are too many, and labels that are."""

from pathlib import Path

import msgspec
import pytest
from tests.core.capsule.image_samples import CONTENT, SESSION, WHOLE

from holdfast.crypto.keys import SigningKey
from holdfast.holder.image_retention import demand_room, retain
from holdfast.linux.stored import folders, image_list, image_store
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.errors import ImageUnwritten


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    for place in ("STATE", "CONFIG", "RUNTIME"):
        monkeypatch.setenv(f"HOLDFAST_{place}_DIR", str(tmp_path / place))


def make(label: str) -> None:
    manifest = msgspec.structs.replace(WHOLE, label=label, once=False)
    with image_store.begin(SESSION, is_durable=False) as draft:
        for name, content in CONTENT.items():
            draft.add(name, content)
        draft.add("files/1", bytes(600_000))
        draft.finish(manifest, SigningKey.from_seed(host_seed()))


def bound(words: str) -> None:
    Path(folders.config_file()).write_text(f"[images]\n{words}\n")


def test_a_label_is_refused_once_labels_take_all_that_images_may() -> None:
    make("")
    demand_room()
    make("one")
    demand_room()
    bound('size = "1M"')
    demand_room()
    make("two")

    with pytest.raises(ImageUnwritten, match="images with a label take 1M"):
        demand_room()


def test_what_is_too_many_goes_and_labels_stay() -> None:
    host_seed()
    bound("keep = 1")
    for label in ("", "one", "", ""):
        make(label)

    retain()

    assert sorted(one.number for one in image_list.listed()) == [2, 4]
