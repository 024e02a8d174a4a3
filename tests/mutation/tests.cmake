# Tests the draw of changes by tools/mutate; a complete run takes an hour.
add_test(NAME mutation_changes COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/changes_test.py)
set_tests_properties(mutation_changes PROPERTIES LABELS unit TIMEOUT 30)
