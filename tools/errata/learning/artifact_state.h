/*
 * artifact_state.h: the request and the reply of a command that sets the state of an artifact, by
 * LearningService/SetArtifactState.
 */
#ifndef ERRATA_TOOLS_ERRATA_LEARNING_ARTIFACT_STATE_H
#define ERRATA_TOOLS_ERRATA_LEARNING_ARTIFACT_STATE_H

#include "store/base/json.h"
#include "tools/errata/engine/request.h"

/* Adds the artifact of the command line's first word, which usage names `kind`, and the state. */
MUST_CHECK enum cli_exit artifact_state_fill(struct request *request, struct cli *cli,
                                             struct slice kind, const char *state);
/* Prints the id of the event, and notes the state and the one before it. */
MUST_CHECK enum cli_exit artifact_state_print(struct cli *cli, struct json_value reply);

#endif
