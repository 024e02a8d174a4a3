# Rules of style, as tests. Label `tidy`: they read only sources, and take seconds. Label `tidy-built`: they
# read files of the build.
function(errata_tidy rule label)
    add_test(NAME tidy_${rule}
             COMMAND /usr/bin/python3 -B ${CMAKE_SOURCE_DIR}/tests/tidy/${rule}.py
                     ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    set_tests_properties(tidy_${rule} PROPERTIES LABELS ${label} TIMEOUT 120)
endfunction()

foreach(rule layers shape words english format faults selftest)
    errata_tidy(${rule} tidy)
endforeach()
foreach(rule headers symbols)
    errata_tidy(${rule} tidy-built)
endforeach()
