/*
 * quota.c: see quota.h.
 */
#include "tools/errata/admin/quota.h"

#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"

/* The options that set limits. */
static const char *const limits[] = {"requests-per-second", "request-burst", "concurrent-streams",
                                     "stored-bytes", "pdf-jobs"};

/* Returns `3 of 10`, or only the usage if there is no limit. Both members have the name `name`. */
static struct slice in_use_of(struct cli *cli, struct json_value row, const char *name,
                              struct slice (*format)(struct cli *, struct json_value, const char *))
{
    struct json_value quota = reply_member(row, "quota");
    struct slice in_use = format(cli, row, name);

    return reply_text(cli, quota, name).size == 0
               ? in_use
               : arena_printf(&cli->arena, "%.*s of %.*s", SLICE_ARGS(in_use),
                              SLICE_ARGS(format(cli, quota, name)));
}

/* Formats a member of bytes; on a terminal with a unit. */
static struct slice bytes_text(struct cli *cli, struct json_value object, const char *name)
{
    return cli->out.terminal ? measures_bytes(cli, reply_integer(cli, object, name))
                             : reply_count(cli, object, name);
}

struct slice cell_quota_holder(struct cli *cli, struct json_value object, const char *name)
{
    struct slice key_id = reply_text(cli, object, "keyId");

    (void)name;
    return key_id.size > 0 ? key_id : SLICE("organisation");
}

struct slice cell_quota_requests(struct cli *cli, struct json_value object, const char *name)
{
    struct json_value quota = reply_member(object, "quota");
    struct slice burst = reply_text(cli, quota, "requestBurst");
    struct slice rate = reply_text(cli, quota, "requestsPerSecond");

    (void)name;
    if (rate.size == 0) {
        return slice_of(NULL, 0);
    }
    return burst.size == 0 ? reply_count(cli, quota, "requestsPerSecond")
                           : arena_printf(&cli->arena, "%.*s, burst %.*s",
                                          SLICE_ARGS(reply_count(cli, quota, "requestsPerSecond")),
                                          SLICE_ARGS(reply_count(cli, quota, "requestBurst")));
}

struct slice cell_quota_available(struct cli *cli, struct json_value object, const char *name)
{
    return reply_text(cli, object, name).size > 0 ? reply_count(cli, object, name)
                                                  : slice_of(NULL, 0);
}

struct slice cell_quota_streams(struct cli *cli, struct json_value object, const char *name)
{
    (void)name;
    return in_use_of(cli, object, "concurrentStreams", reply_count);
}

struct slice cell_quota_stored(struct cli *cli, struct json_value object, const char *name)
{
    (void)name;
    return reply_text(cli, object, "keyId").size > 0
               ? slice_of(NULL, 0)
               : in_use_of(cli, object, "storedBytes", bytes_text);
}

struct slice cell_quota_pdf_jobs(struct cli *cli, struct json_value object, const char *name)
{
    (void)name;
    return in_use_of(cli, object, "pdfJobs", reply_count);
}

static void print_limit(struct cli *cli, const char *title, struct json_value quota,
                        const char *member)
{
    bool is_set = reply_text(cli, quota, member).size > 0;
    bool is_size = strcmp(member, "storedBytes") == 0;

    reply_print_member(cli, title,
                       !is_set   ? SLICE("no limit")
                       : is_size ? bytes_text(cli, quota, member)
                                 : reply_count(cli, quota, member));
}

static enum cli_exit print_quota(struct cli *cli, struct json_value reply)
{
    struct json_value quota = reply_member(reply, "quota");

    reply_align_members(cli, "requests per second");
    print_limit(cli, "requests per second", quota, "requestsPerSecond");
    print_limit(cli, "request burst", quota, "requestBurst");
    print_limit(cli, "concurrent streams", quota, "concurrentStreams");
    print_limit(cli, "stored bytes", quota, "storedBytes");
    print_limit(cli, "PDF jobs", quota, "pdfJobs");
    return CLI_OK;
}

enum cli_exit quota_run(struct cli *cli)
{
    static const struct command_call set = {.method = "/errata.v1.AdminService/SetQuota",
                                            .print = print_quota};
    bool is_change = false;

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        is_change = is_change || options_has(&cli->options, limits[i]);
    }
    if (is_change) {
        return command_call_once(cli, &set);
    }
    if (options_has(&cli->options, "key-id")) {
        return cli_usage(cli, "--key-id: given without a limit; expected a limit to change, or no "
                              "option to list the quotas of the organisation and its tokens");
    }
    return command_call_run(cli);
}

const struct option_spec quota_options[] = {
    ORG_OPTION,
    {"key-id", "KEYID", "change the quota of this token; default: the organisation's own"},
    {"requests-per-second", "N", "calls per second on average; 0, as for each limit: no limit"},
    {"request-burst", "N", "calls that may begin at once; default: those of one second"},
    {"concurrent-streams", "N", "open calls with a streamed request or response"},
    {"stored-bytes", "SIZE", "bytes of the events of the organisation, such as 512MiB or 10GiB"},
    {"pdf-jobs", "N", "PDFs that arrive, wait or are measured"},
    IDEMPOTENCY_OPTION,
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};
