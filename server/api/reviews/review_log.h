/*
 * review_log.h: counts operations on reviews and the prompts that they fill, and logs each at level
 * debug, with names, numbers and states, but never texts.
 */
#ifndef ERRATA_SERVER_API_REVIEWS_REVIEW_LOG_H
#define ERRATA_SERVER_API_REVIEWS_REVIEW_LOG_H

#include "server/domain/reviews/placeholders.h"
#include "server/domain/reviews/reviews.h"
#include "server/pipeline/service.h"

/* Logs that a form was normalised, and its fields. */
void review_log_form(const struct service *service, const struct review_input *input);
/* Logs that triggers were computed. */
void review_log_triggers(const struct service *service, const struct review_triggers *triggers);
/* Logs that placeholders were filled: triggers, the source of each text, the example item, and each
 * part that failed. */
void review_log_placeholders(const struct service *service,
                             const struct placeholders *placeholders);

#endif
