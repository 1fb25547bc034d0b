"""The application for ASGI servers: ``uvicorn app.main:app``. Settings come from the environment."""

from app.factory import create_app
from app.settings import Settings

app = create_app(Settings())
