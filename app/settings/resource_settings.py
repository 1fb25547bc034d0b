"""Settings: documents and skills."""

from pydantic import BaseModel, Field


class ResourceSettings(BaseModel):
    """Documents and skills."""

    urls: bool = Field(True, description="Fetch URLs for callers; public addresses only, whatever this says.")
    fetch_ms: int = Field(20_000, ge=100, le=600_000, description="Longest time to fetch one.")
    read_ms: int = Field(120_000, ge=1_000, le=900_000, description="Longest time to read an import; it then fails.")
    at_once: int = Field(2, ge=1, le=32, description="Imports read, and imports taken in, at once.")
    max_files: int = Field(2_000, ge=1, le=30_000, description="Most files of an archive.")
    max_unpacked_bytes: int = Field(128 * 1024 * 1024, ge=1024, description="Most bytes of all of them, unpacked.")
