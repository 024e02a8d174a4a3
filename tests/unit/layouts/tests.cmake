# The program is a cmocka test; called with --lines or --measures it answers the differential test's
# questions.
errata_test(layouts_tests DIR tests/unit/layouts USES domain_layouts store_support wire LABELS unit)
add_test(NAME layouts_reference
         COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/reference.py $<TARGET_FILE:layouts_tests>)
set_tests_properties(layouts_reference PROPERTIES LABELS unit TIMEOUT 120)
