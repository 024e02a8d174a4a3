/*
 * main.c: attacker KIND --server HOST:PORT [options]: attacks, and reports as JSON what was sent,
 * what was received, and the GOAWAY of the server. Meant for erratad on the same machine;
 * tools/floods and floods.py run it.
 */
#include "tests/attack/attack.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char usage[] =
    "attacker KIND --server HOST:PORT [--token-file FILE] [--connections N] [--seconds S]\n"
    "         [--rate PIECES_A_SECOND] [--from ADDRESS] [--addresses N] [--until-reported]\n"
    "attacker --list\n";

static void list_kinds(void)
{
    const struct attack_kind *kind = NULL;

    for (size_t i = 0; (kind = attack_kind_at(i)) != NULL; i++) {
        (void)printf("%-22s %s\n", kind->name, kind->what);
    }
}

static bool read_token(struct attack *attack, const char *path)
{
    char token[ATTACK_TOKEN_BYTES_MAX] = "";
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        return false;
    }
    if (fgets(token, sizeof(token), file) == NULL) {
        token[0] = '\0';
    }
    (void)fclose(file);
    token[strcspn(token, "\r\n")] = '\0';
    (void)snprintf(attack->authorization, sizeof(attack->authorization), "Bearer %s", token);
    return token[0] != '\0';
}

/* HOST:PORT, in place. */
static bool read_server(struct attack *attack, char *text)
{
    char *colon = strrchr(text, ':');

    if (colon == NULL) {
        return false;
    }
    *colon = '\0';
    attack->host = text;
    attack->port = (uint16_t)strtoul(colon + 1, NULL, 10);
    return attack->port != 0;
}

static bool take_option(struct attack *attack, int option)
{
    switch (option) {
    case 's':
        return read_server(attack, optarg);
    case 't':
        return read_token(attack, optarg);
    case 'c':
        attack->connections = (uint32_t)strtoul(optarg, NULL, 10);
        return attack->connections > 0 && attack->connections <= ATTACK_CONNECTIONS_MAX;
    case 'd':
        attack->seconds = (int64_t)strtoul(optarg, NULL, 10);
        return attack->seconds > 0;
    case 'r':
        attack->rate = strtoul(optarg, NULL, 10);
        return true;
    case 'f':
        attack->from = optarg;
        return true;
    case 'u':
        attack->until_reported = true;
        return true;
    case 'a':
        attack->addresses = (uint32_t)strtoul(optarg, NULL, 10);
        return attack->addresses > 0;
    default:
        return false;
    }
}

static bool read_options(struct attack *attack, int argc, char **argv)
{
    static const struct option options[] = {
        {"server", required_argument, NULL, 's'},
        {"token-file", required_argument, NULL, 't'},
        {"connections", required_argument, NULL, 'c'},
        {"seconds", required_argument, NULL, 'd'},
        {"rate", required_argument, NULL, 'r'},
        {"from", required_argument, NULL, 'f'},
        {"until-reported", no_argument, NULL, 'u'},
        {"addresses", required_argument, NULL, 'a'},
        {NULL, 0, NULL, 0},
    };
    int option = 0;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (!take_option(attack, option)) {
            return false;
        }
    }
    if (optind != argc - 1 || attack->host == NULL) {
        return false;
    }
    attack->kind = attack_find_kind(argv[optind]);
    if (attack->kind != NULL && attack->connections == 0) {
        attack->connections = attack->kind->connections;
    }
    return attack->kind != NULL;
}

/* Raises the limit of open files to its maximum. */
static void raise_files_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void print_text(const char *text)
{
    (void)putchar('"');
    for (; *text != '\0'; text++) {
        if (*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\') {
            (void)putchar(*text);
        }
    }
    (void)putchar('"');
}

static void print_farewells(const struct attack_counts *counts)
{
    (void)printf(", \"farewells\": [");
    for (uint32_t i = 0; i < counts->farewell_count; i++) {
        const struct farewell *at = &counts->farewells[i];

        (void)printf("%s{\"code\": %" PRIu32 ", \"text\": ", i > 0 ? ", " : "", at->code);
        print_text(at->text);
        (void)printf(", \"count\": %" PRIu64 ", \"after_ms_min\": %.1f, \"after_ms_max\": %.1f, "
                     "\"frames_max\": %" PRIu64 "}",
                     at->count, (double)at->after_us_min / 1000, (double)at->after_us_max / 1000,
                     at->frames_max);
    }
    (void)printf("]");
}

static void print_report(const struct attack *attack)
{
    const struct attack_counts *counts = &attack->counts;
    struct rusage spent;
    const char *comma = "";

    (void)getrusage(RUSAGE_SELF, &spent);
    (void)printf("{\"kind\": \"%s\", \"seconds\": %.3f, \"connections\": %" PRIu32
                 ", \"connects\": %" PRIu64 ", \"connects_failed\": %" PRIu64 ", \"live\": %" PRIu32
                 ", \"live_max\": %" PRIu64 ", \"closed\": %" PRIu64
                 ", \"closed_unanswered\": %" PRIu64 ", \"closed_after_ms_max\": %.1f",
                 attack->kind->name, (double)(attack->now_us - attack->started_us) / 1e6,
                 attack->connections, counts->connects, counts->connects_failed, attack->live,
                 counts->live_max, counts->closed, counts->closed_unanswered,
                 (double)counts->closed_after_us_max / 1000);
    (void)printf(", \"pieces\": %" PRIu64 ", \"frames\": %" PRIu64 ", \"requests\": %" PRIu64
                 ", \"bytes_sent\": %" PRIu64 ", \"bytes_received\": %" PRIu64
                 ", \"answers\": %" PRIu64 ", \"data_bytes\": %" PRIu64 ", \"resets\": {",
                 attack->pieces, counts->frames, counts->requests, counts->bytes_sent,
                 counts->bytes_received, counts->answers, counts->data_bytes);
    for (unsigned code = 0; code < ATTACK_CODES_MAX; code++) {
        if (counts->resets[code] > 0) {
            (void)printf("%s\"%u\": %" PRIu64, comma, code, counts->resets[code]);
            comma = ", ";
        }
    }
    (void)printf("}");
    print_farewells(counts);
    (void)printf(", \"cpu_seconds\": %.3f}\n",
                 (double)(spent.ru_utime.tv_sec + spent.ru_stime.tv_sec) +
                     (double)(spent.ru_utime.tv_usec + spent.ru_stime.tv_usec) / 1e6);
}

static void free_attack(struct attack *attack)
{
    for (uint32_t i = 0; i < attack->connections; i++) {
        free(attack->peers[i].out.data);
    }
    free(attack->peers);
    free(attack->payload.data);
}

int main(int argc, char **argv)
{
    struct attack attack = {.seconds = 10, .addresses = 1};
    bool reached = false;

    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        list_kinds();
        return 0;
    }
    if (!read_options(&attack, argc, argv)) {
        (void)fputs(usage, stderr);
        return 2;
    }
    raise_files_limit();
    attack.peers = (struct peer *)calloc(attack.connections, sizeof(*attack.peers));
    if (attack.peers == NULL) {
        return 1;
    }
    for (uint32_t i = 0; i < attack.connections; i++) {
        attack.peers[i].attack = &attack;
        attack.peers[i].fd = -1;
    }
    reached = attack_run(&attack);
    print_report(&attack);
    free_attack(&attack);
    return reached ? 0 : 1;
}
