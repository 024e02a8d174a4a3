"""The orders of a simulated company, day by day."""
import sys
import time

import recount
from erratad import admin, extraction

SHOWN_S = 0.2


def name_documents(orders, org_id, holdout):
    """Ids for the documents. The server draws a document's side by hashing its id with the organisation's,
    which is another one in each run; so that a seed repeats a run, the side is drawn by the seed, and the id
    is the first that the server puts there."""
    for order in orders:
        side = recount.arm_of(org_id, "", 0)
        if holdout:
            side = (extraction.EXPERIMENT_ARM_CONTROL if order.held_out else extraction.EXPERIMENT_ARM_TREATMENT)
        order.document_id = next(name for name in (f"order-{order.number}-{n}" for n in range(100_000))
                                 if recount.arm_of(org_id, name, holdout) == side)


def work(office, orders, holdout):
    """Processes all orders by the office, and shows the progress on a terminal."""
    org_id = office.admin.admin.ListOrganizations(admin.ListOrganizationsRequest()).organizations[0].id
    name_documents(orders, org_id, holdout)
    days = {}
    for order in orders:
        days.setdefault(order.at.date(), []).append(order)
    shown, done = time.monotonic(), 0
    for day in sorted(days):
        office.work(days[day])
        done += len(days[day])
        if sys.stderr.isatty() and time.monotonic() - shown > SHOWN_S:
            shown = time.monotonic()
            print(f"\r{day}: {done:,} of {len(orders):,} orders", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\33[K", end="", file=sys.stderr)
