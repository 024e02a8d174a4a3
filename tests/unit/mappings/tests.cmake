errata_test(mappings_tests DIR tests/unit/mappings USES domain_mappings store_memory LABELS unit)
# The table of similarities is computed from the definition, independently.
add_test(NAME mappings_similarities
         COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/similarities.py --check)
set_tests_properties(mappings_similarities PROPERTIES LABELS unit TIMEOUT 60)
