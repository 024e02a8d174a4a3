"""Pages with known tables, made from a seed, on which bench_pdf_tables measures the table rules."""
