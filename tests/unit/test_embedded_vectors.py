"""Vectors of an index: the search in memory finds what the store holds, whoever wrote it, and nothing that is gone."""

import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="extra vec is missing")

from app.core.deadline import Deadline
from app.embedded.index import live_index
from app.embedded.index import vectors as vectors_module
from app.embedded.index.documents import OWN_REALM
from app.embedded.index.embedders import Vector, packed
from app.embedded.index.index import Index
from app.embedded.storage.withheld import FILE, Withheld
from app.settings import SearchSettings

NUMBERS = 24
SOON, AT_ONCE = Deadline.after_ms(3_600_000), Deadline.after_ms(0)


@contextmanager
def opened(root: Path) -> Iterator[Index]:
    index = Index(root, "viking://user/default", embedder="made up")
    try:
        yield index
    finally:
        index.close()


def vector(seed: object) -> Vector:
    rng = random.Random(str(seed))
    return packed([rng.gauss(0, 1) for _ in range(NUMBERS)])


def write(index: Index, root: Path, name: str, *lines: str) -> None:
    path = root / "memory" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(lines))
    index.sync(at_once=True)
    while waiting := index.vectors.waiting(10):
        index.vectors.add([(chunk_id, text, vector(text)) for chunk_id, text in waiting])


def nearest(index: Index, text: str) -> list[str]:
    """The texts that are found, best first."""
    found = list(index.vectors.search(vector(text), [OWN_REALM], 5).best)
    texts = {chunk.id: chunk.document.text for chunk in index.chunks(found)}
    assert len(texts) == len(found)
    return [texts[chunk_id] for chunk_id in found]


def test_what_was_added_is_found_at_once(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        assert nearest(index, "one") == []
        write(index, tmp_path, "2026-03-01", "one")
        assert nearest(index, "one") == ["one"]
        write(index, tmp_path, "2026-03-02", "two")
        assert nearest(index, "two")[0] == "two"
        write(index, tmp_path, "2026-03-01", "three")
        assert nearest(index, "one") in (["two", "three"], ["three", "two"])


def test_another_process_adds_and_deletes(tmp_path: Path) -> None:
    with opened(tmp_path) as here, opened(tmp_path) as there:
        write(here, tmp_path, "2026-03-01", "one")
        write(here, tmp_path, "2026-03-02", "two")
        assert nearest(there, "two")[0] == "two"
        write(there, tmp_path, "2026-03-03", "three")
        assert nearest(here, "three")[0] == "three"
        (tmp_path / "memory" / "2026-03-03.md").unlink()
        there.sync(at_once=True)
        write(there, tmp_path, "2026-03-04", "four")
        assert "three" not in nearest(here, "three")
        assert sorted(nearest(here, "four")) == ["four", "one", "two"]


def test_the_scan_and_the_search_in_memory_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as index:
        for number in range(40):
            write(index, tmp_path, f"note {number}", f"text {number}")
        asked = [vector(number) for number in range(10)]
        in_memory = [index.vectors.search(one, [OWN_REALM], 7) for one in asked]
    monkeypatch.setattr(vectors_module, "MAX_IN_MEMORY", 10)
    monkeypatch.setattr(vectors_module, "SCANNED_AT_ONCE", 7)
    with opened(tmp_path) as index:
        scanned = [index.vectors.search(one, [OWN_REALM], 7) for one in asked]
    for one, other in zip(in_memory, scanned, strict=True):
        assert list(one.best) == list(other.best)
        assert one.background == pytest.approx(other.background)
        assert list(one.best.values()) == pytest.approx(list(other.best.values()), abs=1e-5)


class MadeUp:
    """An embedder that answers at once."""

    name = "made up"
    batch = 2

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        return [vector(text) for text in texts]

    def query(self, text: str) -> Vector:
        return vector(text)

    def calibration(self, text: str) -> None:
        return None


@contextmanager
def live(root: Path, embedder: MadeUp) -> Iterator[live_index.LiveIndex]:
    """The index of a user whose texts get their vectors in a thread."""
    with ThreadPoolExecutor(1) as background:
        index = live_index.LiveIndex(
            root,
            "viking://user/default",
            SearchSettings(),
            embedder,
            lambda: background.submit(index.embed_all),
            lambda _: True,
            Withheld(root / FILE),
        )
        yield index
        index.stop()
    index.close()


def test_what_no_append_brought_gets_its_vectors_when_it_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.embedded.index.index._SCAN_SHARE", 0)
    note = tmp_path / "memory" / "2026-03-01.md"
    note.parent.mkdir()
    note.write_text("one")

    def found(index: live_index.LiveIndex, query: str) -> list[float]:
        index.word_scores(query, [OWN_REALM], 5)
        index.search_vectors(query, [OWN_REALM], 5, SOON)
        if job := index.embed():
            job.result(60)
        return [round(score, 1) for score in index.search_vectors(query, [OWN_REALM], 5, SOON).best.values()]

    with live(tmp_path, MadeUp()) as index:
        assert found(index, "one") == [1.0]
        note.write_text("three")
        assert found(index, "three") == [1.0]


@pytest.mark.parametrize(
    ("pieces", "deadline", "is_found"),
    [
        (1, SOON, True),
        (live_index.LATEST_PIECES, SOON, True),
        (live_index.LATEST_PIECES + 1, SOON, False),
        (1, AT_ONCE, False),
    ],
)
def test_a_search_waits_for_the_vectors_of_what_was_told_a_moment_ago_but_not_of_a_pile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: int, deadline: Deadline, is_found: bool
) -> None:
    monkeypatch.setattr(live_index, "LATEST_WAIT_S", 60)
    searched = threading.Event()

    class Slow(MadeUp):
        """Embeds nothing before the question, and what is not waited for not before the answer to it."""

        def passages(self, texts: Sequence[str]) -> list[Vector]:
            assert searched.wait(60)
            return super().passages(texts)

        def query(self, text: str) -> Vector:
            if is_found:
                searched.set()
            return super().query(text)

    notes = tmp_path / "memory"
    notes.mkdir()
    for number in range(pieces):
        Path(notes, f"{number}.md").write_text(f"text {number}")
    with live(tmp_path, Slow()) as index:
        found = index.search_vectors("text 0", [OWN_REALM], 5, deadline).best
        searched.set()
    assert bool(found) == is_found


def test_vectors_of_another_embedder_are_not_compared(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        write(index, tmp_path, "2026-03-01", "one")
        other = Index(tmp_path, "viking://user/default", embedder="another")
        other.close()
        assert nearest(index, "one") == []
