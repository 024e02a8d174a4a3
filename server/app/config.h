/*
 * config.h: what erratad is told: by flags, and by a file of the same names (`name = value` lines);
 * a flag wins over the file. Everything is checked here, with a message that says what would be
 * right; an unknown name is an error.
 */
#ifndef ERRATA_SERVER_APP_CONFIG_H
#define ERRATA_SERVER_APP_CONFIG_H

#include "store/base/logger.h"

#define CONFIG_PATH_BYTES_MAX 4096
#define CONFIG_HOST_BYTES_MAX 256
#define CONFIG_PROBLEM_BYTES_MAX 1024
/* A file is a page of lines. */
#define CONFIG_FILE_BYTES_MAX (64 * 1024)

enum config_action {
    CONFIG_SERVE,
    CONFIG_CHECK, /* --check-config: tell whether the rest is right, and end */
    CONFIG_NEW_TOKEN, /* --new-admin-token: write another administrator's token, and end */
    CONFIG_REBUILD, /* --rebuild: make the tables again from the log, and end */
    CONFIG_RESTORE, /* --restore FILE: make the data folder from a backup, and end */
    CONFIG_VERIFY_COPY, /* --verify-copy: what the server itself starts, on a copy that it made */
    CONFIG_HELP,
    CONFIG_VERSION
};

struct config {
    enum config_action action;
    char file[CONFIG_PATH_BYTES_MAX]; /* --config */
    char data[CONFIG_PATH_BYTES_MAX];
    char restore_file[CONFIG_PATH_BYTES_MAX]; /* of --restore */
    char listen_host[CONFIG_HOST_BYTES_MAX]; /* an IP address, without brackets */
    uint16_t listen_port; /* 0: any free one */
    enum logger_level log_level;
    enum logger_format log_format;
    uint64_t map_bytes;
    uint64_t message_bytes_max;
    uint32_t connections_max;
    uint32_t address_connections_max; /* of one address */
    uint32_t drain_timeout_ms;
    char pdf_worker[CONFIG_PATH_BYTES_MAX]; /* empty: beside the running program */
    uint32_t pdf_slots; /* 0: one a core, within bounds */
    bool insecure_allow_remote; /* cleartext beyond this machine, knowingly */
};

struct config_problem {
    char text[CONFIG_PROBLEM_BYTES_MAX];
};

/* Reads flags and file over the defaults; false with a sentence where something is wrong. */
bool config_read(int argc, char *const *argv, struct config *ret_config,
                 struct config_problem *ret_problem);
/* What --help prints. */
const char *config_help(void);

#endif
