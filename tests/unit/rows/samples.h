/*
 * samples.h: one record of each kind with every field set, as FORMAT.md shows them.
 */
#ifndef ERRATA_TESTS_UNIT_ROWS_SAMPLES_H
#define ERRATA_TESTS_UNIT_ROWS_SAMPLES_H

#include "server/domain/admin/records.h"
#include "server/domain/artifacts/records.h"
#include "server/domain/corrections/document_rows.h"
#include "server/domain/corrections/records.h"
#include "server/domain/counters/records.h"
#include "server/domain/decisions/records.h"
#include "server/domain/experiment/records.h"
#include "server/domain/extractions/rows/records.h"
#include "server/domain/guidelines/records.h"
#include "server/domain/layouts/family_records.h"
#include "server/domain/layouts/records.h"
#include "server/domain/mappings/records.h"
#include "server/domain/prompts/records.h"
#include "server/domain/quotas/records.h"
#include "server/domain/reviews/records.h"
#include "server/domain/settings/records.h"
#include "server/domain/turns/records.h"
#include "server/domain/verdicts/records.h"
#include "store/records.h"

#include <errata/v1/turn.fields.h>
/* 2026-01-02T03:04:05.678901Z */
#define SAMPLE_TIME_US 1767323045678901ll

struct uuid sample_uuid(uint8_t number);
struct sha256_digest sample_digest(uint8_t number);
struct envelope_record sample_envelope(void);
struct event_record sample_event(struct slice envelope);
struct org_head_record sample_org_head(void);
struct layout_head_record sample_layout_head(void);
struct example_record sample_example(void);
struct example_document_record sample_example_document(void);
struct example_mark_record sample_example_mark(void);
struct retracted_example_record sample_retracted_example(void);
/* Written into the caller's memory, since it is large. */
void sample_entity(struct entity_record *ret_record);
struct document_record sample_document(void);
struct family_record sample_family(void);
struct family_sketch_record sample_family_sketch(void);
struct profile_record sample_profile(void);
struct counter_record sample_counter(void);
struct artifact_record sample_artifact(void);
struct artifact_life_record sample_artifact_life(void);
struct layout_stats_record sample_layout_stats(void);
struct extraction_record sample_extraction(void);
struct extraction_key_record sample_extraction_key(void);
struct mapping_record sample_mapping(void);
struct mapping_confirmed_record sample_mapping_confirmed(void);
struct prompt_template_record sample_prompt_template(void);
struct learned_rule_record sample_learned_rule(void);
struct verdict_record sample_verdict(void);
struct review_record sample_review(void);
struct review_run_record sample_review_run(void);
struct review_thresholds_record sample_review_thresholds(void);
struct fragment_set_record sample_fragment_set(void);
struct evaluator_record sample_evaluator(void);
struct proposal_record sample_proposal(void);
struct turn_record sample_turn(void);
struct rule_measure_record sample_rule_measure(void);
struct rule_set_measure_record sample_rule_set_measure(void);
struct settings_record sample_settings(void);
struct quota_record sample_quota(void);
struct organization_record sample_organization(void);
struct token_record sample_token(void);
struct idempotency_record sample_idempotency(void);
struct meta_record sample_meta(void);

#endif
