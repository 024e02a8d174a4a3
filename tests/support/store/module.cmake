# What tests of the store share: folders that go away, and a back end that fails when told.
errata_module(store_support DIR tests/support/store USES store store_memory store_lmdb)
