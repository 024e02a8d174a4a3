/*
 * engine.c: see engine.h. A turn: start what is due, send it, wait until the next call is due or an
 * answer comes, read. The thread does not sleep just before a call is due, since a wake-up takes
 * some 20 us; it reads answers meanwhile. It sleeps if it would use the whole core, since Linux
 * stops a real-time process for 50 ms after 950 ms of a second.
 */
#include "tools/bench/load/engine.h"

#include "tools/bench/load/link.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NS_A_SECOND UINT64_C(1000000000)
/* A sleep ends this long before the next call is due. */
#define AWAKE_NS UINT64_C(30000)
/* Above this share of the core the thread always sleeps; and the interval of the check. */
#define BUSY_SHARE_MAX 0.9
#define BUSY_CHECK_NS UINT64_C(5000000)
#define REST_NS 50000
/* Maximum delay of timers: the kernel's default is 50 us. */
#define TIMER_SLACK_NS 1
/* Maximum sleep, after which signals and the clock are checked. */
#define SLEEP_NS_MAX UINT64_C(100000000)
#define EVENTS_MAX 256

struct engine {
    const struct engine_options *options;
    struct target target;
    struct run *run;
    int epoll;
    struct link_room room;
    struct link *links; /* one of each connection; owned */
    struct process_list tree; /* the server's processes and their children */
    struct process_usage server_before;
    struct process_usage client_before;
    uint64_t usage_from_ns;
    bool server_known;
    uint64_t progress_ns; /* time of the last progress report */
    uint64_t second_ns; /* start of the second that is measured */
    uint64_t second_cpu_ns; /* CPU time at the start of that second */
    uint64_t busy_check_ns; /* time of the last check */
    bool resting;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_A_SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* --- sockets --- */

static void wait_and_read(struct engine *engine, uint64_t wait_ns)
{
    struct epoll_event events[EVENTS_MAX];
    const struct timespec wait = {.tv_sec = (time_t)(wait_ns / NS_A_SECOND),
                                  .tv_nsec = (long)(wait_ns % NS_A_SECOND)};
    int count = epoll_pwait2(engine->epoll, events, EVENTS_MAX, &wait, NULL);

    for (int i = 0; i < count; i++) {
        size_t connection = (size_t)events[i].data.u64;

        if ((events[i].events & ~(uint32_t)EPOLLOUT) != 0) {
            link_receive(&engine->links[connection], now_ns());
        } else {
            run_advance(engine->run, connection, now_ns());
        }
        link_flush(&engine->links[connection], now_ns());
    }
}

static enum err connect_all(struct engine *engine, struct fault *fault)
{
    const struct engine_options *options = engine->options;
    char host[TARGET_HOST_BYTES_MAX];
    uint16_t port = 0;
    enum err err = target_split(options->server, fault, host, &port);

    for (size_t i = 0; i < engine->run->options.connection_count && err == OK; i++) {
        int fd = -1;

        err = target_connect(&engine->target, options->server, fault, &fd);
        if (err == OK) {
            err = link_open(&engine->links[i], fd, options->tls, host, fault);
        }
        if (err == OK) {
            link_flush(&engine->links[i], now_ns());
            wait_and_read(engine, 0); /* handshakes continue meanwhile */
        }
    }
    return err;
}

/* Waits until the server's settings have arrived on each connection. */
static enum err await_ready(struct engine *engine, struct fault *fault)
{
    uint64_t end_ns = now_ns() + ENGINE_READY_NS;

    while (!run_is_ready(engine->run)) {
        if (engine->run->problem[0] != '\0') {
            return fault_say(fault, ERR_UNAVAILABLE, "%s: %s", engine->options->server,
                             engine->run->problem);
        }
        if (now_ns() > end_ns) {
            return fault_say(
                fault, ERR_UNAVAILABLE,
                "%s: accepts connections but does not use HTTP/2; expected a gRPC server",
                engine->options->server);
        }
        wait_and_read(engine, SLEEP_NS_MAX);
    }
    return OK;
}

/* --- usage --- */

static void find_processes(struct engine *engine, struct engine_result *result)
{
    result->server_processes = *engine->options->server_processes;
    if (result->server_processes.count == 0 && engine->target.local) {
        process_find_listeners(engine->target.port, &result->server_processes);
    }
    engine->tree = result->server_processes;
    process_add_children(&engine->tree);
}

/* Calls are due meanwhile, so slow work, such as examining all processes, was done before. */
static void note_start(struct engine *engine)
{
    engine->server_known = process_read(&engine->tree, &engine->server_before);
    process_read_own(&engine->client_before);
    engine->usage_from_ns = now_ns();
}

static struct engine_usage difference(const struct process_usage *before,
                                      const struct process_usage *after, double seconds)
{
    struct engine_usage usage = {.known = true, .seconds = seconds, .at_end = *after};

    /* The usage of a process that ended without being waited for is lost. */
    usage.cpu_ns = after->cpu_ns > before->cpu_ns ? after->cpu_ns - before->cpu_ns : 0;
    usage.user_ns = after->user_ns > before->user_ns ? after->user_ns - before->user_ns : 0;
    usage.system_ns =
        after->system_ns > before->system_ns ? after->system_ns - before->system_ns : 0;
    usage.waited_ns =
        after->waited_ns > before->waited_ns ? after->waited_ns - before->waited_ns : 0;
    usage.switches = after->switches > before->switches ? after->switches - before->switches : 0;
    return usage;
}

static void note_end(struct engine *engine, struct engine_result *result)
{
    struct process_usage server;
    struct process_usage client;
    double seconds = (double)(now_ns() - engine->usage_from_ns) / 1e9;

    engine->tree = result->server_processes;
    process_add_children(&engine->tree);
    process_read_own(&client);
    result->client = difference(&engine->client_before, &client, seconds);
    if (engine->server_known && process_read(&engine->tree, &server)) {
        result->server = difference(&engine->server_before, &server, seconds);
    }
}

/* --- the loop --- */

static void report_progress(struct engine *engine, uint64_t now)
{
    const struct engine_options *options = engine->options;

    if (options->on_progress != NULL && now >= engine->progress_ns + NS_A_SECOND) {
        engine->progress_ns = now;
        options->on_progress(options->user, engine->run);
    }
}

/* Returns whether this program has used too much of the core in this second. A closed loop never
 * rests. */
static bool must_rest(struct engine *engine, uint64_t now)
{
    uint64_t cpu_ns = 0;

    if (now < engine->busy_check_ns + BUSY_CHECK_NS || engine->run->options.rate <= 0) {
        return engine->resting;
    }
    cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (now >= engine->second_ns + NS_A_SECOND) {
        engine->second_ns = now;
        engine->second_cpu_ns = cpu_ns;
    }
    engine->busy_check_ns = now;
    engine->resting = (double)(cpu_ns - engine->second_cpu_ns) >
                      BUSY_SHARE_MAX * (double)(now - engine->second_ns);
    return engine->resting;
}

/* Waits until the next call is due or a reply arrives. At high rates one of the two is always true;
 * a pause then batches several of them, which costs less than handling them one by one. */
static void wait_until(struct engine *engine, uint64_t next_ns)
{
    static const struct timespec rest = {.tv_nsec = REST_NS};
    uint64_t now = now_ns();
    uint64_t wait_ns = next_ns > now ? next_ns - now : 0;

    if (must_rest(engine, now)) {
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
        wait_ns = 0;
    }
    wait_ns = wait_ns > AWAKE_NS ? wait_ns - AWAKE_NS : 0;
    wait_and_read(engine, wait_ns < SLEEP_NS_MAX ? wait_ns : SLEEP_NS_MAX);
}

static void loop(struct engine *engine, struct engine_result *result)
{
    struct run *run = engine->run;
    bool measuring = false;

    run_begin(run, now_ns());
    while (run->phase != RUN_ENDED) {
        uint64_t next_ns = run_turn(run, now_ns());
        size_t connection = 0;

        while (run_take_dirty(run, &connection)) {
            link_flush(&engine->links[connection], now_ns());
        }
        if (!measuring && run->phase >= RUN_MEASURED) {
            measuring = true;
            note_start(engine);
        }
        if (*engine->options->stop != 0 && !result->stopped) {
            result->stopped = true;
            run_stop(run, now_ns());
        }
        if (run->phase != RUN_ENDED) {
            wait_until(engine, next_ns);
        }
        report_progress(engine, run->now_ns);
    }
    if (measuring) {
        note_end(engine, result);
    }
}

static enum err open_engine(struct engine *engine, struct fault *fault)
{
    size_t count = engine->options->run.connection_count;
    enum err err = target_find(engine->options->server, fault, &engine->target);

    if (err != OK) {
        return err;
    }
    engine->links = calloc(count, sizeof(*engine->links));
    if (engine->links == NULL ||
        link_room_init(&engine->room, engine->run, engine->options->tls) != OK) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        engine->links[i] = (struct link){.room = &engine->room, .index = i, .fd = -1};
    }
    (void)prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS); /* if this fails, calls only start later */
    engine->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (engine->epoll < 0) {
        return fault_say(fault, ERR_UNAVAILABLE, "epoll: %s", strerror(errno));
    }
    engine->room.epoll = engine->epoll;
    return OK;
}

static void close_engine(struct engine *engine)
{
    for (size_t i = 0; engine->links != NULL && i < engine->options->run.connection_count; i++) {
        link_close(&engine->links[i]);
    }
    if (engine->epoll >= 0) {
        (void)close(engine->epoll);
    }
    link_room_deinit(&engine->room);
    free(engine->links);
}

enum err engine_run(const struct engine_options *options, struct fault *fault,
                    struct engine_result *ret_result)
{
    struct engine engine = {.options = options, .run = &ret_result->run, .epoll = -1};
    enum err err = OK;

    *ret_result = (struct engine_result){.streams_allowed = UINT32_MAX};
    err = run_init(&ret_result->run, &options->run, &options->shared, options->tokens,
                   options->token_count, fault);
    if (err == OK) {
        err = open_engine(&engine, fault);
    }
    if (err == OK) {
        err = connect_all(&engine, fault);
    }
    if (err == OK) {
        err = await_ready(&engine, fault);
    }
    if (err == OK) {
        find_processes(&engine, ret_result);
        loop(&engine, ret_result);
        for (size_t i = 0; i < options->run.connection_count; i++) {
            uint32_t allowed = connection_streams_allowed(ret_result->run.connections[i]);

            ret_result->streams_allowed =
                allowed < ret_result->streams_allowed ? allowed : ret_result->streams_allowed;
        }
    }
    close_engine(&engine);
    if (err != OK) {
        engine_result_deinit(ret_result);
    }
    return err;
}

void engine_result_deinit(struct engine_result *result)
{
    run_deinit(&result->run);
}
