"""The tables of the turn store; one definition for SQLite and PostgreSQL, changed only together with a migration.

Times are seconds since the epoch on the wall clock, because several processes read them. JSON is kept as ASCII-only
text: PostgreSQL text takes no NUL and neither database takes a lone surrogate, and hosts send both. Keys are kept as
SHA-256.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)

metadata = MetaData()


def _tenant(*, in_key: bool = False) -> tuple[Column[str], Column[str]]:
    """The columns that say whose a row is."""
    account, user = (Column(name, Text, primary_key=in_key, nullable=False) for name in ("account", "user_name"))
    return account, user


FREE, HELD = "lease_owner IS NULL", "lease_owner IS NOT NULL"
"""Sessions without a lease, and the few with one, each with an index: no search meets the others."""

sessions = Table(
    "sessions",
    metadata,
    Column("id", Integer, primary_key=True),
    *_tenant(),
    Column("session", Text, nullable=False),
    Column("identity", Text, nullable=False),
    Column("epoch", Integer, nullable=False, server_default="0"),
    Column("next_position", Integer, nullable=False, server_default="1"),
    Column("next_message", Integer, nullable=False, server_default="0"),
    Column("token_budget", Integer, nullable=False),
    Column("assemble_budget", Integer, nullable=False, server_default="0"),
    Column("window_tokens", Integer, nullable=False, server_default="0"),
    Column("window_measured", Integer, nullable=False, server_default="0"),
    Column("token_ratio", Float, nullable=False, server_default="1"),
    Column("token_scale", Float, nullable=False, server_default="1"),
    Column("compactions", Integer, nullable=False, server_default="0"),
    Column("flushed_at", Float),
    Column("flushed_compaction", Integer, nullable=False, server_default="-1"),
    Column("assembled_at", Float, nullable=False, server_default="0"),
    Column("last_turn_at", Float, nullable=False),
    Column("remembered_at", Float, nullable=False, server_default="0"),
    Column("archived_through", Integer, nullable=False, server_default="0"),
    Column("cleared_through", Integer, nullable=False, server_default="0"),
    Column("cleared_message", Integer, nullable=False, server_default="-1"),
    Column("summary", Text, nullable=False, server_default=""),
    Column("opening", Text, nullable=False, server_default="[]"),
    Column("focus", Text, nullable=False, server_default=""),
    Column("due_at", Float),
    Column("lane", Integer, nullable=False, server_default="3"),
    Column("retry_at", Float, nullable=False, server_default="0"),
    Column("commit_refusals", Integer, nullable=False, server_default="0"),
    Column("commit_after", Float, nullable=False, server_default="0"),
    Column("lease_owner", Text),
    Column("lease_until", Float, nullable=False, server_default="0"),
    Column("fence", Integer, nullable=False, server_default="0"),
    UniqueConstraint("account", "user_name", "session", name="sessions_by_name"),
    Index("sessions_by_due", "lane", "due_at", sqlite_where=text(FREE), postgresql_where=text(FREE)),
    Index("sessions_by_lease", "lease_until", sqlite_where=text(HELD), postgresql_where=text(HELD)),
)
"""One row per tenant and session. ``due_at``: when a worker should look at it, NULL for never; ``lane``: what it waits
for, see `app.store.work.Lane`; ``retry_at``: not before then (back-off, or a write still settling).
``archived_through``: the last position that a commit holds or will hold; ``cleared_through``: the last position that
the prompt no longer shows, ``cleared_message`` its last message's number. ``token_budget`` is the turns' own,
``assemble_budget`` that of the prompts, 0 while none is known; ``assembled_at``: when a prompt was last asked for,
where the guards go by that. ``window_tokens`` to ``token_scale``: see `app.core.history.window.Window`.
``compactions``: how many hosts asked for; ``flushed_compaction`` is its value when a flush was last told, at
``flushed_at``. ``opening``: what the epoch's first turns told, a text for each; ``focus``: see
`app.core.history.focus`. After so many ``commit_refusals`` in a row no commit is planned before ``commit_after``,
unless somebody asks for it."""

turns = Table(
    "turns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("turn_id", Text, nullable=False, unique=True),
    Column("session_id", ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("key_hash", Text),
    Column("fingerprint", Text, nullable=False),
    Column("occurrence", Text),
    Column("prints", Text, nullable=False),
    Column("first_at", BigInteger),
    Column("last_at", BigInteger),
    Column("first_message", Integer, nullable=False),
    Column("host_messages", Integer, nullable=False),
    Column("payload", Text),
    Column("bytes", Integer, nullable=False),
    Column("captured", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("remember", Boolean, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=""),
    Column("sent", Integer, nullable=False, server_default="0"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("attempt_started", Float),
    Column("doubt_until", Float),
    Column("error", Text, nullable=False, server_default=""),
    Column("created_at", Float, nullable=False),
    Column("delivered_at", Float),
    UniqueConstraint("session_id", "key_hash", name="turns_by_key"),
    Index("turns_by_position", "session_id", "position"),
    Index("turns_by_occurrence", "session_id", "occurrence"),
    Index("turns_by_time", "session_id", "last_at", "first_at", "position"),
    Index("turns_by_state", "session_id", "state", "position", "captured", "tokens"),
    Index("turns_by_age", "state", "created_at", "bytes", "session_id"),
)
"""One row per accepted turn. ``position`` orders a session's turns; ``sent`` of its ``captured`` messages are
delivered; ``payload`` is dropped once the archive that holds it is extracted. ``doubt_until``: a write of unknown
outcome was begun and may arrive until then, NULL for none. Host messages are numbered from 0 in each epoch. ``prints``
are the fingerprints of messages from ``first_at`` to ``last_at`` (epoch milliseconds, NULL when none carries a time): a
message with a time can only stand again in turns whose times include its own."""

commits = Table(
    "commits",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("upload_id", Text, nullable=False, unique=True),
    Column("session_id", ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("cause", Text, nullable=False),
    Column("after", Integer, nullable=False),
    Column("through", Integer, nullable=False),
    Column("clear_through", Integer, nullable=False),
    Column("new_epoch", Boolean, nullable=False),
    Column("first_message", Integer, nullable=False),
    Column("last_message", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("task_id", Text),
    Column("archive_id", Text),
    Column("backend", Text),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("attempt_started", Float),
    Column("next_at", Float, nullable=False),
    Column("error", Text, nullable=False, server_default=""),
    Column("forced", Boolean, nullable=False, server_default=false()),
    Column("instructions", Text, nullable=False, server_default=""),
    Column("created_at", Float, nullable=False),
    Column("finished_at", Float),
    Index("commits_by_session", "session_id", "id"),
)
"""One row per archive asked for. It holds the turns after position ``after`` up to ``through``; the prompt loses those
up to ``clear_through`` as soon as the archive is ready. ``backend``: the one that ``task_id`` and ``archive_id`` belong
to, see `app.ports.ContextBackend.place`; NULL when that was not written down. ``instructions``: what its summary has to
keep, until the backend has been told."""

waiting_memories = Table(
    "waiting_memories",
    metadata,
    Column("id", Integer, primary_key=True),
    *_tenant(),
    Column("memory_id", Text, nullable=False),
    Column("said", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("refused", Text, nullable=False, server_default=""),
    Column("created_at", Float, nullable=False),
    UniqueConstraint("account", "user_name", "memory_id", name="waiting_memories_by_id"),
)
"""One row per memory that the backend does not have yet, delivered in the order of their ids. ``said``: equal for texts
of one peer that say the same; ``refused``: why the backend never takes it, which leaves it to be recalled from here."""

memory_ledger = Table(
    "memory_ledger",
    metadata,
    *_tenant(in_key=True),
    Column("memory_id", Text, primary_key=True),
    Column("uri", Text, nullable=False),
    Column("text_hash", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("key", Text),
    Column("fields", Text, nullable=False),
    Column("history", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("stamp", Text, nullable=False, server_default=""),
    Column("settled", Boolean, nullable=False, server_default=true()),
    Column("plain", Boolean, nullable=False, server_default=true()),
    Index("memory_ledger_by_uri", "account", "user_name", "uri"),
    Index("memory_ledger_by_text", "account", "user_name", "text_hash"),
    Index("memory_ledger_by_key", "account", "user_name", "key"),
    Index("memory_ledger_by_plain", "plain", "settled", "account", "user_name"),
    Index("memory_ledger_by_date", "account", "user_name", "created_at", "memory_id"),
)
"""What the sidecar keeps of a memory beside a backend that has no place for it; see `app.ports.LedgerEntry`."""

forgettings = Table(
    "forgettings",
    metadata,
    Column("id", Text, primary_key=True),
    *_tenant(),
    Column("body", Text, nullable=False),
    Column("created_at", Float, nullable=False),
)
"""One row per forgetting that is not done yet. ``body`` says what is to be forgotten, and is empty once only the
database's own files are to be cleaned: the row holds the text itself until then."""

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    *_tenant(),
    Column("at", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("memory_id", Text, nullable=False),
    Column("token", Text),
    Column("agent", Text),
    Column("session", Text),
    Column("request_id", Text),
    Column("trace_id", Text),
    Index("audit_by_tenant", "account", "user_name", "id"),
    Index("audit_by_memory", "account", "user_name", "memory_id", "id"),
    Index("audit_by_age", "at"),
)
"""One row for each thing that was done with a memory; see `app.core.memories.audit`."""

freshness_reports = Table(
    "freshness_reports",
    metadata,
    *_tenant(in_key=True),
    Column("checked_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)
"""One row per tenant: what the last check of its memories found, without texts."""


def _uses(name: str, *indexes: Index) -> Table:
    return Table(
        name,
        metadata,
        *_tenant(in_key=True),
        Column("agent", Text, primary_key=True),
        Column("session", Text, primary_key=True),
        Column("name", Text, primary_key=True),
        Column("body", Text, nullable=False),
        Column("used_at", Float, nullable=False),
        *indexes,
    )


tool_uses = _uses("tool_uses")
"""One row per session, agent and tool: what `app.core.capture.tool_records` keeps of its calls, as JSON."""

skill_uses = _uses("skill_uses", Index("skill_uses_by_name", "account", "user_name", "agent", "name"))
"""One row per session, agent and skill: what `app.core.capture.skill_uses` keeps of its uses, as JSON."""

session_starts = Table(
    "session_starts",
    metadata,
    *_tenant(in_key=True),
    Column("session", Text, primary_key=True),
    Column("chat", Text, primary_key=True),
    Column("viewer", Text, primary_key=True),
    Column("epoch", Integer, nullable=False),
    Column("cleared", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("memory_ids", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Index("session_starts_by_age", "created_at"),
    Index("session_starts_by_tenant", "account", "user_name", "created_at"),
)
"""One row per session, kind of chat and reader: the addition to the system prompt that was shown last, which holds
while the session's ``epoch`` and ``cleared_through`` are these."""

memory_versions = Table(
    "memory_versions",
    metadata,
    *_tenant(in_key=True),
    Column("version", BigInteger, nullable=False),
)
"""How often a tenant's memories were changed on purpose: no process answers a search from before it."""

layouts = Table(
    "layouts",
    metadata,
    Column("id", Integer, primary_key=True),
    *_tenant(),
    Column("session", Text, nullable=False),
    Column("edge", Text, nullable=False),
    Column("before", Integer, nullable=False),
    Column("archived", Integer, nullable=False),
    Column("last_archived", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("of_cut", Boolean, nullable=False),
    Column("of_archives", Boolean, nullable=False),
    Column("budget", Integer, nullable=False),
    Column("uncut", Integer, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("account", "user_name", "session", name="layouts_by_session"),
    Index("layouts_by_age", "at"),
)
"""One row per session: how its last prompt was laid out, see `app.core.history.prompt_layout.Layout`."""

tool_outputs = Table(
    "tool_outputs",
    metadata,
    Column("id", Integer, primary_key=True),
    *_tenant(),
    Column("session", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("room", Integer, nullable=False),
    Column("ref", Text, nullable=False),
    Column("call", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("chars", Integer, nullable=False),
    Column("shown", Text, nullable=False),
    Column("removed", Integer, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("said_at", BigInteger),
    Column("at", Float, nullable=False),
    Column("body", LargeBinary),
    UniqueConstraint("account", "user_name", "session", "key", name="tool_outputs_by_key"),
    Index("tool_outputs_by_call", "account", "user_name", "session", "call"),
    Index("tool_outputs_by_age", "at"),
)
"""One row per tool output that a guard has cut, see `app.core.history.guards.cuts.Cut`; ``call`` is ``ref`` in the
spelling in which ids are compared. ``body`` is the original, compressed: NULL for a decision without one, and where it
was forgotten or made room for others."""

output_rules = Table(
    "output_rules",
    metadata,
    Column("id", Integer, primary_key=True),
    *_tenant(),
    Column("at", Float, nullable=False),
    Column("secret", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("output_rules_by_tenant", "account", "user_name", "id"),
)
"""One row per forgetting: what of a tool output from before it is not kept, for a host's prompt may still have it. See
`app.core.memories.output_rules`; ``secret`` is what the words in ``body`` are hashed under, the same in all rows of a
tenant."""

resource_imports = Table(
    "resource_imports",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("task_id", Text, nullable=False, unique=True),
    *_tenant(),
    Column("path", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("spool", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("detail", Text, nullable=False, server_default=""),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("retry_at", Float, nullable=False, server_default="0"),
    Column("owner", Text, nullable=False, server_default=""),
    Column("lease_until", Float, nullable=False, server_default="0"),
    Column("created_at", Float, nullable=False),
    Column("ended_at", Float),
    Index("resource_imports_by_path", "account", "user_name", "path"),
    Index("resource_imports_by_state", "state", "retry_at"),
)

resource_catalogue = Table(
    "resource_catalogue",
    metadata,
    *_tenant(in_key=True),
    Column("path", Text, primary_key=True, nullable=False),
    Column("kind", Text, nullable=False),
    Column("body", Text, nullable=False),
)
"""Documents and skills that are all there, where a backend keeps only their passages."""

resource_documents = Table(
    "resource_documents",
    metadata,
    Column("id", Integer, primary_key=True),
    *_tenant(),
    Column("resource", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("folder", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("text", LargeBinary, nullable=False),
    UniqueConstraint("account", "user_name", "folder", name="resource_documents_by_folder"),
    Index("resource_documents_by_path", "account", "user_name", "resource", "path"),
)
"""Their documents, each with the folder of its passages; see `app.ports.DocumentState`."""
"""One row per import that was accepted. ``body`` is its resource as JSON; ``spool`` names the file with its documents,
which lies where the process that accepted it keeps its data. ``owner`` works on it until ``lease_until``."""
