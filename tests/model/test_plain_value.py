from holdfast.wire.channel import First, Purpose, Record, RecordKind


def test_values_are_equal_by_their_class_and_fields() -> None:
    one, same = Record(RecordKind.DATA, b"x"), Record(RecordKind.DATA, b"x")

    assert one == same
    assert len({one, same, Record(RecordKind.DATA, b"y")}) == 2
    assert one != Record(RecordKind.END, b"x")
    assert one != First(Purpose.ATTACH, b"", b"x")
    assert one != (RecordKind.DATA, b"x")
    assert repr(Record(RecordKind.END)) == "Record(data=b'', kind=<RecordKind.END: 2>)"
