/*
 * config.c: flags and the configuration file, both read by one table of options.
 */
#include "server/app/config.h"

#include "server/app/config_value.h"
#include "server/jobs/pdf/pdf_jobs.h"
#include "server/net/server.h"
#include "store/base/text.h"
#include "store/journal/journal.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_kind {
    OPTION_PATH,
    OPTION_NAME,
    OPTION_REDIS,
    OPTION_LISTEN,
    OPTION_METRICS_LISTEN,
    OPTION_ORIGINS,
    OPTION_LEVEL,
    OPTION_FORMAT,
    OPTION_LOG,
    OPTION_BYTES,
    OPTION_COUNT,
    OPTION_DURATION,
    OPTION_SWITCH
};

/* An option, which is a flag and a name in the file. `min` and `max` bound a number. */
struct option {
    const char *name;
    enum option_kind kind;
    size_t offset; /* offset of the member in struct config */
    uint64_t min;
    uint64_t max;
    const char *right; /* the expected form, for messages */
};

#define GIB (1024ull * 1024 * 1024)
#define MIB (1024ull * 1024)

_Static_assert(PDF_SLOTS_MAX == 2, "the texts of --pdf-slots below contain the limit");

static const struct option options[] = {
    {"data", OPTION_PATH, offsetof(struct config, data), 0, 0, "the path of a folder"},
    {"listen", OPTION_LISTEN, 0, 0, 0,
     "ADDRESS:PORT, such as 127.0.0.1:7443 or [::1]:7443; port 0 picks one"},
    {"metrics-listen", OPTION_METRICS_LISTEN, 0, 0, 0,
     "ADDRESS:PORT, such as 127.0.0.1:9464; port 0 picks one"},
    {"log", OPTION_LOG, offsetof(struct config, log), 0, 0, "lmdb or journal"},
    {"log-level", OPTION_LEVEL, offsetof(struct config, log_level), 0, 0,
     "error, warning, info or debug"},
    {"log-format", OPTION_FORMAT, offsetof(struct config, log_format), 0, 0, "text or json"},
    {"log-file", OPTION_PATH, offsetof(struct config, log_file), 0, 0, "the path of a file"},
    {"map-size", OPTION_BYTES, offsetof(struct config, map_bytes), 16 * MIB, 512 * GIB,
     "16MiB to 512GiB"},
    {"journal-segment-size", OPTION_BYTES, offsetof(struct config, journal_segment_bytes),
     STORE_JOURNAL_SEGMENT_BYTES_MIN, STORE_JOURNAL_SEGMENT_BYTES_MAX, "64KiB to 256MiB"},
    {"message-bytes-max", OPTION_BYTES, offsetof(struct config, message_bytes_max), 64 * 1024,
     64 * MIB, "64KiB to 64MiB"},
    {"connections-max", OPTION_COUNT, offsetof(struct config, connections_max), 1, 100000,
     "1 to 100000"},
    {"connections-per-address", OPTION_COUNT, offsetof(struct config, address_connections_max), 1,
     100000, "1 to 100000"},
    {"cors-origin", OPTION_ORIGINS, offsetof(struct config, cors_origins), 0, 0,
     "origins such as https://app.example.com or http://localhost:3000, with commas between them"},
    {"drain-timeout", OPTION_DURATION, offsetof(struct config, drain_timeout_ms), 0, 3600000,
     "0 to 1h, such as 500ms, 30s or 2m"},
    {"pdf-worker", OPTION_PATH, offsetof(struct config, pdf_worker), 0, 0,
     "the path of the program errata-pdf-worker"},
    {"pdf-slots", OPTION_COUNT, offsetof(struct config, pdf_slots), 1, PDF_SLOTS_MAX, "1 or 2"},
    {"model", OPTION_PATH, offsetof(struct config, model), 0, 0,
     "the path of a file made by errata-mkmodel"},
    {"tls-cert", OPTION_PATH, offsetof(struct config, tls_cert), 0, 0,
     "the path of a certificate in PEM, followed by its intermediate ones"},
    {"tls-key", OPTION_PATH, offsetof(struct config, tls_key), 0, 0,
     "the path of the certificate's private key in PEM"},
    {"tls-client-ca", OPTION_PATH, offsetof(struct config, tls_client_ca), 0, 0,
     "the path of certificates of authorities in PEM"},
    {"redis", OPTION_REDIS, 0, 0, 0,
     "HOST:PORT, such as 127.0.0.1:6379, or the path of a Unix socket"},
    {"redis-stream", OPTION_NAME, offsetof(struct config, redis_stream), 0, 0,
     "the key of a stream, at most 255 bytes of UTF-8"},
    {"redis-group", OPTION_NAME, offsetof(struct config, redis_group), 0, 0,
     "a name, at most 255 bytes of UTF-8"},
    {"redis-consumer", OPTION_NAME, offsetof(struct config, redis_consumer), 0, 0,
     "a name, at most 255 bytes of UTF-8"},
    {"redis-organization", OPTION_NAME, offsetof(struct config, redis_organization), 0, 0,
     "the name of an organisation, at most 255 bytes of UTF-8"},
    {"redis-password-file", OPTION_PATH, offsetof(struct config, redis_password_file), 0, 0,
     "the path of a file"},
    {"path-prefix", OPTION_PATH, offsetof(struct config, path_prefix), 0, 0,
     "a path, such as /errata"},
    {"insecure-allow-remote", OPTION_SWITCH, offsetof(struct config, insecure_allow_remote), 0, 0,
     "true or false"},
};

/* Options that a running server may change. */
static const char *const live_options[] = {
    "log-level", "log-format", "log-file", "drain-timeout", "tls-cert", "tls-key", "tls-client-ca"};

/* The longest name of a variable, with room. */
#define VARIABLE_BYTES_MAX 64

#define OPTIONS_COUNT (sizeof(options) / sizeof(options[0]))

static bool refuse_config(struct config_problem *ret_problem, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* Formats the problem; always returns false. */
static bool refuse_config(struct config_problem *ret_problem, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    (void)vsnprintf(ret_problem->text, sizeof(ret_problem->text), format, values);
    va_end(values);
    return false;
}

static const struct option *find_option(const char *name, size_t name_bytes)
{
    for (size_t i = 0; i < OPTIONS_COUNT; i++) {
        if (strlen(options[i].name) == name_bytes &&
            memcmp(options[i].name, name, name_bytes) == 0) {
            return &options[i];
        }
    }
    return NULL;
}

/* Reads a number of the option's kind within its bounds. */
static bool read_number(const struct option *option, const char *value, uint64_t *ret_number)
{
    uint64_t number = 0;
    bool read = false;

    switch (option->kind) {
    case OPTION_BYTES:
        read = config_value_bytes(value, &number);
        break;
    case OPTION_DURATION:
        read = config_value_duration_ms(value, &number);
        break;
    case OPTION_COUNT:
        read = config_value_count(value, &number);
        break;
    case OPTION_PATH:
    case OPTION_NAME:
    case OPTION_REDIS:
    case OPTION_LISTEN:
    case OPTION_METRICS_LISTEN:
    case OPTION_ORIGINS:
    case OPTION_LEVEL:
    case OPTION_FORMAT:
    case OPTION_LOG:
    case OPTION_SWITCH:
        return false;
    }
    *ret_number = number;
    return read && number >= option->min && number <= option->max;
}

/* Sets an option's value; false if it is invalid. */
static bool set_value(struct config *config, const struct option *option, const char *value)
{
    uint8_t *at = (uint8_t *)config + option->offset;
    uint64_t number = 0;
    uint32_t small = 0;

    switch (option->kind) {
    case OPTION_PATH:
        return config_value_text(value, (char *)at, CONFIG_PATH_BYTES_MAX);
    case OPTION_NAME:
        return text_is_utf8(slice_text(value)) &&
               config_value_text(value, (char *)at, CONFIG_NAME_BYTES_MAX);
    case OPTION_REDIS:
        return config_value_redis(value, config);
    case OPTION_LISTEN:
        return config_value_listen(value, config->listen_host, sizeof(config->listen_host),
                                   &config->listen_port);
    case OPTION_METRICS_LISTEN:
        return config_value_listen(value, config->metrics_host, sizeof(config->metrics_host),
                                   &config->metrics_port);
    case OPTION_ORIGINS:
        return config_value_origins(value, (char *)at, CONFIG_ORIGINS_BYTES_MAX,
                                    CONFIG_ORIGINS_MAX);
    case OPTION_LEVEL:
        return config_value_level(value, &config->log_level);
    case OPTION_FORMAT:
        return config_value_format(value, &config->log_format);
    case OPTION_LOG:
        return config_value_log(value, &config->log);
    case OPTION_SWITCH:
        return config_value_switch(value, (bool *)at);
    case OPTION_BYTES:
        if (!read_number(option, value, &number)) {
            return false;
        }
        memcpy(at, &number, sizeof(number));
        return true;
    case OPTION_COUNT:
    case OPTION_DURATION:
        if (!read_number(option, value, &number)) {
            return false;
        }
        small = (uint32_t)number;
        memcpy(at, &small, sizeof(small));
        return true;
    }
    return false;
}

/* Returns the size of an option's member; 0 if it has several, or is a text. */
static size_t member_bytes(const struct option *option)
{
    switch (option->kind) {
    case OPTION_LEVEL:
        return sizeof(enum logger_level);
    case OPTION_FORMAT:
        return sizeof(enum logger_format);
    case OPTION_LOG:
        return sizeof(enum config_log);
    case OPTION_BYTES:
        return sizeof(uint64_t);
    case OPTION_COUNT:
    case OPTION_DURATION:
        return sizeof(uint32_t);
    case OPTION_SWITCH:
        return sizeof(bool);
    case OPTION_PATH:
    case OPTION_NAME:
    case OPTION_REDIS:
    case OPTION_LISTEN:
    case OPTION_METRICS_LISTEN:
    case OPTION_ORIGINS:
        return 0;
    }
    return 0;
}

static bool is_same(const struct option *option, const struct config *a, const struct config *b)
{
    const char *at_a = (const char *)a + option->offset;
    const char *at_b = (const char *)b + option->offset;

    switch (option->kind) {
    case OPTION_LISTEN:
        return strcmp(a->listen_host, b->listen_host) == 0 && a->listen_port == b->listen_port;
    case OPTION_METRICS_LISTEN:
        return strcmp(a->metrics_host, b->metrics_host) == 0 && a->metrics_port == b->metrics_port;
    case OPTION_REDIS:
        return strcmp(a->redis_host, b->redis_host) == 0 && a->redis_port == b->redis_port &&
               strcmp(a->redis_path, b->redis_path) == 0;
    case OPTION_PATH:
    case OPTION_NAME:
    case OPTION_ORIGINS:
        return strcmp(at_a, at_b) == 0;
    case OPTION_LEVEL:
    case OPTION_FORMAT:
    case OPTION_LOG:
    case OPTION_BYTES:
    case OPTION_COUNT:
    case OPTION_DURATION:
    case OPTION_SWITCH:
        return memcmp(at_a, at_b, member_bytes(option)) == 0;
    }
    return false;
}

static bool is_live(const struct option *option)
{
    for (size_t i = 0; i < sizeof(live_options) / sizeof(live_options[0]); i++) {
        if (strcmp(option->name, live_options[i]) == 0) {
            return true;
        }
    }
    return false;
}

void config_take_over(struct config *running, const struct config *fresh,
                      struct config_problem *ret_others)
{
    size_t used = 0;

    ret_others->text[0] = '\0';
    for (size_t i = 0; i < OPTIONS_COUNT; i++) {
        const struct option *option = &options[i];
        size_t size = option->kind == OPTION_PATH ? CONFIG_PATH_BYTES_MAX : member_bytes(option);

        if (is_same(option, running, fresh)) {
            continue;
        }
        if (is_live(option)) {
            memcpy((char *)running + option->offset, (const char *)fresh + option->offset, size);
        } else if (used < sizeof(ret_others->text)) {
            used += (size_t)snprintf(ret_others->text + used, sizeof(ret_others->text) - used,
                                     "%s%s", used > 0 ? ", " : "", option->name);
        }
    }
}

static bool apply_option(struct config *config, const struct option *option, const char *value,
                         const char *where, struct config_problem *ret_problem)
{
    if (set_value(config, option, value)) {
        return true;
    }
    return refuse_config(ret_problem, "%s: invalid value '%.64s' for %s; expected %s", where, value,
                         option->name, option->right);
}

/* Reads one line of the file: empty, a comment, or `name = value`. */
static bool apply_line(struct config *config, char *line, unsigned number,
                       struct config_problem *ret_problem)
{
    const struct option *option = NULL;
    char where[64];
    char *value = NULL;
    char *name = config_value_trim(line);

    if (*name == '\0' || *name == '#') {
        return true;
    }
    (void)snprintf(where, sizeof(where), "line %u of the file", number);
    value = strchr(name, '=');
    if (value == NULL) {
        return refuse_config(ret_problem, "%s: '%.64s' is malformed; expected `name = value`",
                             where, name);
    }
    *value = '\0';
    value = config_value_trim(value + 1);
    name = config_value_trim(name);
    option = find_option(name, strlen(name));
    if (option == NULL) {
        return refuse_config(
            ret_problem, "%s: unknown option '%.64s'; expected an option that erratad --help lists",
            where, name);
    }
    return apply_option(config, option, value, where, ret_problem);
}

static bool read_file(struct config *config, struct config_problem *ret_problem)
{
    char text[CONFIG_FILE_BYTES_MAX + 1];
    FILE *file = fopen(config->file, "re");
    size_t size = 0;
    unsigned number = 0;

    if (file == NULL) {
        return refuse_config(ret_problem, "cannot read the file '%s': %m", config->file);
    }
    size = fread(text, 1, sizeof(text), file);
    (void)fclose(file);
    if (size > CONFIG_FILE_BYTES_MAX) {
        return refuse_config(ret_problem, "the file '%s' is too large; expected at most %d bytes",
                             config->file, CONFIG_FILE_BYTES_MAX);
    }
    text[size] = '\0';
    for (char *line = text; line != NULL;) {
        char *end = strchr(line, '\n');

        if (end != NULL) {
            *end++ = '\0';
        }
        if (!apply_line(config, line, ++number, ret_problem)) {
            return false;
        }
        line = end;
    }
    return true;
}

/* Reads ERRATA_LOG_FORMAT for `log-format`. */
static void name_variable(const struct option *option, char *ret_name, size_t name_bytes)
{
    (void)snprintf(ret_name, name_bytes, "ERRATA_%s", option->name);
    for (char *letter = ret_name; *letter != '\0'; letter++) {
        if (*letter == '-') {
            *letter = '_';
        } else if (*letter >= 'a' && *letter <= 'z') {
            *letter = (char)(*letter & ~0x20);
        }
    }
}

/* Reads the environment: a variable for each option. An empty one is not set. */
static bool read_environment(struct config *config, struct config_problem *ret_problem)
{
    for (size_t i = 0; i < OPTIONS_COUNT; i++) {
        char name[VARIABLE_BYTES_MAX];
        const char *value = NULL;

        name_variable(&options[i], name, sizeof(name));
        value = getenv(name);
        if (value != NULL && value[0] != '\0' &&
            !apply_option(config, &options[i], value, name, ret_problem)) {
            return false;
        }
    }
    return true;
}

/* Handles flags that select an action. */
static bool take_action(struct config *config, const char *flag)
{
    if (strcmp(flag, "--help") == 0 || strcmp(flag, "-h") == 0) {
        config->action = CONFIG_HELP;
    } else if (strcmp(flag, "--version") == 0) {
        config->action = CONFIG_VERSION;
    } else if (strcmp(flag, "--check-config") == 0) {
        config->action = CONFIG_CHECK;
    } else if (strcmp(flag, "--rebuild") == 0) {
        config->action = CONFIG_REBUILD;
    } else if (strcmp(flag, "--new-admin-token") == 0) {
        config->action = CONFIG_NEW_TOKEN;
    } else if (strcmp(flag, "--verify-copy") == 0) {
        config->action = CONFIG_VERIFY_COPY;
    } else {
        return false;
    }
    return true;
}

/* Returns where to store the path of a flag that the file does not have; NULL for other flags. */
static char *find_path_flag(struct config *config, const char *name, size_t name_bytes)
{
    if (name_bytes == strlen("config") && memcmp(name, "config", name_bytes) == 0) {
        return config->file;
    }
    if (name_bytes == strlen("restore") && memcmp(name, "restore", name_bytes) == 0) {
        config->action = CONFIG_RESTORE;
        return config->restore_file;
    }
    return NULL;
}

/* Reads one flag, `--name VALUE` or `--name=VALUE`; moves `at` past it. The file's path is read in
 * the first pass, everything else in the second, after the file. */
static bool take_flag(struct config *config, int argc, char *const *argv, int *at, bool first_pass,
                      struct config_problem *ret_problem)
{
    const char *flag = argv[*at];
    const char *name = flag + 2;
    const char *value = strchr(flag, '=');
    size_t name_bytes = value != NULL ? (size_t)(value - name) : strlen(name);
    char *path = find_path_flag(config, name, name_bytes);
    const struct option *option = find_option(name, name_bytes);

    if (option == NULL && path == NULL) {
        return refuse_config(ret_problem,
                             "unknown option '%.64s'; expected an option that erratad --help lists",
                             flag);
    }
    if (value != NULL) {
        value++;
    } else if (option != NULL && option->kind == OPTION_SWITCH) {
        value = "true";
    } else if (*at + 1 < argc && strncmp(argv[*at + 1], "--", 2) != 0) {
        value = argv[++*at];
    } else {
        return refuse_config(ret_problem, "%s: no value; expected a value after this option", flag);
    }
    if (path != NULL) {
        return config_value_text(value, path, CONFIG_PATH_BYTES_MAX) ||
               refuse_config(ret_problem, "%s: no value; expected the path of a file", flag);
    }
    return first_pass || apply_option(config, option, value, "the flag", ret_problem);
}

static bool read_flags(struct config *config, int argc, char *const *argv, bool first_pass,
                       struct config_problem *ret_problem)
{
    for (int at = 1; at < argc; at++) {
        if (take_action(config, argv[at])) {
            continue;
        }
        if (strncmp(argv[at], "--", 2) != 0) {
            return refuse_config(
                ret_problem,
                "unexpected argument '%.64s'; expected only options: see erratad --help", argv[at]);
        }
        if (!take_flag(config, argc, argv, &at, first_pass, ret_problem)) {
            return false;
        }
    }
    return true;
}

/* Checks conditions that concern several options. */
static bool check_whole(const struct config *config, struct config_problem *ret_problem)
{
    if (config->action == CONFIG_HELP || config->action == CONFIG_VERSION) {
        return true;
    }
    if (config->data[0] == '\0') {
        return refuse_config(ret_problem, "--data: missing; expected the folder of the store");
    }
    if (config->path_prefix[0] != '\0' &&
        !config_value_is_prefix(config->path_prefix, CONFIG_PREFIX_BYTES_MAX)) {
        return refuse_config(ret_problem,
                             "path-prefix: invalid value '%.64s'; expected a path such as /errata, "
                             "without a / at its end",
                             config->path_prefix);
    }
    if ((config->tls_cert[0] == '\0') != (config->tls_key[0] == '\0')) {
        return refuse_config(ret_problem,
                             "%s: missing; expected both tls-cert and tls-key, or neither",
                             config->tls_cert[0] == '\0' ? "tls-cert" : "tls-key");
    }
    if (config->tls_client_ca[0] != '\0' && config->tls_cert[0] == '\0') {
        return refuse_config(ret_problem,
                             "tls-client-ca: set without TLS; expected tls-cert and tls-key, too");
    }
    if (!config_value_is_loopback(config->listen_host) && config->tls_cert[0] == '\0' &&
        !config->insecure_allow_remote) {
        return refuse_config(
            ret_problem,
            "listen: %s is reachable from other hosts, and this server speaks cleartext: "
            "add --tls-cert and --tls-key, use 127.0.0.1 or [::1], or add --insecure-allow-remote "
            "if the network is trusted",
            config->listen_host);
    }
    return true;
}

/* Finds the log format before anything else is read, so that a problem is reported in that format. An
 * invalid one is reported later. */
static void find_log_format(struct config *config, int argc, char *const *argv)
{
    static const char flag[] = "--log-format";
    const char *value = getenv("ERRATA_LOG_FORMAT");

    for (int at = 1; at < argc; at++) {
        size_t size = sizeof(flag) - 1;

        if (strncmp(argv[at], flag, size) == 0 && argv[at][size] == '=') {
            value = argv[at] + size + 1;
        } else if (strcmp(argv[at], flag) == 0 && at + 1 < argc) {
            value = argv[at + 1];
        }
    }
    if (value != NULL) {
        (void)!config_value_format(value, &config->log_format);
    }
}

bool config_read(int argc, char *const *argv, struct config *ret_config,
                 struct config_problem *ret_problem)
{
    struct config *config = ret_config;

    *config = (struct config){
        .argc = argc,
        .argv = argv,
        .listen_host = "127.0.0.1",
        .listen_port = 7443,
        .log_level = LOGGER_INFO,
        .map_bytes = 256 * GIB,
        .journal_segment_bytes = STORE_JOURNAL_SEGMENT_BYTES_DEFAULT,
        .message_bytes_max = 16 * MIB,
        .connections_max = 10000,
        .address_connections_max = NET_ADDRESS_CONNECTIONS_MAX,
        .drain_timeout_ms = 30000,
        .redis_stream = "asdlc:events:hitl_decisions",
        .redis_group = "errata",
        .redis_consumer = "erratad",
        .redis_organization = "default",
    };
    find_log_format(config, argc, argv);
    if (!read_flags(config, argc, argv, true, ret_problem)) {
        return false;
    }
    if (config->file[0] != '\0' && !read_file(config, ret_problem)) {
        return false;
    }
    return read_environment(config, ret_problem) &&
           read_flags(config, argc, argv, false, ret_problem) && check_whole(config, ret_problem);
}
