"""Reply templates: Jinja in a sandbox, with dates and money written as the language writes them.

What comes from rows and messages is made harmless before a template sees it: no control characters, no
markup, no brackets that would look like a source's number.
"""

import re
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from configs.packs.types import LocalText, Pack
from contracts.base import Value

_FOLDER = Path(__file__).parent / "phrases"
_DEFAULT_LANGUAGE = "en"
_CURRENCY = re.compile(r"[A-Z]{3}")
_NEUTRAL = str.maketrans({"<": "‹", ">": "›", "[": "(", "]": ")", "{": "(", "}": ")"})


class RenderError(Exception):
    """A template could not be rendered with what it was given."""


def clean(text: str) -> str:
    """``text`` on one line, without control, format and unassigned characters."""
    kept = (
        " " if character.isspace() else "" if unicodedata.category(character)[0] == "C" else character
        for character in text
    )
    return " ".join("".join(kept).split())


def harmless(value: Any) -> Any:
    """Data as a template may have it: every string in it cleaned, and free of markup."""
    if isinstance(value, str):
        return clean(value).translate(_NEUTRAL)
    if isinstance(value, Mapping):
        return {key: harmless(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [harmless(inner) for inner in value]
    return value


def localized(texts: LocalText, language: str, pack: Pack) -> str:
    """The text in ``language``, else in the pack's first language, else any; empty where there is none."""
    for code in (language, *pack.domain.languages):
        if code in texts:
            return texts[code]
    return next(iter(texts.values()), "")


def phrase(name: str, language: str, pack: Pack) -> str:
    """The template of a common phrase: the pack's own, else ours. Raises ``KeyError`` for an unknown name."""
    own = pack.domain.phrases.get(name, {})
    if language in own:
        return own[language]
    return _phrases(language)[name]


def phrase_names() -> frozenset[str]:
    """The names that a pack may override."""
    return frozenset(_phrases(_DEFAULT_LANGUAGE))


def currency_of(pack: Pack) -> str | None:
    """The currency of the pack's amounts: the commonest unit in its schema that is a currency's code."""
    units = [
        unit.unit
        for label in pack.schema_.labels.values()
        for unit in label.properties.values()
        if unit.unit is not None and _CURRENCY.fullmatch(unit.unit)
    ]
    return max(sorted(set(units)), key=units.count, default=None)


def render(template: str, language: str, context: Mapping[str, Any], *, currency: str | None = None) -> str:
    """The template's text, without white space at its ends. ``context`` must be :func:`harmless` already.

    Filters: ``date``, ``datetime``, ``money`` (in ``currency`` unless it is given another). Raises ``RenderError``.
    """
    try:
        text: str = _compiled(template, language, currency).render(context)
    # A filter or an operator in a pack's template may raise anything when a value is missing.
    except Exception as error:
        raise RenderError(f"{type(error).__name__}: {error}") from error
    return text.strip()


def check_template(template: str, language: str) -> str | None:
    """What is wrong with a template's syntax, or ``None``."""
    try:
        _compiled(template, language, None)
    except TemplateError as error:
        return str(error)
    return None


@lru_cache(maxsize=1_000)
def _compiled(template: str, language: str, currency: str | None) -> Template:
    return _environment(language, currency).from_string(template)


@cache
def _environment(language: str, currency: str | None) -> SandboxedEnvironment:
    # Replies are plain text: escaping for a page is the page's own matter.
    environment = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    environment.filters["date"] = lambda value: format_date(value, language)
    environment.filters["datetime"] = lambda value: format_datetime(value, language)
    environment.filters["money"] = lambda value, code=currency: format_money(value, language, code)
    return environment


@cache
def _phrases(language: str) -> dict[str, str]:
    own = _FOLDER / f"{language.split('-')[0]}.yaml"
    names: dict[str, str] = yaml.safe_load((_FOLDER / f"{_DEFAULT_LANGUAGE}.yaml").read_text(encoding="utf-8"))
    if own.is_file():
        names |= yaml.safe_load(own.read_text(encoding="utf-8"))
    return names


@cache
def _formats() -> dict[str, Any]:
    formats: dict[str, Any] = yaml.safe_load((_FOLDER / "formats.yaml").read_text(encoding="utf-8"))
    return formats


def _format_of(language: str) -> dict[str, Any]:
    formats = _formats()
    found: dict[str, Any] = formats.get(language.split("-")[0], formats[_DEFAULT_LANGUAGE])
    return found


def format_date(value: Value, language: str) -> str:
    """A date (or an ISO text of one) in words; empty for ``None``. Raises ``ValueError`` for other texts."""
    if value is None:
        return ""
    day = value if isinstance(value, date) else datetime.fromisoformat(str(value))
    form = _format_of(language)
    return str(form["date"]).format(d=day.day, month=form["months"][day.month - 1], y=day.year)


def format_datetime(value: Value, language: str) -> str:
    """A moment (or an ISO text of one) in words, as it stands; empty for ``None``."""
    if value is None:
        return ""
    at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    form = _format_of(language)
    return str(form["datetime"]).format(
        d=at.day, month=form["months"][at.month - 1], y=at.year, hh=f"{at.hour:02}", mm=f"{at.minute:02}"
    )


def format_money(value: Value, language: str, code: str | None) -> str:
    """An amount with two decimals and its currency; empty for ``None``. Raises ``ValueError`` for a text."""
    if value is None:
        return ""
    try:
        amount = Decimal(str(value)).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
    except InvalidOperation as error:
        raise ValueError(f"{value!r} is no amount") from error
    form = _format_of(language)
    whole, _, cents = f"{abs(amount):,.2f}".partition(".")
    written = whole.replace(",", form["thousands"]) + form["decimal"] + cents
    sign = "-" if amount < 0 else ""
    if code is None:
        return f"{sign}{written}"
    symbol = _formats()["symbols"].get(code)
    if symbol is None:
        return sign + str(form["money_code"]).format(amount=written, code=code)
    return sign + str(form["money"]).format(symbol=symbol, amount=written)
