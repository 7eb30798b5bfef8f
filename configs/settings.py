"""Settings of one installation: where things lie, the profile, the budgets.

Every field can be set by an environment variable ``FRONTLINE_<FIELD>`` (nested: ``FRONTLINE_BUDGETS__TURN_MS``).
The numbers of each deployment come from the profile's YAML file, where each stands with its reason.
"""

from pathlib import Path
from urllib.parse import urlsplit

import yaml
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from contracts.base import Frozen
from contracts.errors import BadRequestError

ROOT = Path(__file__).resolve().parent.parent

#: What a graph server's address may begin with: one server or a cluster, in plain, or encrypted with a certificate
#: that is checked (``+s``) or not (``+ssc``).
NEO4J_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


class Budgets(Frozen):
    """Bounds of a turn. ``turn_ms`` is the one deadline; the other times are caps below it.

    ``max_running_turns`` is per ingress replica: at about 17 turns/s a replica, the last of 64 waits 4 s,
    a fifth of its budget; one more is turned away at once.
    """

    turn_ms: int = Field(20_000, ge=1_000)
    tool_ms: int = Field(10_000, ge=100)
    understand_ms: int = Field(8_000, ge=100)
    phrase_ms: int = Field(5_000, ge=100)
    lease_ttl_ms: int = Field(5_000, ge=500)
    max_message_characters: int = Field(4_000, ge=1)
    max_body_bytes: int = Field(1_000_000, ge=1_000)
    max_running_turns: int = Field(64, ge=1)


class Replicas(Frozen):
    """The numbers of one deployment, as Ray Serve names them."""

    min_replicas: int = 1
    max_replicas: int = 1
    target_ongoing_requests: float = 8
    upscale_delay_s: float = 5
    downscale_delay_s: float = 30
    max_ongoing_requests: int = 32
    max_queued_requests: int = 128
    num_cpus: float = 0.1
    num_gpus: float = 0
    graceful_shutdown_timeout_s: float = 25


class Profile(Frozen):
    """``configs/profiles/<name>.yaml``. ``with_graph_server`` replaces numbers where the graph is a server's."""

    name: str
    object_store_mb: int
    scheduling_cpus: int
    deployments: dict[str, Replicas]
    with_graph_server: dict[str, Replicas]

    def numbers(self, *, graph_server: bool) -> dict[str, Replicas]:
        """Each deployment's numbers, by the deployment's name."""
        return self.deployments | (self.with_graph_server if graph_server else {})


class Settings(BaseSettings):
    """What an operator sets. ``home`` keeps the key, compiled packs and the embedded stores.

    With ``neo4j_uri`` the graph is that server's, in ``neo4j_database`` (without it, in its default one), and
    ``neo4j_pool_size`` is the most connections that one process opens to it. Without it the graph is embedded.
    """

    # A complaint about a value shows up in logs, and the value may be a secret.
    model_config = SettingsConfigDict(
        env_prefix="FRONTLINE_", env_nested_delimiter="__", frozen=True, extra="ignore", hide_input_in_errors=True
    )

    home: Path = Path.home() / ".frontline"
    profile: str = "cpu"
    pack: Path = ROOT / "domains" / "shop"
    host: str = "127.0.0.1"
    port: int = Field(8000, ge=1, le=65535)
    budgets: Budgets = Budgets()
    embedding_cache_entries: int = Field(5_000, ge=0)
    neo4j_uri: str | None = None
    neo4j_user: str = "neo4j"
    neo4j_password: SecretStr = SecretStr("")
    neo4j_database: str | None = None
    neo4j_pool_size: int = Field(32, ge=1)

    @field_validator("neo4j_uri", "neo4j_database", mode="before")
    @classmethod
    def _empty_is_not_set(cls, value: str | None) -> str | None:
        return value or None

    @field_validator("neo4j_uri")
    @classmethod
    def _address_without_secrets(cls, value: str | None) -> str | None:
        if value is None:
            return value
        address = urlsplit(value)
        if address.scheme not in NEO4J_SCHEMES or not address.hostname:
            raise ValueError(f"must be an address like bolt://localhost:7687, with one of {', '.join(NEO4J_SCHEMES)}")
        if "@" in address.netloc:
            raise ValueError("must not hold the user or the password: set FRONTLINE_NEO4J_USER and …_PASSWORD")
        return value

    @model_validator(mode="after")
    def _server_needs_a_password(self) -> "Settings":
        if self.neo4j_uri is not None and not self.neo4j_password.get_secret_value():
            raise ValueError("FRONTLINE_NEO4J_URI is set, so FRONTLINE_NEO4J_PASSWORD must be set too")
        return self

    @property
    def state(self) -> Path:
        """The folder of the embedded stores: sessions, records, the graph."""
        return self.home / "state"

    @property
    def sessions_path(self) -> Path:
        return self.state / "sessions.sqlite"

    @property
    def checkpoints_path(self) -> Path:
        return self.state / "checkpoints.sqlite"

    @property
    def records_url(self) -> str:
        return f"sqlite+aiosqlite:///{self.state / 'records.sqlite'}"

    def compiled(self, name: str, digest: str) -> Path:
        """The folder of a pack's compiled artefacts; another content is another folder."""
        return self.home / "packs" / f"{name}-{digest[:16]}"

    def graph_path(self, name: str, digest: str) -> Path:
        """The embedded graph of a pack's content."""
        return self.state / "graph" / f"{name}-{digest[:16]}"


def read_settings(**given: object) -> Settings:
    """The settings of the environment, with ``given`` before it.

    Raises ``BadRequestError`` that names each variable that is wrong, and never its value.
    """
    try:
        return Settings(**given)  # type: ignore[arg-type]  # checked by the model itself
    except ValidationError as error:
        complaints = []
        for found in error.errors(include_input=False, include_url=False, include_context=False):
            variable = "__".join(str(part) for part in found["loc"]).upper()
            message = found["msg"].removeprefix("Value error, ")
            complaints.append(f"FRONTLINE_{variable}: {message}" if variable else message)
        raise BadRequestError("; ".join(complaints) + ".") from error


def load_profile(name: str) -> Profile:
    """The profile of that name. Raises ``BadRequestError`` when there is none."""
    path = ROOT / "configs" / "profiles" / f"{name}.yaml"
    if not path.exists():
        known = sorted(p.stem for p in path.parent.glob("*.yaml"))
        raise BadRequestError(f"There is no profile {name!r}; there are: {', '.join(known)}.")
    return Profile.model_validate({"name": name, **yaml.safe_load(path.read_text())})
