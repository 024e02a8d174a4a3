/*
 * sandbox_landlock.c: the file system of a child: fonts, their configuration and Poppler's CMaps can
 * be read, nothing else can be opened. Poppler needs them: text in CJK fonts with predefined CMaps
 * is lost without poppler-data, and caching does not replace it. Uses raw system calls, since the C
 * library has none; for each version of the interface (its ABI) it denies everything that version
 * knows.
 */
#include "server/jobs/pdf/worker/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The structure of the newest kernel header; an older header lacks the last fields. An older kernel
 * accepts the larger structure if the fields it does not know are 0. */
struct ruleset {
    uint64_t fs; /* rights over files, denied unless a rule grants them */
    uint64_t net; /* ABI 4 and later: bind and connect of TCP */
    uint64_t scoped; /* ABI 6 and later: abstract Unix sockets, and signals to processes outside */
};

#define NET_ALL 3u
#define NET_ABI 4
#define SCOPED_ALL 3u
#define SCOPED_ABI 6

/* Rights over files are the lowest bits, more with each ABI: the first had all up to creating
 * symbolic links, then followed REFER, TRUNCATE, and, in the fifth, IOCTL_DEV. */
static const uint64_t fs_rights[] = {
    0, /* there is no ABI 0 */
    (1u << 13) - 1,
    (1u << 14) - 1,
    (1u << 15) - 1,
    (1u << 15) - 1,
    (1u << 16) - 1,
};

#define FS_ABI_LAST (sizeof(fs_rights) / sizeof(fs_rights[0]) - 1)

static const char *const readable[] = {
    "/usr/share/poppler",    "/usr/share/fonts",      "/etc/fonts",
    "/var/cache/fontconfig", "/usr/share/fontconfig",
};

/* A missing folder needs no rule. */
static enum err allow_reading(int ruleset, const char *path)
{
    struct landlock_path_beneath_attr rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
        .parent_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC),
    };
    long result = 0;

    if (rule.parent_fd < 0) {
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? ERR_UNAVAILABLE : OK;
    }
    result = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    (void)close(rule.parent_fd);
    return result == 0 ? OK : ERR_UNAVAILABLE;
}

enum err sandbox_landlock_open(int *ret_ruleset)
{
    const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct ruleset rules = {0, 0, 0};
    int ruleset = -1;

    if (abi < 1) {
        return ERR_NOT_FOUND;
    }
    rules.fs = fs_rights[(size_t)abi > FS_ABI_LAST ? FS_ABI_LAST : (size_t)abi];
    rules.net = abi >= NET_ABI ? NET_ALL : 0;
    rules.scoped = abi >= SCOPED_ABI ? SCOPED_ALL : 0;
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
    if (ruleset < 0) {
        return ERR_UNAVAILABLE;
    }
    for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]); i++) {
        enum err err = allow_reading(ruleset, readable[i]);

        if (err != OK) {
            (void)close(ruleset);
            return err;
        }
    }
    *ret_ruleset = ruleset;
    return OK;
}

enum err sandbox_landlock_enter(int ruleset)
{
    return syscall(SYS_landlock_restrict_self, ruleset, 0) == 0 ? OK : ERR_UNAVAILABLE;
}
