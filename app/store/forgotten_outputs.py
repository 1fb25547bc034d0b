"""What forgettings say of tool outputs that come with a later prompt, a row each.

See `app.core.memories.output_rules`.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, select

from app.core.history.guards.packing import Packed, pack, unpack
from app.core.identity import Identity, Tenant
from app.core.memories.forget_selection import Forgetting
from app.core.memories.output_rules import OutputRule, OutputRules, rule_of
from app.core.memories.withholding import Withholding
from app.store import session_rows
from app.store.codec import load_strings
from app.store.memory_versions import locked_version
from app.store.schema import output_rules, sessions, turns


@dataclass(frozen=True, slots=True)
class Held:
    """A tenant's rules up to row ``through``, None for none, and when the turns came that first brought these messages,
    by their fingerprints."""

    through: int = 0
    rules: OutputRules | None = None
    came_at: Mapping[str, float] = field(default_factory=dict)

    def left_of(self, outputs: Sequence[Packed], session: str, now: float) -> Sequence[Packed]:
        """The outputs with what may be kept of their originals."""
        rules = self.rules
        return outputs if rules is None else [self._left(rules, one, session, now) for one in outputs]

    def _left(self, rules: OutputRules, one: Packed, session: str, now: float) -> Packed:
        if one.body is None:
            return one
        # A host's clock may be ahead, or not told: what a turn here has, was made before that came.
        made_at = now if one.at is None else one.at / 1000
        text = unpack(one.body)
        left = rules.left_of(text, session, min(made_at, self.came_at.get(one.message or "", now), now))
        return one if left == text else replace(one, body=None if left is None else pack(left))


def note(connection: Connection, tenant: Tenant, forgetting: Forgetting, touched: frozenset[str] | None) -> None:
    """Note what a forgetting says; noting it again does no harm. ``touched``: see `rule_of`.

    The lock on the tenant's changes keeps originals from being written by what was known before.
    """
    locked_version(connection, tenant)
    mine = _of(tenant)
    known = connection.execute(select(output_rules.c.secret).where(mine).limit(1)).scalar()
    secret = known or secrets.token_hex(16)
    rule = rule_of(forgetting, touched, Withholding(secret.encode()))
    body = json.dumps(rule.to_json())
    there = select(output_rules.c.id).where(mine, output_rules.c.at == rule.at, output_rules.c.body == body)
    if connection.execute(there.limit(1)).first() is None:
        name = {"account": tenant.account or "", "user_name": tenant.user or ""}
        connection.execute(insert(output_rules).values(**name, at=rule.at, secret=secret, body=body))
    if forgetting.everything:  # what was forgotten before is part of it; behind the new row, for ids are given again
        connection.execute(delete(output_rules).where(mine, output_rules.c.at < rule.at))


def through(connection: Connection, tenant: Tenant) -> int:
    """The newest row of a tenant; 0 for none."""
    return connection.execute(select(func.max(output_rules.c.id)).where(_of(tenant))).scalar() or 0


def held(connection: Connection, who: Identity, outputs: Sequence[Packed]) -> Held:
    """What is to be known to keep these outputs."""
    rows = connection.execute(select(output_rules).where(_of(who.tenant)).order_by(output_rules.c.id)).all()
    if not rows:
        return Held()
    rules = tuple(OutputRule.from_json(row.at, json.loads(row.body)) for row in rows)
    newest = max(row.at for row in rows)
    came_at = _came_at(connection, who, {one.message for one in outputs if one.message and one.body}, newest)
    return Held(rows[-1].id, OutputRules(rules, rows[0].secret.encode()), came_at)


def _came_at(connection: Connection, who: Identity, messages: set[str], until: float) -> dict[str, float]:
    """When the turns came that first brought these messages, of those that came by then."""
    query = select(turns.c.prints, turns.c.created_at).join(sessions, sessions.c.id == turns.c.session_id)
    query = query.where(session_rows.BY_NAME, turns.c.created_at <= until).order_by(turns.c.id.desc())
    found: dict[str, float] = {}
    for row in connection.execute(query, session_rows.name_of(who.tenant, who.session)) if messages else ():
        found |= dict.fromkeys(messages.intersection(load_strings(row.prints)), row.created_at)
    return found


def _of(tenant: Tenant) -> Any:
    return and_(output_rules.c.account == (tenant.account or ""), output_rules.c.user_name == (tenant.user or ""))
