/*
 * web.h: serves the page for people: the embedded files of server/web/page. Anyone may read them,
 * since they contain no data: the page calls methods with the token that its user enters. The
 * methods are served elsewhere.
 */
#ifndef ERRATA_SERVER_WEB_WEB_H
#define ERRATA_SERVER_WEB_WEB_H

#include "server/call/plain.h"

/* Paths of the page, and of the files that it loads, for the table of plain requests. */
#define WEB_PAGE_PATH "/"
#define WEB_FILES_PATH "/assets/"

/* Responds with the file of the request's path, compressed if the caller accepts that; 304 if the
 * caller has it; 404 if there is none, such as a file of another version. `user` is not used. */
void web_answer(void *user, const struct plain_request *request,
                struct plain_response *ret_response);

#endif
