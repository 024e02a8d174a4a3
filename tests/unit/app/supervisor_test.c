/*
 * supervisor_test.c: messages to a service manager.
 */
#include "tests/unit/app/app_tests.h"

#include "server/app/supervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A manager's socket of an abstract name, which needs no file. */
struct manager {
    int socket;
    char name[64];
};

static int open_manager(void **state)
{
    static struct manager manager;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int size = snprintf(manager.name, sizeof(manager.name), "@errata-supervisor-%d", (int)getpid());

    manager.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    memcpy(address.sun_path + 1, manager.name + 1, (size_t)size - 1);
    *state = &manager;
    return bind(manager.socket, (const struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)size));
}

static int close_manager(void **state)
{
    const struct manager *manager = *state;

    return close(manager->socket);
}

/* Expects the next message; NULL: there is none. */
static void expect_message(const struct manager *manager, const char *wanted)
{
    char message[SUPERVISOR_MESSAGE_BYTES_MAX + 1] = "";
    ssize_t size = recv(manager->socket, message, sizeof(message) - 1, 0);

    if (wanted == NULL) {
        assert_int_equal(size, -1);
        return;
    }
    assert_true(size > 0);
    assert_string_equal(message, wanted);
}

static void set_environment(const char *socket, const char *limit_us, const char *pid)
{
    const char *names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};
    const char *values[] = {socket, limit_us, pid};

    for (size_t i = 0; i < 3; i++) {
        (void)unsetenv(names[i]);
        if (values[i] != NULL) {
            assert_int_equal(setenv(names[i], values[i], 1), 0);
        }
    }
}

/* Goal: each change of the server's state is one message in the form of sd_notify(3), and children do not
 * inherit the socket. Method: a manager's socket, and all functions. */
static void test_states_are_reported(void **state)
{
    const struct manager *manager = *state;
    struct supervisor supervisor;
    char pid[32];

    (void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
    set_environment(manager->name, "30000000", pid);
    supervisor_init(&supervisor);
    assert_int_equal(supervisor.watchdog_ms, 15000);
    assert_null(getenv("NOTIFY_SOCKET"));
    assert_null(getenv("WATCHDOG_USEC"));
    assert_null(getenv("WATCHDOG_PID"));
    supervisor_ready(&supervisor, "Serving on 127.0.0.1:1");
    expect_message(manager, "READY=1\nSTATUS=Serving on 127.0.0.1:1");
    supervisor_reloading(&supervisor, 77);
    expect_message(manager, "RELOADING=1\nMONOTONIC_USEC=77");
    supervisor_alive(&supervisor);
    expect_message(manager, "WATCHDOG=1");
    supervisor_stopping(&supervisor);
    expect_message(manager, "STOPPING=1\nSTATUS=Finishing running calls");
    expect_message(manager, NULL);
    supervisor_deinit(&supervisor);
}

/* Goal: without a manager, or with values for another process, nothing is sent and nothing fails. Method:
 * each wrong value by itself. */
static void test_unusable_values_are_ignored(void **state)
{
    static const char *limits[] = {"", "-5", "5x", "99999999999999999999999", " 7", NULL};
    const struct manager *manager = *state;
    struct supervisor supervisor;
    char long_name[200];

    memset(long_name, 'a', sizeof(long_name) - 1);
    long_name[0] = '/';
    long_name[sizeof(long_name) - 1] = '\0';
    const char *addresses[] = {NULL, "", "relative", "@", long_name};
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        set_environment(addresses[i], "30000000", NULL);
        supervisor_init(&supervisor);
        assert_int_equal(supervisor.socket, -1);
        assert_int_equal(supervisor.watchdog_ms, 0);
        supervisor_alive(&supervisor);
        supervisor_deinit(&supervisor);
    }
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        set_environment(manager->name, limits[i], NULL);
        supervisor_init(&supervisor);
        assert_int_equal(supervisor.watchdog_ms, 0);
        supervisor_deinit(&supervisor);
    }
    set_environment(manager->name, "30000000", "1"); /* the process id of another process */
    supervisor_init(&supervisor);
    assert_int_equal(supervisor.watchdog_ms, 0);
    supervisor_deinit(&supervisor);
    expect_message(manager, NULL);
}

int run_supervisor_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_states_are_reported, open_manager, close_manager),
        cmocka_unit_test_setup_teardown(test_unusable_values_are_ignored, open_manager,
                                        close_manager),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
