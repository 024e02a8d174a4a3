/*
 * proto.c: `errata proto`: prints the published .proto files, or writes them into a folder. They are
 * those that the program was built with, and the same that a server of its version describes by
 * reflection; no server is called.
 */
#include "tools/errata/methods/proto.h"

#include "store/base/file.h"
#include "store/base/json.h"
#include "tools/errata/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <published_protos.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_MODE 0777 /* mode of new folders, reduced by the umask */
#define FILE_MODE 0666

void proto_offer(struct completion *completion)
{
    for (size_t i = 0; i < published_proto_count; i++) {
        completion_offer(completion, slice_text(published_protos[i].name), slice_of(NULL, 0));
    }
}

static const struct published_proto *find_proto(const char *name)
{
    for (size_t i = 0; i < published_proto_count; i++) {
        if (strcmp(published_protos[i].name, name) == 0) {
            return &published_protos[i];
        }
    }
    return NULL;
}

static enum cli_exit list_protos(struct cli *cli)
{
    struct buffer json;

    if (!cli->json) {
        for (size_t i = 0; i < published_proto_count; i++) {
            print_text(&cli->out, "%s\n", published_protos[i].name);
        }
        return CLI_OK;
    }
    buffer_init(&json, &cli->arena, 1024);
    buffer_append(&json, SLICE("{\"files\":["));
    for (size_t i = 0; i < published_proto_count; i++) {
        buffer_append(&json, i > 0 ? SLICE(",") : SLICE(""));
        json_write_string(&json, slice_text(published_protos[i].name), false);
    }
    buffer_append(&json, SLICE("]}"));
    if (!buffer_ok(&json)) {
        return cli_local(cli, "out of memory");
    }
    print_json(&cli->out, buffer_slice(&json));
    return CLI_OK;
}

/* --- writing to a folder --- */

static enum cli_exit say_failed(struct cli *cli, const char *path)
{
    return cli_local(cli, "%s: cannot be written: %s", path, strerror(errno));
}

/* Creates each folder of the path of a file. */
static enum cli_exit make_folders(struct cli *cli, char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        int code = 0;

        *slash = '\0';
        code = mkdir(path, FOLDER_MODE);
        if (code != 0 && errno != EEXIST) {
            return say_failed(cli, path);
        }
        *slash = '/';
    }
    return CLI_OK;
}

static enum cli_exit write_proto(struct cli *cli, const char *folder,
                                 const struct published_proto *proto)
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof(path), "%s/%s", folder, proto->name);
    enum cli_exit result = CLI_OK;
    int file = -1;
    bool written = false;

    if (size < 0 || (size_t)size >= sizeof(path)) {
        return cli_usage(cli, "--out: the path is too long; expected a shorter one");
    }
    result = make_folders(cli, path);
    if (result != CLI_OK) {
        return result;
    }
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
    if (file < 0) {
        return say_failed(cli, path);
    }
    written = file_write_all(file, slice_of(proto->text, proto->size));
    if (close(file) != 0 || !written) {
        return say_failed(cli, path);
    }
    return CLI_OK;
}

static enum cli_exit write_protos(struct cli *cli, const char *folder)
{
    enum cli_exit result = CLI_OK;

    for (size_t i = 0; i < published_proto_count && result == CLI_OK; i++) {
        result = write_proto(cli, folder, &published_protos[i]);
    }
    if (result == CLI_OK) {
        cli_note(cli, "wrote %zu files into %s", published_proto_count, folder);
    }
    return result;
}

static enum cli_exit run_proto(struct cli *cli)
{
    const char *folder = options_get(&cli->options, "out");
    const char *name = cli->options.word_count > 0 ? cli->options.words[0] : NULL;
    const struct published_proto *proto = NULL;

    if (folder != NULL && folder[0] == '\0') {
        return cli_usage(cli, "--out: empty; expected a folder");
    }
    if (name == NULL) {
        return folder != NULL ? write_protos(cli, folder) : list_protos(cli);
    }
    proto = find_proto(name);
    if (proto == NULL) {
        return cli_usage(
            cli, "PROTO \"%s\": unknown file; expected a name that `errata proto` lists", name);
    }
    if (folder != NULL) {
        return write_proto(cli, folder, proto);
    }
    print_bytes(&cli->out, slice_of(proto->text, proto->size));
    return CLI_OK;
}

static const struct option_spec proto_options[] = {
    {"out", "FOLDER", "write the files to this folder, under their import paths"},
    {NULL, NULL, NULL}};

const struct command proto_commands[] = {
    {.name = "proto",
     .arguments = "[PROTO]",
     .summary = "print the .proto files that clients are generated from",
     .help = "Lists the published .proto files, prints one, or writes all of them to a folder. "
             "protoc generates clients for any language from them. A server of the same version "
             "provides the same files by reflection. This command does not call a server.",
     .examples = {{"errata proto", NULL},
                  {"errata proto errata/v1/role.proto", NULL},
                  {"errata proto --out protos", "then: protoc -I protos ..."}},
     .options = proto_options,
     .run = run_proto},
    {.name = NULL}};
