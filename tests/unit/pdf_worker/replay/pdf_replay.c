/*
 * pdf_replay.c: sends documents through the real worker program, and prints a line for each and counts
 * of the results. In a build with a sanitizer it replays a corpus through the code path of a child,
 * without the sandbox (ASAN_OPTIONS=log_path=... keeps reports: the program has no stderr); in a release
 * build it shows the cost of the sandbox and that it kills no harmless child.
 *
 *   pdf_replay [--without-landlock] [--picture] PROGRAM FILES...
 *
 * Exit code 1 where a child was killed by the filter (SIGSYS) or by a fault (SIGSEGV, SIGBUS, SIGILL,
 * SIGFPE), ended by its own failure, or sent an invalid answer; limits and refusals are ordinary ends.
 */
#include "tests/unit/pdf_worker/peer/worker_peer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 20000

struct replay {
    struct peer peer;
    uint32_t flags;
    uint8_t *bytes; /* bytes of one answer */
    uint64_t cpu_us[FILES_MAX];
    size_t count;
    size_t bad;
};

static const char *end_text(const struct pdf_control_end *end, char *text, size_t size)
{
    static const char *const names[] = {"?", "exited", "signalled", "wall", "not forked"};

    (void)snprintf(text, size, "%s %d", names[end->end <= PDF_END_NOT_FORKED ? end->end : 0],
                   end->code);
    return text;
}

static bool is_bad(const struct pdf_control_end *end, enum err decoded)
{
    static const int faults[] = {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE};

    if (decoded != OK || end->end == PDF_END_NOT_FORKED) {
        return true;
    }
    if (end->end == PDF_END_EXITED) {
        return end->code != PDF_EXIT_ANSWERED && end->code != PDF_EXIT_MEMORY;
    }
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (end->end == PDF_END_SIGNALLED && end->code == faults[i]) {
            return true;
        }
    }
    return false;
}

static void print_answer(const char *path, const struct pdf_answer *answer,
                         const struct pdf_control_end *end, bool bad)
{
    char text[64];

    printf("%-7s %-14s cpu %8.1f ms  %4" PRIu64 " MiB  ", bad ? "BAD" : "ok",
           end_text(end, text, sizeof(text)), (double)end->cpu_us / 1000.0,
           end->memory_bytes >> 20);
    if (answer->reason != PDF_READ) {
        printf("%-24s", pdf_reason_code(answer->reason));
    } else {
        printf("pages %u chars %u cells %" PRIu64 " cut %d tables %u%s%s", answer->text.page_count,
               answer->text.text_chars, answer->text.covered_cells, answer->cut,
               answer->tables.table_count, answer->text.damaged ? " damaged" : "",
               answer->picture.size > 0 ? " picture" : "");
    }
    printf("  %s\n", path);
}

static bool map_file(const char *path, struct slice *ret_bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat;
    void *bytes = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size > 0) {
        bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (bytes == MAP_FAILED) {
        return false;
    }
    *ret_bytes = slice_of(bytes, (size_t)stat.st_size);
    return true;
}

/* Returns false if the program itself has ended. */
static bool replay_file(struct replay *replay, const char *path)
{
    const struct pdf_control_job message = peer_message(replay->flags, "");
    struct slice document = {NULL, 0};
    struct peer_job job = {-1, -1};
    struct pdf_control_end end = {0};
    struct pdf_answer answer = {0};
    struct arena arena;
    enum err decoded = ERR_MALFORMED;
    ssize_t size = 0;
    bool ended = false;

    if (!map_file(path, &document)) {
        printf("%-7s %s\n", "skipped", path);
        return true;
    }
    arena_init(&arena, 2 * PDF_ANSWER_EXPLAINED_BYTES_MAX);
    if (peer_send_job(&replay->peer, &message, document, &job)) {
        size = peer_read_answer(&job, replay->bytes, PDF_ANSWER_EXPLAINED_BYTES_MAX);
        ended = peer_read_end(&job, &end);
    }
    if (ended && size >= 0) {
        decoded = pdf_answer_decode(&arena, slice_of(replay->bytes, (size_t)size), &answer);
        replay->bad += is_bad(&end, decoded) ? 1 : 0;
        print_answer(path, &answer, &end, is_bad(&end, decoded));
        replay->cpu_us[replay->count] = end.cpu_us;
        replay->count++;
    }
    peer_close_job(&job);
    arena_deinit(&arena);
    (void)munmap((void *)(uintptr_t)document.data, document.size);
    return ended;
}

static int compare_us(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

static double at_ms(const struct replay *replay, size_t hundredth)
{
    const size_t at = (replay->count - 1) * hundredth / 100;

    return (double)replay->cpu_us[at] / 1000.0;
}

static void print_summary(struct replay *replay)
{
    if (replay->count == 0) {
        printf("no document was answered\n");
        return;
    }
    qsort(replay->cpu_us, replay->count, sizeof(replay->cpu_us[0]), compare_us);
    printf("%zu documents, %zu bad; cpu ms p50 %.1f p90 %.1f p99 %.1f max %.1f\n", replay->count,
           replay->bad, at_ms(replay, 50), at_ms(replay, 90), at_ms(replay, 99),
           at_ms(replay, 100));
}

int main(int argc, char **argv)
{
    static struct replay replay;
    const char *arguments[2] = {NULL, NULL};
    int at = 1;
    bool alive = true;

    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--picture") == 0) {
            replay.flags |= PDF_JOB_PICTURE | PDF_JOB_EXPLAIN;
        } else {
            arguments[0] = argv[at];
        }
    }
    if (argc - at < 2 || argc - at > FILES_MAX) {
        (void)fputs("usage: pdf_replay [--without-landlock] [--picture] PROGRAM FILES...\n",
                    stderr);
        return 64;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    replay.bytes = malloc(PDF_ANSWER_EXPLAINED_BYTES_MAX);
    if (replay.bytes == NULL || !peer_start(&replay.peer, argv[at], arguments)) {
        (void)fprintf(stderr, "pdf_replay: %s does not start\n", argv[at]);
        return 1;
    }
    for (at++; alive && at < argc; at++) {
        alive = replay_file(&replay, argv[at]);
    }
    print_summary(&replay);
    free(replay.bytes);
    if (!alive || peer_stop(&replay.peer) != 0) {
        printf("the program died\n");
        return 1;
    }
    return replay.bad > 0 || replay.count == 0 ? 1 : 0;
}
