"""The page's nginx configuration, with a real nginx between a host and a person."""

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.docs.printed_lines import Line, account
from tests.scenarios.support import eventually

PAGE = (Path(__file__).parents[2] / "docs/howto/behind-a-proxy.md").read_text("utf-8")
SERVER = PAGE.split("```nginx\n")[1].split("```")[0]
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin")
FRAME = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/log;
events {{}}
http {{
    access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    {server}
}}
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def accepts(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def proxy(folder: Path, port: int, relay: int) -> Iterator[None]:
    """Run nginx as the page has it, on this port and without TLS."""
    assert NGINX is not None
    server = SERVER.replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    server = re.sub(r" *ssl_\w+ .*\n", "", server).replace(":7447", f":{relay}")
    (folder / "conf").write_text(FRAME.format(folder=folder, server=server))
    words = [NGINX, "-p", str(folder), "-c", str(folder / "conf"), "-e", "stderr"]
    with subprocess.Popen(words) as run:
        try:
            eventually("nginx listens", lambda: accepts(port))
            yield
        finally:
            run.terminate()


@pytest.mark.skipif(NGINX is None, reason="needs nginx")
def test_a_host_and_a_person_meet_through_the_page_s_nginx(tmp_path: Path) -> None:
    relay, port = free_port(), free_port()
    listens = f"--listen 127.0.0.1:{relay} --name 127.0.0.1:{port}"
    dialled = f"http://127.0.0.1:{port}"

    with proxy(tmp_path, port, relay), account() as somebody:
        done = somebody.run(
            [
                Line(f"holdfast relay --behind-proxy {listens} > r.log 2>&1 &", 0),
                Line(f"holdfast up --detach --relay {dialled}", 0),
                Line("holdfast new --detach --name web", 0),
                Line("holdfast invite --no-qr | holdfast join - --name box", 0),
                Line("holdfast run box/web -- echo through the proxy", 0),
                Line("holdfast status", 0),
            ]
        )

    assert done.returncode == 0, done.stdout
    assert "\nthrough the proxy\n" in done.stdout
    assert dialled in done.stdout
