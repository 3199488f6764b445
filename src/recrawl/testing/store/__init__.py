"""The contract suite of page stores.

A store's test file subclasses ``StoreContract``, says how to make a store and how to count its
rows by the back door, and gets every test::

    class TestMyStore(StoreContract):
        def make_store(self, folder, keep_visits):
            return MyStore(folder / "pages", keep_visits=keep_visits)

        def n_rows(self, store):
            return {"pages": ..., "hosts": ..., "leases": ..., "visits": ..., ...}
"""

from __future__ import annotations

from recrawl.testing.store.changes import ChangeTests
from recrawl.testing.store.commits import CommitTests
from recrawl.testing.store.leases import LeaseTests
from recrawl.testing.store.machine import MachineTests
from recrawl.testing.store.pages import PageTests
from recrawl.testing.store.planning import PlanningTests

__all__ = ["StoreContract"]


class StoreContract(PageTests, LeaseTests, CommitTests, ChangeTests, PlanningTests, MachineTests):
    """Every line of the contracts in ``recrawl.ports.store``, as tests."""
