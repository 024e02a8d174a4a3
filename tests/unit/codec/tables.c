/*
 * tables.c: handwritten tables of messages in the generator's form: every type of field, maps,
 * oneofs, recursion and every rule.
 */
#include "tests/unit/codec/codec_tests.h"

#define TEXT(literal)                                                                              \
    {                                                                                              \
        (const uint8_t *)(literal), sizeof(literal) - 1                                            \
    }
#define FIELD(field_name, field_number, field_type)                                                \
    .name = TEXT(field_name), .json_name = TEXT(field_name), .number = (field_number),             \
    .type = (field_type), .oneof = -1
#define COUNT_OF(table) (uint32_t)(sizeof(table) / sizeof((table)[0]))

static const struct enum_value_info color_values[] = {
    {-1, TEXT("COLOR_ODD"), TEXT("ODD")},
    {0, TEXT("COLOR_UNSPECIFIED"), TEXT("UNSPECIFIED")},
    {1, TEXT("COLOR_RED"), TEXT("RED")},
    {5, TEXT("COLOR_BLUE"), TEXT("BLUE")},
};

static const struct enum_info codec_color = {TEXT("codec.Color"), color_values,
                                             COUNT_OF(color_values), false};

static const struct field_info time_fields[] = {
    {FIELD("seconds", 1, FIELD_INT64)},
    {FIELD("nanos", 2, FIELD_INT32)},
};

static const struct message_info codec_time = {TEXT("google.protobuf.Timestamp"), time_fields, 2,
                                               MESSAGE_TIMESTAMP};

static const struct field_info entry_fields[] = {
    {FIELD("key", 1, FIELD_STRING)},
    {FIELD("value", 2, FIELD_MESSAGE), .message = &codec_tree},
};

static const struct message_info codec_entry = {TEXT("codec.All.TreesEntry"), entry_fields, 2,
                                                MESSAGE_PLAIN};

static const struct field_info all_fields[] = {
    {FIELD("f_double", 1, FIELD_DOUBLE)},
    {FIELD("f_float", 2, FIELD_FLOAT)},
    {FIELD("f_int64", 3, FIELD_INT64)},
    {FIELD("f_uint64", 4, FIELD_UINT64)},
    {FIELD("f_int32", 5, FIELD_INT32)},
    {FIELD("f_fixed64", 6, FIELD_FIXED64)},
    {FIELD("f_fixed32", 7, FIELD_FIXED32)},
    {FIELD("f_bool", 8, FIELD_BOOL)},
    {FIELD("f_string", 9, FIELD_STRING)},
    {FIELD("f_message", 11, FIELD_MESSAGE), .message = &codec_tree},
    {FIELD("f_bytes", 12, FIELD_BYTES)},
    {FIELD("f_uint32", 13, FIELD_UINT32)},
    {FIELD("f_enum", 14, FIELD_ENUM), .enumeration = &codec_color},
    {FIELD("f_sfixed32", 15, FIELD_SFIXED32)},
    {FIELD("f_sfixed64", 16, FIELD_SFIXED64)},
    {FIELD("f_sint32", 17, FIELD_SINT32)},
    {FIELD("f_sint64", 18, FIELD_SINT64)},
    {FIELD("numbers", 20, FIELD_INT32), .repeated = true, .packed = true},
    {FIELD("loose_numbers", 21, FIELD_SINT64), .repeated = true},
    {FIELD("fixed_numbers", 22, FIELD_FIXED32), .repeated = true, .packed = true},
    {FIELD("doubles", 23, FIELD_DOUBLE), .repeated = true, .packed = true},
    {FIELD("colors", 24, FIELD_ENUM), .repeated = true, .packed = true,
     .enumeration = &codec_color},
    {FIELD("texts", 25, FIELD_STRING), .repeated = true},
    {FIELD("blobs", 26, FIELD_BYTES), .repeated = true},
    {FIELD("trees", 27, FIELD_MESSAGE), .repeated = true, .map = true, .message = &codec_entry},
    {FIELD("list", 28, FIELD_MESSAGE), .repeated = true, .message = &codec_tree},
    {FIELD("at", 29, FIELD_MESSAGE), .message = &codec_time},
    {.name = TEXT("choice_a"),
     .json_name = TEXT("choiceA"),
     .number = 30,
     .type = FIELD_STRING,
     .optional = true,
     .oneof = 0},
    {.name = TEXT("choice_b"),
     .json_name = TEXT("choiceB"),
     .number = 31,
     .type = FIELD_MESSAGE,
     .optional = true,
     .oneof = 0,
     .message = &codec_tree},
};

const struct message_info codec_all = {TEXT("codec.All"), all_fields, COUNT_OF(all_fields),
                                       MESSAGE_PLAIN};

static const struct field_info tree_fields[] = {
    {FIELD("name", 1, FIELD_STRING)},
    {FIELD("child", 2, FIELD_MESSAGE), .message = &codec_tree},
    {FIELD("children", 3, FIELD_MESSAGE), .repeated = true, .message = &codec_tree},
};

const struct message_info codec_tree = {TEXT("codec.Tree"), tree_fields, COUNT_OF(tree_fields),
                                        MESSAGE_PLAIN};

#define RULES(...) .rules = {__VA_ARGS__}

static const struct field_info rules_fields[] = {
    {FIELD("id", 1, FIELD_STRING), RULES(.format = FORMAT_OPAQUE_ID)},
    {FIELD("uuid", 2, FIELD_STRING), RULES(.format = FORMAT_UUID)},
    {FIELD("data_json", 3, FIELD_STRING), RULES(.format = FORMAT_JSON_OBJECT)},
    {FIELD("title", 4, FIELD_STRING), RULES(.format = FORMAT_NAME)},
    {FIELD("key_id", 5, FIELD_STRING), RULES(.format = FORMAT_KEY_ID)},
    {FIELD("short_text", 6, FIELD_STRING), RULES(.max_bytes = 5)},
    {FIELD("blob", 7, FIELD_BYTES), RULES(.max_bytes = 5)},
    {FIELD("page_size", 8, FIELD_INT32), RULES(.not_negative = true)},
    {FIELD("count", 9, FIELD_UINT64), RULES(.max_value = 20, .min_value = 2)},
    {FIELD("ratio", 10, FIELD_DOUBLE), RULES(.max_value = 1)},
    {FIELD("zigzag", 11, FIELD_SINT32), RULES(.max_value = 5, .min_value = -5), .optional = true},
    {FIELD("color", 12, FIELD_ENUM), .enumeration = &codec_color},
    {FIELD("colors", 13, FIELD_ENUM), .repeated = true, .packed = true, .enumeration = &codec_color,
     RULES(.max_items = 3)},
    {FIELD("ids", 14, FIELD_STRING), .repeated = true,
     RULES(.format = FORMAT_OPAQUE_ID, .max_items = 2)},
    {FIELD("made_text", 15, FIELD_STRING), RULES(.output_only = true)},
    {FIELD("made_number", 16, FIELD_INT64), RULES(.output_only = true)},
    {FIELD("made_list", 17, FIELD_STRING), .repeated = true, RULES(.output_only = true)},
    {FIELD("made_rules", 18, FIELD_MESSAGE), .message = &codec_rules, RULES(.output_only = true)},
    {FIELD("past", 19, FIELD_MESSAGE), .message = &codec_time, RULES(.not_future = true)},
    {FIELD("whenever", 20, FIELD_MESSAGE), .message = &codec_time},
    {FIELD("inner", 21, FIELD_MESSAGE), .message = &codec_rules},
    {FIELD("items", 22, FIELD_MESSAGE), .repeated = true, .message = &codec_rules},
    {FIELD("page_token", 23, FIELD_STRING), RULES(.format = FORMAT_PAGE_TOKEN)},
};

const struct message_info codec_rules = {TEXT("codec.Rules"), rules_fields, COUNT_OF(rules_fields),
                                         MESSAGE_PLAIN};
