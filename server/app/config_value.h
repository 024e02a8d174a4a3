/*
 * config_value.h: the texts of configuration values, read strictly. Each is false for anything but
 * a whole value of its kind.
 */
#ifndef ERRATA_SERVER_APP_CONFIG_VALUE_H
#define ERRATA_SERVER_APP_CONFIG_VALUE_H

#include "store/base/logger.h"

/* The text without white space at its ends; changes it. */
char *config_value_trim(char *text);
bool config_value_text(const char *value, char *to, size_t size);
bool config_value_count(const char *value, uint64_t *ret_count);
/* Bytes, or KiB, MiB, GiB. */
bool config_value_bytes(const char *value, uint64_t *ret_bytes);
/* ms, s, m or h; the unit is required. */
bool config_value_duration_ms(const char *value, uint64_t *ret_duration_ms);
bool config_value_switch(const char *value, bool *ret_on);
bool config_value_level(const char *value, enum logger_level *ret_level);
bool config_value_format(const char *value, enum logger_format *ret_format);
/* `127.0.0.1:7443`, `[::1]:7443`, `localhost:7443`; the host comes without brackets. */
bool config_value_listen(const char *value, char *host, size_t host_size, uint16_t *ret_port);
/* An address that only this machine reaches. */
bool config_value_is_loopback(const char *host);

#endif
