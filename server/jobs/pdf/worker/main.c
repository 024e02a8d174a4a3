/*
 * main.c: errata-pdf-worker: reads PDFs for a server that does not link a PDF library. The server
 * starts it with the control socket as descriptor 3 (server/jobs/pdf/pdf_control.h). This file
 * prepares the process for the fork server: no environment, no rights, no other descriptors, fonts
 * read, the sandbox's rules made.
 */
#include "server/jobs/pdf/measure/measure.h"
#include "server/jobs/pdf/worker/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum exit_code {
    EXIT_USAGE = 64,
    EXIT_SYSTEM = 71
};

/* Maximum of the wall limit that a test may set. */
#define WALL_MS_MAX 600000u

enum action {
    ACTION_SERVE,
    ACTION_HELP,
    ACTION_VERSION,
    ACTION_REFUSE
};

struct options {
    uint32_t wall_ms;
    bool landlock;
};

_Static_assert(PDF_WALL_MS == 8000, "the text below says so");

static const char help[] =
    "usage: errata-pdf-worker\n"
    "\n"
    "Reads PDF documents for erratad and for `errata layouts explain`, which start it by "
    "themselves\n"
    "and talk to it over descriptor 3. Each document is measured in a separate process that can\n"
    "only read fonts. There is no reason to start it by hand.\n"
    "\n"
    "  --help     this text\n"
    "  --version  the version, and that of Poppler\n"
    "\n"
    "For tests:\n"
    "  --wall-ms N         kill a document's process after N ms instead of 8000\n"
    "  --without-landlock  behave as on a kernel without Landlock: no file can be opened\n";

static bool read_wall(const char *text, uint32_t *ret_wall_ms)
{
    char *end = NULL;
    unsigned long wall = 0;

    errno = 0;
    wall = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || wall < 1 || wall > WALL_MS_MAX) {
        return false;
    }
    *ret_wall_ms = (uint32_t)wall;
    return true;
}

static enum action read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {"wall-ms", required_argument, NULL, 'w'},
        {"without-landlock", no_argument, NULL, 'l'},
        {NULL, 0, NULL, 0},
    };
    int option = 0;

    while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
        switch (option) {
        case 'h':
            return ACTION_HELP;
        case 'v':
            return ACTION_VERSION;
        case 'w':
            if (!read_wall(optarg, &options->wall_ms)) {
                (void)fprintf(
                    stderr, "errata-pdf-worker: --wall-ms: invalid value '%s'; expected 1 to %u\n",
                    optarg, WALL_MS_MAX);
                return ACTION_REFUSE;
            }
            break;
        case 'l':
            options->landlock = false;
            break;
        default: /* getopt_long has printed the error */
            return ACTION_REFUSE;
        }
    }
    if (optind < argc) {
        (void)fprintf(stderr, "errata-pdf-worker: unexpected argument '%s'; see --help\n",
                      argv[optind]);
        return ACTION_REFUSE;
    }
    return ACTION_SERVE;
}

static bool is_control(int fd)
{
    int type = 0;
    socklen_t size = sizeof(type);

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

/* Clears the environment: a server's has secrets, and must not select the fonts, so that the same
 * bytes are measured alike. */
static bool forget_environment(void)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        explicit_bzero(*entry, strlen(*entry));
    }
    return clearenv() == 0 && setenv("LC_ALL", "C", 1) == 0;
}

/* Opens missing standard descriptors, since the next opened file would take their numbers. */
static bool fill_standard_descriptors(void)
{
    int fd = 0;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd < 0) {
        return false;
    }
    (void)close(fd);
    return true;
}

/* Discards Poppler's messages: they would block at a full pipe, and kill a child that must not
 * extend a file. */
static bool silence_poppler(void)
{
    const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool ok = fd >= 0;

    for (int standard = STDIN_FILENO; ok && standard <= STDERR_FILENO; standard++) {
        ok = dup2(fd, standard) == standard;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok;
}

/* Makes the kernel kill this process before the server if memory runs out, since the server's open
 * store counts as its memory: the worker is restarted, and a document can be sent again. Inherited
 * by the children. Set while the process may still write to /proc. */
static void offer_to_go_first(void)
{
    static const char most[] = "1000";
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd >= 0) {
        (void)!write(fd, most, sizeof(most) - 1);
        (void)close(fd);
    }
}

/* Ignores signals to the process group (such as ^C in a terminal), which must not fail the jobs of
 * a server that is draining: only the server ends the process, by closing the control socket or by
 * ending. Drops rights before requesting the parent-death signal, since dropping them clears it. */
static bool prepare_process(void)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
    const struct rlimit none = {0, 0};

    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
        (void)signal(ignored[i], SIG_IGN);
    }
    (void)signal(SIGCHLD, SIG_DFL);
    offer_to_go_first();
    if (!fill_standard_descriptors() || close_range(PDF_CONTROL_FD + 1, ~0U, 0) != 0 ||
        fcntl(PDF_CONTROL_FD, F_SETFD, FD_CLOEXEC) != 0 || !forget_environment() ||
        setrlimit(RLIMIT_CORE, &none) != 0) {
        return false;
    }
    if (!SANDBOX_SANITIZED) {
        sandbox_give_up_rights();
        (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0;
}

#if SANDBOX_SANITIZED
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the checker's name
const char *__lsan_default_suppressions(void);

/* Called by the leak checker at exit: fontconfig's permanent data is not a leak of this program. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig.so\n";
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
#endif

static int serve_jobs(const struct options *options)
{
    struct sandbox sandbox;
    const struct fork_server_config config = {.control = PDF_CONTROL_FD,
                                              .wall_ms = options->wall_ms,
                                              .sandbox = &sandbox,
                                              .clock = clock_system(),
                                              .poppler_version = measure_poppler_version()};
    const struct sandbox_limits limits = {.memory_bytes = PDF_MEMORY_BYTES,
                                          .cpu_seconds = PDF_CPU_SECONDS};
    enum err err = OK;

    if (!is_control(PDF_CONTROL_FD)) {
        (void)fputs("errata-pdf-worker: descriptor 3 is not a control socket: erratad starts this "
                    "program; see --help\n",
                    stderr);
        return EXIT_USAGE;
    }
    if (!prepare_process()) {
        (void)fprintf(stderr, "errata-pdf-worker: cannot prepare this process: %s\n",
                      strerror(errno));
        return EXIT_SYSTEM;
    }
    if (!measure_warm_up()) {
        (void)fputs("errata-pdf-worker: cannot read poppler-data: some Chinese, Japanese and "
                    "Korean text will be missing\n",
                    stderr);
    }
    err = sandbox_init(&sandbox, options->landlock);
    if (err != OK) {
        (void)fputs(
            "errata-pdf-worker: the kernel does not support the sandbox (seccomp): no document "
            "is read\n",
            stderr);
        return EXIT_SYSTEM;
    }
    if (sandbox_try(&sandbox, &limits) != OK) {
        (void)fputs(
            "errata-pdf-worker: the system does not allow the sandbox (limits, idle "
            "class, Landlock, seccomp): no document is read; check what the service manager "
            "or the container forbids\n",
            stderr);
        sandbox_deinit(&sandbox);
        return EXIT_SYSTEM;
    }
    err = silence_poppler() ? fork_server_run(&config) : ERR_UNAVAILABLE;
    sandbox_deinit(&sandbox);
    return err == OK ? EXIT_SUCCESS : EXIT_SYSTEM;
}

int main(int argc, char **argv)
{
    struct options options = {.wall_ms = PDF_WALL_MS, .landlock = true};

    switch (read_options(argc, argv, &options)) {
    case ACTION_HELP:
        (void)fputs(help, stdout);
        return EXIT_SUCCESS;
    case ACTION_VERSION:
        (void)printf("errata-pdf-worker " ERRATA_VERSION " (Poppler %s)\n",
                     measure_poppler_version());
        return EXIT_SUCCESS;
    case ACTION_SERVE:
        return serve_jobs(&options);
    case ACTION_REFUSE:
        break;
    }
    return EXIT_USAGE;
}
