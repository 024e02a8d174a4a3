# Target `tables`: <tables.def>, the list of all tables: the store's own, then those of the
# capabilities in the order of their folders. So a capability adds a table only in its own
# tables.def.
file(GLOB tables_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/server/domain/*/tables.def)
list(SORT tables_files)
list(PREPEND tables_files ${CMAKE_SOURCE_DIR}/store/tables.def)
errata_generated(tables
    OUTPUTS ${errata_gen}/tables/tables.def
    COMMAND cat ${tables_files} > ${errata_gen}/tables/tables.def
    DEPENDS ${tables_files})
