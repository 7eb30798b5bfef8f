"""The Locust user: a customer (or a guest) who asks one question after another and reads the replies.

Run by ``python -m loadtest``; also plain, for the web interface:
``locust -f loadtest/locustfile.py --host http://127.0.0.1:8000``.
A reply that is wrong by the data is a failure of its own kind, ``wrong``.
"""

import os
import time
from typing import Any

import gevent
from locust import HttpUser, constant, events, task
from locust.env import Environment
from locust.exception import StopUser

from configs.keys import signing_key
from configs.settings import Settings
from contracts.clock import SystemClock
from contracts.principal import Principal, PrincipalKind
from loadtest.questions import Question, QuestionMix, complaints
from loadtest.run_state import RunState
from loadtest.shop_data import load_shop
from serve_app.api.tokens import mint

_TOKEN_TTL_S = 3600
_ANSWER_WITHIN_S = 25

_settings = Settings()
_state = RunState(turns_wanted=int(os.environ.get("LOADTEST_TURNS", "0")))
_mix = QuestionMix(load_shop(_settings.pack / "data"), seed=int(os.environ.get("LOADTEST_SEED", "1")))
_key = signing_key(_settings.home)


class Customer(HttpUser):  # type: ignore[misc]  # Locust has no types
    """Each question comes from a customer drawn anew, with a token of theirs."""

    wait_time = constant(float(os.environ.get("LOADTEST_THINK_S", "0")))

    @task  # type: ignore[untyped-decorator]
    def ask(self) -> None:
        if not _state.take_turn():
            raise StopUser
        try:
            self._ask(_mix.draw())
        finally:
            _state.ended()

    def _ask(self, question: Question) -> None:
        headers = {}
        if question.customer_id is not None:
            principal = Principal(
                kind=PrincipalKind.CUSTOMER, subject=question.customer_id, customer_id=question.customer_id
            )
            headers["Authorization"] = f"Bearer {mint(principal, _key, _TOKEN_TTL_S, SystemClock())}"
        with self.client.post(
            "/v1/turns",
            json={"message": question.message},
            headers=headers,
            name=question.kind,
            timeout=_ANSWER_WITHIN_S,
            catch_response=True,
        ) as response:
            if response.status_code != 200:
                _state.failed(question, f"HTTP {response.status_code}: {response.text[:200]}")
                response.failure(f"HTTP {response.status_code}")
                return
            wrong = complaints(question, response.json()["reply"]["text"])
            if wrong:
                _state.wrong(question, wrong, response.json()["reply"]["text"])
                response.failure("wrong: " + "; ".join(wrong)[:120])
            else:
                response.success()


@events.test_start.add_listener  # type: ignore[untyped-decorator]
def _watch(environment: Environment, **_: Any) -> None:
    """Measure how late this process's own timers fire: a late generator measures itself, not the service."""
    gevent.spawn(_measure_lag)
    gevent.spawn(_quit_when_done, environment)


def _measure_lag() -> None:
    while True:
        started = time.perf_counter()
        gevent.sleep(0.05)
        _state.lags_ms.append((time.perf_counter() - started - 0.05) * 1000)


def _quit_when_done(environment: Environment) -> None:
    while not _state.done:
        gevent.sleep(0.1)
    if environment.runner is not None:
        gevent.sleep(1)
        environment.runner.quit()


@events.quitting.add_listener  # type: ignore[untyped-decorator]
def _report(environment: Environment, **_: Any) -> None:
    path = os.environ.get("LOADTEST_REPORT")
    if path:
        _state.write(path, environment.stats)
