"""What the HTTP shell and the command line work with: all of it is made here, from the settings; nothing is decided."""

from app.services.composition import open_services
from app.services.running_services import Services

__all__ = ["Services", "open_services"]
