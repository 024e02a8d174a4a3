/*
 * config.h: the configuration of erratad: from flags, and from a file with the same names (`name =
 * value` lines); a flag overrides the file. Everything is validated here, with messages that state
 * the expected form; an unknown name is an error.
 */
#ifndef ERRATA_SERVER_APP_CONFIG_H
#define ERRATA_SERVER_APP_CONFIG_H

#include "store/base/logger.h"

#define CONFIG_PATH_BYTES_MAX 4096
#define CONFIG_HOST_BYTES_MAX 256
#define CONFIG_NAME_BYTES_MAX 256
#define CONFIG_PROBLEM_BYTES_MAX 1024
#define CONFIG_PREFIX_BYTES_MAX 255
#define CONFIG_ORIGINS_BYTES_MAX 4096
#define CONFIG_ORIGINS_MAX 32
/* Limit of the file's size; a typical one is a page of lines. */
#define CONFIG_FILE_BYTES_MAX (64 * 1024)

enum config_action {
    CONFIG_SERVE,
    CONFIG_CHECK, /* --check-config: validate flags and file, then exit */
    CONFIG_NEW_TOKEN, /* --new-admin-token: write another administrator's token, then exit */
    CONFIG_REBUILD, /* --rebuild: rebuild the tables from the log, then exit */
    CONFIG_RESTORE, /* --restore FILE: create the data folder from a backup, then exit */
    CONFIG_VERIFY_COPY, /* --verify-copy: started by the server for a copy that it created */
    CONFIG_HELP,
    CONFIG_VERSION
};

/* Values of --log: how writes become durable. */
enum config_log {
    CONFIG_LOG_OF_STORE, /* as the store has it; of a new one, the default */
    CONFIG_LOG_LMDB, /* with the tables, in one synced transaction */
    CONFIG_LOG_JOURNAL /* in a journal, which the tables follow (store/journal/journal.h) */
};

struct config {
    /* The flags, which are borrowed: a reload reads them again. */
    int argc;
    char *const *argv;
    enum config_action action;
    char file[CONFIG_PATH_BYTES_MAX]; /* --config */
    char data[CONFIG_PATH_BYTES_MAX];
    char restore_file[CONFIG_PATH_BYTES_MAX]; /* argument of --restore */
    char listen_host[CONFIG_HOST_BYTES_MAX]; /* an IP address, without brackets */
    uint16_t listen_port; /* 0: any free port */
    char metrics_host[CONFIG_HOST_BYTES_MAX]; /* empty: metrics only on the main port */
    uint16_t metrics_port; /* 0: any free port */
    enum config_log log;
    enum logger_level log_level;
    enum logger_format log_format;
    char log_file[CONFIG_PATH_BYTES_MAX]; /* empty: standard error */
    uint64_t map_bytes;
    uint64_t journal_segment_bytes; /* size of a file of the journal */
    uint64_t message_bytes_max;
    uint32_t connections_max;
    uint32_t address_connections_max; /* maximum connections of one address */
    char cors_origins
        [CONFIG_ORIGINS_BYTES_MAX]; /* --cors-origin: all origins, separated by commas */
    uint32_t drain_timeout_ms;
    char pdf_worker[CONFIG_PATH_BYTES_MAX]; /* empty: the program in the same folder as erratad */
    char model[CONFIG_PATH_BYTES_MAX]; /* the encoder's model file; empty: none */
    uint32_t pdf_slots; /* 0: one per core, within the limits */
    char tls_cert[CONFIG_PATH_BYTES_MAX]; /* empty: cleartext */
    char tls_key[CONFIG_PATH_BYTES_MAX];
    char tls_client_ca[CONFIG_PATH_BYTES_MAX]; /* empty: clients need no certificate */
    char redis_host[CONFIG_NAME_BYTES_MAX]; /* a name or an address; empty: no TCP */
    uint16_t redis_port;
    char redis_path[CONFIG_PATH_BYTES_MAX]; /* a Unix socket; empty: none */
    char redis_stream[CONFIG_NAME_BYTES_MAX];
    char redis_group[CONFIG_NAME_BYTES_MAX];
    char redis_consumer[CONFIG_NAME_BYTES_MAX];
    char redis_organization[CONFIG_NAME_BYTES_MAX];
    char redis_password_file[CONFIG_PATH_BYTES_MAX]; /* empty: no password */
    char path_prefix[CONFIG_PATH_BYTES_MAX]; /* such as /errata; empty: none */
    bool insecure_allow_remote; /* accept cleartext connections from other hosts */
};

struct config_problem {
    char text[CONFIG_PROBLEM_BYTES_MAX];
};

/* Reads flags and file over the defaults; false with a sentence if something is wrong. */
bool config_read(int argc, char *const *argv, struct config *ret_config,
                 struct config_problem *ret_problem);
/* Copies from `fresh` what a running server may change (options that --help marks as such). Writes the names of
 * other options that differ to `ret_others`, with commas between them; empty: none. */
void config_take_over(struct config *running, const struct config *fresh,
                      struct config_problem *ret_others);
/* Returns the text of --help. */
const char *config_help(void);

#endif
