"""Documents and skills: what fetches, reads, takes in, shows and removes them."""

from contextlib import AsyncExitStack
from typing import NamedTuple

import anyio
import anyio.to_thread

from app.atrest.places import INCOMING
from app.atrest.private import make_private
from app.atrest.vault import Vault
from app.core.identity import Tenant
from app.core.memories.naming import Homes
from app.engine.memories.collaborators import operator_of
from app.engine.resources.browse_resources import BrowseResources, RemoveResource
from app.engine.resources.importing import ImportResource
from app.engine.resources.shown_names import ShownNames
from app.gathering.reader_process import ReaderProcess
from app.gathering.web import Fetching
from app.policy.policy import Policy
from app.ports import (
    ResourceStore,
)
from app.recall.searches import Searches
from app.settings import Settings
from app.store.turns import SqlTurnStore
from app.worker.memory_delivery import usual_backoff
from app.worker.resource_importer import ResourceImporter


def web_of(settings: Settings) -> Fetching | None:
    """How URLs are fetched; None where none is."""
    rules = settings.resources
    return Fetching(settings.limits.max_body_bytes, rules.fetch_ms / 1000) if rules.urls else None


class Documents(NamedTuple):
    """The use cases of documents, and what takes imports in."""

    importing: ImportResource
    browsing: BrowseResources
    removing: RemoveResource
    importer: ResourceImporter
    names: ShownNames


async def open_documents(
    stack: AsyncExitStack,
    settings: Settings,
    kept: ResourceStore,
    policy: Policy,
    store: SqlTurnStore,
    searches: Searches,
    vault: Vault,
    homes: Homes,
) -> Documents:
    """Documents and skills, what reads them, and what takes them in."""

    def changed(tenant: Tenant) -> None:
        searches.memories_changed(operator_of(tenant))

    rules, delivery = settings.resources, settings.delivery
    incoming = settings.data_dir / INCOMING
    await anyio.to_thread.run_sync(make_private, incoming)
    reader = ReaderProcess(
        settings.import_limits,
        at_once=rules.at_once,
        seconds=rules.read_ms / 1000,
        rules=settings.policy.rules,
        patterns={name: (one["pattern"], one["action"]) for name, one in settings.policy.patterns.items()},
        vault=vault,
    )
    stack.push_async_callback(reader.aclose)
    backoff = usual_backoff(delivery.backoff_ms / 1000, delivery.max_backoff_ms / 1000)
    importer = ResourceImporter(kept, store.imports, incoming, changed, backoff, rules.at_once, vault)
    names = ShownNames(kept, store.imports, policy.text)
    return Documents(
        ImportResource(kept, store.imports, reader, importer, incoming, policy.text, homes),
        BrowseResources(kept, store.imports, names, homes),
        RemoveResource(kept, store.imports, names, importer.drop, changed, homes),
        importer,
        names,
    )
