"""Pages with known tables, made from a seed: what bench_pdf_tables measures the table rules with."""
