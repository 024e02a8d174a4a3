errata_test(base_tests DIR tests/unit/base USES base LABELS unit)

# Compares our JSON code with Python's through a small program that answers line by line.
add_executable(base_peer ${CMAKE_CURRENT_LIST_DIR}/peer/base_peer.c)
target_link_libraries(base_peer PRIVATE warnings defines)
errata_link(base_peer base)
add_test(NAME base_peer_tests
         COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/peer/compare_with_python.py
                 $<TARGET_FILE:base_peer>)
set_tests_properties(base_peer_tests PROPERTIES LABELS unit TIMEOUT 120)
