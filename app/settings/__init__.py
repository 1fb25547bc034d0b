"""All settings, a file for each group: variables with the prefix ``SIDECAR_``, nested with ``__``, and ``.env``.

The README's table is generated from them (``make docs``); a test compares the two and proves that each is used.
"""

from app.settings.all_settings import Settings
from app.settings.audit_settings import AuditSettings
from app.settings.auth_settings import AuthSettings
from app.settings.capture_settings import CaptureSettings
from app.settings.delivery_settings import DeliverySettings
from app.settings.embedded_settings import ChatSettings, EmbeddedSettings, EmbedderSettings, SearchSettings
from app.settings.encryption_settings import EncryptionSettings
from app.settings.environment import unknown_variables, variables
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

__all__ = [
    "AuditSettings",
    "AuthSettings",
    "CaptureSettings",
    "ChatSettings",
    "DeliverySettings",
    "EmbeddedSettings",
    "EmbedderSettings",
    "EncryptionSettings",
    "ExperienceSettings",
    "FreshnessSettings",
    "GuardSettings",
    "LimitSettings",
    "LocalSettings",
    "OpenVikingSettings",
    "PolicySettings",
    "RecallSettings",
    "ResourceSettings",
    "RoutingSettings",
    "SearchSettings",
    "Settings",
    "StartSettings",
    "StoreSettings",
    "TraceSettings",
    "unknown_variables",
    "variables",
]
