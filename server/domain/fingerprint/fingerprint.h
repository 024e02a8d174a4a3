/*
 * fingerprint.h: the exact layout fingerprint: SHA-256 of the canonical JSON of four measures, byte
 * for byte the result of this Python code for the same metadata:
 *
 *     data = {k: m.get(k) for k in ("page_count", "page_dimensions", "table_count")}
 *     data["text_coverage_ratio"] = round(m.get("text_coverage_ratio", 0), 2)
 *     hashlib.sha256(json.dumps(data, sort_keys=True).encode("utf-8")).hexdigest()
 *
 * Integers and floats are distinct (612 and 612.0 differ), only the ratio is rounded, and metadata
 * for which Python would raise an error is refused. The counts of a measured document are integers,
 * its sizes floats of at most 2 decimals.
 */
#ifndef ERRATA_SERVER_DOMAIN_FINGERPRINT_FINGERPRINT_H
#define ERRATA_SERVER_DOMAIN_FINGERPRINT_FINGERPRINT_H

#include "server/domain/fingerprint/document_measures.h"
#include "store/base/ctx.h"
#include "store/base/sha256.h"

/* Python refuses to read an integer of more digits (sys.int_info.default_max_str_digits). */
#define FINGERPRINT_DIGITS_MAX 4300

struct layout_fingerprint {
    struct slice canonical_json; /* the hashed text; allocated in the arena */
    char text[2 * SHA256_BYTES]; /* hexadecimal in lower case, without NUL */
};

/* ERR_INVALID with `metadata_json` in ctx->fault for anything but a JSON object, and if Python
 * would raise an error: a ratio that is not a number, an integer of too many digits. */
MUST_CHECK enum err fingerprint_compute(struct ctx *ctx, struct slice metadata_json,
                                        struct layout_fingerprint *ret_fingerprint);

/* Returns Python's round(value, 2): the multiple of 0.01 that is nearest to the exact binary
 * value. */
double fingerprint_round(double value);
/* Returns the share of page 1 that its glyphs cover, rounded; 0 if no cells were counted. */
double fingerprint_coverage(const struct document_measures *measures);
/* Computes the fingerprint of a document whose tables were counted. Fails only with ERR_MEMORY. */
MUST_CHECK enum err fingerprint_of_measures(struct arena *arena,
                                            const struct document_measures *measures,
                                            struct layout_fingerprint *ret_fingerprint);

#endif
