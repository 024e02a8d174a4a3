# Manual pages and completions, into ${CMAKE_BINARY_DIR}/share, in the places below a prefix's share/
# where systems look for them: its content is installed unchanged.
#
#   man/man1/{errata,erratad,errata-bench}.1
#   bash-completion/completions/errata
#   zsh/site-functions/_errata
#   fish/vendor_completions.d/errata.fish
#
# The programs make them, from the tables that they read: nothing of it is written by hand. The date of
# the pages is that of the configuration, or SOURCE_DATE_EPOCH.
set(share ${CMAKE_BINARY_DIR}/share)
string(TIMESTAMP share_date "%B %d, %Y" UTC)
string(REGEX REPLACE " 0" " " share_date "${share_date}")
set(share_outputs "")

# errata_share(OUTPUT file PROGRAM target COMMAND ...): a file that the command prints.
function(errata_share)
    cmake_parse_arguments(S "" "OUTPUT;PROGRAM" "COMMAND" ${ARGN})
    if(NOT TARGET ${S_PROGRAM})
        return()
    endif()
    get_filename_component(folder ${S_OUTPUT} DIRECTORY)
    file(MAKE_DIRECTORY ${share}/${folder})
    add_custom_command(
        OUTPUT ${share}/${S_OUTPUT}
        COMMAND ${S_COMMAND} > ${share}/${S_OUTPUT}
        DEPENDS ${S_PROGRAM} ${CMAKE_SOURCE_DIR}/tools/gen/help-to-man
        COMMENT "Writing share/${S_OUTPUT}"
        VERBATIM)
    set(share_outputs ${share_outputs} ${share}/${S_OUTPUT} PARENT_SCOPE)
endfunction()

errata_share(OUTPUT man/man1/errata.1 PROGRAM errata COMMAND errata __man ${share_date})
foreach(program erratad errata-bench)
    errata_share(OUTPUT man/man1/${program}.1 PROGRAM ${program}
                 COMMAND ${CMAKE_SOURCE_DIR}/tools/gen/help-to-man $<TARGET_FILE:${program}>
                         ${share_date} ${PROJECT_VERSION})
endforeach()
errata_share(OUTPUT bash-completion/completions/errata PROGRAM errata
             COMMAND errata completion bash)
errata_share(OUTPUT zsh/site-functions/_errata PROGRAM errata COMMAND errata completion zsh)
errata_share(OUTPUT fish/vendor_completions.d/errata.fish PROGRAM errata
             COMMAND errata completion fish)
add_custom_target(share ALL DEPENDS ${share_outputs})
