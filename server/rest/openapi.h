/*
 * openapi.h: describes the aliases of rest.h as an OpenAPI 3.0 document, generated from the contract.
 */
#ifndef ERRATA_SERVER_REST_OPENAPI_H
#define ERRATA_SERVER_REST_OPENAPI_H

#include "store/base/slice.h"

extern const struct slice openapi_json;

#endif
