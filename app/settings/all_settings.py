"""All groups of settings together, and what only several of them can say."""

import ipaddress
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.atrest.places import Places
from app.backends import BACKENDS
from app.documents.parsed_document import Limits
from app.settings.audit_settings import AuditSettings
from app.settings.auth_settings import AuthSettings
from app.settings.capture_settings import CaptureSettings
from app.settings.delivery_settings import DeliverySettings
from app.settings.embedded_settings import EmbeddedSettings
from app.settings.encryption_settings import EncryptionSettings
from app.settings.experience_settings import ExperienceSettings
from app.settings.freshness_settings import FreshnessSettings
from app.settings.guard_settings import GuardSettings
from app.settings.limit_settings import LimitSettings
from app.settings.local_settings import LocalSettings
from app.settings.openviking_settings import OpenVikingSettings
from app.settings.policy_settings import PolicySettings
from app.settings.recall_settings import RecallSettings
from app.settings.resource_settings import ResourceSettings
from app.settings.routing_settings import RoutingSettings
from app.settings.start_settings import StartSettings
from app.settings.store_settings import StoreSettings
from app.settings.trace_settings import TraceSettings


class Settings(BaseSettings):
    """The whole configuration."""

    model_config = SettingsConfigDict(
        env_prefix="SIDECAR_",
        env_nested_delimiter="__",
        env_file=".env",
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,  # It may hold keys and tokens.
    )

    backend: str = Field("embedded", description=f"Where memory lives: `{'` or `'.join(BACKENDS)}`.")
    data_dir: Path = Field(Path("data"), description="Directory for everything on disk; made private (0700).")
    host: str = Field("127.0.0.1", description="Address to bind.")
    port: int = Field(8787, ge=0, le=65535, description="Port to bind; 0 takes a free one.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")

    auth: AuthSettings = Field(default_factory=AuthSettings)
    openviking: OpenVikingSettings = Field(default_factory=OpenVikingSettings)
    local: LocalSettings = Field(default_factory=LocalSettings)
    routing: RoutingSettings = Field(default_factory=RoutingSettings)
    recall: RecallSettings = Field(default_factory=RecallSettings)
    experience: ExperienceSettings = Field(default_factory=ExperienceSettings)
    start: StartSettings = Field(default_factory=StartSettings)
    trace: TraceSettings = Field(default_factory=TraceSettings)
    audit: AuditSettings = Field(default_factory=AuditSettings)
    freshness: FreshnessSettings = Field(default_factory=FreshnessSettings)
    capture: CaptureSettings = Field(default_factory=CaptureSettings)
    guards: GuardSettings = Field(default_factory=GuardSettings)
    policy: PolicySettings = Field(default_factory=PolicySettings)
    encryption: EncryptionSettings = Field(default_factory=EncryptionSettings)
    store: StoreSettings = Field(default_factory=StoreSettings)
    delivery: DeliverySettings = Field(default_factory=DeliverySettings)
    limits: LimitSettings = Field(default_factory=LimitSettings)
    resources: ResourceSettings = Field(default_factory=ResourceSettings)
    embedded: EmbeddedSettings = Field(default_factory=EmbeddedSettings)

    @field_validator("backend")
    @classmethod
    def _is_a_backend(cls, name: str) -> str:
        if name not in BACKENDS:
            raise ValueError(f"is none of {', '.join(BACKENDS)}")
        return name

    @model_validator(mode="after")
    def _local_is_here(self) -> Self:
        if self.local.enabled and self.backend != "openviking":
            raise ValueError("local.enabled needs SIDECAR_BACKEND=openviking")
        if self.local.enabled and urlsplit(self.openviking.url).hostname not in {"127.0.0.1", "localhost"}:
            raise ValueError("local.enabled starts OpenViking on 127.0.0.1, and openviking.url names another machine")
        return self

    @property
    def store_url(self) -> str:
        """The SQLAlchemy URL of the turn store."""
        return self.store.url or f"sqlite:///{self.data_dir / 'sidecar.db'}"

    @property
    def places(self) -> Places:
        """What is kept on disk, by where it lies."""
        kind, _, path = self.store_url.partition(":///")
        return Places(self.data_dir, Path(path.partition("?")[0]) if kind == "sqlite" else None)

    @property
    def recall_tokens(self) -> int:
        """About what recall takes of a prompt at the most: half a token a character is more than English takes, and
        less than Chinese."""
        recall, experience = self.recall, self.experience
        chars = (
            recall.max_injected_chars * recall.enabled
            + recall.max_resource_chars * recall.resources
            + experience.max_injected_chars * experience.enabled
        )
        return chars // 2

    @property
    def automation_teaches(self) -> bool:
        """Whether sessions of automation teach experiences; only where experiences are recalled."""
        return self.capture.automation_experiences and self.experience.enabled

    @property
    def import_limits(self) -> Limits:
        """What one import may be."""
        rules = self.resources
        most = self.limits.max_body_bytes
        return Limits(files=rules.max_files, file_bytes=most, total_bytes=rules.max_unpacked_bytes)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"
