# Shared by tests of the store: temporary folders, and a back end that fails on command.
errata_module(store_support DIR tests/support/store USES store store_memory store_lmdb store_journal)
