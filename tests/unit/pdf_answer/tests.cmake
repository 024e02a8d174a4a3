errata_test(pdf_answer_tests DIR tests/unit/pdf_answer USES pdf_answer LABELS unit)
