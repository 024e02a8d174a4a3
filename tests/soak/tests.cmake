# Tests the verdicts of a soak (tools/soak); a complete run takes an hour.
add_test(NAME soak_verdict COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/verdict_test.py)
set_tests_properties(soak_verdict PROPERTIES LABELS unit TIMEOUT 30)
