"""What the API's operations work with: the service behind them, the signing key, the limits."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from fastapi import Depends, Request

from configs.keys import signing_key
from configs.settings import Settings
from contracts.errors import UnavailableError
from serve_app.api.limits import ApiLimits
from serve_app.api.service import TurnService


@dataclass(frozen=True)
class ApiParts:
    """``find_service`` gives ``None`` while the service is not set up yet."""

    find_service: Callable[[], TurnService | None]
    settings: Settings
    limits: ApiLimits

    @cached_property
    def key(self) -> bytes:
        """The key that signs tokens, read once. Raises ``FrontlineError`` when it can't be used."""
        return signing_key(self.settings.home)


async def api_parts(request: Request) -> ApiParts:
    """The parts that the application was made with."""
    parts: ApiParts = request.app.state.parts
    return parts


Parts = Annotated[ApiParts, Depends(api_parts)]


async def current_service(parts: Parts) -> TurnService:
    """The service. Raises ``UnavailableError`` while it starts."""
    service = parts.find_service()
    if service is None:
        raise UnavailableError("The service is starting.")
    return service


Service = Annotated[TurnService, Depends(current_service)]
