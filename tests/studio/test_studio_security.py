"""Who may call the studio: host, origin, token, methods, and the headers of every answer; without workers."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from occurs.studio import security
from occurs.studio.app import Studio, create

TOKEN = "the-right-token-0123456789"
RIGHT = {"Authorization": f"Bearer {TOKEN}"}
HOME = "http://127.0.0.1:8321"


@pytest.fixture
def ask(tmp_path: Path, pages: Path) -> Callable[..., httpx.Response]:
    """A request to a studio: method, address, headers."""
    (tmp_path / "a.epl").write_text("select * from A;")
    (tmp_path / "icon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")
    app = create(Studio(tmp_path, TOKEN, 8321, pages))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)

    def call(method: str, address: str, headers: Any = None, **more: Any) -> httpx.Response:
        async def run() -> httpx.Response:
            async with httpx.AsyncClient(transport=transport, base_url=HOME) as client:
                return await client.request(method, address, headers=headers, **more)

        return asyncio.run(run())

    return call


def kind(response: httpx.Response) -> str:
    """The kind of an error, whose shape is checked."""
    error = response.json()["error"]
    assert error.keys() == {"kind", "message", "hint", "problems"}
    assert "Traceback" not in response.text
    return error["kind"]


# host, origin, method


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:1", "localhost:65535", "LOCALHOST", "[::1]:8321", "[::1]"])
def test_names_of_this_machine_are_hosts(ask, host):
    assert ask("GET", "/api/v1/files", {**RIGHT, "Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "evil.example:8321", "127.0.0.2", "localhost.", "127.0.0.1:", "::1",
     "localhost:8321@evil.example", "0.0.0.0", "127.0.0.1:99999999", "xlocalhost", ""],
)  # fmt: skip
@pytest.mark.parametrize("address", ["/api/v1/files", "/", "/assets/index-abc123.js"])
def test_other_hosts_are_refused(ask, host, address):
    found = ask("GET", address, {**RIGHT, "Host": host})
    assert (found.status_code, kind(found)) == (421, "host")


def test_two_hosts_are_refused(ask):
    found = ask("GET", "/api/v1/files", [*RIGHT.items(), ("Host", "127.0.0.1"), ("Host", "localhost")])
    assert found.status_code == 421


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": HOME}, 200),
        ({"Origin": HOME, "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "https://127.0.0.1:8321"}, 403),
        ({"Origin": "http://127.0.0.1:8322"}, 403),
        ({"Origin": "http://localhost:8321"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": HOME, "Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
@pytest.mark.parametrize("address", ["/api/v1/files", "/"])
def test_only_the_page_itself_may_call(ask, headers, status, address):
    found = ask("GET", address, {**RIGHT, **headers})
    assert found.status_code == status
    assert status == 200 or kind(found) == "origin"
    assert not [name for name in found.headers if name.startswith("access-control")]


@pytest.mark.parametrize("address", ["/", "/api/v1/files", "/api/v1/check", "/nothing", "*"])
@pytest.mark.parametrize("origin", [None, HOME, "http://evil.example"])
def test_no_other_site_may_ask_what_it_may(ask, address, origin):
    headers = {"Access-Control-Request-Method": "PUT", **({"Origin": origin} if origin else {})}
    found = ask("OPTIONS", address, headers)
    assert found.status_code == 405
    assert kind(found) == "bad-request"
    assert not [name for name in found.headers if name.startswith("access-control")]


# token


@pytest.mark.parametrize(
    "headers",
    [
        {}, {"Authorization": "Bearer"}, {"Authorization": "Bearer "}, {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"}, {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"}, {"Authorization": "Bearer \xe9"}, {"Cookie": "occurs-8321=wrong"},
        {"Cookie": f"other={TOKEN}"}, {"Cookie": f"occurs-8321={TOKEN}", "Authorization": "Bearer wrong"},
        {"X-Token": TOKEN},
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("method", "address"),
    [("GET", "about"), ("GET", "files/a.epl"), ("PUT", "files/a.epl"), ("POST", "check"), ("GET", "openapi.json"),
     ("GET", "updates"), ("GET", "nothing"), ("DELETE", "files/a.epl"), ("GET", f"files?token={TOKEN}")],
)  # fmt: skip
def test_every_call_needs_the_token(ask, method, address, headers):
    raw = [(k.encode(), v.encode("latin-1")) for k, v in headers.items()]
    found = ask(method, f"/api/v1/{address}", raw)
    assert (found.status_code, kind(found)) == (401, "token")
    assert TOKEN not in found.text


@pytest.mark.parametrize(
    "headers",
    [RIGHT, {"Authorization": f"bearer {TOKEN}"}, {"Cookie": f"occurs-8321={TOKEN}"},
     {"Cookie": f"theme=dark; occurs-8322=of-another-studio; occurs-8321={TOKEN}"}],
)  # fmt: skip
def test_the_token_comes_as_a_header_or_as_a_cookie(ask, headers):
    assert ask("GET", "/api/v1/files", headers).status_code == 200


def test_the_address_with_the_token_becomes_a_cookie(ask):
    found = ask("GET", f"/?token={TOKEN}")
    assert found.status_code == 303
    assert found.headers["location"] == "/"
    assert found.headers["set-cookie"] == f"occurs-8321={TOKEN}; HttpOnly; SameSite=Strict; Path=/"
    assert TOKEN not in found.text


@pytest.mark.parametrize("query", ["token=wrong", "token=", f"token={TOKEN}&token=x", "x=1&token=%00", "token=%C3%A9"])
def test_a_wrong_address_says_where_the_right_one_is(ask, query):
    found = ask("GET", f"/?{query}")
    assert found.status_code == 401
    assert "set-cookie" not in found.headers
    assert "occurs studio" in found.text
    assert "prints" in found.text


def test_after_twenty_wrong_tokens_in_a_minute_each_waits_for_a_second(ask, monkeypatch):
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(security.asyncio, "sleep", sleep)
    for _ in range(10):
        ask("GET", "/api/v1/files", {"Authorization": "Bearer wrong"})
        ask("GET", "/?token=wrong")
    assert waited == []
    assert ask("GET", "/api/v1/files", {"Authorization": "Bearer wrong"}).status_code == 401
    assert waited == [1.0]
    assert ask("GET", "/api/v1/files", RIGHT).status_code == 200
    assert ask("GET", "/api/v1/files").status_code == 401
    assert waited == [1.0]
    now = time.monotonic()
    monkeypatch.setattr(security.time, "monotonic", lambda: now + 61)
    ask("GET", "/api/v1/files", {"Authorization": "Bearer wrong"})
    assert waited == [1.0]


def test_tokens_are_compared_in_constant_time(ask, monkeypatch):
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(security.secrets, "compare_digest", compare)
    ask("GET", "/api/v1/files", RIGHT)
    ask("GET", "/?token=wrong")
    ask("GET", "/api/v1/files", {"Cookie": "occurs-1=x"})
    assert compared == [(t.encode(), TOKEN.encode()) for t in (TOKEN, "wrong", "x")]


# headers


@pytest.mark.parametrize(
    ("method", "address"),
    [("GET", "/"), ("GET", "/assets/index-abc123.js"), ("GET", "/nothing"), ("GET", "/api/v1/files"),
     ("GET", "/api/v1/nothing"), ("GET", "/api/v1/files/a.epl"), ("POST", "/api/v1/check"), ("PATCH", "/api/v1/files"),
     ("GET", f"/?token={TOKEN}"), ("GET", "/?token=x"), ("OPTIONS", "/")],
)  # fmt: skip
def test_every_answer_has_the_headers_of_safety(ask, method, address):
    for headers in (RIGHT, {}, {"Host": "evil.example"}):
        found = ask(method, address, headers).headers
        assert found["x-content-type-options"] == "nosniff"
        assert found["referrer-policy"] == "no-referrer"
        assert found["cross-origin-opener-policy"] == "same-origin"
        assert found["cross-origin-resource-policy"] == "same-origin"
        assert "default-src 'none'" in found["content-security-policy"]
        assert "frame-ancestors 'none'" in found["content-security-policy"]
        assert "server" not in found
        if address.startswith("/api"):
            assert found["cache-control"] == "no-store"


def test_the_page_runs_only_its_own_scripts_and_has_a_new_nonce_each_time(ask):
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-N'; img-src 'self' data: blob:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    nonces = set()
    for _ in range(3):
        found = ask("GET", "/")
        assert found.headers["content-type"] == "text/html; charset=utf-8"
        nonce = re.search(r"'nonce-([\w-]{16,})'", found.headers["content-security-policy"])[1]
        assert found.headers["content-security-policy"] == policy.replace("nonce-N", f"nonce-{nonce}")
        assert f'content="{nonce}"' in found.text
        assert "__NONCE__" not in found.text
        nonces.add(nonce)
    assert len(nonces) == 3


def test_the_files_of_the_page_need_no_token_and_hold_no_data(ask):
    found = ask("GET", "/assets/index-abc123.js")
    assert (found.status_code, found.text) == (200, "export {}")
    assert found.headers["content-type"].startswith("text/javascript")
    assert "immutable" in found.headers["cache-control"]


@pytest.mark.parametrize(
    "path", ["/../app.py", "/%2e%2e/app.py", "/assets/..%2f..%2fapp.py", "/assets/%00", "//etc/passwd", "/..%5capp.py"]
)
def test_the_files_of_the_page_do_not_lead_elsewhere(ask, path):
    found = ask("GET", path)
    assert (found.status_code, kind(found)) == (404, "missing-file")


def test_an_image_of_the_project_runs_nothing(ask):
    found = ask("GET", "/api/v1/files/icon.svg", RIGHT)
    assert found.status_code == 200
    assert found.headers["content-type"] == "image/svg+xml"
    assert found.headers["content-security-policy"].startswith("sandbox")


def test_a_text_of_the_project_is_never_a_page(ask):
    found = ask("GET", "/api/v1/files/a.epl", RIGHT)
    assert found.headers["content-type"] == "text/plain; charset=utf-8"


# errors of the framework


@pytest.mark.parametrize(
    ("method", "address", "status", "of"),
    [
        ("GET", "/api/v1/nothing", 404, "missing-file"),
        ("GET", "/api", 404, "missing-file"),
        ("GET", "/nothing", 404, "missing-file"),
        ("POST", "/api/v1/files", 405, "bad-request"),
        ("GET", "/api/v1/check", 405, "bad-request"),
        ("PATCH", "/api/v1/files/a.epl", 405, "bad-request"),
        ("POST", "/", 405, "bad-request"),
        ("DELETE", "/assets/index-abc123.js", 405, "bad-request"),
        ("GET", "/api/v1/files/", 403, "forbidden-path"),
        ("GET", "/api/v1/files/%2e%2e/secret", 403, "forbidden-path"),
        ("GET", "/api/v1/files/a%0a.epl", 403, "forbidden-path"),
        ("GET", "/api/v1/files/a%00.epl", 403, "forbidden-path"),
        ("GET", "/api/v1/files/%ff.epl", 404, "missing-file"),
        ("GET", "/api/v1/files/b.epl", 404, "missing-file"),
    ],
)
def test_every_error_has_the_same_shape(ask, method, address, status, of):
    found = ask(method, address, RIGHT)
    assert (found.status_code, kind(found)) == (status, of)
    assert found.headers["content-type"] == "application/json"


def test_a_bug_is_told_without_its_traceback(ask, monkeypatch, caplog):
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("occurs.studio.files.Folder.listing", broken)
    with caplog.at_level(logging.ERROR):
        found = ask("GET", "/api/v1/files", RIGHT)
    assert (found.status_code, kind(found)) == (500, "internal")
    assert "secret" not in found.text
    refused = ask("GET", "/api/v1/nothing", RIGHT).headers
    assert {n: v for n, v in found.headers.items() if n != "content-length"} == {
        n: v for n, v in refused.items() if n != "content-length"
    }, "the headers of safety are there, too"
    assert "ZeroDivisionError: secret" in caplog.text
    assert "Traceback" not in caplog.text
    monkeypatch.setenv("OCCURS_TRACEBACK", "1")
    with caplog.at_level(logging.ERROR):
        ask("GET", "/api/v1/files", RIGHT)
    assert "Traceback" in caplog.text
