/*
 * tls_connections.c: TLS connections to a running erratad: `idle COUNT` opens as many, each with a handshake and the
 * settings of HTTP/2, and keeps them until standard input ends; `shake RATE SECONDS` opens and closes RATE a second
 * while another thread requests /healthz 200 times a second on a separate connection, and prints the latencies;
 * `resume RATE SECONDS` does the same with the session of the first one. tls_connections HOST PORT CA WHAT ...
 */
#include "store/base/assert.h"
#include "store/base/clock.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define PROBES_MAX 100000
#define PROBE_US 5000
#define SOURCE_ADDRESSES 100 /* connections use the source addresses 127.0.0.1 to 127.0.0.100 */

struct load {
    SSL_CTX *context;
    const char *host;
    uint16_t port;
    SSL_SESSION *session; /* session that each handshake resumes; NULL: full handshakes */
    unsigned sources; /* number of connections so far */
    atomic_bool done;
    size_t probe_count;
    int64_t probes_us[PROBES_MAX];
};

static const char ask[] = "GET /healthz HTTP/1.1\r\nHost: bench\r\n\r\n";

static int64_t now_us(void)
{
    return clock_monotonic_us(clock_system());
}

static int connect_socket(struct load *load)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(load->port)};
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    from.sin_addr.s_addr = htonl((127u << 24) + 1 + load->sources++ % SOURCE_ADDRESSES);
    ASSERT(inet_pton(AF_INET, "127.0.0.1", &to.sin_addr) == 1);
    ASSERT(fd >= 0);
    ASSERT(bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0);
    ASSERT(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

/* Connects and completes a handshake with one protocol of ALPN, which its length precedes. */
static SSL *open_connection(struct load *load, const char *protocol)
{
    SSL *ssl = SSL_new(load->context);

    ASSERT(ssl != NULL);
    ASSERT(SSL_set1_host(ssl, load->host) == 1);
    ASSERT(SSL_set_alpn_protos(ssl, (const unsigned char *)protocol, (unsigned)strlen(protocol)) ==
           0);
    ASSERT(load->session == NULL || SSL_set_session(ssl, load->session) == 1);
    ASSERT(SSL_set_fd(ssl, connect_socket(load)) == 1);
    if (SSL_connect(ssl) != 1) {
        ERR_print_errors_fp(stderr);
        exit(1);
    }
    return ssl;
}

static void close_connection(SSL *ssl)
{
    int fd = SSL_get_fd(ssl);

    (void)SSL_shutdown(ssl);
    SSL_free(ssl);
    (void)close(fd);
}

static void open_idle(struct load *load, unsigned count)
{
    static const char preface[] =
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0\0\0\0\4\1\0\0\0\0";
    char byte = 0;

    for (unsigned i = 0; i < count; i++) {
        SSL *ssl = open_connection(load, "\2h2");
        char answer[512];

        ASSERT(SSL_write(ssl, preface, sizeof(preface) - 1) == (int)sizeof(preface) - 1);
        ASSERT(SSL_read(ssl, answer, sizeof(answer)) > 0); /* kept open until the program ends */
    }
    (void)printf("open %u\n", count);
    (void)fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
}

static void *probe(void *user)
{
    struct load *load = user;
    SSL *ssl = open_connection(load, "\10http/1.1");
    int64_t due_us = now_us();

    while (!atomic_load(&load->done) && load->probe_count < PROBES_MAX) {
        char answer[512];
        int64_t begun_us = 0;

        due_us += PROBE_US;
        begun_us = now_us();
        if (due_us > begun_us) {
            (void)usleep((useconds_t)(due_us - begun_us));
            begun_us = now_us();
        } else {
            begun_us = due_us; /* the answer before it was late, and so is this one */
        }
        ASSERT(SSL_write(ssl, ask, sizeof(ask) - 1) > 0);
        ASSERT(SSL_read(ssl, answer, sizeof(answer)) > 0);
        load->probes_us[load->probe_count++] = now_us() - begun_us;
    }
    close_connection(ssl);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return left < right ? -1 : left > right;
}

static void print_probes(struct load *load, unsigned shaken, unsigned resumed, int64_t took_us)
{
    size_t count = load->probe_count;

    qsort(load->probes_us, count, sizeof(load->probes_us[0]), compare);
    (void)printf(
        "%u handshakes (%u resumed) in %.1f s: %.0f/s; %zu probes beside them: p50 %.2f ms, "
        "p99 %.2f ms, maximum %.2f ms\n",
        shaken, resumed, (double)took_us / 1e6, (double)shaken * 1e6 / (double)took_us, count,
        (double)load->probes_us[count / 2] / 1000, (double)load->probes_us[count * 99 / 100] / 1000,
        (double)load->probes_us[count - 1] / 1000);
}

/* Handshakes at a steady rate; 0: none, for comparison. */
static void shake(struct load *load, unsigned rate, unsigned seconds)
{
    int64_t begun_us = now_us();
    int64_t until_us = begun_us + (int64_t)seconds * 1000000;
    int64_t due_us = begun_us;
    unsigned shaken = 0;
    unsigned resumed = 0;
    pthread_t thread;

    ASSERT(pthread_create(&thread, NULL, probe, load) == 0);
    while (now_us() < until_us) {
        SSL *ssl = NULL;

        due_us += rate > 0 ? 1000000 / (int64_t)rate : 100000;
        if (due_us > now_us()) {
            (void)usleep((useconds_t)(due_us - now_us()));
        }
        if (rate > 0) {
            ssl = open_connection(load, "\2h2");
            resumed += SSL_session_reused(ssl) == 1 ? 1 : 0;
            shaken++;
            close_connection(ssl);
        }
    }
    atomic_store(&load->done, true);
    ASSERT(pthread_join(thread, NULL) == 0);
    print_probes(load, shaken, resumed, now_us() - begun_us);
}

static SSL_SESSION *take_session(struct load *load)
{
    SSL *ssl = open_connection(load, "\10http/1.1");
    SSL_SESSION *session = NULL;
    char answer[512];

    ASSERT(SSL_write(ssl, ask, sizeof(ask) - 1) > 0);
    ASSERT(SSL_read(ssl, answer, sizeof(answer)) > 0); /* the ticket precedes it */
    session = SSL_get1_session(ssl);
    close_connection(ssl);
    return session;
}

int main(int count, char **words)
{
    static struct load load;
    struct rlimit limit = {1 << 16, 1 << 16};

    if (count < 6) {
        (void)fprintf(
            stderr,
            "tls_connections HOST PORT CA idle COUNT|shake RATE SECONDS|resume RATE SECONDS\n");
        return 2;
    }
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    load.host = words[1];
    load.port = (uint16_t)strtoul(words[2], NULL, 10);
    load.context = SSL_CTX_new(TLS_client_method());
    ASSERT(load.context != NULL);
    ASSERT(SSL_CTX_load_verify_file(load.context, words[3]) == 1);
    SSL_CTX_set_verify(load.context, SSL_VERIFY_PEER, NULL);
    (void)SSL_CTX_set_mode(load.context, SSL_MODE_RELEASE_BUFFERS);
    if (strcmp(words[4], "idle") == 0) {
        open_idle(&load, (unsigned)strtoul(words[5], NULL, 10));
        return 0;
    }
    if (strcmp(words[4], "resume") == 0) {
        load.session = take_session(&load);
    }
    shake(&load, (unsigned)strtoul(words[5], NULL, 10),
          count > 6 ? (unsigned)strtoul(words[6], NULL, 10) : 10);
    SSL_SESSION_free(load.session);
    SSL_CTX_free(load.context);
    return 0;
}
