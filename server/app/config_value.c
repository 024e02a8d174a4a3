/*
 * config_value.c: parses configuration values.
 */
#include "server/app/config_value.h"

#include <arpa/inet.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t factor;
};

char *config_value_trim(char *text)
{
    size_t size = 0;

    while (*text == ' ' || *text == '\t') {
        text++;
    }
    size = strlen(text);
    while (size > 0 && strchr(" \t\r", text[size - 1]) != NULL) {
        text[--size] = '\0';
    }
    return text;
}

bool config_value_text(const char *value, char *to, size_t size)
{
    size_t bytes = strlen(value);

    if (bytes == 0 || bytes >= size) {
        return false;
    }
    memcpy(to, value, bytes + 1);
    return true;
}

/* Reads the decimal number at the front; false without one, or past 2^53. */
static bool read_digits(const char **at, uint64_t *ret_number)
{
    const char *start = *at;
    uint64_t number = 0;

    while (**at >= '0' && **at <= '9') {
        number = number * 10 + (uint64_t)(**at - '0');
        if (number > 1ull << 53) {
            return false;
        }
        ++*at;
    }
    *ret_number = number;
    return *at != start;
}

bool config_value_count(const char *value, uint64_t *ret_count)
{
    uint64_t count = 0;

    if (!read_digits(&value, &count) || *value != '\0') {
        return false;
    }
    *ret_count = count;
    return true;
}

static bool read_with_unit(const char *value, const struct unit *units, size_t unit_count,
                           uint64_t *ret_number)
{
    uint64_t number = 0;

    if (!read_digits(&value, &number)) {
        return false;
    }
    for (size_t i = 0; i < unit_count; i++) {
        uint64_t product = 0;

        if (strcmp(value, units[i].name) == 0) {
            if (__builtin_mul_overflow(number, units[i].factor, &product)) {
                return false;
            }
            *ret_number = product;
            return true;
        }
    }
    return false;
}

bool config_value_bytes(const char *value, uint64_t *ret_bytes)
{
    static const struct unit units[] = {
        {"", 1}, {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}};

    return read_with_unit(value, units, sizeof(units) / sizeof(units[0]), ret_bytes);
}

bool config_value_duration_ms(const char *value, uint64_t *ret_duration_ms)
{
    static const struct unit units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

    return read_with_unit(value, units, sizeof(units) / sizeof(units[0]), ret_duration_ms);
}

bool config_value_switch(const char *value, bool *ret_on)
{
    bool on = strcmp(value, "true") == 0;

    if (!on && strcmp(value, "false") != 0) {
        return false;
    }
    *ret_on = on;
    return true;
}

bool config_value_level(const char *value, enum logger_level *ret_level)
{
    static const char *const names[] = {
        [LOGGER_ERROR] = "error",
        [LOGGER_WARNING] = "warning",
        [LOGGER_INFO] = "info",
        [LOGGER_DEBUG] = "debug",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(value, names[i]) == 0) {
            *ret_level = (enum logger_level)i;
            return true;
        }
    }
    return false;
}

bool config_value_format(const char *value, enum logger_format *ret_format)
{
    if (strcmp(value, "text") == 0) {
        *ret_format = LOGGER_TEXT;
        return true;
    }
    if (strcmp(value, "json") == 0) {
        *ret_format = LOGGER_JSON;
        return true;
    }
    return false;
}

bool config_value_log(const char *value, enum config_log *ret_log)
{
    if (strcmp(value, "lmdb") == 0) {
        *ret_log = CONFIG_LOG_LMDB;
        return true;
    }
    if (strcmp(value, "journal") == 0) {
        *ret_log = CONFIG_LOG_JOURNAL;
        return true;
    }
    return false;
}

static bool is_address(const char *host)
{
    struct in6_addr address;

    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

/* Splits HOST:PORT; the host is without the brackets, which an IPv6 address has. False for another form. */
static bool split_address(const char *value, const char **ret_host, size_t *ret_bytes,
                          uint16_t *ret_port)
{
    const char *colon = strrchr(value, ':');
    uint64_t port = 0;
    size_t bytes = 0;

    if (colon == NULL || !config_value_count(colon + 1, &port) || port > 65535) {
        return false;
    }
    bytes = (size_t)(colon - value);
    if (bytes >= 2 && value[0] == '[' && colon[-1] == ']') {
        value++;
        bytes -= 2;
    } else if (memchr(value, ':', bytes) != NULL) {
        return false;
    }
    *ret_host = value;
    *ret_bytes = bytes;
    *ret_port = (uint16_t)port;
    return bytes > 0;
}

bool config_value_listen(const char *value, char *host, size_t host_size, uint16_t *ret_port)
{
    const char *start = NULL;
    size_t bytes = 0;
    uint16_t port = 0;
    char text[INET6_ADDRSTRLEN + 2];

    if (!split_address(value, &start, &bytes, &port) || bytes >= sizeof(text)) {
        return false;
    }
    memcpy(text, start, bytes);
    text[bytes] = '\0';
    if (strcmp(text, "localhost") == 0) {
        memcpy(text, "127.0.0.1", sizeof("127.0.0.1"));
    }
    if (!is_address(text) || !config_value_text(text, host, host_size)) {
        return false;
    }
    *ret_port = port;
    return true;
}

bool config_value_redis(const char *value, struct config *config)
{
    static const char of_names[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    static const char in_brackets[] = "0123456789abcdefABCDEF:.";
    const char *host = NULL;
    size_t bytes = 0;
    uint16_t port = 0;

    config->redis_host[0] = '\0';
    config->redis_path[0] = '\0';
    if (value[0] == '/') {
        return config_value_text(value, config->redis_path, sizeof(config->redis_path));
    }
    if (!split_address(value, &host, &bytes, &port) || port == 0 ||
        bytes >= sizeof(config->redis_host) ||
        strspn(host, value[0] == '[' ? in_brackets : of_names) != bytes) {
        return false;
    }
    memcpy(config->redis_host, host, bytes);
    config->redis_host[bytes] = '\0';
    config->redis_port = port;
    return true;
}

/* Returns the length of the origin at the front; 0 if there is none. */
static size_t origin_bytes(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-:[]";
    size_t scheme = 0;
    size_t host = 0;

    if (strncmp(text, "http://", 7) == 0) {
        scheme = 7;
    } else if (strncmp(text, "https://", 8) == 0) {
        scheme = 8;
    }
    host = strspn(text + scheme, allowed);
    return scheme > 0 && host > 0 ? scheme + host : 0;
}

/* Returns the number of origins in the text; 0 if it is malformed. */
static size_t count_origins(const char *text)
{
    size_t count = 0;

    for (;;) {
        size_t origin = origin_bytes(text);

        if (origin == 0) {
            return 0;
        }
        count++;
        text += origin;
        if (*text != ',') {
            return *text == '\0' ? count : 0;
        }
        text++;
    }
}

bool config_value_origins(const char *value, char *list, size_t size, size_t count_max)
{
    size_t used = strlen(list);
    size_t bytes = strlen(value);
    size_t count = count_origins(value);

    if (count == 0 || count_origins(list) + count > count_max || used + 1 + bytes >= size) {
        return false;
    }
    if (used > 0) {
        list[used++] = ',';
    }
    memcpy(list + used, value, bytes + 1);
    return true;
}

bool config_value_is_loopback(const char *host)
{
    struct in6_addr six;
    struct in_addr four;

    if (inet_pton(AF_INET, host, &four) == 1) {
        return ntohl(four.s_addr) >> 24 == 127;
    }
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool config_value_is_prefix(const char *value, size_t bytes_max)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-/";
    size_t bytes = strlen(value);

    return bytes >= 2 && bytes <= bytes_max && value[0] == '/' && value[bytes - 1] != '/' &&
           strspn(value, allowed) == bytes && strstr(value, "//") == NULL &&
           strstr(value, "/.") == NULL;
}
