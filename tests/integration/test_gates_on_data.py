"""The text gates on labelled data beside the checkout: figures asked for, per language."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.core.gate import judge_task
from app.core.skip import is_no_query
from app.core.transcript import is_transcript

DATA = Path(os.environ.get("SIDECAR_DATA_SETS_DIR") or Path(__file__).parents[2].parent / "shared" / "data")


def rows(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"labelled data not found: {path}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def wrong(items: list[dict[str, Any]], label: str, judge: Callable[[str], bool]) -> list[str]:
    return [item["text"][:80] for item in items if (item["label"] == label) != judge(item["text"])]


@pytest.mark.parametrize("language", ["all", "en", "zh"])
def test_the_task_gate_is_as_good_as_a_person(language: str) -> None:
    items = [item for item in rows("task-gate.dev.jsonl") if language in ("all", item["lang"])]
    judged = [(item["label"] == "task", judge_task(item["text"]).passes) for item in items]
    both = sum(task and passes for task, passes in judged)
    assert both / sum(passes for _, passes in judged) >= 0.92, "precision"
    assert both / sum(task for task, _ in judged) >= 0.92, "recall"


def test_what_is_no_query_is_skipped() -> None:
    items = rows("recall-skip.dev.jsonl")
    missed = wrong(items, "skip", is_no_query)
    assert 1 - len(missed) / len(items) >= 0.95, missed


def test_transcripts_are_recognised() -> None:
    items = rows("transcript.dev.jsonl")
    missed = wrong(items, "transcript", is_transcript)
    assert 1 - len(missed) / len(items) >= 0.95, missed
