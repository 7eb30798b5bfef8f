"""For operators and curious callers: liveness, readiness, the catalogue of problems."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from contracts.errors import NotFoundError, UnavailableError
from serve_app.api.bodies import Health, Readiness
from serve_app.api.catalogue import CATALOGUE, CatalogueEntry
from serve_app.api.parts import Service
from serve_app.api.problems import PROBLEM_RESPONSES, problem_body, problem_response
from serve_app.api.request_id import request_id

router = APIRouter(tags=["operations"], responses=PROBLEM_RESPONSES)


@router.get("/v1/health", summary="Is the process alive?")
async def get_health() -> Health:
    """Answers as long as the process does. Asks nothing else."""
    return Health()


@router.get("/v1/ready", response_model=Readiness, summary="Can messages be answered?")
async def get_ready(request: Request, service: Service) -> Response:
    """How each part is; 503, with the same list, while one of them isn't ready."""
    parts = {name: dict(part) for name, part in (await service.readiness()).items()}
    waiting = sorted(name for name, part in parts.items() if not part["ready"])
    if not waiting:
        return JSONResponse(Readiness(ready=True, parts=parts).model_dump())
    error = UnavailableError(f"Not ready: {', '.join(waiting)}.")
    return problem_response(problem_body(error, request_id(request.scope), ready=False, parts=parts))


@router.get("/problems/{code}", summary="What does a problem mean?")
async def get_problem(code: str) -> CatalogueEntry:
    """The catalogue's entry for the `type` of a problem document."""
    if code not in CATALOGUE:
        raise NotFoundError("There is no such problem in the catalogue.")
    return CATALOGUE[code]
