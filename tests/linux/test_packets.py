import os
import socket
from pathlib import Path

from holdfast.linux import packets


def pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def test_a_packet_arrives_with_its_descriptors() -> None:
    ours, theirs = pair()
    reader, writer = os.pipe()

    packets.send(ours, {"do": "x"}, [writer])
    heard = packets.receive(theirs)

    assert heard is not None
    packet, [copy] = heard
    os.write(copy, b"through")
    assert packet == {"do": "x"}
    assert os.read(reader, 10) == b"through"
    for fd in (reader, writer, copy):
        os.close(fd)
    ours.close()
    theirs.close()


def test_somebody_who_is_gone_is_none() -> None:
    ours, theirs = pair()
    ours.close()

    assert packets.receive(theirs) is None
    theirs.close()


def test_what_is_not_a_packet_counts_as_gone_and_leaks_nothing() -> None:
    for garbage in (b"[]", b"{", b"\xff", b"1"):
        ours, theirs = pair()
        before = len(list(Path("/proc/self/fd").iterdir()))
        socket.send_fds(ours, [garbage], [0])

        assert packets.receive(theirs) is None
        assert len(list(Path("/proc/self/fd").iterdir())) == before
        ours.close()
        theirs.close()


def test_a_listening_place_is_for_us_alone(tmp_path: Path) -> None:
    path = tmp_path / "k"
    with packets.listen(path) as listener, packets.connect(path, 1) as link:
        accepted, _ = listener.accept()
        with accepted:
            assert path.stat().st_mode & 0o777 == 0o600
            assert packets.is_ours(accepted)
            assert packets.is_ours(link)
