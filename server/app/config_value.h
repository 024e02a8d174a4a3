/*
 * config_value.h: strict parsers of configuration values. Each returns false unless the whole text
 * is a value of its kind.
 */
#ifndef ERRATA_SERVER_APP_CONFIG_VALUE_H
#define ERRATA_SERVER_APP_CONFIG_VALUE_H

#include "server/app/config.h"

/* Returns the text without white space at its ends; changes it. */
char *config_value_trim(char *text);
bool config_value_text(const char *value, char *to, size_t size);
bool config_value_count(const char *value, uint64_t *ret_count);
/* Parses bytes, KiB, MiB or GiB. */
bool config_value_bytes(const char *value, uint64_t *ret_bytes);
/* Parses ms, s, m or h; the unit is required. */
bool config_value_duration_ms(const char *value, uint64_t *ret_duration_ms);
bool config_value_switch(const char *value, bool *ret_on);
bool config_value_level(const char *value, enum logger_level *ret_level);
bool config_value_format(const char *value, enum logger_format *ret_format);
bool config_value_log(const char *value, enum config_log *ret_log);
/* Appends an origin, such as https://app.example.com or http://localhost:3000, or several with commas
 * between them, to a list with commas. */
bool config_value_origins(const char *value, char *list, size_t size, size_t count_max);
/* Parses `127.0.0.1:7443`, `[::1]:7443`, `localhost:7443`; writes the host without brackets. */
bool config_value_listen(const char *value, char *host, size_t host_size, uint16_t *ret_port);
/* Parses `redis.example.com:6379`, `127.0.0.1:6379` and `[::1]:6379`, with a port from 1, or the absolute path of a
 * Unix socket. */
bool config_value_redis(const char *value, struct config *config);
/* Returns whether the text is a path prefix: `/` and letters, digits and `._~-/`, without `//`, `/.` and a `/` at
 * its end. */
bool config_value_is_prefix(const char *value, size_t bytes_max);
/* Returns whether only this machine can reach the address. */
bool config_value_is_loopback(const char *host);

#endif
