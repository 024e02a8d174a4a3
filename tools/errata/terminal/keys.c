/*
 * keys.c: see keys.h.
 */
#include "tools/errata/terminal/keys.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#define CONTROL_C 3
#define CONTROL_D 4
#define ESCAPE 27
/* The bytes of one key arrive together; a lone Escape is followed by nothing. */
#define SEQUENCE_MS 50
#define SEQUENCE_BYTES_MAX 8

/* Reads the rest of a key that began with Escape. */
static int read_sequence(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char bytes[SEQUENCE_BYTES_MAX] = {0};
    ssize_t size = 0;

    if (poll(&input, 1, SEQUENCE_MS) <= 0) {
        return ESCAPE;
    }
    size = read(STDIN_FILENO, bytes, sizeof(bytes) - 1);
    if (size < 2 || (bytes[0] != '[' && bytes[0] != 'O')) {
        return KEYS_OTHER;
    }
    if (bytes[1] == 'B' || bytes[1] == 'C' || strcmp(bytes + 1, "6~") == 0) {
        return KEYS_NEXT;
    }
    return bytes[1] == 'A' || bytes[1] == 'D' || strcmp(bytes + 1, "5~") == 0 ? KEYS_PREVIOUS
                                                                              : KEYS_OTHER;
}

static int read_key(void)
{
    unsigned char byte = 0;

    if (read(STDIN_FILENO, &byte, 1) != 1 || byte == CONTROL_C || byte == CONTROL_D) {
        return KEYS_END;
    }
    return byte == ESCAPE ? read_sequence() : byte;
}

/* Waits for a key, or for a signal that would end the program: it stays pending, and KEYS_END is returned. */
static int wait_for_key(const sigset_t *ending)
{
    struct pollfd inputs[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                               {.fd = signalfd(-1, ending, SFD_CLOEXEC), .events = POLLIN}};
    int key = KEYS_END;

    if (inputs[1].fd >= 0 && poll(inputs, 2, -1) > 0 && inputs[1].revents == 0) {
        key = read_key();
    }
    if (inputs[1].fd >= 0) {
        (void)close(inputs[1].fd);
    }
    return key;
}

int keys_read(struct printer *printer, const char *prompt)
{
    static const int numbers[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
    struct termios usual;
    struct termios single;
    sigset_t ending;
    sigset_t before;
    int key = KEYS_END;

    if (tcgetattr(STDIN_FILENO, &usual) != 0) {
        return KEYS_END;
    }
    single = usual;
    single.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    single.c_cc[VMIN] = 1;
    single.c_cc[VTIME] = 0;
    (void)sigemptyset(&ending);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        (void)sigaddset(&ending, numbers[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &ending, &before);
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &single);
    print_text(printer, "%s", prompt);
    (void)fflush(printer->stream);
    key = wait_for_key(&ending);
    (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &usual);
    (void)sigprocmask(SIG_SETMASK, &before, NULL); /* a pending signal ends the program here */
    return key;
}
