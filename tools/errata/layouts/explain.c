/*
 * explain.c: see explain.h. The worker program runs like for a server: its fork server is started,
 * one document is measured in the sandbox, and the fork server is stopped.
 */
#include "tools/errata/layouts/explain.h"

#include "tools/errata/engine/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES ((size_t)64 << 10)

/* --- the file --- */

static enum cli_exit copy_bytes(struct cli *cli, const char *path, int fd, struct pdf_bytes *bytes)
{
    uint8_t *block = arena_alloc(&cli->arena, READ_BYTES);
    ssize_t size = 1;

    while (block != NULL && size > 0) {
        size = read(fd, block, READ_BYTES);
        if (size < 0) {
            return cli_local(cli, "%s can't be read: %s", path, strerror(errno));
        }
        if (bytes->size + (uint64_t)size > PDF_DOCUMENT_BYTES_MAX) {
            return cli_local(
                cli, "%s: larger than 64 MiB; expected at most 64 MiB, the limit of the server",
                path);
        }
        if (pdf_bytes_append(bytes, slice_of(block, (size_t)size)) != OK) {
            return cli_local(cli, "%s can't be held in memory", path);
        }
    }
    if (block == NULL || pdf_bytes_seal(bytes) != OK) {
        return cli_local(cli, "out of memory");
    }
    return CLI_OK;
}

/* Copies the file's bytes to a sealed descriptor for the worker. */
static enum cli_exit read_file(struct cli *cli, const char *path, struct pdf_bytes *bytes)
{
    struct stat status;
    enum cli_exit result = CLI_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0) {
        return cli_local(cli, "%s can't be read: %s", path, strerror(errno));
    }
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        result = cli_local(cli, "%s is %s; expected one PDF", path,
                           S_ISDIR(status.st_mode) ? "a folder" : "not a regular file");
    } else if (pdf_bytes_open(bytes) != OK) {
        result = cli_local(cli, "out of memory");
    } else {
        result = copy_bytes(cli, path, fd, bytes);
    }
    (void)close(fd);
    return result;
}

/* --- the worker --- */

/* Returns the path of the program beside this one, unless --worker names another. */
static enum cli_exit find_program(struct cli *cli, const char **ret_program)
{
    const char *given = options_get(&cli->options, "worker");
    char path[PATH_MAX];

    if (given != NULL) {
        *ret_program = given;
        return CLI_OK;
    }
    if (!pdf_worker_find_program(path, sizeof(path))) {
        return cli_local(cli, "the path of this program is unknown: name the worker program "
                              "with --worker PROGRAM");
    }
    *ret_program = (const char *)arena_printf(&cli->arena, "%s", path).data;
    return *ret_program != NULL ? CLI_OK : cli_local(cli, "out of memory");
}

static enum cli_exit start_worker(struct cli *cli, struct pdf_worker *worker)
{
    const char *program = NULL;
    enum cli_exit result = find_program(cli, &program);
    enum err err = OK;

    if (result != CLI_OK) {
        return result;
    }
    err = pdf_worker_start_ready(program, EXPLAIN_READY_MS, &cli->fault, worker);
    if (err != OK) {
        return cli_local(cli, "%s",
                         cli->fault.message.size > 0 ? (const char *)cli->fault.message.data
                                                     : err_text(err));
    }
    return CLI_OK;
}

static enum cli_exit measure(struct cli *cli, const struct pdf_bytes *bytes,
                             struct explained *explained)
{
    struct pdf_worker worker = {.control = -1};
    struct pdf_request request = {.bytes = bytes, .flags = PDF_JOB_EXPLAIN};
    const char *password_file = options_get(&cli->options, "password-file");
    int64_t start_us = 0;
    enum cli_exit result = CLI_OK;
    enum err err = OK;

    if (password_file != NULL) {
        result = input_password(cli, password_file, &cli->arena, &request.password);
    }
    if (result == CLI_OK) {
        result = start_worker(cli, &worker);
    }
    if (result != CLI_OK) {
        return result;
    }
    request.flags |= options_has(&cli->options, "png") ? PDF_JOB_PICTURE : 0;
    request.control = worker.control;
    start_us = clock_monotonic_us(cli->ctx.clock);
    err = pdf_worker_measure(&request, &cli->arena, &explained->answer);
    explained->took_us = clock_monotonic_us(cli->ctx.clock) - start_us;
    explained->sandbox = worker.sandbox;
    explained->poppler_version =
        (const char *)arena_printf(&cli->arena, "%s", worker.poppler_version).data;
    pdf_worker_stop(&worker);
    if (err != OK) {
        return cli_local(cli, "the worker program failed: %s", err_text(err));
    }
    if (explained->answer.starved) {
        return cli_local(cli, "this machine had no processor time to measure it; try again later");
    }
    return CLI_OK;
}

/* --- derived values --- */

/* Measures the PDF with the same limits as a server. */
static enum cli_exit take_measures(struct cli *cli, struct explained *explained)
{
    const struct pdf_answer *answer = &explained->answer;
    const struct pdf_text *text = &answer->text;
    struct document_page *pages = arena_calloc(&cli->arena, text->page_count, sizeof(*pages));

    if (pages == NULL) {
        return cli_local(cli, "out of memory");
    }
    for (uint32_t i = 0; i < text->page_count; i++) {
        pages[i] = (struct document_page){text->pages[i].width, text->pages[i].height};
    }
    explained->measures = (struct document_measures){
        .sha256 = explained->sha256,
        .size_bytes = explained->size_bytes,
        .pages = pages,
        .page_count = text->page_count,
        .pages_read = text->pages_read,
        .text_chars = text->text_chars,
        .page_one_chars = text->page_one_chars,
        .covered_cells = text->covered_cells,
        .page_cells = text->page_cells,
        .input_snippet = text->snippet,
        .has_table_count = answer->cut == PDF_CUT_NONE,
        .table_count = answer->cut == PDF_CUT_NONE ? answer->tables.table_count : 0,
        .sketch = answer->tables.sketch,
        .damaged = text->damaged,
        .page_too_large = text->page_too_large,
        .cmaps_unavailable = text->cmaps_unavailable};
    if (explained->measures.has_table_count &&
        fingerprint_of_measures(&cli->arena, &explained->measures, &explained->fingerprint) != OK) {
        return cli_local(cli, "out of memory");
    }
    return CLI_OK;
}

static enum cli_exit write_picture(struct cli *cli, struct slice png)
{
    const char *path = options_get(&cli->options, "png");
    FILE *file = NULL;
    bool written = false;

    if (path == NULL) {
        return CLI_OK;
    }
    if (png.size == 0) {
        return cli_local(cli, "%s was not written: page 1 could not be drawn within the limits",
                         path);
    }
    file = fopen(path, "wbe");
    if (file == NULL) {
        return cli_local(cli, "%s can't be written: %s", path, strerror(errno));
    }
    written = fwrite(png.data, 1, png.size, file) == png.size;
    written = fclose(file) == 0 && written;
    return written ? CLI_OK : cli_local(cli, "%s can't be written: %s", path, strerror(errno));
}

static enum cli_exit explain_bytes(struct cli *cli, const char *path, const struct pdf_bytes *bytes)
{
    struct explained explained = {.path = path, .size_bytes = bytes->size};
    enum cli_exit result = CLI_OK;

    if (pdf_bytes_hash(bytes, &explained.sha256) != OK) {
        return cli_local(cli, "out of memory");
    }
    result = measure(cli, bytes, &explained);
    if (result == CLI_OK && explained.answer.reason == PDF_READ) {
        result = take_measures(cli, &explained);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (cli->json) {
        explain_print_json(cli, &explained);
    } else {
        explain_print(cli, &explained);
    }
    if (explained.answer.reason != PDF_READ) {
        return CLI_CALL_FAILED;
    }
    return write_picture(cli, explained.answer.picture);
}

enum cli_exit explain_run(struct cli *cli)
{
    const char *path = cli->options.word_count > 0 ? cli->options.words[0] : NULL;
    const char *png = options_get(&cli->options, "png");
    struct pdf_bytes bytes = {.fd = -1};
    enum cli_exit result = CLI_OK;

    if (path == NULL) {
        return cli_usage(cli,
                         "FILE: missing; expected a PDF, or --document ID for a stored document");
    }
    if (png != NULL && strcmp(png, path) == 0) {
        return cli_usage(cli, "--png \"%s\": the same file as the PDF; expected another file name",
                         png);
    }
    result = read_file(cli, path, &bytes);
    if (result == CLI_OK) {
        result = explain_bytes(cli, path, &bytes);
    }
    pdf_bytes_close(&bytes);
    return result;
}
