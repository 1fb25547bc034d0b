"""``openviking-sidecar outbox``: the outbox on the command line, for all tenants of the store."""

import argparse
import sys
from datetime import UTC, datetime

from app.core.identity import Tenant, session_name
from app.errors import SidecarError
from app.settings import Settings
from app.store.delivery_rows import Delivery
from app.store.turns import SqlTurnStore
from app.store.work import TurnState


async def run_outbox(settings: Settings, arguments: argparse.Namespace) -> int:
    """List turns, or retry or discard one. Works beside a running service: both use the same store."""
    from app.services import open_services

    if arguments.action == "list" and arguments.state not in (None, *TurnState):
        print(f"openviking-sidecar outbox: a state is one of {', '.join(TurnState)}", file=sys.stderr)
        return 2
    async with open_services(settings) as services:
        try:
            if arguments.action == "list":
                await _list(services.store, arguments)
            elif arguments.turn_id is None:
                print(f"openviking-sidecar outbox {arguments.action}: name the turn", file=sys.stderr)
                return 2
            else:
                deliveries = services.store.deliveries
                decide = deliveries.retry if arguments.action == "retry" else deliveries.discard
                _show(await decide(None, arguments.turn_id))
        except SidecarError as error:
            print(f"openviking-sidecar outbox: {error.detail}", file=sys.stderr)
            return 1
    return 0


async def _list(store: SqlTurnStore, arguments: argparse.Namespace) -> None:
    states = [arguments.state] if arguments.state else []
    session = session_name(arguments.session, None) if arguments.session else None
    page = await store.deliveries.page(None, states=states, session=session, limit=arguments.limit)
    for delivery in page.items:
        _show(delivery)
    gauges = await store.gauges()
    print(f"waiting {gauges.depth} ({gauges.bytes} bytes), retrying {gauges.retrying}, dead {gauges.dead}")


def _show(delivery: Delivery) -> None:
    created = datetime.fromtimestamp(delivery.created_at, UTC).isoformat(timespec="seconds")
    tenant = Tenant(delivery.account, delivery.user).account_key
    counted = f"{delivery.sent}/{delivery.captured} messages, {delivery.attempts} tries"
    print(
        f"{delivery.turn_id}  {delivery.state:9}  {created}  {tenant}  {delivery.session}  {counted}  {delivery.error}"
    )
