/*
 * csv_input.c: see csv_input.h.
 */
#include "tools/errata/engine/csv_input.h"

#include "store/base/assert.h"

#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>

enum cli_exit csv_input_file(struct cli *cli, const char *path, FILE **ret_file)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rbe");

    if (standard && cli->read_input) {
        return cli_usage(cli, "-: given more than once; expected standard input only once");
    }
    cli->read_input = cli->read_input || standard;
    if (file == NULL) {
        return cli_local(cli, "%s can't be read: %s", path, strerror(errno));
    }
    *ret_file = file;
    return CLI_OK;
}

/* Reports the error of the last record. */
static enum cli_exit not_read(struct csv_input *input)
{
    return cli_usage(input->cli, "%s line %llu: invalid CSV: %s", input->path,
                     (unsigned long long)input->record.line_number, input->reader.problem);
}

enum cli_exit csv_input_open(struct csv_input *input, struct cli *cli, const char *path,
                             FILE *take_file)
{
    *input = (struct csv_input){.cli = cli, .path = path, .file = take_file};
    csv_reader_init(&input->reader, take_file);
    switch (csv_read(&input->reader, &input->record)) {
    case CSV_RECORD:
        return CLI_OK;
    case CSV_END:
        return cli_usage(cli, "%s: empty; expected the names of the columns in the first line",
                         path);
    case CSV_FAILED:
        break;
    }
    return not_read(input);
}

/* Returns whether the file can be read a second time; a pipe cannot. */
static bool is_regular(FILE *file)
{
    struct stat status;

    return fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
}

enum cli_exit csv_input_keep(struct cli *cli, FILE **file)
{
    FILE *kept = NULL;
    char bytes[65536];
    size_t size = 0;
    bool written = false;

    if (*file != stdin && is_regular(*file)) {
        return CLI_OK;
    }
    kept = tmpfile();
    written = kept != NULL;

    while (written && (size = fread(bytes, 1, sizeof(bytes), *file)) > 0) {
        written = fwrite(bytes, 1, size, kept) == size;
    }
    if (written && ferror(*file) == 0 && fflush(kept) == 0) {
        rewind(kept);
        if (*file != stdin) {
            (void)fclose(*file);
        }
        *file = kept;
        return CLI_OK;
    }
    if (kept != NULL) {
        (void)fclose(kept);
    }
    return cli_local(cli, "the input can't be kept in a temporary file: %s", strerror(errno));
}

enum cli_exit csv_input_rewind(struct csv_input *input)
{
    FILE *file = input->file;

    csv_reader_deinit(&input->reader);
    rewind(file);
    csv_reader_init(&input->reader, file);
    return csv_read(&input->reader, &input->record) == CSV_RECORD ? CLI_OK : not_read(input);
}

bool csv_input_has(const struct csv_input *input, size_t column)
{
    return input->places[column] != SIZE_MAX;
}

static struct slice trim(struct slice text)
{
    while (text.size > 0 && isspace(text.data[0])) {
        text = slice_after(text, 1);
    }
    while (text.size > 0 && isspace(text.data[text.size - 1])) {
        text.size--;
    }
    return text;
}

/* Compares headings ignoring case, and treats a blank or dash as an underscore, since people type
 * them. */
static int heading_letter(uint8_t byte)
{
    return byte == ' ' || byte == '-' ? '_' : tolower(byte);
}

static bool is_name(struct slice title, const char *name)
{
    bool same = true;

    title = trim(title);
    same = title.size == strlen(name);
    for (size_t i = 0; same && i < title.size; i++) {
        same = heading_letter(title.data[i]) == name[i];
    }
    return same;
}

enum cli_exit csv_input_find(struct csv_input *input, const struct csv_input_column *columns,
                             size_t count)
{
    ASSERT(count <= CSV_INPUT_COLUMNS_MAX);
    for (size_t i = 0; i < count; i++) {
        input->places[i] = SIZE_MAX;
        for (size_t j = 0; j < input->record.count; j++) {
            if (!is_name(input->record.fields[j], columns[i].name)) {
                continue;
            }
            if (input->places[i] != SIZE_MAX) {
                return cli_usage(input->cli,
                                 "%s: column \"%s\" occurs twice; expected each column once",
                                 input->path, columns[i].name);
            }
            input->places[i] = j;
        }
        if (columns[i].required && input->places[i] == SIZE_MAX) {
            return cli_usage(
                input->cli, "%s line %llu: no column \"%s\"; expected it in the heading",
                input->path, (unsigned long long)input->record.line_number, columns[i].name);
        }
    }
    return CLI_OK;
}

enum cli_exit csv_input_next(struct csv_input *input, bool *ret_row)
{
    switch (csv_read(&input->reader, &input->record)) {
    case CSV_RECORD:
        *ret_row = true;
        return CLI_OK;
    case CSV_END:
        *ret_row = false;
        return CLI_OK;
    case CSV_FAILED:
        break;
    }
    return not_read(input);
}

struct slice csv_input_field(const struct csv_input *input, size_t column)
{
    size_t place = input->places[column];

    return place < input->record.count ? trim(input->record.fields[place]) : slice_of(NULL, 0);
}

uint64_t csv_input_line(const struct csv_input *input)
{
    return input->record.line_number;
}

void csv_input_close(struct csv_input *input)
{
    csv_reader_deinit(&input->reader);
    if (input->file != NULL && input->file != stdin) {
        (void)fclose(input->file);
    }
    input->file = NULL;
}
