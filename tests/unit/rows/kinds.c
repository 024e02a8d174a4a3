/*
 * kinds.c: see kinds.h.
 */
#include "tests/unit/rows/kinds.h"

#include "tests/unit/rows/samples.h"

/* The two functions of a kind whose sample is a plain value. */
#define KIND(kind)                                                                                 \
    static enum err sample_of_##kind(struct arena *arena, struct slice *ret_bytes)                 \
    {                                                                                              \
        struct kind##_record record = sample_##kind();                                             \
                                                                                                   \
        return record_encode_##kind(arena, &record, ret_bytes);                                    \
    }                                                                                              \
                                                                                                   \
    static enum err kind##_again(struct arena *arena, struct slice bytes, struct slice *ret_bytes) \
    {                                                                                              \
        struct kind##_record record;                                                               \
        enum err err = record_decode_##kind(bytes, &record);                                       \
                                                                                                   \
        return err != OK ? err : record_encode_##kind(arena, &record, ret_bytes);                  \
    }

KIND(envelope)
KIND(org_head)
KIND(layout_head)
KIND(example)
KIND(example_document)
KIND(example_mark)
KIND(retracted_example)
KIND(document)
KIND(family)
KIND(family_sketch)
KIND(profile)
KIND(counter)
KIND(artifact)
KIND(artifact_life)
KIND(layout_stats)
KIND(extraction)
KIND(extraction_key)
KIND(mapping)
KIND(mapping_confirmed)
KIND(prompt_template)
KIND(learned_rule)
KIND(verdict)
KIND(review)
KIND(review_run)
KIND(review_thresholds)
KIND(fragment_set)
KIND(evaluator)
KIND(proposal)
KIND(turn)
KIND(rule_measure)
KIND(rule_set_measure)
KIND(settings)
KIND(quota)
KIND(organization)
KIND(token)
KIND(idempotency)
KIND(meta)

static enum err sample_of_event(struct arena *arena, struct slice *ret_bytes)
{
    struct slice envelope = {NULL, 0};
    enum err err = sample_of_envelope(arena, &envelope);
    struct event_record record = sample_event(envelope);

    return err != OK ? err : record_encode_event(arena, &record, ret_bytes);
}

static enum err event_again(struct arena *arena, struct slice bytes, struct slice *ret_bytes)
{
    struct event_record record;
    enum err err = record_decode_event(arena, sample_uuid(0x11), bytes, &record);

    return err != OK ? err : record_encode_event(arena, &record, ret_bytes);
}

static enum err sample_of_entity(struct arena *arena, struct slice *ret_bytes)
{
    struct entity_record record;

    sample_entity(&record);
    return record_encode_entity(arena, &record, ret_bytes);
}

static enum err entity_again(struct arena *arena, struct slice bytes, struct slice *ret_bytes)
{
    struct entity_record record;
    enum err err = record_decode_entity(bytes, &record);

    return err != OK ? err : record_encode_entity(arena, &record, ret_bytes);
}

const struct record_kind record_kinds[RECORD_KIND_COUNT] = {
    {"event", sample_of_event, event_again},
    {"event: its envelope", sample_of_envelope, envelope_again},
    {"org_head", sample_of_org_head, org_head_again},
    {"example: the layout's head", sample_of_layout_head, layout_head_again},
    {"example", sample_of_example, example_again},
    {"example_document", sample_of_example_document, example_document_again},
    {"example_mark", sample_of_example_mark, example_mark_again},
    {"example_retracted", sample_of_retracted_example, retracted_example_again},
    {"document", sample_of_document, document_again},
    {"family", sample_of_family, family_again},
    {"family_sketch", sample_of_family_sketch, family_sketch_again},
    {"profile", sample_of_profile, profile_again},
    {"counter", sample_of_counter, counter_again},
    {"artifact", sample_of_artifact, artifact_again},
    {"artifact_life", sample_of_artifact_life, artifact_life_again},
    {"layout_stats", sample_of_layout_stats, layout_stats_again},
    {"extraction", sample_of_extraction, extraction_again},
    {"extraction_key", sample_of_extraction_key, extraction_key_again},
    {"mapping", sample_of_mapping, mapping_again},
    {"mapping_confirmed", sample_of_mapping_confirmed, mapping_confirmed_again},
    {"prompt_template", sample_of_prompt_template, prompt_template_again},
    {"learned_rule", sample_of_learned_rule, learned_rule_again},
    {"verdict", sample_of_verdict, verdict_again},
    {"review", sample_of_review, review_again},
    {"review_run", sample_of_review_run, review_run_again},
    {"review_thresholds", sample_of_review_thresholds, review_thresholds_again},
    {"fragment_set", sample_of_fragment_set, fragment_set_again},
    {"evaluator", sample_of_evaluator, evaluator_again},
    {"proposal", sample_of_proposal, proposal_again},
    {"turn", sample_of_turn, turn_again},
    {"rule_measure", sample_of_rule_measure, rule_measure_again},
    {"rule_set_measure", sample_of_rule_set_measure, rule_set_measure_again},
    {"settings", sample_of_settings, settings_again},
    {"quota", sample_of_quota, quota_again},
    {"organization", sample_of_organization, organization_again},
    {"token", sample_of_token, token_again},
    {"idempotency", sample_of_idempotency, idempotency_again},
    {"meta", sample_of_meta, meta_again},
    {"entity", sample_of_entity, entity_again},
};
