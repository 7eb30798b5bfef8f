"""``domain.yaml``: languages, desks, opening hours."""

import re
from collections.abc import Iterator
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agents.templates import phrase_names
from authoring.checks.checked import Checked
from authoring.checks.templates import syntax_complaint
from configs.nearest import hint
from configs.packs.complaint import Complaint
from configs.packs.loader import DOMAIN

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SPAN = re.compile(r"([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)")


def domain_complaints(checked: Checked) -> Iterator[Complaint]:
    """Everything wrong with the domain's own words."""
    domain = checked.pack.domain
    languages = list(enumerate(domain.languages))
    yield from checked.duplicates(DOMAIN, [(name, ("languages", position)) for position, name in languages], "language")
    yield from checked.languages(DOMAIN, domain.scope, "scope")
    if domain.sign_off:
        yield from checked.languages(DOMAIN, domain.sign_off, "sign_off")
    for name, text in domain.phrases.items():
        if name not in phrase_names():
            yield checked.complaint(DOMAIN, f"is no common phrase{hint(name, phrase_names())}", "phrases", name)
        for language, template in text.items():
            invalid = syntax_complaint(template, language)
            if invalid:
                yield checked.complaint(DOMAIN, invalid, "phrases", name, language)
        yield from checked.languages(DOMAIN, text, "phrases", name)
    yield from _desks(checked)
    yield from _hours(checked)


def _desks(checked: Checked) -> Iterator[Complaint]:
    desks = checked.pack.domain.desks
    names = [(desk.name, ("desks", position, "name")) for position, desk in enumerate(desks)]
    yield from checked.duplicates(DOMAIN, names, "desk")
    defaults = sum(desk.default for desk in desks)
    if defaults != 1:
        yield checked.complaint(DOMAIN, f"{defaults} desks say `default: true`; exactly one must", "desks")
    for position, desk in enumerate(desks):
        yield from checked.languages(DOMAIN, desk.title, "desks", position, "title")


def _hours(checked: Checked) -> Iterator[Complaint]:
    hours = checked.pack.domain.hours
    if hours is None:
        return
    try:
        ZoneInfo(hours.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        message = f"{hours.timezone!r} is no time zone; write one such as 'Europe/Lisbon'"
        yield checked.complaint(DOMAIN, message, "hours", "timezone")
    for day, spans in hours.weekly.items():
        if day not in _DAYS:
            yield checked.complaint(DOMAIN, f"is no day; days are {', '.join(_DAYS)}", "hours", "weekly", day)
        for position, span in enumerate(spans):
            opens, _, closes = span.partition("-")
            if not _SPAN.fullmatch(span) or opens >= closes:
                message = f"{span!r} is no opening time; write it like '09:00-17:30'"
                yield checked.complaint(DOMAIN, message, "hours", "weekly", day, position)
