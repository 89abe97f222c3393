import pytest

from holdfast.model.errors import MalformedMessage
from holdfast.model.ids import SessionId
from holdfast.model.image_record import ImageRecord, images_in

ONE = SessionId("s_" + "a" * 16)
IMAGE = ImageRecord(ONE, 3, "web", "before", 20, 4096, 2, once=True)


def test_what_is_told_is_read_again() -> None:
    assert images_in({"images": [IMAGE.facts()]}) == [IMAGE]
    assert IMAGE.image == f"{ONE}.3"
    assert images_in({"images": []}) == []


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"images": {}},
        {"images": [7]},
        {"images": [{"number": 1}]},
        {"images": [{"id": "../x"}]},
        {"images": [{"id": ONE, "number": "1"}]},
    ],
)
def test_what_is_no_list_of_images_is_refused(told: dict[str, object]) -> None:
    with pytest.raises(MalformedMessage):
        images_in(told)
