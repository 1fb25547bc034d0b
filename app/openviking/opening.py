"""Opens the OpenViking backend, and where settings ask for it a server of our own behind it."""

from functools import partial
from urllib.parse import urlsplit

from app.atrest.vault import PLAIN, Vault
from app.observe.context import outgoing_headers
from app.openviking.client import OpenVikingBackend
from app.openviking.document_recall import DocumentRecall
from app.openviking.ledger_sync import LedgerSync
from app.openviking.memory_search import MemorySearch
from app.openviking.openviking_memories import OpenVikingMemories
from app.openviking.openviking_resources import OpenVikingResources
from app.openviking.recall import LedgerRecall
from app.openviking.remote_files import RemoteFiles
from app.openviking.remote_resources import RemoteResources
from app.ports import MemoryLedger, OpenedBackend, ResourceCatalogue
from app.settings import Settings

DEFAULT_PORT = 1933
"""Where OpenViking listens when its URL names no port."""


def open_backend(settings: Settings, _vault: Vault = PLAIN) -> OpenedBackend:
    """See `app.backends`. Nothing is sent yet, and nothing is kept here."""
    backend = OpenVikingBackend(
        settings.openviking,
        outgoing_headers=outgoing_headers,
        experiences=settings.experience.enabled,
        automation_teaches=settings.automation_teaches and not settings.capture.automation_memory,
    )
    memories, resources = partial(open_memories, backend), partial(open_resources, backend)
    if not settings.local.enabled:
        return OpenedBackend(backend, memories=memories, resources=resources)
    from app.local.supervised_server import LocalServer

    port = urlsplit(settings.openviking.url).port or DEFAULT_PORT
    server = LocalServer(settings.local, port, settings.data_dir, backend.move_to)
    return OpenedBackend(backend, server, memories, resources)


def open_memories(backend: OpenVikingBackend, ledger: MemoryLedger) -> OpenVikingMemories:
    """Its memories one by one; from now on recall shows none of them as they were before."""
    recall = backend.recall = LedgerRecall(ledger)
    settling = LedgerSync(ledger, RemoteFiles(backend.calls))
    search = MemorySearch(ledger, settling, recall, backend.find_below)
    return OpenVikingMemories(ledger, settling, recall, search, backend.tenant_of)


def open_resources(backend: OpenVikingBackend, catalogue: ResourceCatalogue) -> OpenVikingResources:
    """Its documents and skills; from now on recall shows of what was imported here only what the catalogue has."""
    recall = backend.documents = DocumentRecall(catalogue)
    return OpenVikingResources(catalogue, RemoteResources(backend.calls), recall, backend.tenant_of)
