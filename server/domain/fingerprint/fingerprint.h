/*
 * fingerprint.h: the exact layout fingerprint: SHA-256 of the canonical JSON of four measures, byte
 * for byte what this Python gives for the same metadata:
 *
 *     data = {k: m.get(k) for k in ("page_count", "page_dimensions", "table_count")}
 *     data["text_coverage_ratio"] = round(m.get("text_coverage_ratio", 0), 2)
 *     hashlib.sha256(json.dumps(data, sort_keys=True).encode("utf-8")).hexdigest()
 *
 * Integers and floats stay apart (612 and 612.0 differ), nothing is rounded but the ratio, and what
 * Python would raise on is refused. A measured document has its counts as integers and its sizes as
 * floats of at most 2 decimals; measuring it is others' work.
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

/* ERR_INVALID with `metadata_json` in ctx->fault for anything but a JSON object, and for what Python
 * would raise on: a ratio that is not a number, an integer of too many digits. */
MUST_CHECK enum err fingerprint_compute(struct ctx *ctx, struct slice metadata_json,
                                        struct layout_fingerprint *ret_fingerprint);

/* Python's round(value, 2): the decimal nearest to the binary value, ties as binary falls. */
double fingerprint_round(double value);
/* The part of page 1 that its glyphs cover, rounded; 0 where no cells were counted. */
double fingerprint_coverage(const struct document_measures *measures);
/* The fingerprint of a document whose tables were counted. Fails only with ERR_MEMORY. */
MUST_CHECK enum err fingerprint_of_measures(struct arena *arena,
                                            const struct document_measures *measures,
                                            struct layout_fingerprint *ret_fingerprint);

#endif
