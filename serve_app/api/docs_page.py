"""The page at ``/docs``: Swagger UI over ``/openapi.json``, with its files from here, so that it works offline."""

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

PAGE = "/docs"
FILES = "/docs/files"

#: The package that carries Swagger UI's released files. Its own code is not used.
_CARRIER = ("fastapi_swagger", "resources")


def add_docs_page(app: FastAPI) -> None:
    """Serve the page and its files. Make ``app`` with ``docs_url=None``, or its own page hides this one."""
    app.mount(FILES, StaticFiles(packages=[_CARRIER]), name="docs-files")

    @app.get(PAGE, include_in_schema=False)
    async def get_docs_page(request: Request) -> HTMLResponse:
        root = request.scope.get("root_path", "").rstrip("/")
        return get_swagger_ui_html(
            openapi_url=f"{root}{app.openapi_url}",
            title=app.title,
            swagger_js_url=f"{root}{FILES}/swagger-ui-bundle.js",
            swagger_css_url=f"{root}{FILES}/swagger-ui.css",
            swagger_favicon_url=f"{root}{FILES}/favicon-32x32.png",
        )
