if(TARGET pdf_measure)
    errata_test(pdf_fonts_tests DIR tests/unit/pdf_fonts USES pdf_measure LABELS unit)
endif()
