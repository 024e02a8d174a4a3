include_guard()

# Makes the disk images that a power cut may leave, from recorded disk calls, and checks each (tools/power-cut).
if(TARGET domain_replay)
    file(GLOB power_cut_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/power_cut/*.c)
    add_executable(power_cut ${power_cut_files})
    target_link_libraries(power_cut PRIVATE warnings test_warnings defines)
    errata_link(power_cut "store_support;store_lmdb;store_journal;store_memory;auth;domain_replay")
endif()
