"""The OpenAPI document: which problems an endpoint may answer with, and FastAPI's document with ours in its place."""

import json
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.api.schemas import Problem

_PROBLEMS = {
    400: "The request is malformed (`invalid_request`); `errors` names each field.",
    401: "No token or a wrong one (`unauthorized`).",
    403: "The token may not act for this tenant (`forbidden`).",
    413: "The body is over the limit (`body_too_large`).",
}


def problems(*more: int) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of an endpoint that may answer with problems; ``more`` statuses join the usual ones."""
    described = {
        **_PROBLEMS,
        **{
            status: {
                404: "No such thing here (`not_found`).",
                409: "Not in a state that allows this (`conflict`).",
                415: "A type that can not be read (`unsupported_type`).",
                412: "Changed since the version in `If-Match` (`version_conflict`).",
                422: "The key was used for another turn (`idempotency_key_reused`).",
                503: "Nothing was accepted (`outbox_full`, `store_unavailable`); see `Retry-After`.",
            }[status]
            for status in more
        },
    }
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    return {
        status: {"description": text, "content": {"application/problem+json": {"schema": schema}}}
        for status, text in described.items()
    }


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document: FastAPI's, with our problem documents in place of its own error schema."""
    if app.openapi_schema:
        return app.openapi_schema
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, description=app.description, routes=app.routes
    )
    schemas = document["components"]["schemas"]
    for path in document["paths"].values():
        for operation in path.values():
            for shared in {"security", "parameters"} & operation.keys():
                operation[shared] = _each_once(operation[shared])  # named by each dependency that uses them
            if _is_framework_error(operation["responses"].get("422", {})):
                del operation["responses"]["422"]
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}", by_alias=True)
    for name, schema in {**problem.pop("$defs"), Problem.__name__: problem}.items():
        schemas.setdefault(name, schema)
    app.openapi_schema = document
    return document


def _each_once(items: list[Any]) -> list[Any]:
    """The first of those that are equal, or are parameters of one name."""
    first = {(item.get("name") or repr(item), item.get("in")): item for item in reversed(items)}
    return list(reversed(first.values()))


def _is_framework_error(response: dict[str, Any]) -> bool:
    return "HTTPValidationError" in json.dumps(response)
