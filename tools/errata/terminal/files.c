/*
 * files.c: see files.h. Folders are walked by fts(3), which keeps its own stack and detects cycles of links.
 */
#include "tools/errata/terminal/files.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct files {
    const char *const *words; /* borrowed */
    size_t count;
    size_t next;
    bool recursive;
    FTS *folder; /* folder that is being walked; NULL: none */
    const char *folder_word;
    size_t folder_files; /* number of files found in it */
};

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strverscmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_pdf_name(const char *name)
{
    size_t size = strlen(name);

    return size > 4 && strcasecmp(name + size - 4, ".pdf") == 0;
}

/* A device or pipe might have no end. */
static const char *check_kind(const struct stat *status)
{
    return S_ISREG(status->st_mode) ? NULL : "it is not a regular file";
}

enum err files_open(const char *const *words, size_t count, bool recursive,
                    struct files **ret_files)
{
    struct files *files = calloc(1, sizeof(*files));

    if (files == NULL) {
        return ERR_MEMORY;
    }
    files->words = words;
    files->count = count;
    files->recursive = recursive;
    *ret_files = files;
    return OK;
}

static void close_folder(struct files *files)
{
    if (files->folder != NULL) {
        (void)fts_close(files->folder);
        files->folder = NULL;
    }
}

void files_close(struct files *files)
{
    if (files == NULL) {
        return;
    }
    close_folder(files);
    free(files);
}

/* Classifies an entry of a folder; returns false if it is to be ignored. */
static bool take_entry(struct files *files, FTSENT *entry, struct files_found *found)
{
    *found = (struct files_found){.path = entry->fts_path};
    switch (entry->fts_info) {
    case FTS_D:
        if (entry->fts_level > 0 && !files->recursive) {
            (void)fts_set(files->folder, entry, FTS_SKIP);
        }
        return false;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        found->problem = strerror(entry->fts_errno);
        return true;
    case FTS_F:
    case FTS_SLNONE:
    case FTS_DEFAULT:
        found->size_bytes = (uint64_t)entry->fts_statp->st_size;
        found->problem =
            entry->fts_info == FTS_SLNONE ? "it is a broken link" : check_kind(entry->fts_statp);
        return is_pdf_name(entry->fts_name);
    default: /* other results of fts(3): end of a folder, dots and cycles */
        return false;
    }
}

/* Returns the next file of the folder; false at its end, which closes the folder. */
static bool next_of_folder(struct files *files, struct files_found *found)
{
    FTSENT *entry = NULL;

    while ((entry = fts_read(files->folder)) != NULL) {
        if (take_entry(files, entry, found)) {
            files->folder_files++;
            return true;
        }
    }
    close_folder(files);
    return false;
}

/* Opens a word that is a folder; any other word is a file. */
static bool take_word(struct files *files, const char *word, struct files_found *found)
{
    char *const roots[] = {(char *)(uintptr_t)word, NULL}; /* fts(3) copies the path */
    struct stat status;

    *found = (struct files_found){.path = word};
    if (stat(word, &status) != 0) {
        found->problem = strerror(errno);
        return true;
    }
    if (!S_ISDIR(status.st_mode)) {
        found->size_bytes = (uint64_t)status.st_size;
        found->problem = check_kind(&status);
        return true;
    }
    files->folder = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    files->folder_word = word;
    files->folder_files = 0;
    if (files->folder == NULL) {
        found->problem = strerror(errno);
        return true;
    }
    return false;
}

bool files_next(struct files *files, struct files_found *ret_found)
{
    for (;;) {
        if (files->folder != NULL) {
            if (next_of_folder(files, ret_found)) {
                return true;
            }
            if (files->folder_files == 0) {
                *ret_found = (struct files_found){
                    .path = files->folder_word,
                    .problem =
                        files->recursive
                            ? "it contains no *.pdf"
                            : "it contains no *.pdf; --recursive looks into its folders too"};
                return true;
            }
        }
        if (files->next == files->count) {
            return false;
        }
        if (take_word(files, files->words[files->next++], ret_found)) {
            return true;
        }
    }
}
