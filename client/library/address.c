/*
 * address.c: see address.h. Names are not resolved here, so only their characters are checked.
 */
#include "client/library/address.h"

#include <stdio.h>

#define PORT_MAX 65535u
#define PORT_DIGITS_MAX 5

/* An address, split. */
struct parts {
    struct slice host;
    struct slice port;
    bool has_port; /* the text contains a colon */
    bool bracketed;
};

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_letter(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* Returns whether `host` consists of the characters of a host name or an IPv4 address. */
static bool may_be_name(struct slice host)
{
    for (size_t at = 0; at < host.size; at++) {
        uint8_t byte = host.data[at];

        if (!is_digit(byte) && !is_letter(byte) && byte != '-' && byte != '.' && byte != '_') {
            return false;
        }
    }
    return host.size > 0 && host.data[0] != '-' && host.data[0] != '.';
}

/* Returns whether `host` consists of the characters of an IPv6 address, with or without a zone (`%eth0`). */
static bool may_be_ipv6(struct slice host)
{
    const uint8_t *percent = host.size > 0 ? memchr(host.data, '%', host.size) : NULL;
    size_t address_bytes = percent != NULL ? (size_t)(percent - host.data) : host.size;
    size_t colons = 0;

    for (size_t at = 0; at < address_bytes; at++) {
        uint8_t byte = host.data[at];
        bool hex = is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');

        colons += byte == ':';
        if (!hex && byte != ':' && byte != '.') {
            return false;
        }
    }
    return colons >= 2 && (percent == NULL || may_be_name(slice_after(host, address_bytes + 1)));
}

static bool read_port(struct slice text, uint16_t *ret_port)
{
    uint32_t port = 0;

    if (text.size == 0 || text.size > PORT_DIGITS_MAX) {
        return false;
    }
    for (size_t at = 0; at < text.size; at++) {
        if (!is_digit(text.data[at])) {
            return false;
        }
        port = port * 10 + (uint32_t)(text.data[at] - '0');
    }
    if (port == 0 || port > PORT_MAX) {
        return false;
    }
    *ret_port = (uint16_t)port;
    return true;
}

/* Splits after the bracket, or at the only colon. Returns false if neither is possible. */
static bool split(struct slice whole, struct parts *parts)
{
    const uint8_t *end = whole.data + whole.size;
    const uint8_t *mark = NULL;

    if (whole.data[0] != '[') {
        mark = memchr(whole.data, ':', whole.size);
        parts->has_port = mark != NULL;
        parts->host = mark != NULL ? slice_of(whole.data, (size_t)(mark - whole.data)) : whole;
        parts->port = mark != NULL ? slice_of(mark + 1, (size_t)(end - mark - 1)) : parts->port;
        return mark == NULL || memchr(mark + 1, ':', (size_t)(end - mark - 1)) == NULL;
    }
    mark = memchr(whole.data, ']', whole.size);
    if (mark == NULL || (mark + 1 < end && mark[1] != ':')) {
        return false;
    }
    parts->bracketed = true;
    parts->has_port = mark + 1 < end;
    parts->host = slice_of(whole.data + 1, (size_t)(mark - whole.data) - 1);
    parts->port =
        parts->has_port ? slice_of(mark + 2, (size_t)(end - mark) - 2) : slice_of(NULL, 0);
    return true;
}

/* Reports frequent mistakes, each with the correct form. */
static bool looks_like_something_else(const char *text, const struct problem *problem)
{
    struct problem_shown shown = problem_show(text);

    if (text[0] == '\0') {
        problem_say(problem, "server: empty; expected HOST:PORT, or NULL for %s:%d",
                    ADDRESS_HOST_DEFAULT, ADDRESS_PORT_DEFAULT);
        return true;
    }
    if (strncmp(text, "https://", 8) == 0 || strncmp(text, "grpcs://", 8) == 0) {
        problem_say(problem,
                    "server: \"%s\" is a URL that asks for TLS; expected HOST:PORT, with `tls` set",
                    shown.text);
        return true;
    }
    if (strstr(text, "://") != NULL || strchr(text, '/') != NULL) {
        problem_say(problem, "server: \"%s\" is a URL or a path; expected HOST:PORT, such as %s:%d",
                    shown.text, ADDRESS_HOST_DEFAULT, ADDRESS_PORT_DEFAULT);
        return true;
    }
    return false;
}

/* Checks the host. */
static bool check_host(const char *text, const struct parts *parts, const struct problem *problem)
{
    struct problem_shown shown = problem_show(text);

    if (parts->host.size > CLIENT_HOST_BYTES_MAX) {
        problem_say(problem, "server: host name of %zu bytes; expected at most %d",
                    parts->host.size, CLIENT_HOST_BYTES_MAX);
        return false;
    }
    if (parts->bracketed && !may_be_ipv6(parts->host)) {
        problem_say(
            problem,
            "server: invalid IPv6 address in \"%s\"; expected [IPV6]:PORT, such as [::1]:%d",
            shown.text, ADDRESS_PORT_DEFAULT);
        return false;
    }
    if (!parts->bracketed && !may_be_name(parts->host)) {
        problem_say(problem,
                    "server: invalid host name in \"%s\"; expected HOST:PORT, such as %s:%d",
                    shown.text, ADDRESS_HOST_DEFAULT, ADDRESS_PORT_DEFAULT);
        return false;
    }
    return true;
}

bool address_read(const char *text, const struct problem *problem, struct address *ret_address)
{
    struct parts parts = {.has_port = false};
    struct problem_shown shown;
    uint16_t port = ADDRESS_PORT_DEFAULT;

    if (text == NULL) {
        text = ADDRESS_HOST_DEFAULT;
    }
    if (looks_like_something_else(text, problem)) {
        return false;
    }
    shown = problem_show(text);
    if (!split(slice_text(text), &parts)) {
        problem_say(problem,
                    "server: misplaced colon or bracket in \"%s\"; expected HOST:PORT, or [::1]:%d",
                    shown.text, ADDRESS_PORT_DEFAULT);
        return false;
    }
    if (!check_host(text, &parts, problem)) {
        return false;
    }
    if (parts.has_port && !read_port(parts.port, &port)) {
        problem_say(problem, "server: invalid port in \"%s\"; expected a number from 1 to %u",
                    shown.text, PORT_MAX);
        return false;
    }
    memcpy(ret_address->host, parts.host.data, parts.host.size);
    ret_address->host[parts.host.size] = '\0';
    ret_address->port = port;
    return true;
}
