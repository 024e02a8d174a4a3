include(${CMAKE_SOURCE_DIR}/tests/support/tests.cmake)

# On the release build: a browser takes long enough without a sanitizer, which tests/e2e/web.py has.
errata_python_test(browser FILE tests/browser/browser.py LABEL e2e release TIMEOUT 600)
