"""Settings: how a caller is mapped to an agent and a peer."""

from pydantic import BaseModel, Field

from app.core.identity import PeerRole
from app.settings.setting_types import TextList


class RoutingSettings(BaseModel):
    """How a caller is mapped to an agent and a peer."""

    agent_prefix: str = Field("", description="Put before every agent as `<prefix>_`, unless empty or `default`.")
    peer_role: PeerRole = Field(
        PeerRole.ASSISTANT, description="Whose peer a request acts as: assistant, person, none."
    )
    bypass_sessions: TextList = Field(
        default_factory=list,
        description="Session key patterns that are left alone; `*` within a `:` part, `**` across.",
    )
