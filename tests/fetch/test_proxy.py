from __future__ import annotations

import pytest

from recrawl.errors import ConfigError
from recrawl.fetch.proxy import Proxies


def test_the_environment_names_proxies() -> None:
    """Lower case goes first, ALL_PROXY fills in, a missing scheme is http."""
    proxies = Proxies.from_environment(
        {
            "http_proxy": "http://one.example:3128",
            "HTTP_PROXY": "http://two.example:3128",
            "ALL_PROXY": "three.example:3128",
            "NO_PROXY": "a.example, ,.b.example",
        }
    )

    assert proxies == Proxies(
        "http://one.example:3128", "http://three.example:3128", ("a.example", ".b.example")
    )


def test_an_empty_environment_means_no_proxy() -> None:
    """Without variables, or with empty ones, every URL is asked directly."""
    for environment in ({}, {"http_proxy": "", "HTTP_PROXY": "http://two.example:1"}):
        proxies = Proxies.from_environment(environment)
        assert proxies.proxy_for("http://a.example/") is None


def test_a_header_of_a_cgi_request_is_no_proxy() -> None:
    """In a CGI process the upper-case name may come from a stranger."""
    environment = {"REQUEST_METHOD": "GET", "HTTP_PROXY": "http://evil.example:1"}

    assert Proxies.from_environment(environment) == Proxies()


@pytest.mark.parametrize(
    ("entry", "url", "is_direct"),
    [
        ("*", "http://a.example/", True),
        ("a.example", "http://a.example/", True),
        ("A.example", "http://a.example/", True),
        ("a.example", "http://b.a.example/", True),
        (".a.example", "http://b.a.example/", True),
        ("*.a.example", "http://b.a.example/", True),
        ("a.example", "http://ba.example/", False),
        ("a.example:8080", "http://a.example:8080/", True),
        ("a.example:8080", "http://a.example/", False),
        ("a.example:80", "http://a.example/", True),
        ("10.0.0.0/8", "http://10.1.2.3/", True),
        ("10.0.0.0/8", "http://11.1.2.3/", False),
        ("10.0.0.1", "http://10.0.0.1/", True),
        ("[::1]", "http://[::1]/", True),
        (".", "http://a.example/", False),
    ],
)
def test_some_hosts_are_asked_directly(entry: str, url: str, is_direct: bool) -> None:
    """NO_PROXY takes names with all under them, ports, addresses, networks and a star."""
    proxies = Proxies(http="http://proxy.example:3128", no_proxy=(entry,))

    assert (proxies.proxy_for(url) is None) == is_direct


def test_each_scheme_has_its_proxy() -> None:
    """An https URL does not go through the proxy for http."""
    proxies = Proxies(http="http://one.example:1")

    assert proxies.proxy_for("http://a.example/") == "http://one.example:1"
    assert proxies.proxy_for("https://a.example/") is None


def test_a_proxy_that_is_none_is_refused_without_its_password() -> None:
    """The message shows what a proxy looks like and does not repeat the value."""
    with pytest.raises(ConfigError, match=r"http://proxy\.example:3128") as caught:
        Proxies(https="socks5://me:secret@proxy.example")

    assert "secret" not in str(caught.value)
