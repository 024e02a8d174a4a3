/*
 * web.c: see web.h.
 */
#include "server/web/web.h"

#include "web_files.h"

/* Permits only this server's own files and methods: no inline script or style, no other site, no frame, and no
 * text that is parsed as markup. A chart is saved from a blob: that is a link, which needs no permission here. */
#define CONTENT_POLICY                                                                             \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "        \
    "'self'; "                                                                                     \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for "      \
    "'script'; "                                                                                   \
    "trusted-types 'none'"
/* A browser revalidates the page each time; its other files change their path. */
#define CACHE_PAGE "no-cache"
#define CACHE_FILE "public, max-age=31536000, immutable"

static const struct web_file *find_file(struct slice path)
{
    for (size_t i = 0; i < WEB_FILE_COUNT; i++) {
        if (slice_equal(path, slice_text(web_files[i].path))) {
            return &web_files[i];
        }
    }
    return NULL;
}

/* Returns whether a list of entity tags has this one; a weak one counts, since only the encoding differs. */
static bool has_tag(struct slice list, struct slice tag)
{
    for (size_t i = 0; i + tag.size <= list.size; i++) {
        if (memcmp(list.data + i, tag.data, tag.size) == 0) {
            return true;
        }
    }
    return slice_equal(list, SLICE("*"));
}

static void add_field(struct plain_response *response, const char *name, const char *value)
{
    response->fields[response->field_count++] =
        (struct plain_field){slice_text(name), slice_text(value)};
}

static void add_fields(const struct web_file *file, struct plain_response *response)
{
    bool is_page = strcmp(file->path, WEB_PAGE_PATH) == 0;

    add_field(response, "etag", file->tag);
    add_field(response, "cache-control", is_page ? CACHE_PAGE : CACHE_FILE);
    add_field(response, "vary", "accept-encoding");
    add_field(response, "content-security-policy", CONTENT_POLICY);
    add_field(response, "x-content-type-options", "nosniff");
    add_field(response, "referrer-policy", "no-referrer");
    add_field(response, "cross-origin-opener-policy", "same-origin");
}

void web_answer(void *user, const struct plain_request *request,
                struct plain_response *ret_response)
{
    const struct web_file *file = find_file(request->path);

    (void)user;
    *ret_response = (struct plain_response){
        .status = 404,
        .content_type = SLICE("text/plain; charset=utf-8"),
        .body = SLICE("path: no such file of the page; expected one that / names\n")};
    if (file == NULL) {
        return;
    }
    ret_response->content_type = slice_text(file->content_type);
    add_fields(file, ret_response);
    if (has_tag(request->if_none_match, slice_text(file->tag))) {
        ret_response->status = 304;
        ret_response->body = slice_of(NULL, 0);
        return;
    }
    ret_response->status = 200;
    ret_response->body = slice_of(file->data, file->size);
    if (request->accepts_gzip && file->packed_size < file->size) {
        add_field(ret_response, "content-encoding", "gzip");
        ret_response->body = slice_of(file->packed, file->packed_size);
    }
}
