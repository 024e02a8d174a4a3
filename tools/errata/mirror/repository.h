/*
 * repository.h: the git repository of a mirror, and its work tree. Commits are made by git fast-import, which moves the
 * branch after their objects are written; then the files of the work tree are replaced one by one. Until that is done,
 * the file PENDING names the commit before, so that the next run completes a killed one. Files that have other content
 * than the mirror wrote are reported, never overwritten.
 */
#ifndef ERRATA_TOOLS_ERRATA_MIRROR_REPOSITORY_H
#define ERRATA_TOOLS_ERRATA_MIRROR_REPOSITORY_H

#include "store/base/uuid.h"
#include "tools/errata/mirror/git.h"

#include <limits.h>

#define REPOSITORY_BRANCH "refs/heads/main"
/* The last line of each commit's message: the number and the id of the last event that the commit has. */
#define REPOSITORY_POSITION "Errata-Position: "
/* Maximum bytes of the contents of some files, and of lists of names. */
#define REPOSITORY_BYTES_MAX ((size_t)1 << 30)

struct repository {
    struct git git;
    const char *path; /* path of the folder as given; borrowed */
    char head[GIT_NAME_BYTES_MAX + 1]; /* the last commit; empty: none */
    uint64_t seq; /* number of the last event in it; 0: none */
    char event_id[UUID_TEXT_BYTES + 1];
};

/* Opens or creates the repository, completes the work of a killed run, and reads its position. Refuses a folder with
 * other content, and one that another run has open. The caller closes it, also after a failure. */
MUST_CHECK enum cli_exit repository_open(struct repository *repository, struct cli *cli,
                                         const char *path);
/* Makes the commits of a stream for fast-import, whose first one continues the branch, and updates the work tree. */
MUST_CHECK enum cli_exit repository_commit(struct repository *repository, int stream);
/* Refuses commits and changes that another has made since it was opened. */
MUST_CHECK enum cli_exit repository_check(struct repository *repository);
void repository_close(struct repository *repository);

/* For repository.c: replaces files of the commit `before` (empty: none) in the work tree by those of the last commit.
 * Completes a partial replacement (work_tree.c). */
MUST_CHECK enum cli_exit work_tree_update(struct repository *repository, const char *before);
/* Reports the first difference between work tree, index and the last commit. */
MUST_CHECK enum cli_exit work_tree_check(struct repository *repository);

#endif
