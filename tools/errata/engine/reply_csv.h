/*
 * reply_csv.h: what a reply lists as CSV, for spreadsheets: the members under the names that the
 * contract has for them, whole and exact. On a terminal control characters become escapes.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_REPLY_CSV_H
#define ERRATA_TOOLS_ERRATA_ENGINE_REPLY_CSV_H

#include "tools/errata/engine/reply.h"

#define REPLY_CSV_COLUMNS_MAX 24

/* What a member is. */
enum reply_csv_kind {
    REPLY_CSV_TEXT, /* a text, a time or a number; empty where it is left out */
    REPLY_CSV_COUNT, /* a number that is 0 where it is left out */
    REPLY_CSV_TRUTH, /* true, or false where it is left out */
    REPLY_CSV_WORD, /* an enum's word, without `prefix` */
    REPLY_CSV_LIST /* texts, with commas between them */
};

struct reply_csv_column {
    const char
        *title; /* the member's name in the contract, behind those of the messages around it */
    const char *member; /* in JSON; `a.b` is the member b of the message a */
    enum reply_csv_kind kind;
    const char *prefix;
};

struct reply_csv {
    const struct reply_csv_column *columns;
    size_t count; /* at most REPLY_CSV_COLUMNS_MAX */
};

/* The option of every command that has a table to give. */
#define CSV_OPTION                                                                                 \
    {                                                                                              \
        "csv", NULL, "as CSV with a heading (RFC 4180), for spreadsheets"                          \
    }

bool reply_csv_wanted(const struct cli *cli);
/* Whether the options can be had together: --csv and --json can't. */
MUST_CHECK enum cli_exit reply_csv_check(struct cli *cli);
/* One record of texts as they are. */
MUST_CHECK enum cli_exit reply_csv_print(struct cli *cli, const struct slice *fields, size_t count);
MUST_CHECK enum cli_exit reply_csv_heading(struct cli *cli, const struct reply_csv *csv);
/* One record of an object's members. */
MUST_CHECK enum cli_exit reply_csv_row(struct cli *cli, struct json_value row,
                                       const struct reply_csv *csv);
/* A record of each element of an array member. */
MUST_CHECK enum cli_exit reply_csv_rows(struct cli *cli, struct json_value reply, const char *name,
                                        const struct reply_csv *csv);
/* The heading and the rows. */
MUST_CHECK enum cli_exit reply_csv_table(struct cli *cli, struct json_value reply, const char *name,
                                         const struct reply_csv *csv);

#endif
