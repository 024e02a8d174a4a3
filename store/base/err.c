/*
 * err.c: functions over the table of errors.def. No other code uses the numbers.
 */
#include "store/base/err.h"

#include "store/base/assert.h"

struct error_row {
    const char *name;
    const char *text;
    enum status_code status;
    int32_t retry_ms;
};

static const struct error_row error_rows[ERR_COUNT] = {
    [OK] = {"OK", "", STATUS_OK, 0},
#define ERROR(name, code, retry_ms, text) [ERR_##name] = {#name, text, STATUS_##code, retry_ms},
#include "store/base/errors.def"
#undef ERROR
};

static const struct error_row *error_row(enum err err)
{
    ASSERT((unsigned)err < ERR_COUNT);
    return &error_rows[err];
}

const char *err_name(enum err err)
{
    return error_row(err)->name;
}

const char *err_text(enum err err)
{
    return error_row(err)->text;
}

enum status_code err_status(enum err err)
{
    return error_row(err)->status;
}

int32_t err_retry_ms(enum err err)
{
    return error_row(err)->retry_ms;
}
