"""Failures of a backend, as those who ask for documents are told of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.core.reasons import REJECTED
from app.errors import BackendTrouble, NotFound
from app.ports import BackendError


@contextmanager
def told_of_resources() -> Iterator[None]:
    """A failure of the backend as a problem."""
    try:
        yield
    except BackendError as error:
        if error.not_found:
            raise NotFound("there is no such document or skill") from error
        raise BackendTrouble(error.reason, error.detail, refused=error.reason in REJECTED) from error
