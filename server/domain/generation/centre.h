/*
 * centre.h: finds the comment that best represents the decisions of a cluster.
 */
#ifndef ERRATA_SERVER_DOMAIN_GENERATION_CENTRE_H
#define ERRATA_SERVER_DOMAIN_GENERATION_CENTRE_H

#include "server/domain/decisions/clusters.h"

/* Returns the comment, or else the summary of the correction, that is most similar to all members and can be a rule.
 * ERR_NOT_FOUND if none can. */
MUST_CHECK enum err centre_find_rule(struct arena *arena, const struct cluster_members *members,
                                     struct slice *ret_rule);

#endif
