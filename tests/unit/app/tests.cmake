# Files of the app that need neither its loop nor its processes.
errata_test(app_tests DIR tests/unit/app USES domain_replay store_support LABELS unit)
target_sources(app_tests PRIVATE ${CMAKE_SOURCE_DIR}/server/app/address_file.c
               ${CMAKE_SOURCE_DIR}/server/app/app_damage.c
               ${CMAKE_SOURCE_DIR}/server/app/files.c
               ${CMAKE_SOURCE_DIR}/server/app/rebuild_local.c
               ${CMAKE_SOURCE_DIR}/server/app/supervisor.c
               ${CMAKE_SOURCE_DIR}/server/app/verify_message.c)
