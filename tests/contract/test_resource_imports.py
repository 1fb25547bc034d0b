"""Imports and removals that wait, on both databases: those of a path go in order, and are read as of that order."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.memories.naming import Homes
from app.documents.resource import ImportTask, Kind, Resource, Status
from app.engine.resources.import_sources import import_of_text
from app.engine.resources.importing import Imported, ImportResource
from app.engine.resources.no_resources import NoResources
from app.gathering.reader_process import ReadUpload, Upload
from app.store.resource_imports import KEEP_REMOVALS_S, LEASE_S, Claimed, SqlResourceImports
from app.store.turns import SqlTurnStore
from tests.contract.subject import soon
from tests.unit.turning import FakeClock

pytestmark = pytest.mark.anyio

MIA, ANN = Tenant("acme", "mia"), Tenant("acme", "ann")
AT = "2026-11-22T10:00:00.000Z"
GUIDE = Resource("resources/guide", Kind.RESOURCE, "Guide", "guide.md", 9, AT, Status.PROCESSING)


@pytest.fixture
def imports(store: SqlTurnStore) -> SqlResourceImports:
    return store.imports


async def accept(imports: SqlResourceImports, task_id: str, tenant: Tenant = MIA) -> None:
    assert await imports.put(tenant, ImportTask(task_id, GUIDE, AT), f"{task_id}.jsonl")


async def claim(imports: SqlResourceImports, owner: str = "one") -> Claimed:
    claimed = await imports.claim(owner, lambda _: True)
    assert claimed is not None
    return claimed


async def nothing_to_do(imports: SqlResourceImports) -> bool:
    return await imports.claim("another", lambda _: True) is None


async def forget(imports: SqlResourceImports) -> tuple[int, list[str]]:
    async with imports.forgetting(MIA, GUIDE, 1.0) as forgotten:
        return forgotten.accepted, list(forgotten.spools)


async def test_what_is_removed_while_it_is_taken_in_is_removed_again_before_anything_newer(
    imports: SqlResourceImports,
) -> None:
    await accept(imports, "a")
    first = await claim(imports)
    assert await forget(imports) == (1, []), "its spool is in use"
    assert await imports.get(MIA, "a") is None and not await imports.unfinished(MIA, Kind.RESOURCE)
    await accept(imports, "b")
    assert await nothing_to_do(imports), "b would be removed with a"
    assert await imports.hold("a", "one") and "a.jsonl" in await imports.spools()
    assert not await imports.end(first, "one", Status.READY)
    again = await claim(imports)
    assert (again.task.task_id, again.is_removal, again.spool) == ("a", True, "a.jsonl")
    assert await nothing_to_do(imports)
    await imports.put_off(again, "one", 0.0, "the backend is away")
    again = await claim(imports)
    assert again.is_removal and await imports.end(again, "one", Status.READY)
    second = await claim(imports)
    assert (second.task.task_id, second.is_removal) == ("b", False)
    assert await imports.end(second, "one", Status.READY)
    known = await imports.get(MIA, "b")
    assert known is not None and known.resource.status is Status.READY


@pytest.mark.parametrize("outcome", ["failed", "put off", "killed"])
async def test_a_removed_import_leaves_nothing_however_it_ends(
    imports: SqlResourceImports, clock: FakeClock, outcome: str
) -> None:
    await accept(imports, "a")
    first = await claim(imports)
    await forget(imports)
    if outcome == "failed":
        assert not await imports.end(first, "one", Status.FAILED, "it can not be read")
    elif outcome == "put off":
        assert not await imports.put_off(first, "one", 60.0, "the backend is away")
    else:
        assert await nothing_to_do(imports)
        clock.now += LEASE_S + 1
    again = await claim(imports, "two")
    assert again.is_removal and not await imports.end(first, "one", Status.READY), "it is another's now"
    assert await imports.end(again, "two", Status.READY) and await nothing_to_do(imports)
    assert not await imports.unfinished(MIA, Kind.RESOURCE)


async def test_what_waits_is_forgotten_and_what_comes_during_a_removal_waits_for_its_end(
    imports: SqlResourceImports,
) -> None:
    await accept(imports, "a")
    await accept(imports, "hers", ANN)
    async with imports.forgetting(MIA, GUIDE, 1.0) as forgotten:
        assert (forgotten.accepted, list(forgotten.spools)) == (1, ["a.jsonl"])
        await accept(imports, "b")
        assert (await claim(imports)).task.task_id == "hers" and await nothing_to_do(imports)
    assert (await claim(imports)).task.task_id == "b"


async def test_a_removed_import_is_kept_no_longer_than_something_is_compared_with_it(
    imports: SqlResourceImports, clock: FakeClock
) -> None:
    await forget(imports)
    assert await imports.mark(MIA, GUIDE.path) != ""
    clock.now += KEEP_REMOVALS_S + 1
    await accept(imports, "hers", ANN)
    assert await imports.mark(MIA, GUIDE.path) == ""


async def test_a_removal_that_fails_holds_nothing_up(imports: SqlResourceImports) -> None:
    with suppress(ConnectionError):
        async with imports.forgetting(MIA, GUIDE, 1.0):
            raise ConnectionError
    await accept(imports, "b")
    assert (await claim(imports)).task.task_id == "b"


async def test_however_many_imports_wait_others_have_their_turn(imports: SqlResourceImports) -> None:
    many = range(120)
    for number in many:
        there = replace(GUIDE, path=f"resources/{number}")
        assert await imports.put(MIA, ImportTask(f"down{number}", there, AT), f"{number}.jsonl")
    for _ in many:
        assert await imports.put_off(await claim(imports), "one", 600.0, "down")
    for number in many:
        await accept(imports, f"elsewhere{number}")
    await accept(imports, "hers", ANN)
    claimed = await imports.claim("one", lambda spool: "elsewhere" not in spool)
    assert claimed and claimed.task.task_id == "hers"


async def test_a_mark_is_another_after_whatever_was_accepted(imports: SqlResourceImports) -> None:
    seen = [await imports.mark(MIA, GUIDE.path)]
    await forget(imports)
    seen.append(await imports.mark(MIA, GUIDE.path))
    await accept(imports, "a")
    assert await imports.mark(MIA, GUIDE.path) is None, "it has not ended"
    first = await claim(imports)
    assert await imports.mark(MIA, GUIDE.path) is None
    await imports.end(first, "one", Status.READY)
    seen.append(await imports.mark(MIA, GUIDE.path))
    await forget(imports)
    seen.append(await imports.mark(MIA, GUIDE.path))
    assert len(set(seen)) == len(seen) and None not in seen
    task = ImportTask("b", GUIDE, AT)
    for outdated in seen[:-1]:
        assert not await imports.put(MIA, task, "b.jsonl", outdated)
    assert await imports.get(MIA, "b") is None and await imports.mark(ANN, GUIDE.path) == ""
    assert await imports.put(MIA, task, "b.jsonl", seen[-1]) and await imports.get(MIA, "b") is not None


class Stored(NoResources):
    """A backend that has one document, of two."""

    async def digests(self, who: Identity, path: str, deadline: Deadline) -> Mapping[str, str]:
        return {"a.md": "digest of a", "b.md": "digest of b"}


class Reader:
    """Reads two documents; while it reads the first time, something happens at the path."""

    def __init__(self, imports: SqlResourceImports, meanwhile: str, changed: int) -> None:
        self._imports = imports
        self._meanwhile = meanwhile
        self._changed = changed
        self.known: list[Mapping[str, str]] = []

    async def read(self, _upload: Upload, spool: Path, known: Mapping[str, str]) -> ReadUpload:
        self.known.append(known)
        await anyio.Path(spool).touch()
        if len(self.known) == 1 and self._meanwhile:
            await (accept(self._imports, "another") if self._meanwhile == "import" else forget(self._imports))
        return ReadUpload(2, self._changed if known else 2, 9, "Guide", "", (), 0)


class Importer:
    async def ended(self, tenant: Tenant, task_id: str, deadline: Deadline) -> ImportTask | None:
        raise AssertionError("nobody waits")


async def imported(imports: SqlResourceImports, reader: Reader, incoming: Path) -> Imported:
    use_case = ImportResource(Stored(), imports, reader, Importer(), incoming, lambda name: name, Homes())
    text = import_of_text(Kind.RESOURCE, "The step is blue.", "Guide", "guide", wait=False)
    return await use_case.run(MIA, text, soon())


@pytest.mark.parametrize("changed", [0, 1])
@pytest.mark.parametrize("meanwhile", ["import", "removal"])
async def test_what_happens_while_it_is_read_has_it_read_whole(
    imports: SqlResourceImports, tmp_path: Path, meanwhile: str, changed: int
) -> None:
    reader = Reader(imports, meanwhile, changed)
    accepted = await imported(imports, reader, tmp_path)
    assert [bool(known) for known in reader.known] == [True, False]
    assert accepted.task_id and accepted.resource.status is Status.PROCESSING
    assert [file.stem async for file in anyio.Path(tmp_path).glob("*.jsonl")] == [accepted.task_id], (
        "the first spool is gone"
    )


@pytest.mark.parametrize("changed", [0, 1])
async def test_it_is_read_whole_while_something_is_on_its_way(
    imports: SqlResourceImports, tmp_path: Path, changed: int
) -> None:
    await accept(imports, "another")
    reader = Reader(imports, "", changed)
    accepted = await imported(imports, reader, tmp_path)
    assert accepted.task_id and reader.known == [{}]


async def test_nothing_is_read_twice_where_nothing_happens(imports: SqlResourceImports, tmp_path: Path) -> None:
    reader = Reader(imports, "", 1)
    assert (await imported(imports, reader, tmp_path)).task_id and len(reader.known) == 1
    reader = Reader(imports, "", 0)
    await imports.end(await claim(imports), "one", Status.READY)
    again = await imported(imports, reader, tmp_path)
    assert (again.task_id, again.resource.detail, len(reader.known)) == (None, "nothing has changed", 1)
