"""Who calls: a valid token or none; nothing in between."""

import base64
import hashlib
import hmac
import json

import httpx
import jwt
import pytest

from configs.keys import signing_key
from contracts.errors import BadRequestError, UnauthenticatedError
from contracts.principal import Principal, PrincipalKind
from serve_app.api.tokens import mint, verify
from tests.serve_app.api.conftest import NOON

KEY = bytes(range(32))
NOON_S = int(NOON.timestamp())
BROKEN_HEADERS = (b"[" * 40_000, rb'{"alg":"HS256","typ":"\ud800"}', rb'{"alg":"\ud800"}', b"{}", b"7")
AGENT = Principal(kind=PrincipalKind.AGENT, subject="A7", desk="returning", scopes=frozenset({"read", "write"}))
CUSTOMER = Principal(kind=PrincipalKind.CUSTOMER, subject="C1", customer_id="C1")
SERVICE = Principal(kind=PrincipalKind.SERVICE, subject="crm", customer_id="C9")


@pytest.mark.parametrize("principal", [AGENT, CUSTOMER, SERVICE])
def test_a_token_names_its_principal(principal: Principal, clock) -> None:
    assert verify(mint(principal, KEY, 60, clock), KEY, clock) == principal


def test_a_token_ends_to_the_second(clock) -> None:
    token = mint(CUSTOMER, KEY, 60, clock)
    clock.advance(59)
    assert verify(token, KEY, clock) == CUSTOMER
    clock.advance(1)
    with pytest.raises(UnauthenticatedError, match="expired"):
        verify(token, KEY, clock)


def test_a_token_from_a_minute_ahead_is_taken_and_one_from_far_ahead_is_not(clock) -> None:
    clock.advance(60)
    near = mint(CUSTOMER, KEY, 3600, clock)
    clock.advance(1)
    far = mint(CUSTOMER, KEY, 3600, clock)
    clock.advance(-61)
    assert verify(near, KEY, clock) == CUSTOMER
    with pytest.raises(UnauthenticatedError, match="future"):
        verify(far, KEY, clock)


def claims(clock, **changes: object) -> dict[str, object]:
    now = int(clock.now().timestamp())
    valid = {"iss": "frontline", "aud": "frontline", "sub": "C1", "kind": "customer", "customer_id": "C1"}
    given = {**valid, "iat": now, "exp": now + 60, **changes}
    return {name: value for name, value in given.items() if value is not ...}


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "somebody"},
        {"aud": "somewhere"},
        {"kind": "emperor"},
        {"kind": ["customer"]},
        {"customer_id": ...},
        {"customer_id": 7},
        {"kind": "admin"},
        {"sub": 7},
        {"sub": ""},
        {"sub": " \n"},
        {"sub": "C1\ud800"},
        {"customer_id": ""},
        {"customer_id": "\udfff"},
        {"desk": "\ud800"},
        {"scopes": ["\ud800"]},
        {"nbf": NOON_S + 61},
        {"nbf": None},
        {"nbf": "soon"},
        {"exp": str(NOON_S + 60)},
        {"exp": True},
        {"exp": "soon"},
        {"exp": 1e300},
        {"iat": None},
        {"scopes": "all"},
        *({name: ...} for name in ("iss", "aud", "sub", "kind", "iat", "exp")),
    ],
)
def test_wrong_claims_are_refused_though_the_signature_is_right(changes: dict[str, object], clock) -> None:
    assert verify(jwt.encode(claims(clock), KEY, "HS256"), KEY, clock) == CUSTOMER
    with pytest.raises(UnauthenticatedError):
        # Signed by hand: the library would not sign some of these.
        verify(signed(claims(clock, **changes), KEY), KEY, clock)


def test_a_token_is_good_from_its_beginning_on(clock) -> None:
    assert verify(signed(claims(clock, nbf=NOON_S + 60), KEY), KEY, clock) == CUSTOMER
    late = signed(claims(clock, nbf=NOON_S + 70, exp=NOON_S + 3600), KEY)
    with pytest.raises(UnauthenticatedError, match="future"):
        verify(late, KEY, clock)
    clock.advance(10)
    assert verify(late, KEY, clock) == CUSTOMER


@pytest.mark.parametrize("name", ["", " ", "C\ud800"])
def test_no_token_is_made_that_would_be_refused(name: str, clock) -> None:
    for principal in (
        Principal(kind=PrincipalKind.GUEST, subject=name),
        Principal(kind=PrincipalKind.SERVICE, subject="crm", customer_id=name),
    ):
        with pytest.raises(BadRequestError):
            mint(principal, KEY, 60, clock)


async def test_a_token_signed_with_half_a_surrogate_pair_is_refused(
    http: httpx.AsyncClient, settings, clock, service
) -> None:
    token = signed(claims(clock, sub="C1\ud800"), signing_key(settings.home))
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "k-1"}
    assert (await http.post("/v1/turns", json={"message": "Hello"}, headers=headers)).status_code == 401
    assert (await http.get("/v1/sessions", headers=headers)).status_code == 401
    assert service.requests == []


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(payload: dict[str, object], key: bytes, header: dict[str, str] | None = None) -> str:
    head = encoded(json.dumps(header or {"alg": "HS256", "typ": "JWT"}).encode())
    signing_input = f"{head}.{encoded(json.dumps(payload).encode())}"
    return f"{signing_input}.{encoded(hmac.new(key, signing_input.encode(), hashlib.sha256).digest())}"


def test_other_algorithms_and_other_keys_are_refused(clock) -> None:
    good = claims(clock)
    assert verify(signed(good, KEY), KEY, clock) == CUSTOMER
    head, payload, signature = signed(good, KEY).split(".")
    none = encoded(b'{"alg":"none","typ":"JWT"}')
    forged = [
        signed(good, bytes(32)),
        f"{none}.{payload}.",
        f"{none}.{payload}.{signature}",
        f"{head}.{payload}.",
        f"{head}.{encoded(json.dumps(claims(clock, customer_id='C2')).encode())}.{signature}",
        jwt.encode(good, KEY + KEY, "HS512"),
        signed(good, KEY, {"alg": "HS384", "typ": "JWT"}),
        f"{head}.{payload}",
        "",
        "a.b.c",
        *(f"{encoded(broken)}.{payload}.{signature}" for broken in BROKEN_HEADERS),
        "é.é.é",
    ]
    for token in forged:
        with pytest.raises(UnauthenticatedError):
            verify(token, KEY, clock)


async def test_a_bad_token_is_an_error_and_never_a_guest(http: httpx.AsyncClient, settings, clock, service) -> None:
    key = signing_key(settings.home)
    expired = mint(CUSTOMER, key, 60, clock)
    clock.advance(61)
    unsigned = jwt.encode(claims(clock), None, "none")
    for value in (f"Bearer {expired}", f"Bearer {unsigned}", "Bearer ", "Bearer", "", "Basic QzE6", "Bearer a b", "é"):
        for method, path in (("POST", "/v1/turns"), ("POST", "/v1/sessions"), ("GET", "/v1/sessions")):
            response = await http.request(
                method, path, json={"message": "Hello"}, headers=[("Authorization", value.encode("latin-1"))]
            )
            assert response.status_code == 401, (value, path)
            assert response.json()["type"] == "/problems/unauthenticated"
            assert response.headers["www-authenticate"] == "Bearer"
    assert service.requests == []


async def test_two_authorization_headers_are_refused(http: httpx.AsyncClient, bearer) -> None:
    one, two = bearer("C1")["Authorization"], bearer("C2")["Authorization"]
    response = await http.get("/v1/sessions", headers=[("Authorization", one), ("Authorization", two)])
    assert response.status_code == 401


async def test_what_belongs_to_a_caller_needs_a_token(http: httpx.AsyncClient) -> None:
    for method, path in (
        ("GET", "/v1/turns/t1"),
        ("GET", "/v1/sessions"),
        ("GET", "/v1/sessions/s1"),
        ("DELETE", "/v1/sessions/s1"),
    ):
        assert (await http.request(method, path)).status_code == 401, path


async def test_a_guests_token_lasts_a_day(http: httpx.AsyncClient, clock) -> None:
    token = (await http.post("/v1/sessions")).json()["guest_token"]
    headers = {"Authorization": f"Bearer {token}"}
    clock.advance(24 * 3600 - 1)
    assert (await http.get("/v1/sessions", headers=headers)).status_code == 200
    clock.advance(1)
    assert (await http.get("/v1/sessions", headers=headers)).status_code == 401


async def test_a_key_that_cannot_be_used_is_our_error_and_not_told(http: httpx.AsyncClient, settings) -> None:
    (settings.home / "signing.key").write_text("zz")
    response = await http.post("/v1/turns", json={"message": "Hello"})
    assert response.status_code == 500
    assert str(settings.home) not in response.text
