/*
 * fault.h: the caller's mistakes, all at once. Each entry names a field by its path in the request
 * (`event.before_json`, `events[3].layout_fingerprint`; proto names), what is wrong, with the value
 * shortened, and what is expected. Becomes google.rpc.BadRequest.
 */
#ifndef ERRATA_STORE_BASE_FAULT_H
#define ERRATA_STORE_BASE_FAULT_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Maximum listed invalid fields. Further ones are counted, but not listed, so that a reply stays
 * small. */
#define FAULT_ENTRIES_MAX 100

struct fault_entry {
    struct slice field; /* path; empty if no single field is wrong */
    struct slice description; /* a sentence: what is wrong and what is expected */
};

/* The limit that a call would exceed. */
struct fault_quota {
    struct slice subject; /* `organization:ID` or `token:KEYID`; empty: not a quota */
    const char *name; /* a literal: the limit's field, such as requests_per_second */
    uint64_t limit;
    uint32_t retry_ms; /* time after which a call may fit; from 1 */
};

struct fault {
    struct arena *arena; /* arena of the entries' texts */
    struct fault_entry *entries;
    size_t count; /* number of listed entries */
    size_t total_count; /* number of entries, including those that are not listed */
    struct slice message; /* replaces err_text if it is not empty */
    const char *reason; /* a literal code, such as too_many_pages; NULL: the error's name */
    struct fault_quota quota; /* for ERR_QUOTA */
};

void fault_init(struct fault *fault, struct arena *arena);
/* Adds an entry for `field`; texts are copied. Above the limit or out of memory it only counts. */
void fault_add(struct fault *fault, struct slice field, const char *format, ...) PRINTF_LIKE(3, 4);
/* Sets the message of a failure that does not concern a field, and returns `err`. */
enum err fault_say(struct fault *fault, enum err err, const char *format, ...) PRINTF_LIKE(3, 4);
/* Does the same for a failure that programs distinguish from others with the same error by
 * `reason`, a literal of lower case letters and underscores. The message becomes `reason: formatted
 * text`; ErrorInfo has the reason in upper case. */
enum err fault_say_reason(struct fault *fault, enum err err, const char *reason, const char *format,
                          ...) PRINTF_LIKE(4, 5);
/* ERR_INVALID if anything was added, else OK. */
MUST_CHECK enum err fault_result(const struct fault *fault);
/* Returns at most 64 bytes of `value` for a message, truncated at a code point with `...` appended.
 * Control characters and invalid bytes are replaced by `?`. The slice is valid as long as the
 * fault's arena. */
struct slice fault_shorten(struct fault *fault, struct slice value);

#endif
