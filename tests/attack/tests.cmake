include(${CMAKE_SOURCE_DIR}/tests/support/tests.cmake)

# A client that means harm; it is linked with nothing of the server's.
file(GLOB attack_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
add_executable(attacker ${attack_files})
target_link_libraries(attacker PRIVATE warnings defines part_zlib)
errata_python_test(attack_short FILE tests/attack/short.py LABEL attack TIMEOUT 120)
errata_python_test(attack_http1 FILE tests/attack/http1.py LABEL attack TIMEOUT 180)
