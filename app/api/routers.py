"""Routers whose routes are served as they are.

FastAPI's `include_router` makes every route a second time, at the first request: 80 ms that somebody waits for. So an
application takes over the routes themselves, and what `include_router` would add to them is said when they are made.
"""

from typing import Any

from fastapi import APIRouter


class Router(APIRouter):
    """FastAPI's, with operations named like their functions."""

    def __init__(self, **options: Any) -> None:
        super().__init__(generate_unique_id_function=lambda route: route.name, **options)
