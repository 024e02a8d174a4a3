/*
 * attributes.h: compiler attributes, named after what they guarantee.
 */
#ifndef ERRATA_STORE_BASE_ATTRIBUTES_H
#define ERRATA_STORE_BASE_ATTRIBUTES_H

/* The result reports a failure: ignoring it does not compile. */
#define MUST_CHECK __attribute__((warn_unused_result))

/* The function has arguments like printf: the format is argument `text`, its values start at
 * `first`. */
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

#define NORETURN __attribute__((noreturn))

#endif
