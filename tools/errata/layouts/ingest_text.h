/*
 * ingest_text.h: the texts that `errata layouts ingest --text` requests from the server: printed,
 * or each written to a file.
 */
#ifndef ERRATA_TOOLS_ERRATA_LAYOUTS_INGEST_TEXT_H
#define ERRATA_TOOLS_ERRATA_LAYOUTS_INGEST_TEXT_H

#include "tools/errata/cli.h"

struct ingest_text {
    const char *folder; /* folder of the files; "-": standard output; NULL: no text is requested */
};

/* Checks --text against the number of files, and creates its folder if it is missing. */
MUST_CHECK enum cli_exit ingest_text_begin(struct cli *cli, size_t files,
                                           struct ingest_text *ret_text);
static inline bool ingest_text_is_wanted(const struct ingest_text *text)
{
    return text->folder != NULL;
}
/* Returns whether the text is printed instead of the table. */
bool ingest_text_is_printed(const struct ingest_text *text);
/* Takes the DocumentText out of an encoded response. `ret_rest` is the response without it; both are
 * empty slices if the response has no text, or if the arena has no room. */
void ingest_text_split(struct arena *arena, struct slice reply, struct slice *ret_rest,
                       struct slice *ret_text);
/* Returns the end of the note of a file, which reports whether its text is cut. */
const char *ingest_text_warning(struct slice document_text);
/* Prints or writes the text of a file at `path`. Returns false with `ret_problem`, in the cli's
 * arena. */
bool ingest_text_put(struct cli *cli, const struct ingest_text *text, const char *path,
                     struct slice document_text, struct slice *ret_problem);

#endif
