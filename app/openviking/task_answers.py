"""What OpenViking answers about commits and other tasks: what the port promises, or `Garbage`."""

from typing import Any

from app.openviking.answer_fields import name_in, object_of
from app.openviking.call_errors import Garbage
from app.ports import CommitReceipt, CommitState, CommitStatus

_STATES = {
    "pending": CommitState.RUNNING,
    "running": CommitState.RUNNING,
    "cancelling": CommitState.RUNNING,
    "completed": CommitState.COMPLETED,
    "failed": CommitState.FAILED,
    "cancelled": CommitState.FAILED,
}


def taken_in(result: Any) -> CommitStatus:
    """How far the taking in of documents is; one that left out any of them has failed."""
    status = commit_status(result)
    told = object_of(result, "result").get("result")
    meta = told.get("meta") if isinstance(told, dict) else None
    left = (
        [meta.get(key) for key in ("failed_files", "unsupported_files", "skipped_files")]
        if isinstance(meta, dict)
        else []
    )
    first = next((files[0] for files in left if isinstance(files, list) and files), None)
    if status.state is not CommitState.COMPLETED or first is None:
        return status
    return CommitStatus(CommitState.FAILED, f"left out {str(first)[:200]}")


def receipt(result: Any) -> CommitReceipt:
    """The answer to a commit."""
    answer = object_of(result, "result")
    task, uri, status = answer.get("task_id"), answer.get("archive_uri"), answer.get("status")
    if isinstance(task, str) and task:
        return CommitReceipt(task, name_in(uri) if isinstance(uri, str) else None)
    if status != "skipped":
        raise Garbage("a commit without a task that was not skipped")
    reason = answer.get("reason")
    return CommitReceipt(None, None, skipped=reason if isinstance(reason, str) else "skipped")


def commit_status(result: Any) -> CommitStatus:
    """The state of a task; one that OpenViking may add later counts as running."""
    answer = object_of(result, "result")
    status, error = answer.get("status"), answer.get("error")
    if not isinstance(status, str):
        raise Garbage("a task without a status")
    return CommitStatus(_STATES.get(status, CommitState.RUNNING), error if isinstance(error, str) else "")


def agent_evolution(result: Any) -> bool | None:
    """Whether agent evolution was on for the newest task in a list of them; None where they do not say."""
    if not isinstance(result, list):
        raise Garbage("the tasks are not a list")
    told = (object_of(task, "task").get("result") for task in result)
    flags = (one.get("agent_evolution_enabled") for one in told if isinstance(one, dict))
    return next((flag for flag in flags if isinstance(flag, bool)), None)


def newest_task(result: Any) -> str | None:
    """The newest task in a list of tasks, which has the newest first."""
    if not isinstance(result, list):
        raise Garbage("the tasks are not a list")
    ids = [object_of(task, "task").get("task_id") for task in result]
    return next((task_id for task_id in ids if isinstance(task_id, str) and task_id), None)
