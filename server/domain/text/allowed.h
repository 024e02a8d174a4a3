/*
 * allowed.h: the characters that notes and guidelines may have, by Unicode's categories, except
 * those of forbidden.def: letters (L*), marks (M*), digits and numbers (N*), punctuation (P*),
 * common symbols (Sc currency, Sm mathematics, Sk modifiers, So others: degree, check marks,
 * arrows, emoji), space and line feed. A code point that has no category (unassigned, private use),
 * or that moves or hides text (Cc, Cf, ignorable), is not allowed.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_ALLOWED_H
#define ERRATA_SERVER_DOMAIN_TEXT_ALLOWED_H

#include <stdbool.h>
#include <stdint.h>

/* Delimiters around a note in a prompt: the bag delimiters. Sanitised notes and guidelines contain
 * neither them nor similar characters. */
#define ALLOWED_QUOTE_OPEN 0x27C5
#define ALLOWED_QUOTE_CLOSE 0x27C6

bool allowed_in_field(uint32_t code_point);

#endif
