/*
 * contexts.h: contexts: servers and their tokens by name, as the configuration file stores them:
 *
 *     {"current": "home",
 *      "contexts": {"home": {"server": "127.0.0.1:7443", "token_file": "/etc/errata/admin.token"},
 *                   "office": {"server": "errata.example:7443", "token": "errata_...", "tls": true,
 *                              "ca": "/etc/errata/ca.pem"}}}
 *
 * Unknown members are kept as they are, at every level. Pure: config_file.h reads and writes the file.
 * Everything is in the arena of contexts_init.
 */
#ifndef ERRATA_TOOLS_ERRATA_CONFIG_CONTEXTS_H
#define ERRATA_TOOLS_ERRATA_CONFIG_CONTEXTS_H

#include "store/base/buffer.h"
#include "store/base/fault.h"

/* Maximum contexts, far more than people have; a file with more is refused. */
#define CONTEXTS_MAX 256
/* Maximum bytes of a name, since names are typed and printed in tables. */
#define CONTEXT_NAME_BYTES_MAX 64

struct contexts_member; /* an unknown member of a context, which is preserved */

/* How the server is reached by TLS. Paths are absolute. */
struct context_tls {
    bool on; /* false: cleartext, and no files */
    struct slice ca; /* file of the trusted authorities; empty: the system's */
    struct slice client_cert; /* file of the client's certificate; or empty */
    struct slice client_key; /* file of its key; or empty */
};

struct context {
    struct slice name;
    struct slice server; /* HOST:PORT; empty: the default server */
    struct slice token; /* text of the token; empty if it is in a file or absent */
    struct slice token_file; /* an absolute path; or empty */
    struct context_tls tls;
    struct contexts_member *others;
};

struct contexts {
    struct arena *arena;
    struct slice current; /* a name, of a context or not; or empty */
    struct context *list; /* CONTEXTS_MAX entries, in the order of the file */
    size_t count;
    struct contexts_member *others;
};

/* Initializes an empty set of contexts. Returns OK or ERR_MEMORY. */
MUST_CHECK enum err contexts_init(struct contexts *contexts, struct arena *arena);
/* Reads the text, which must outlive the contexts. ERR_INVALID with a message in `fault`;
 * ERR_MEMORY. */
MUST_CHECK enum err contexts_read(struct contexts *contexts, struct arena *arena, struct slice text,
                                  struct fault *fault);
/* Appends the text, indented and with a line feed at its end; the caller checks buffer_ok. */
void contexts_write(const struct contexts *contexts, struct buffer *text);

/* Returns whether the name has 1 to 64 ASCII letters, digits and characters of `._-`, and does not
 * start with a dash. */
bool context_name_valid(struct slice name);
/* Returns whether the token is one line of printable ASCII without spaces. */
bool context_token_valid(struct slice token);
/* Returns the key id of a token `errata_<key id>_<secret>`, eight hex digits; empty if the token
 * has another form. */
struct slice context_token_key_id(struct slice token);

/* Finds a context by name; NULL if there is none. */
struct context *contexts_find(const struct contexts *contexts, struct slice name);
/* Returns the context with this name; adds one at the end if there is none. ERR_TOO_LARGE above
 * CONTEXTS_MAX. */
MUST_CHECK enum err contexts_put(struct contexts *contexts, struct slice name,
                                 struct context **ret_context);
/* Removes a context; if it was the current one, there is no current context any more. */
void contexts_remove(struct contexts *contexts, struct context *context);

#endif
