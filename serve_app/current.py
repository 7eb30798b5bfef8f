"""What this process serves: set when an ingress replica starts, asked for by its HTTP interface."""

from configs.settings import Settings
from serve_app.api.service import TurnService

service: TurnService | None = None
settings: Settings | None = None
