/*
 * process.c: see process.h. Formats: proc(5).
 */
#include "tools/bench/load/process.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 128
#define TEXT_BYTES 4096
/* Maximum sockets that listen on one port: one for each process, if they share it. */
#define LISTENERS_MAX 64
#define TCP_LISTEN 0x0A
/* Words of `stat` after the one that ends the name. */
#define STAT_PARENT 2
#define STAT_TIMES 12
#define NS_A_SECOND UINT64_C(1000000000)

/* Reads the beginning of a small file; empty if it does not exist. */
static const char *read_text(const char *path, char *text)
{
    FILE *file = fopen(path, "re");
    size_t size = file != NULL ? fread(text, 1, TEXT_BYTES - 1, file) : 0;

    if (file != NULL) {
        (void)fclose(file);
    }
    text[size] = '\0';
    return text;
}

static uint64_t number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Skips this many words. */
static const char *skip_words(const char *text, size_t count)
{
    for (text += strspn(text, " "); count > 0; count--) {
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    return text;
}

/* Returns the number of a folder of /proc; 0 for other names. */
static int pid_of(const char *name)
{
    char *end = NULL;
    long pid = isdigit((unsigned char)name[0]) ? strtol(name, &end, 10) : 0;

    return end != NULL && *end == '\0' && pid > 0 && pid < INT32_MAX ? (int)pid : 0;
}

static bool has(const struct process_list *list, int pid)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->pids[i] == pid) {
            return true;
        }
    }
    return false;
}

static void add(struct process_list *list, int pid)
{
    if (list->count < PROCESS_TREE_MAX && !has(list, pid)) {
        list->pids[list->count++] = pid;
    }
}

/* --- listening processes --- */

/* Returns the inode of a line's socket if it listens at the port, else 0. Words: number, local
 * address with the port after its colon, peer's address, state, three more, user, timeout,
 * inode. */
static unsigned long listening_inode(const char *line, uint16_t port)
{
    const char *local = skip_words(line, 1);
    const char *colon = strchr(local, ':');

    if (colon == NULL || strtoul(colon + 1, NULL, 16) != port ||
        strtoul(skip_words(line, 3), NULL, 16) != TCP_LISTEN) {
        return 0;
    }
    return strtoul(skip_words(line, 9), NULL, 10);
}

/* Finds the inodes of the sockets that listen at a port, in one of the two tables. */
static size_t find_sockets(const char *table, uint16_t port, unsigned long *inodes, size_t count)
{
    FILE *file = fopen(table, "re");
    char line[512];

    if (file == NULL) {
        return count;
    }
    while (fgets(line, sizeof(line), file) != NULL && count < LISTENERS_MAX) {
        unsigned long inode = listening_inode(line, port);

        if (inode != 0) {
            inodes[count++] = inode;
        }
    }
    (void)fclose(file);
    return count;
}

static bool holds_one(int pid, const unsigned long *inodes, size_t count)
{
    char path[PATH_BYTES];
    DIR *folder = NULL;
    struct dirent *entry = NULL;
    bool found = false;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    folder = opendir(path);
    while (folder != NULL && !found && (entry = readdir(folder)) != NULL) {
        char target[64];
        ssize_t size = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);

        target[size > 0 ? size : 0] = '\0';
        for (size_t i = 0; i < count; i++) {
            found = found || number_after(target, "socket:[") == inodes[i];
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return found;
}

void process_find_listeners(uint16_t port, struct process_list *list)
{
    unsigned long inodes[LISTENERS_MAX];
    size_t count = find_sockets("/proc/net/tcp", port, inodes, 0);
    DIR *folder = opendir("/proc");
    struct dirent *entry = NULL;

    count = find_sockets("/proc/net/tcp6", port, inodes, count);
    while (folder != NULL && count > 0 && (entry = readdir(folder)) != NULL) {
        int pid = pid_of(entry->d_name);

        if (pid != 0 && holds_one(pid, inodes, count)) {
            add(list, pid);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

/* --- children --- */

static int parent_of(int pid)
{
    char path[PATH_BYTES];
    char text[TEXT_BYTES];
    const char *after_name = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    after_name = strrchr(read_text(path, text), ')');
    return after_name != NULL ? (int)strtol(skip_words(after_name, STAT_PARENT), NULL, 10) : 0;
}

/* Repeats over all processes until no new child is found, because a child's number may be below its
 * parent's. */
void process_add_children(struct process_list *list)
{
    size_t before = 0;

    do {
        DIR *folder = opendir("/proc");
        struct dirent *entry = NULL;

        before = list->count;
        while (folder != NULL && (entry = readdir(folder)) != NULL) {
            int pid = pid_of(entry->d_name);

            if (pid != 0 && !has(list, pid) && has(list, parent_of(pid))) {
                add(list, pid);
            }
        }
        if (folder != NULL) {
            (void)closedir(folder);
        }
    } while (list->count > before);
}

/* --- usage --- */

/* Reads the living threads: time on a CPU in nanoseconds, and context switches. */
static void add_threads(int pid, uint64_t *cpu_ns, uint64_t *switches)
{
    char path[PATH_BYTES];
    char text[TEXT_BYTES];
    struct dirent *entry = NULL;
    DIR *folder = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        int thread = pid_of(entry->d_name);

        if (thread == 0) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, thread);
        *cpu_ns += strtoull(read_text(path, text), NULL, 10);
        (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, thread);
        (void)read_text(path, text);
        *switches += number_after(text, "\nvoluntary_ctxt_switches:");
        *switches += number_after(text, "\nnonvoluntary_ctxt_switches:");
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

static void add_memory(int pid, struct process_usage *usage)
{
    char path[PATH_BYTES];
    char text[TEXT_BYTES];

    (void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
    (void)read_text(path, text);
    usage->rss_anon_bytes += number_after(text, "\nRssAnon:") * 1024;
    usage->rss_file_bytes += number_after(text, "\nRssFile:") * 1024;
    usage->rss_peak_bytes += number_after(text, "\nVmHWM:") * 1024;
}

/* `stat` includes the time of ended threads, but in clock ticks; the time of the living threads is
 * exact. Both are lower bounds, so the larger one is used. Ended children are counted in ticks. */
static bool add_process(int pid, struct process_usage *usage)
{
    uint64_t tick_ns = NS_A_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
    char path[PATH_BYTES];
    char text[TEXT_BYTES];
    const char *after_name = NULL;
    uint64_t times[4]; /* user, system, children's user, children's system */
    uint64_t exact_ns = 0;
    uint64_t ticks_ns = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    after_name = strrchr(read_text(path, text), ')');
    if (after_name == NULL) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        times[i] = strtoull(skip_words(after_name, STAT_TIMES + i), NULL, 10) * tick_ns;
    }
    add_threads(pid, &exact_ns, &usage->switches);
    add_memory(pid, usage);
    ticks_ns = times[0] + times[1];
    usage->cpu_ns += (exact_ns > ticks_ns ? exact_ns : ticks_ns) + times[2] + times[3];
    usage->user_ns += times[0] + times[2];
    usage->system_ns += times[1] + times[3];
    usage->process_count++;
    return true;
}

bool process_read(const struct process_list *list, struct process_usage *ret_usage)
{
    struct process_usage usage = {0};

    for (size_t i = 0; i < list->count; i++) {
        (void)add_process(list->pids[i], &usage);
    }
    if (usage.process_count == 0) {
        return false;
    }
    *ret_usage = usage;
    return true;
}

/* `schedstat` has the time on a core, then the time waiting for one. */
static uint64_t read_own_wait(void)
{
    char text[TEXT_BYTES];

    return strtoull(skip_words(read_text("/proc/thread-self/schedstat", text), 1), NULL, 10);
}

void process_read_own(struct process_usage *ret_usage)
{
    struct rusage usage;
    struct timespec cpu;

    *ret_usage = (struct process_usage){.process_count = 1, .waited_ns = read_own_wait()};
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0) {
        ret_usage->cpu_ns = (uint64_t)cpu.tv_sec * NS_A_SECOND + (uint64_t)cpu.tv_nsec;
    }
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        ret_usage->user_ns =
            (uint64_t)usage.ru_utime.tv_sec * NS_A_SECOND + (uint64_t)usage.ru_utime.tv_usec * 1000;
        ret_usage->system_ns =
            (uint64_t)usage.ru_stime.tv_sec * NS_A_SECOND + (uint64_t)usage.ru_stime.tv_usec * 1000;
        ret_usage->switches = (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
        ret_usage->rss_peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    }
}
