/*
 * artifact_state.h: the request and the reply of a command that sets the state of an artifact, by
 * LearningService/SetArtifactState.
 */
#ifndef ERRATA_TOOLS_ERRATA_LEARNING_ARTIFACT_STATE_H
#define ERRATA_TOOLS_ERRATA_LEARNING_ARTIFACT_STATE_H

#include "store/base/json.h"
#include "tools/errata/engine/request.h"

/* Adds the artifact that the first word of the command line names, and the state; `kind` is the
 * name of that word in usage. */
MUST_CHECK enum cli_exit artifact_state_fill(struct request *request, struct cli *cli,
                                             struct slice kind, const char *state);
/* Prints the id of the event, and the states after and before as a note. */
MUST_CHECK enum cli_exit artifact_state_print(struct cli *cli, struct json_value reply);

#endif
