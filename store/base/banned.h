/*
 * banned.h: turns functions that this project must not call into errors that name the replacement.
 * The build includes it before every file of the project (`warnings` in tools/cmake/modules.cmake),
 * never in generated code. It only declares: a file still includes what it uses. A use causes a
 * warning, and every warning is an error.
 */
#ifndef ERRATA_STORE_BASE_BANNED_H
#define ERRATA_STORE_BASE_BANNED_H

#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>

#define BANNED(instead) __attribute__((deprecated("banned here: " instead)))

struct tm;

char *strcpy(char *, const char *) BANNED("use memcpy with a known size, or buffer_append");
char *strcat(char *, const char *) BANNED("use buffer_append");
char *strncpy(char *, const char *, size_t) BANNED("use memcpy with a known size");
int sprintf(char *, const char *, ...) BANNED("use snprintf, buffer_printf or arena_printf");
int vsprintf(char *, const char *, va_list) BANNED("use vsnprintf");
char *strtok(char *, const char *) BANNED("walk a struct slice");
struct tm *gmtime(const time_t *) BANNED("use gmtime_r");
struct tm *localtime(const time_t *) BANNED("use gmtime_r: all times are UTC");
int atoi(const char *) BANNED("use strtol and check its end and errno");
long atol(const char *) BANNED("use strtol and check its end and errno");
int rand(void) BANNED("use random_fill of store/base/random.h");
long random(void) BANNED("use random_fill of store/base/random.h");
time_t time(time_t *) BANNED("use clock_wall_us of store/base/clock.h");

#endif
