"""What every store of documents promises (`app.ports.ResourceStore`); see `tests.contract.subject`."""

import io
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from app.core.identity import Identity
from app.core.recall.hits import Hit
from app.documents.document_reading import Reading, Skipped, Unchanged, read
from app.documents.resource import Kind, Resource
from app.gathering import spool
from app.ports import BackendError, NewResource, ResourceStore, Target
from tests.contract.openviking import openviking
from tests.contract.subject import SUBJECTS, Subject, eventually, soon
from tests.http.test_resources import GUIDE, OTHER, SKILL, zipped

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[*sorted(SUBJECTS), "openviking"])
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    plugin = {**SUBJECTS, "openviking": openviking}[request.param]
    async with plugin(tmp_path) as subject:
        yield subject


@pytest.fixture
def resources(subject: Subject) -> ResourceStore:
    if subject.resources is None:
        pytest.skip("keeps no documents")
    return subject.resources


@pytest.fixture
def who(subject: Subject) -> Identity:
    return subject.who()


def path(subject: Subject, name: str = "handbook") -> str:
    return f"resources/{subject.mark}/{name}"


async def put(
    resources: ResourceStore,
    who: Identity,
    directory: Path,
    at: str,
    name: str,
    data: bytes,
    digests: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Import a file as a user of the port does; how many documents were read."""
    file = directory / "incoming.jsonl"
    with file.open("wb") as out:
        found = [one for one in read(name, io.BytesIO(data), Reading(known=digests)) if not isinstance(one, Skipped)]
        for one in found:
            spool.write(out, one)
    kind = Kind.SKILL if at.startswith("skills/") else Kind.RESOURCE
    resource = Resource(at, kind, name, name, len(data), "2026-11-22T10:00:00.000Z", summary="About it.")
    await resources.put(who, NewResource(resource, file), soon())
    return sum(not isinstance(one, Unchanged) for one in found)


async def texts(resources: ResourceStore, who: Identity, query: str, kind: Kind = Kind.RESOURCE) -> str:
    return "\n".join(one.text for one in await resources.search(who, query, kind, 8, soon()))


async def test_a_document_is_found_listed_and_read(
    subject: Subject, resources: ResourceStore, who: Identity, tmp_path: Path
) -> None:
    at = path(subject, "guide.md")
    await put(resources, who, tmp_path, at, "guide.md", GUIDE.encode())

    async def is_found() -> bool:
        return "atlas rewind" in await texts(resources, who, "how do I go back to the release before?")

    assert await eventually(is_found, bool)
    found = await resources.search(who, "how do I go back to the release before?", Kind.RESOURCE, 3, soon())
    best = next(one for one in found if "atlas rewind" in one.text)
    assert best.path == at and best.place.startswith("guide.md") and best.score > 0
    listed = await resources.listed(who, Kind.RESOURCE, "", 200, soon())
    assert [(one.path, one.title) for one in listed if one.path == at] == [(at, "guide.md")]
    known = await resources.read(who, at, soon())
    assert known is not None and "atlas rewind" in known.text


async def test_a_name_finds_its_passage_among_many_that_read_alike(
    subject: Subject, resources: ResourceStore, who: Identity, tmp_path: Path
) -> None:
    valves = [f"{first}{second}-{number}7" for number, first in enumerate("QXZKV", 1) for second in "HTWR"]
    text = "The valve {} is opened by hand once a month, and closed again after ten minutes of flushing. " * 6
    guide = "\n\n".join(f"## Valve {valve}\n\n{text.replace('{}', valve)}" for valve in valves)
    await put(resources, who, tmp_path, path(subject, "valves.md"), "valves.md", guide.encode())

    async def found() -> int:
        asked = [f"When is the valve {valve} opened?" for valve in valves]
        best = [await resources.search(who, query, Kind.RESOURCE, 3, soon()) for query in asked]
        return sum(any(valve in one.text for one in some) for valve, some in zip(valves, best, strict=True))

    assert await eventually(found, lambda count: count == len(valves)) == len(valves)


async def test_it_belongs_to_its_user(
    subject: Subject, resources: ResourceStore, who: Identity, tmp_path: Path
) -> None:
    at = path(subject)
    await put(resources, who, tmp_path, at, "guide.md", GUIDE.encode())
    other = subject.who(user="bob")
    assert "atlas rewind" not in await texts(resources, other, "go back to the release before")
    assert await resources.read(other, at, soon()) is None
    assert not await resources.remove(other, at, soon())
    assert at not in [one.path for one in await resources.listed(other, Kind.RESOURCE, "", 200, soon())]
    assert await resources.read(who, at, soon()) is not None


async def test_an_import_takes_the_place_of_the_one_before(
    subject: Subject, resources: ResourceStore, who: Identity, tmp_path: Path
) -> None:
    at = path(subject)
    await put(resources, who, tmp_path, at, "x.zip", zipped({"guide.md": GUIDE, "canteen.md": OTHER}))
    changed = zipped({"guide.md": GUIDE.replace("atlas rewind", "atlas undo")})
    digests = await resources.digests(who, at, soon())
    assert await put(resources, who, tmp_path, at, "x.zip", changed, digests) == 1

    async def is_new() -> bool:
        found = await texts(resources, who, "go back to the release before, or lunch in the basement")
        return "atlas undo" in found and "atlas rewind" not in found and "Lunch" not in found

    assert await eventually(is_new, bool)


@pytest.mark.parametrize("meanwhile", ["changed", "removed"])
async def test_what_leaves_out_a_document_that_is_not_stored_like_that_fails_for_good(
    subject: Subject, resources: ResourceStore, who: Identity, tmp_path: Path, meanwhile: str
) -> None:
    at = path(subject)
    await put(resources, who, tmp_path, at, "x.zip", zipped({"guide.md": GUIDE, "canteen.md": OTHER}))
    digests = await resources.digests(who, at, soon())
    changed = {"guide.md": GUIDE.replace("atlas rewind", "atlas undo")} if meanwhile == "changed" else {}
    await put(resources, who, tmp_path, at, "x.zip", zipped({"canteen.md": OTHER, **changed}))
    outdated = zipped({"guide.md": GUIDE, "canteen.md": OTHER.replace("two", "three")})
    with pytest.raises(BackendError, match="import it again") as failure:
        await put(resources, who, tmp_path, at, "x.zip", outdated, digests)
    assert not failure.value.retryable
    stays = await resources.read(who, f"{at}/canteen.md", soon())
    assert stays is not None and "until two" in stays.text, "what was stored stays"


async def test_the_same_again_changes_nothing(
    subject: Subject, resources: ResourceStore, who: Identity, tmp_path: Path
) -> None:
    at = path(subject)
    data = zipped({"guide.md": GUIDE, "canteen.md": OTHER})
    for _ in range(2):
        await put(resources, who, tmp_path, at, "x.zip", data)
    assert [one.path for one in await resources.listed(who, Kind.RESOURCE, "", 200, soon())].count(at) == 1

    async def is_found_once() -> bool:
        return (await texts(resources, who, "when is lunch in the basement?")).count("half past eleven") == 1

    assert await eventually(is_found_once, bool)


async def test_what_is_removed_is_gone(
    subject: Subject, resources: ResourceStore, who: Identity, tmp_path: Path
) -> None:
    at = path(subject)
    await put(resources, who, tmp_path, at, "guide.md", GUIDE.encode())
    assert await resources.remove(who, at, soon())
    assert await resources.read(who, at, soon()) is None and not await resources.remove(who, at, soon())

    async def is_gone() -> bool:
        return "atlas rewind" not in await texts(resources, who, "go back to the release before")

    assert await eventually(is_gone, bool)
    await put(resources, who, tmp_path, at, "guide.md", GUIDE.encode())
    assert await resources.read(who, at, soon()) is not None


async def test_skills_stand_apart(subject: Subject, resources: ResourceStore, who: Identity, tmp_path: Path) -> None:
    name = f"deploy-check-{subject.mark}"
    text = SKILL.replace("name: deploy-check", f"name: {name}")
    await put(resources, who, tmp_path, f"skills/{name}", "SKILL.md", text.encode())

    async def is_found() -> bool:
        found = await resources.search(who, "check a deployment before release", Kind.SKILL, 5, soon())
        return f"skills/{name}" in [one.path for one in found]

    assert await eventually(is_found, bool)
    assert "smoke tests" not in await texts(resources, who, "run the smoke tests")
    read_again = await resources.read(who, f"skills/{name}", soon())
    assert read_again is not None and "smoke tests" in read_again.text
    assert f"skills/{name}" in [one.path for one in await resources.listed(who, Kind.SKILL, "", 200, soon())]
    assert await resources.remove(who, f"skills/{name}", soon())
    assert await resources.read(who, f"skills/{name}", soon()) is None


async def test_a_passage_is_recalled_under_its_place_until_it_is_removed(
    subject: Subject, resources: ResourceStore, who: Identity, tmp_path: Path
) -> None:
    at = path(subject, "guide.md")
    await put(resources, who, tmp_path, at, "guide.md", GUIDE.encode())

    async def recalled() -> list[Hit]:
        hits = await subject.backend.find(who, "how do I go back to the release before?", Target.RESOURCES, 5, soon())
        return [hit for hit in hits if "atlas rewind" in hit.text]

    [hit] = await eventually(recalled, bool)
    place, _, text = hit.text.partition("\n")
    assert place == "guide.md > Atlas guide > Rollback" and text.startswith("To go back to the release before")
    assert hit.uri.startswith(f"viking://~/{at}/guide.md#")
    assert "atlas rewind" in (await subject.backend.read(who, [hit.uri], soon()))[hit.uri]
    await resources.remove(who, at, soon())
    assert await recalled() == []


async def test_a_skill_has_files_beside_its_description(
    subject: Subject, resources: ResourceStore, who: Identity, tmp_path: Path
) -> None:
    name = f"deploy-{subject.mark}"
    text = SKILL.replace("Check a deployment", "Check: a 'deployment'") + "Look at gauge seven of the hall.\n\n" * 2_300
    assert len(text) > 74_000
    files = {"deploy/SKILL.md": text, "deploy/scripts/check.sh": "#!/bin/sh\necho smoke\n", "deploy/a.html": "<p>A</p>"}
    for _ in range(2):
        await put(resources, who, tmp_path, f"skills/{name}", "deploy.zip", zipped(files))
    known = await resources.read(who, f"skills/{name}", soon())
    assert known is not None and known.text == text
    assert sorted(known.documents) == sorted(files)
    [listed] = [one for one in await resources.listed(who, Kind.SKILL, "", 200, soon()) if name in one.path]
    assert listed.path == f"skills/{name}"

    async def is_found() -> bool:
        found = await resources.search(who, "check a deployment before release", Kind.SKILL, 5, soon())
        return any(one.path == listed.path and len(one.text) < 2_000 for one in found)

    assert await eventually(is_found, bool)
    assert await resources.remove(who, listed.path, soon())
    assert not await resources.search(who, "gauge seven of the hall", Kind.SKILL, 5, soon())
