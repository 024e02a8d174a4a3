/*
 * app_tls.c: TLS of the server: reads its files, adds it below the protocols, and reports failures.
 */
#include "server/app/app_internal.h"
#include "store/base/logger.h"
#include "store/base/timestamp.h"

#include <inttypes.h>
#include <sys/stat.h>

/* Warning time before a certificate expires. */
#define EXPIRY_WARN_S (14 * INT64_C(86400))

static const char cleartext_answer[] =
    "HTTP/1.1 400 Bad Request\r\n"
    "content-type: text/plain; charset=utf-8\r\n"
    "content-length: 71\r\n"
    "connection: close\r\n"
    "\r\n"
    "This port speaks TLS. Use https://, or the option for TLS of a client.\n";

_Static_assert(sizeof("This port speaks TLS. Use https://, or the option for TLS of a client.\n") -
                       1 ==
                   71,
               "content-length above");

/* Logs a certificate that has expired, or is about to. */
static void check_expiry(const struct config *config, const struct tls_context *context)
{
    int64_t expires_at_s = tls_context_expires_at_s(context);
    int64_t now_s = clock_wall_us(clock_system()) / 1000000;
    char text[TIMESTAMP_TEXT_BYTES_MAX];
    size_t size = 0;

    if (expires_at_s - now_s >= EXPIRY_WARN_S) {
        return;
    }
    size = timestamp_format(expires_at_s > 0 ? expires_at_s : 0, 0, text);
    logger_printf(LOGGER_WARNING, "tls-cert: %s %s at %.*s; replace it, then send SIGHUP",
                  config->tls_cert, expires_at_s <= now_s ? "expired" : "expires", (int)size, text);
}

void app_check_mode(const char *option, const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && (status.st_mode & (S_IROTH | S_IWOTH)) != 0) {
        logger_printf(LOGGER_WARNING,
                      "%s: %s may be read by every user; expected mode 0600 or 0640", option, path);
    }
}

enum err app_tls_read(const struct config *config, struct fault *fault,
                      struct tls_context **ret_context)
{
    const struct tls_files files = {config->tls_cert, config->tls_key, config->tls_client_ca};
    struct tls_context *context = NULL;
    enum err err = OK;

    *ret_context = NULL;
    if (config->tls_cert[0] == '\0') {
        return OK;
    }
    err = tls_context_new_server(&files, fault, &context);
    if (err != OK) {
        return err;
    }
    check_expiry(config, context);
    app_check_mode("tls-key", config->tls_key);
    *ret_context = context;
    return OK;
}

enum err app_tls_make(struct app *app, struct net_config *net, struct net_protocol *protocols)
{
    const struct tls_protocol served[] = {{"h2", protocols[0]}, {"http/1.1", protocols[1]}};
    enum err err = OK;

    if (app->tls_context == NULL) {
        return OK;
    }
    err = tls_server_new(served, sizeof(served) / sizeof(served[0]), app->tls_context, &app->tls);
    if (err != OK) {
        return err;
    }
    app->tls_context = NULL;
    protocols[0] = tls_server_protocol(app->tls);
    net->protocol_count = 1;
    net->unknown_answer = slice_of(cleartext_answer, sizeof(cleartext_answer) - 1);
    return OK;
}

void app_tls_log(struct app *app, int64_t now_us)
{
    const struct tls_stats *stats = app->tls != NULL ? tls_server_stats(app->tls) : NULL;
    struct app_handshakes *last = &app->handshakes;

    if (stats == NULL ||
        (stats->handshakes_failed == last->failed && stats->handshakes_expired == last->expired) ||
        (last->logged_us != 0 && now_us - last->logged_us < APP_HANDSHAKES_LOG_US)) {
        return;
    }
    const struct logger_field fields[] = {
        LOGGER_NUMBER_FIELD("failed", stats->handshakes_failed - last->failed),
        LOGGER_NUMBER_FIELD("expired", stats->handshakes_expired - last->expired),
        LOGGER_TEXT_FIELD("last_failure", slice_text(stats->failure)),
    };
    logger_write(LOGGER_INFO, "TLS handshakes failed", fields, sizeof(fields) / sizeof(fields[0]));
    *last = (struct app_handshakes){stats->handshakes_failed, stats->handshakes_expired, now_us};
}

size_t app_tls_read_counters(const struct app *app, struct env_counter *counters, size_t max)
{
    static const struct tls_stats none = {.handshakes = 0};
    const struct tls_stats *stats = app->tls != NULL ? tls_server_stats(app->tls) : &none;
    const struct env_counter all[] = {
        {"tls_handshakes_total", stats->handshakes},
        {"tls_handshakes_resumed_total", stats->handshakes_resumed},
        {"tls_handshakes_failed_total", stats->handshakes_failed},
        {"tls_handshakes_expired_total", stats->handshakes_expired},
        {"tls_certificate_expires_at_s", (uint64_t)stats->certificate_expires_at_s},
    };

    return app_copy_counters(all, sizeof(all) / sizeof(all[0]), counters, max);
}
