/*
 * place.c: see place.h.
 */
#include "client/library/place.h"

#include "store/base/text.h"

const char *place_text(char **at, struct slice text)
{
    char *place = *at;
    size_t done = 0;

    while (done < text.size) {
        size_t size = text_sequence_bytes(slice_after(text, done));

        if (size == 0 || text.data[done] == '\0') {
            place[done++] = '?';
            continue;
        }
        memcpy(place + done, text.data + done, size);
        done += size;
    }
    place[text.size] = '\0';
    *at = place + text.size + 1;
    return place;
}
