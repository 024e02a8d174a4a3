/*
 * web_file.h: a file of the page for people, as the build embeds it (server/web/embed.py).
 */
#ifndef ERRATA_SERVER_WEB_WEB_FILE_H
#define ERRATA_SERVER_WEB_WEB_FILE_H

#include <stddef.h>

struct web_file {
    const char *path; /* that it is served at; it differs with the content, except for "/" */
    const char *content_type;
    const char *tag; /* its entity tag (RFC 9110, 8.8.3), of its content, with quotes */
    const unsigned char *data;
    size_t size;
    const unsigned char *packed; /* the same, compressed by gzip */
    size_t packed_size;
};

#endif
