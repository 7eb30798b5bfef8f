"""The whole application on one screen: which deployments there are and who calls whom.

ingress ─┬─ router ────── embedder
         ├─ planner
         ├─ cypher executor (the graph)
         ├─ search ────── embedder
         └─ summarizer
"""

from ray.serve import Application, Deployment

from configs.settings import load_profile, read_settings
from deployments.cypher import Cypher
from deployments.embedder import Embedder
from deployments.installation import Installation
from deployments.planner import Planner
from deployments.router import Router
from deployments.search import Search
from deployments.summarizer import Summarizer
from serve_app.ingress import Ingress
from serve_app.scaling import scaled
from serve_app.setup import install


def build(installation: Installation) -> Application:
    """The application with the numbers of the installation's profile."""
    settings = installation.settings
    numbers = load_profile(settings.profile).numbers(graph_server=settings.neo4j_uri is not None)

    def deployed(deployment: Deployment, name: str) -> Deployment:
        return scaled(deployment, name, numbers[name])

    embedder = deployed(Embedder, "embedder").bind(settings)
    return deployed(Ingress, "ingress").bind(
        installation,
        router=deployed(Router, "router").bind(installation, embedder),
        planner=deployed(Planner, "planner").bind(installation),
        cypher=deployed(Cypher, "cypher").bind(installation),
        search=deployed(Search, "search").bind(installation, embedder),
        summarizer=deployed(Summarizer, "summarizer").bind(installation),
    )


def __getattr__(name: str) -> Application:
    """``serve_app.app:app``, as ``serve_config.yaml`` names it: compiled and built when it is asked for."""
    if name == "app":
        return build(install(read_settings()))
    raise AttributeError(name)
