/*
 * mapping_import.h: `errata mappings import`: imports a CSV file of mappings, with one call per row
 * and several calls at a time.
 */
#ifndef ERRATA_TOOLS_ERRATA_MAPPINGS_MAPPING_IMPORT_H
#define ERRATA_TOOLS_ERRATA_MAPPINGS_MAPPING_IMPORT_H

#include "tools/errata/engine/calls.h"

/* Number of concurrent calls, unless --jobs specifies otherwise. */
#define MAPPING_IMPORT_JOBS_DEFAULT 64
extern const struct option_spec mapping_import_options[];

MUST_CHECK enum cli_exit mapping_import_run(struct cli *cli);

#endif
