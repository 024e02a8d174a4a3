/*
 * source.h: the tools whose history can be imported, as tables: the records of their exports, and the member
 * of a record for each field of the normal form. A source is one file of this folder with one table; a record
 * that a table cannot describe has a function that takes its rows one by one.
 */
#ifndef ERRATA_TOOLS_ERRATA_IMPORT_SOURCE_H
#define ERRATA_TOOLS_ERRATA_IMPORT_SOURCE_H

#include "tools/errata/import/fields.h"

/* Kind of record that a row of the normal form becomes. */
enum import_kind {
    IMPORT_OUTPUT, /* an output of a model: the value before of other rows; not stored by itself */
    IMPORT_CORRECTION, /* a feedback event with before and after */
    IMPORT_REVIEW, /* an outcome: a review of a run */
    IMPORT_VERDICT, /* a verdict on a receipt */
    IMPORT_RULE, /* a learned rule, proposed */
    IMPORT_GUIDELINE, /* a guideline, proposed */
    IMPORT_AGENT_DECISION, /* a person's decision on an agent's output */
    IMPORT_KIND_COUNT
};

/* The fields of the normal form that are texts. */
enum import_field {
    IMPORT_NO_FIELD,
    IMPORT_ID, /* the record's own id: with the source's name and the row's type, `source_ref` */
    IMPORT_SUBJECT, /* id of the judged object: the output, document, run or receipt */
    IMPORT_NAME, /* kind of the judged object: the function, task or project; layout and subcategory */
    IMPORT_INPUT, /* the model's input */
    IMPORT_ACTOR,
    IMPORT_ANNOTATOR, /* HUMAN, CODE or LLM */
    IMPORT_AT,
    IMPORT_METRIC, /* the name of the outcome */
    IMPORT_VALUE, /* the outcome: true, false, a number or a label */
    /* REVIEWED, REJECTED or CHANGES_REQUESTED, if the record itself has it; of agents' output
     * APPROVED, REJECTED or APPROVED_WITH_CHANGES. */
    IMPORT_DECISION,
    IMPORT_NOTES,
    IMPORT_BEFORE,
    IMPORT_AFTER,
    IMPORT_ORIGINAL_VERDICT,
    IMPORT_CORRECT_VERDICT,
    IMPORT_ORIGINAL_SCORE,
    IMPORT_CONFIRMED, /* indicators of a verdict, with semicolons between them; so are the two below */
    IMPORT_REJECTED,
    IMPORT_MISSED,
    IMPORT_RULE_TYPE,
    IMPORT_PATTERN,
    IMPORT_ADJUSTMENT,
    IMPORT_AGENTS, /* of a guideline, with semicolons between them */
    IMPORT_RULE_CONTENT,
    IMPORT_GATE, /* of a decision on an agent's output, like the fields up to the diff */
    IMPORT_EPIC,
    IMPORT_TASK,
    IMPORT_AGENT,
    IMPORT_SECONDS, /* how long the review took */
    IMPORT_OUTPUT_SHA,
    IMPORT_APPROVED_SHA,
    IMPORT_TAGS, /* with semicolons between them */
    IMPORT_SUMMARY,
    IMPORT_DIFF,
    IMPORT_LAYOUT, /* the layout itself, instead of one made from the source and the name */
    IMPORT_FIELD_COUNT
};

/* Whose output a row of IMPORT_OUTPUT has; of several with the same id the first of these is used. */
enum import_origin {
    IMPORT_OF_ITSELF,
    IMPORT_OF_ROOT, /* of a trace: its root, which has no parent */
    IMPORT_OF_APP_ROOT /* of a trace: a part whose parent is in another program */
};

/* One row of the normal form. All texts and values are borrowed from the record and its arena. */
struct import_row {
    enum import_kind kind;
    const char *type; /* the kind of record, such as `demonstration` */
    struct slice text[IMPORT_FIELD_COUNT];
    struct json_value before; /* JSON_NULL: unknown */
    struct json_value after;
    enum import_origin origin;
    bool has_no_before; /* the tool stores only the correct value, not the one that it replaced */
    struct json_value raw; /* a correction that Errata exported, whole; else JSON_NULL */
};

/* The member of each field; of several for the same field the first one that is present. Ends with
 * IMPORT_NO_FIELD. */
struct import_member {
    enum import_field field;
    const char *path;
};

/* The user's options on labels and numbers, and on the export. */
struct import_choices {
    bool trusts_status; /* --trust-status */
    struct slice layout; /* --layout; or empty */
    const struct import_threshold *thresholds; /* borrowed */
    size_t threshold_count;
    const struct import_label *labels; /* borrowed */
    size_t label_count;
    const struct import_member *map; /* borrowed: --map */
};

/* Minimum number of this outcome that counts as good. */
struct import_threshold {
    struct slice metric; /* empty: all */
    double good_from;
};

struct import_label {
    struct slice label;
    bool is_good;
};

/* The sink: receives the rows of a record from a source. */
struct import_sink {
    void *user;
    void (*row)(void *user, const struct import_row *row);
    /* Reports a record, or a part of it, that is not imported; the reason is a literal without
     * values. */
    void (*skip)(void *user, const char *reason, struct slice id);
    /* Reports a row that cannot be read; the problem is copied. */
    void (*damaged)(void *user, struct slice problem);
    /* Reports missing data of the export: an index of the source's losses. */
    void (*lose)(void *user, size_t loss);
};

struct import_call {
    struct arena *arena;
    const struct import_choices *choices;
    const struct import_sink *sink;
    const struct import_source *source;
};

struct import_shape {
    const char *name; /* the tool's name of the record */
    /* Paths of members that it has, or `path=text` for members with this text. Ends with NULL. */
    const char *needs[6];
    const char *lacks; /* a member that it must not have; or NULL */
    enum import_kind kind;
    const char *type;
    const struct import_member *members; /* NULL: only `read` */
    /* Completes the row that `members` made, and passes it and further ones to the sink (import_put); NULL: the
     * row is complete. */
    void (*read)(struct import_call *call, struct json_value record, struct import_row *row);
    const char *skip; /* the reason why such records are not imported; NULL: they are */
    size_t loss; /* 1 + the index of the loss of an export with such records; 0: none */
};

/* Missing part of an export of the tool, and the command that fetches it. */
struct import_loss {
    const char *what;
    const char *command;
};

struct import_source {
    const char *name;
    const char *title;
    const char *const *lists; /* members of pages that contain the records; or NULL */
    const struct import_shape *shapes; /* the first match applies; ends with one without a name */
    const struct import_loss *losses; /* ends with one without `what`; or NULL */
};

/* All sources; ends with NULL. */
extern const struct import_source *const import_sources[];

extern const struct import_source import_tensorzero;
extern const struct import_source import_langfuse;
extern const struct import_source import_langsmith;
extern const struct import_source import_argilla;
extern const struct import_source import_labelstudio;
extern const struct import_source import_phoenix;
extern const struct import_source import_mlflow;
extern const struct import_source import_csv;
extern const struct import_source import_errata;

/* Finds a source by its name; NULL for another name. */
const struct import_source *import_source_find(const char *name);
/* Passes the rows of a record to the sink. */
void import_source_read(struct import_call *call, struct json_value record);

#endif
