# Measuring without a sandbox: the pure parts on synthetic glyphs and rulings, and Poppler on small
# documents that the tests write themselves and on those of tests/data/pdf.
if(TARGET pdf_measure)
    errata_test(pdf_measure_tests DIR tests/unit/pdf_measure USES pdf_measure LABELS unit)
    target_link_libraries(pdf_measure_tests PRIVATE m)
endif()
