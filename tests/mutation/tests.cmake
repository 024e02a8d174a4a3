# Which changes tools/mutate draws is tested by itself; a run of it takes an hour.
add_test(NAME mutation_changes COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/changes_test.py)
set_tests_properties(mutation_changes PROPERTIES LABELS unit TIMEOUT 30)
