"""A client of the OpenViking sidecar for any agent host: httpx, typed, and nothing of the service itself.

Copy this folder, and ``pip install httpx``. Nothing here is needed to use the sidecar (``integrations/README.md`` does
it with three curl commands); it saves writing the error handling and knows every field. What must not stop an agent
does not: `Sidecar.assemble` gives your own messages when the sidecar is away.
"""

from sidecar_client.answers import Message
from sidecar_client.client import Session, Sidecar
from sidecar_client.connection import SidecarError

__all__ = ["Message", "Session", "Sidecar", "SidecarError"]
