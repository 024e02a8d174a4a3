/*
 * load.c: a load generator for the measurements of tests/bench/run. It sends requests that were made
 * beforehand to any gRPC server and tells how long they took and whether every answer was right.
 * Closed loop: a fixed number of calls is always in flight. Open loop: calls start by a schedule,
 * whether earlier ones have ended or not, and their time counts from when they were due, so that a
 * stall is not hidden. One thread, for one core.
 *
 * The request file has, again and again: group (4 bytes, big-endian), length (4 bytes), bytes. The
 * token file has a line a group. Connection k sends requests of group k modulo the groups, drawn at
 * random with a seed, with the group's token.
 */
#include "tests/bench/load.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#define GROUPS_MAX 1000
/* A sleep ends this much before the next call is due, and the rest is spent awake: waking up takes
 * some 50 us on an idle core. */
#define AWAKE_NS 80000
/* How long the last answers may take. */
#define LINGER_NS 10000000000u
#define EVENTS_MAX 64

struct load_file {
    uint8_t *bytes;
    size_t size;
};

_Noreturn void load_fail(const char *what, const char *detail)
{
    fprintf(stderr, "bench_load: %s: %s\n", what, detail);
    exit(2);
}

uint64_t load_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool load_take_turn(struct load *load)
{
    if (load->stopped ||
        (load->options.call_count != 0 && load->counts.started == load->options.call_count)) {
        return false;
    }
    load->counts.started++;
    return true;
}

static struct load_file read_file(const char *path)
{
    struct load_file file = {0};
    FILE *in = fopen(path, "rbe");
    long size = 0;

    if (in == NULL || fseek(in, 0, SEEK_END) != 0 || (size = ftell(in)) < 0) {
        load_fail(path, strerror(errno));
    }
    rewind(in);
    file.size = (size_t)size;
    file.bytes = malloc(file.size + 1);
    if (file.bytes == NULL || fread(file.bytes, 1, file.size, in) != file.size) {
        load_fail(path, "cannot be read");
    }
    file.bytes[file.size] = '\0';
    fclose(in);
    return file;
}

static uint32_t get_be32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
           (uint32_t)bytes[3];
}

static void add_request(struct load_group *group, struct slice request)
{
    size_t count = group->request_count;

    /* Room doubles at each power of two. */
    if ((count & (count - 1)) == 0) {
        size_t room = count == 0 ? 1 : count * 2;

        group->requests = realloc(group->requests, room * sizeof(*group->requests));
        if (group->requests == NULL) {
            load_fail("requests", "no memory");
        }
    }
    group->requests[group->request_count++] = request;
}

/* The bytes stay for as long as the program runs. */
static void read_requests(struct load *load, const char *path)
{
    struct load_file file = read_file(path);
    size_t at = 0;

    load->groups = calloc(GROUPS_MAX, sizeof(*load->groups));
    if (load->groups == NULL) {
        load_fail("requests", "no memory");
    }
    while (file.size - at >= 8) {
        uint32_t group = get_be32(file.bytes + at);
        size_t size = get_be32(file.bytes + at + 4);

        if (group >= GROUPS_MAX || size > file.size - at - 8) {
            load_fail(path, "a request is cut short, or of a group above 999");
        }
        load->group_count = group + 1 > load->group_count ? group + 1 : load->group_count;
        add_request(&load->groups[group], slice_of(file.bytes + at + 8, size));
        at += 8 + size;
    }
    for (size_t i = 0; i < load->group_count; i++) {
        if (load->groups[i].request_count == 0) {
            load_fail(path, "a group without requests");
        }
    }
    if (load->group_count == 0) {
        load_fail(path, "no request in it");
    }
}

static void read_tokens(struct load *load, const char *path)
{
    struct load_file file = read_file(path);
    char *line = (char *)file.bytes;

    for (size_t i = 0; i < load->group_count; i++) {
        char *end = strchr(line, '\n');

        if (end == NULL) {
            load_fail(path, "fewer tokens than groups of requests");
        }
        *end = '\0';
        if (snprintf(load->groups[i].token, LOAD_TOKEN_BYTES_MAX, "Bearer %s", line) >=
            LOAD_TOKEN_BYTES_MAX) {
            load_fail(path, "a token is too long");
        }
        line = end + 1;
    }
    free(file.bytes);
}

/* Starts what is due by the schedule; gives the time until the next. */
static uint64_t start_due(struct load *load, uint64_t start_ns)
{
    double interval_ns = 1e9 / load->options.rate;
    uint64_t due = start_ns + (uint64_t)((double)load->counts.started * interval_ns);
    uint64_t now = load_now_ns();

    while (due <= now && !load->stopped) {
        struct load_connection *connection =
            load->connections[load->counts.started % load->options.connection_count];

        load->counts.started++;
        load_connection_start(connection, due);
        load_connection_flush(connection);
        due = start_ns + (uint64_t)((double)load->counts.started * interval_ns);
        now = load_now_ns();
    }
    return due > now ? due - now : 0;
}

static void fill(struct load *load)
{
    for (size_t i = 0; i < load->options.connection_count; i++) {
        for (size_t k = 0; k < load->options.stream_count && load_take_turn(load); k++) {
            load_connection_start(load->connections[i], load_now_ns());
        }
        load_connection_flush(load->connections[i]);
    }
}

static void wait_and_read(int epoll, uint64_t wait_ns)
{
    struct epoll_event events[EVENTS_MAX];
    struct timespec wait = {.tv_sec = (time_t)(wait_ns / 1000000000u),
                            .tv_nsec = (long)(wait_ns % 1000000000u)};
    int count = epoll_pwait2(epoll, events, EVENTS_MAX, &wait, NULL);

    if (count < 0 && errno != EINTR) {
        load_fail("wait", strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        load_connection_read(events[i].data.ptr);
    }
}

/* Gives how long it took. */
static uint64_t run(struct load *load, int epoll)
{
    uint64_t start_ns = load_now_ns();
    uint64_t end_ns = load->options.seconds > 0 ? start_ns + (uint64_t)(load->options.seconds * 1e9)
                                                : UINT64_MAX - LINGER_NS;
    uint64_t now = start_ns;

    if (load->options.rate <= 0) {
        fill(load);
    }
    do {
        uint64_t wait_ns = end_ns - now < 100000000u ? end_ns - now : 100000000u;

        if (load->options.rate > 0) {
            uint64_t next_ns = start_due(load, start_ns);

            next_ns = next_ns > AWAKE_NS ? next_ns - AWAKE_NS : 0;
            wait_ns = next_ns < wait_ns ? next_ns : wait_ns;
        }
        wait_and_read(epoll, wait_ns);
        now = load_now_ns();
    } while (now < end_ns &&
             (load->options.call_count == 0 || load->counts.answered < load->options.call_count));
    load->stopped = true;
    while (load->counts.answered < load->counts.started && now < end_ns + LINGER_NS) {
        wait_and_read(epoll, 10000000u);
        now = load_now_ns();
    }
    return load_now_ns() - start_ns;
}

static int compare_samples(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static double percentile_us(const struct load *load, double share)
{
    size_t at = (size_t)(share * (double)load->sample_count);

    if (load->sample_count == 0) {
        return -1;
    }
    return load->samples[at < load->sample_count ? at : load->sample_count - 1] / 10.0;
}

static void print_result(struct load *load, double seconds)
{
    const struct load_counts *counts = &load->counts;
    double answered = counts->answered == 0 ? 1 : (double)counts->answered;

    qsort(load->samples, load->sample_count, sizeof(uint32_t), compare_samples);
    printf("{\"started\": %" PRIu64 ", \"answered\": %" PRIu64 ", \"right\": %" PRIu64
           ", \"seconds\": %.3f, \"rate\": %.1f, \"reply_bytes\": %.1f, ",
           counts->started, counts->answered, counts->right, seconds,
           (double)counts->answered / seconds, (double)counts->reply_bytes / answered);
    if (counts->right != counts->answered) {
        printf("\"first_wrong_status\": %" PRId64 ", \"first_wrong_bytes\": %zu, ",
               counts->first_wrong_status, counts->first_wrong_bytes);
    }
    printf("\"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"p999\": %.1f, \"max\": %.1f}\n",
           percentile_us(load, 0.50), percentile_us(load, 0.90), percentile_us(load, 0.99),
           percentile_us(load, 0.999), percentile_us(load, 1.0));
}

static double number_of(const char *text)
{
    char *end = NULL;
    double number = strtod(text, &end);

    if (end == text || *end != '\0' || !(number >= 0)) {
        load_fail(text, "is no number");
    }
    return number;
}

static void expect_bytes(struct load_options *options, const char *text)
{
    char *end = NULL;

    options->expect_min = strtoul(text, &end, 10);
    options->expect_max = *end == '-' ? strtoul(end + 1, &end, 10) : options->expect_min;
    if (end == text || *end != '\0') {
        load_fail(text, "is no number of bytes, such as 3740 or 900-1100");
    }
}

static const char usage[] =
    "usage: bench_load --port N --path /SERVICE/METHOD --requests FILE [--tokens FILE]\n"
    "    [--connections N] [--streams N] [--rate CALLS_A_SECOND] [--seconds S | --count N]\n"
    "    [--expect BYTES[-BYTES]] [--seed N] [--plain] [--get]\n"
    "Without --rate it is a closed loop. --expect counts the data of an answer, with the 5 bytes\n"
    "before its message. The exit code is 0 where every answer was right.\n";

struct load_arguments {
    const char *requests;
    const char *tokens;
};

static bool read_option(struct load *load, struct load_arguments *arguments, int option)
{
    struct load_options *options = &load->options;

    /* The letters are getopt's numbers for the long names, no enum of ours. */
    switch (option) {
    case 'p':
        options->port = (uint16_t)number_of(optarg);
        return true;
    case 'm':
        options->path = optarg;
        return true;
    case 'q':
        arguments->requests = optarg;
        return true;
    case 't':
        arguments->tokens = optarg;
        return true;
    case 'c':
        options->connection_count = (size_t)number_of(optarg);
        return true;
    case 's':
        options->stream_count = (size_t)number_of(optarg);
        return true;
    case 'r':
        options->rate = number_of(optarg);
        return true;
    case 'd':
        options->seconds = number_of(optarg);
        return true;
    case 'n':
        options->call_count = (uint64_t)number_of(optarg);
        return true;
    case 'e':
        expect_bytes(options, optarg);
        return true;
    case 'x':
        load->random = (uint64_t)number_of(optarg);
        return true;
    case 'l':
        options->plain = true;
        return true;
    case 'g':
        options->get = true;
        return true;
    default: /* getopt has said what it does not know */
        return false;
    }
}

static bool read_options(struct load *load, struct load_arguments *arguments, int argc, char **argv)
{
    static const struct option names[] = {{"port", required_argument, NULL, 'p'},
                                          {"path", required_argument, NULL, 'm'},
                                          {"requests", required_argument, NULL, 'q'},
                                          {"tokens", required_argument, NULL, 't'},
                                          {"connections", required_argument, NULL, 'c'},
                                          {"streams", required_argument, NULL, 's'},
                                          {"rate", required_argument, NULL, 'r'},
                                          {"seconds", required_argument, NULL, 'd'},
                                          {"count", required_argument, NULL, 'n'},
                                          {"expect", required_argument, NULL, 'e'},
                                          {"seed", required_argument, NULL, 'x'},
                                          {"plain", no_argument, NULL, 'l'},
                                          {"get", no_argument, NULL, 'g'},
                                          {NULL, 0, NULL, 0}};
    struct load_options *options = &load->options;
    int option = 0;

    *options =
        (struct load_options){.connection_count = 1, .stream_count = 1, .expect_max = SIZE_MAX};
    load->random = 42;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (!read_option(load, arguments, option)) {
            return false;
        }
    }
    return optind == argc && options->port != 0 && options->path != NULL &&
           arguments->requests != NULL && (options->seconds > 0) != (options->call_count > 0) &&
           (options->rate <= 0 || options->seconds > 0) && options->connection_count > 0 &&
           options->connection_count <= LOAD_CONNECTIONS_MAX;
}

int main(int argc, char **argv)
{
    struct load load = {0};
    struct load_arguments arguments = {0};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    uint64_t taken_ns = 0;

    if (!read_options(&load, &arguments, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    read_requests(&load, arguments.requests);
    if (arguments.tokens != NULL) {
        read_tokens(&load, arguments.tokens);
    }
    load.samples = malloc(LOAD_SAMPLES_MAX * sizeof(uint32_t));
    if (epoll < 0 || load.samples == NULL) {
        load_fail("start", "no memory");
    }
    load_connection_callbacks(&load);
    for (size_t i = 0; i < load.options.connection_count; i++) {
        struct epoll_event event = {.events = EPOLLIN};

        load.connections[i] = load_connection_new(&load, i);
        event.data.ptr = load.connections[i];
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, load_connection_fd(load.connections[i]), &event) != 0) {
            load_fail("start", strerror(errno));
        }
    }
    taken_ns = run(&load, epoll);
    print_result(&load, (double)taken_ns / 1e9);
    for (size_t i = 0; i < load.options.connection_count; i++) {
        load_connection_free(load.connections[i]);
    }
    nghttp2_session_callbacks_del(load.callbacks);
    free(load.samples);
    return load.counts.answered == load.counts.started && load.counts.right == load.counts.answered
               ? 0
               : 1;
}
