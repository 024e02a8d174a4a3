/*
 * source.c: see source.h.
 */
#include "tools/errata/import/source.h"

#include "tools/errata/import/mapping.h"

const struct import_source *const import_sources[] = {
    &import_tensorzero, &import_langfuse, &import_langsmith, &import_argilla, &import_labelstudio,
    &import_phoenix,    &import_mlflow,   &import_csv,       &import_errata,  NULL};

const struct import_source *import_source_find(const char *name)
{
    for (size_t i = 0; import_sources[i] != NULL; i++) {
        if (strcmp(import_sources[i]->name, name) == 0) {
            return import_sources[i];
        }
    }
    return NULL;
}

/* Returns whether a record has a member, or a member with a text: `path` or `path=text`. */
static bool has(struct import_call *call, struct json_value record, const char *need)
{
    const char *equals = strchr(need, '=');
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice path = slice_of(need, equals != NULL ? (size_t)(equals - need) : strlen(need));
    struct slice copy = {NULL, 0};

    if (!arena_copy(call->arena, path, &copy)) {
        return false;
    }
    return fields_find(call->arena, record, (const char *)copy.data, &value) &&
           (equals == NULL ||
            slice_equal(fields_value_text(call->arena, value), slice_text(equals + 1)));
}

static bool fits(struct import_call *call, struct json_value record,
                 const struct import_shape *shape)
{
    for (size_t i = 0; shape->needs[i] != NULL; i++) {
        if (!has(call, record, shape->needs[i])) {
            return false;
        }
    }
    return shape->lacks == NULL || !has(call, record, shape->lacks);
}

static void read_shape(struct import_call *call, struct json_value record,
                       const struct import_shape *shape)
{
    struct import_row row = {.kind = shape->kind, .type = shape->type};

    if (shape->loss > 0) {
        import_lose(call, shape->loss - 1);
    }
    if (shape->members != NULL) {
        import_fill(call, record, shape->members, &row);
    }
    if (shape->skip != NULL) {
        import_skip(call, shape->skip, row.text[IMPORT_ID]);
    } else if (shape->read != NULL) {
        shape->read(call, record, &row);
    } else {
        import_put(call, &row);
    }
}

void import_source_read(struct import_call *call, struct json_value record)
{
    const struct import_shape *shape = call->source->shapes;

    for (; shape->name != NULL; shape++) {
        if (fits(call, record, shape)) {
            read_shape(call, record, shape);
            return;
        }
    }
    import_skip(call, "an unknown kind of record", slice_of(NULL, 0));
}
