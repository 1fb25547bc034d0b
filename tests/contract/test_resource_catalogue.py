"""The catalogue of documents whose passages a backend keeps, on both databases."""

import pytest

from app.core.identity import Tenant
from app.documents.resource import Kind, Resource, Status
from app.ports import CataloguedDocument, DocumentPlace
from app.store.resource_catalogue import SqlResourceCatalogue
from app.store.turns import SqlTurnStore
from tests.contract.conftest import OpenStore

pytestmark = pytest.mark.anyio

MIA, ANN = Tenant("acme", "mia"), Tenant("acme", "ann")
BOOK = Resource("resources/book", Kind.RESOURCE, "Book", "book.zip", 9, "2026-11-22T10:00:00.000Z", Status.PROCESSING)


def page(name: str, root: str = "one", text: str = "line \ud83e\nline \x00 two") -> CataloguedDocument:
    return CataloguedDocument(name, f"resources/book.{root}/{name}", f"digest-{root}", "Title\x00", "About it.", text)


@pytest.fixture
def catalogue(store: SqlTurnStore) -> SqlResourceCatalogue:
    return store.catalogue


async def shown(catalogue: SqlResourceCatalogue, tenant: Tenant, *pages: CataloguedDocument) -> bool:
    await catalogue.begin(tenant, BOOK.path, pages)
    folders = [one.folder for one in pages]
    return await catalogue.made(tenant, folders) and await catalogue.show(tenant, BOOK, folders)


async def test_nothing_is_shown_until_all_of_it_is_made(catalogue: SqlResourceCatalogue) -> None:
    a, b = page("a"), page("b")
    assert not await catalogue.begin(MIA, BOOK.path, [a, b])
    assert not await catalogue.show(MIA, BOOK, [a.folder, b.folder])
    assert await catalogue.made(MIA, [a.folder])
    assert not await catalogue.show(MIA, BOOK, [a.folder, b.folder]), "b is not made"
    assert not await catalogue.places(MIA, [a.folder]) and await catalogue.get(MIA, [BOOK.path]) is None
    assert await catalogue.begin(MIA, BOOK.path, [a]), "made already"
    assert await catalogue.made(MIA, [b.folder]) and await catalogue.show(MIA, BOOK, [a.folder, b.folder])
    assert await catalogue.places(MIA, [a.folder, "other"]) == {a.folder: DocumentPlace(BOOK.path, "a")}
    known = await catalogue.get(MIA, ["resources", BOOK.path])
    assert known is not None and (known.title, known.status) == ("Book", Status.READY)
    assert await catalogue.document(MIA, BOOK.path, "a") == a
    assert await catalogue.contents(MIA, BOOK.path, 10) == [("a", "About it."), ("b", "About it.")]
    assert not await catalogue.places(ANN, [a.folder]) and not await catalogue.live(ANN, BOOK.path)


async def test_what_takes_a_place_hides_what_was_there_in_the_same_step(catalogue: SqlResourceCatalogue) -> None:
    a, b, new = page("a"), page("b"), page("b", "two")
    assert await shown(catalogue, MIA, a, b)
    await catalogue.begin(MIA, BOOK.path, [new])
    assert set(await catalogue.places(MIA, [a.folder, b.folder, new.folder])) == {a.folder, b.folder}
    assert await catalogue.made(MIA, [new.folder]) and await catalogue.show(MIA, BOOK, [a.folder, new.folder])
    assert set(await catalogue.places(MIA, [a.folder, b.folder, new.folder])) == {a.folder, new.folder}
    assert await catalogue.gone(MIA) == {b.folder: False}, "a is still wanted beside it"
    assert {path: one.digest for path, one in (await catalogue.live(MIA, BOOK.path)).items()} == {
        "a": "digest-one",
        "b": "digest-two",
    }
    await catalogue.forget(MIA, [b.folder, a.folder])
    assert await catalogue.gone(MIA) == {} and await catalogue.places(MIA, [a.folder]), "only what is gone is forgotten"


async def test_what_is_removed_meanwhile_is_not_shown(catalogue: SqlResourceCatalogue) -> None:
    a = page("a")
    assert not await catalogue.remove(MIA, BOOK.path)
    await catalogue.begin(MIA, BOOK.path, [a])
    assert await catalogue.remove(MIA, BOOK.path) and await catalogue.gone(MIA) == {a.folder: True}
    assert not await catalogue.made(MIA, [a.folder]) and not await catalogue.show(MIA, BOOK, [a.folder])
    assert not await catalogue.begin(MIA, BOOK.path, [a]), "it is made anew"
    assert await catalogue.made(MIA, [a.folder]) and await catalogue.show(MIA, BOOK, [a.folder])


async def test_lists_go_on_behind_a_path_and_another_process_sees_it_at_once(opened: OpenStore) -> None:
    one, other = (await opened()).catalogue, (await opened()).catalogue
    for name in "cab":
        resource = Resource(f"resources/{name}", Kind.RESOURCE, name, name, 1, BOOK.updated_at)
        document = CataloguedDocument("x", f"resources/{name}.0/x", "d")
        await one.begin(MIA, resource.path, [document])
        await one.made(MIA, [document.folder])
        assert await one.show(MIA, resource, [document.folder])
    page_one = await other.listed(MIA, Kind.RESOURCE, "", 2)
    rest = await other.listed(MIA, Kind.RESOURCE, page_one[-1].path, 2)
    assert [found.title for found in (*page_one, *rest)] == ["a", "b", "c"]
    assert not await other.listed(MIA, Kind.SKILL, "", 2) and not await other.listed(ANN, Kind.RESOURCE, "", 2)
