/*
 * keys.h: single keys from a terminal, without the Enter key. The terminal is in its usual mode except while a key is
 * awaited, and a signal that ends the program restores it.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_KEYS_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_KEYS_H

#include "tools/errata/terminal/print.h"

/* A key that is not a character. Characters are returned as themselves, as bytes. */
enum key {
    KEYS_END = 256, /* the end of the input, Ctrl-C or Ctrl-D */
    KEYS_NEXT, /* the arrow down or right, or Page Down */
    KEYS_PREVIOUS, /* the arrow up or left, or Page Up */
    KEYS_OTHER /* another key that sends several bytes */
};

/* Prints a prompt, and waits for a key of standard input, which is a terminal. Earlier input is discarded, so that no
 * key acts on text that was not on the screen yet. */
int keys_read(struct printer *printer, const char *prompt);

#endif
