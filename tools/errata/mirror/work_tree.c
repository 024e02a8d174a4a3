/*
 * work_tree.c: the files of a repository's work tree; see repository.h. A file is replaced by a rename, so that it always has the
 * content of one commit or the other, and only if it has the content of the commit before, or is missing.
 */
#include "tools/errata/mirror/repository.h"

#include "store/base/buffer.h"
#include "store/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NEW GIT_FOLDER "/errata-mirror.file"
#define FOLDER_BYTES_MAX 64
/* Files whose contents are in memory at a time; a reply of the server has at most 4 MiB, and its JSON some times that. */
#define PIECE_FILES 16

/* A file that two commits have with different content. All texts are borrowed from git's output. */
struct change {
    struct slice path; /* FOLDER/FILE, with a NUL after it */
    struct slice old_name; /* names of the contents; zeros: the commit does not have the file */
    struct slice new_name;
    struct slice is; /* name of the content that the work tree has; empty: it has no file */
};

struct update {
    struct repository *repository;
    struct arena arena;
    struct change *changes;
    size_t count;
};

static enum cli_exit out_of_memory(const struct update *update)
{
    return cli_local(update->repository->git.cli, "out of memory");
}

static bool is_none(struct slice name)
{
    size_t zeros = 0;

    while (zeros < name.size && name.data[zeros] == '0') {
        zeros++;
    }
    return zeros == name.size;
}

/* Takes the text up to a byte, without that byte; an empty text if there is none. */
static struct slice take_until(struct slice *rest, uint8_t byte)
{
    const uint8_t *end = rest->size > 0 ? memchr(rest->data, byte, rest->size) : NULL;
    struct slice text = slice_of(rest->data, end != NULL ? (size_t)(end - rest->data) : 0);

    *rest = slice_after(*rest, end != NULL ? text.size + 1 : rest->size);
    return text;
}

/* --- changed files --- */

/* Reads the records `:MODE MODE OLD NEW LETTER NUL PATH NUL` of git. */
static enum cli_exit parse_changes(struct update *update, struct slice output)
{
    size_t room = 1;

    for (size_t i = 0; i < output.size; i++) {
        room += output.data[i] == '\0';
    }
    update->changes = arena_calloc(&update->arena, room, sizeof(update->changes[0]));
    if (update->changes == NULL) {
        return out_of_memory(update);
    }
    while (output.size > 0) {
        struct slice head = take_until(&output, '\0');
        struct change *change = &update->changes[update->count++];

        (void)take_until(&head, ' ');
        (void)take_until(&head, ' ');
        change->old_name = take_until(&head, ' ');
        change->new_name = take_until(&head, ' ');
        change->path = take_until(&output, '\0');
    }
    return CLI_OK;
}

/* Returns the name of a tree without files, as a text. */
static enum cli_exit name_nothing(struct update *update, const char **ret_name)
{
    static const char *const empty[] = {"hash-object", "-t", "tree", "--stdin", NULL};
    struct slice output = {NULL, 0};
    struct slice name = {NULL, 0};
    enum cli_exit result =
        git_run(&update->repository->git, &(struct git_call){empty, -1, &update->arena}, &output);

    if (result == CLI_OK && !arena_copy(&update->arena, take_until(&output, '\n'), &name)) {
        result = out_of_memory(update);
    }
    *ret_name = (const char *)name.data;
    return result;
}

static enum cli_exit read_changes(struct update *update, const char *before)
{
    const char *from = before;
    struct slice output = {NULL, 0};
    enum cli_exit result = before[0] == '\0' ? name_nothing(update, &from) : CLI_OK;

    if (result == CLI_OK) {
        const char *const arguments[] = {"diff-tree",   "-r", "-z",   "--raw", "--no-renames",
                                         "--no-abbrev", from, "HEAD", "--",    NULL};

        result = git_run(&update->repository->git,
                         &(struct git_call){arguments, -1, &update->arena}, &output);
    }
    return result == CLI_OK ? parse_changes(update, output) : result;
}

/* --- files of the work tree --- */

static enum cli_exit report_other(const struct update *update, const struct change *change)
{
    return cli_local(update->repository->git.cli,
                     "%s/%.*s: has other content than the mirror wrote, and is not overwritten; "
                     "expected it as in the commit before, or removed",
                     update->repository->path, SLICE_ARGS(change->path));
}

/* Runs git with a list of lines as its input. */
static enum cli_exit run_with(struct update *update, const char *const *arguments,
                              const struct buffer *lines, struct slice *ret_output)
{
    int input = git_input_new();
    enum cli_exit result = CLI_OK;

    if (input < 0 || !buffer_ok(lines) || !file_write_all(input, buffer_slice(lines))) {
        result = out_of_memory(update);
    }
    if (result == CLI_OK) {
        result = git_run(&update->repository->git,
                         &(struct git_call){arguments, input, &update->arena}, ret_output);
    }
    if (input >= 0) {
        (void)close(input);
    }
    return result;
}

/* Lists the existing files; refuses other objects than files. */
static enum cli_exit list_present(struct update *update, struct buffer *lines)
{
    for (size_t i = 0; i < update->count; i++) {
        struct change *change = &update->changes[i];
        struct stat info;

        if (fstatat(update->repository->git.folder, (const char *)change->path.data, &info,
                    AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno != ENOENT) {
                return report_other(update, change);
            }
            continue;
        }
        if (!S_ISREG(info.st_mode)) {
            return report_other(update, change);
        }
        buffer_append(lines, change->path);
        buffer_append_byte(lines, '\n');
        change->is = SLICE("?");
    }
    return CLI_OK;
}

/* Finds the content of each file. Refuses files with the content of neither commit. */
static enum cli_exit check_present(struct update *update)
{
    static const char *const hash[] = {"hash-object", "--no-filters", "--stdin-paths", NULL};
    struct slice names = {NULL, 0};
    struct buffer lines;
    enum cli_exit result = CLI_OK;

    buffer_init(&lines, &update->arena, 1024);
    result = list_present(update, &lines);
    if (result == CLI_OK) {
        result = run_with(update, hash, &lines, &names);
    }
    for (size_t i = 0; i < update->count && result == CLI_OK; i++) {
        struct change *change = &update->changes[i];

        if (change->is.size == 0) {
            continue;
        }
        change->is = take_until(&names, '\n');
        if (!slice_equal(change->is, change->old_name) &&
            !slice_equal(change->is, change->new_name)) {
            result = report_other(update, change);
        }
    }
    return result;
}

/* --- the files --- */

static enum cli_exit say_failed(const struct update *update, const struct change *change)
{
    return cli_local(update->repository->git.cli, "%s/%.*s: can't be written: %s",
                     update->repository->path, SLICE_ARGS(change->path), strerror(errno));
}

/* Opens the folder of a file, which must not be a link; creates it if it is missing. */
static int open_folder(int root, struct slice path)
{
    char name[FOLDER_BYTES_MAX];
    struct slice rest = path;
    struct slice folder = take_until(&rest, '/');

    if (folder.size == 0 || folder.size >= sizeof(name)) {
        errno = EINVAL;
        return -1;
    }
    memcpy(name, folder.data, folder.size);
    name[folder.size] = '\0';
    if (mkdirat(root, name, 0777) != 0 && errno != EEXIST) {
        return -1;
    }
    return openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool write_new(int root, struct slice content)
{
    int file = openat(root, FILE_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    bool written = file >= 0 && file_write_all(file, content);

    return file >= 0 && close(file) == 0 && written;
}

static enum cli_exit replace(const struct update *update, const struct change *change,
                             struct slice content)
{
    int root = update->repository->git.folder;
    int folder = open_folder(root, change->path);
    struct slice file = change->path;
    bool replaced = false;

    (void)take_until(&file, '/');
    replaced = folder >= 0 && write_new(root, content) &&
               renameat(root, FILE_NEW, folder, (const char *)file.data) == 0;
    if (folder >= 0) {
        (void)close(folder);
    }
    return replaced ? CLI_OK : say_failed(update, change);
}

/* Takes the next content from the output of `git cat-file --batch`: `NAME blob SIZE LF CONTENT LF`. */
static bool take_content(struct slice *output, struct slice *ret_content)
{
    struct slice head = take_until(output, '\n');
    unsigned long long size = 0;

    (void)take_until(&head, ' ');
    (void)take_until(&head, ' ');
    size = head.size > 0 ? strtoull((const char *)head.data, NULL, 10) : ULLONG_MAX;
    if (size >= output->size) {
        return false;
    }
    *ret_content = slice_of(output->data, (size_t)size);
    *output = slice_after(*output, (size_t)size + 1);
    return true;
}

static bool is_to_write(const struct change *change)
{
    return !is_none(change->new_name) && !slice_equal(change->is, change->new_name);
}

/* Returns the change after the next ones to write, as many as a piece has, and their names as lines. */
static size_t list_piece(const struct update *update, size_t from, struct buffer *lines)
{
    size_t end = from;

    for (size_t files = 0; end < update->count && files < PIECE_FILES; end++) {
        if (is_to_write(&update->changes[end])) {
            buffer_append(lines, update->changes[end].new_name);
            buffer_append_byte(lines, '\n');
            files++;
        }
    }
    return end;
}

/* Writes some files, whose contents are in memory. */
static enum cli_exit write_piece(struct update *update, size_t from, size_t *ret_end)
{
    static const char *const cat[] = {"cat-file", "--batch", NULL};
    struct update piece = {.repository = update->repository};
    struct slice output = {NULL, 0};
    struct slice content = {NULL, 0};
    struct buffer lines;
    enum cli_exit result = CLI_OK;

    arena_init(&piece.arena, REPOSITORY_BYTES_MAX);
    buffer_init(&lines, &piece.arena, 1024);
    *ret_end = list_piece(update, from, &lines);
    result = run_with(&piece, cat, &lines, &output);
    for (size_t i = from; i < *ret_end && result == CLI_OK; i++) {
        if (is_to_write(&update->changes[i])) {
            result = take_content(&output, &content)
                         ? replace(update, &update->changes[i], content)
                         : cli_local(update->repository->git.cli,
                                     "%s: git did not return a file of the last commit",
                                     update->repository->path);
        }
    }
    arena_deinit(&piece.arena);
    return result;
}

static enum cli_exit write_files(struct update *update)
{
    size_t done = 0;
    enum cli_exit result = CLI_OK;

    while (result == CLI_OK && done < update->count) {
        result = write_piece(update, done, &done);
    }
    return result;
}

static enum cli_exit remove_files(const struct update *update)
{
    for (size_t i = 0; i < update->count; i++) {
        const struct change *change = &update->changes[i];

        if (is_none(change->new_name) && change->is.size > 0 &&
            unlinkat(update->repository->git.folder, (const char *)change->path.data, 0) != 0) {
            return say_failed(update, change);
        }
    }
    return CLI_OK;
}

/* Sets the index to the last commit, with the times of the files, so that git does not read them again. */
static enum cli_exit update_index(const struct update *update)
{
    static const char *const read[] = {"read-tree", "-i", "-m", "HEAD", NULL};
    static const char *const refresh[] = {"update-index", "-q", "--refresh", NULL};
    const struct git *git = &update->repository->git;
    struct slice output = {NULL, 0};
    bool is_fresh = false;
    enum cli_exit result = git_run(git, &(struct git_call){read, -1, NULL}, &output);

    return result == CLI_OK
               ? git_ask(git, &(struct git_call){refresh, -1, NULL}, &is_fresh, &output)
               : result;
}

enum cli_exit work_tree_update(struct repository *repository, const char *before)
{
    struct update update = {.repository = repository};
    enum cli_exit result = CLI_OK;

    arena_init(&update.arena, REPOSITORY_BYTES_MAX);
    result = read_changes(&update, before);
    if (result == CLI_OK) {
        result = check_present(&update);
    }
    if (result == CLI_OK) {
        result = write_files(&update);
    }
    if (result == CLI_OK) {
        result = remove_files(&update);
    }
    if (result == CLI_OK) {
        result = update_index(&update);
    }
    arena_deinit(&update.arena);
    return result;
}

enum cli_exit work_tree_check(struct repository *repository)
{
    static const char *const status[] = {"status",    "--porcelain=v1",        "-z",
                                         "--ignored", "--untracked-files=all", "--no-renames",
                                         NULL};
    struct slice output = {NULL, 0};
    struct arena arena;
    enum cli_exit result = CLI_OK;

    arena_init(&arena, REPOSITORY_BYTES_MAX);
    result = git_run(&repository->git, &(struct git_call){status, -1, &arena}, &output);
    if (result == CLI_OK && output.size > 3) {
        struct slice path = slice_after(output, 3);

        path = take_until(&path, '\0');
        result =
            cli_local(repository->git.cli,
                      "%s: %.*s is not as the mirror wrote it, and nothing is overwritten; "
                      "expected no other files and no changes (`git -C %s status`)",
                      repository->path, SLICE_ARGS(print_clean(&arena, path)), repository->path);
    }
    arena_deinit(&arena);
    return result;
}
