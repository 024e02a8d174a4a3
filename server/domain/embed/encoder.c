/*
 * encoder.c: two transformer layers with normalisation before each part, the mean over tokens, and a
 * last layer. The rows of all texts of a pass follow each other; only attention and the mean know
 * which rows are a text's.
 */
#include "server/domain/embed/encoder.h"

#include "store/base/assert.h"

#include <math.h>

#define NORM_EPSILON 1e-6F
/* Number of independent partial sums of a product of two rows, so that the compiler can vectorise it. */
#define LANES 8

/* The texts of a pass, with the rows of each. */
struct pass {
    const struct model *model;
    enum linear_path path;
    const struct tokens *texts;
    size_t text_count;
    size_t row_count;
    float *input; /* MODEL_NARROW numbers per row */
    float *stream; /* MODEL_WIDE numbers per row: the stream that layers add to */
    float *normed; /* MODEL_WIDE numbers per row */
    float
        *inner; /* MODEL_FEED numbers per row: queries, keys and values, or the feed-forward part */
    float *mixed; /* MODEL_WIDE numbers per row: results of attention */
    int16_t *rounded; /* MODEL_FEED numbers per row */
    float *row_scales; /* one scale for each row */
};

static void apply(const struct pass *pass, const struct model_linear *linear, const float *rows,
                  enum linear_then then, float *output)
{
    const struct linear_input input = {rows, pass->row_count, pass->rounded, pass->row_scales};

    linear_apply(linear, pass->path, &input, then, output);
}

static void normalise_row(const struct model_norm *norm, size_t width, const float *row,
                          float *output)
{
    double sum = 0;
    double squares = 0;
    float mean = 0;
    float factor = 0;

    for (size_t i = 0; i < width; i++) {
        sum += (double)row[i];
    }
    sum /= (double)width;
    for (size_t i = 0; i < width; i++) {
        double distance = (double)row[i] - sum;

        squares += distance * distance;
    }
    mean = (float)sum;
    factor = 1.0F / sqrtf((float)(squares / (double)width) + NORM_EPSILON);
    for (size_t i = 0; i < width; i++) {
        output[i] = norm->scale[i] * factor * (row[i] - mean) + norm->bias[i];
    }
}

static void normalise(const struct pass *pass, const struct model_norm *norm, size_t width,
                      const float *rows)
{
    for (size_t row = 0; row < pass->row_count; row++) {
        normalise_row(norm, width, rows + row * width, pass->normed + row * width);
    }
}

static float product(const float *a, const float *b, size_t count)
{
    float lanes[LANES] = {0};
    float sum = 0;

    for (size_t i = 0; i < count; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            lanes[lane] += a[i + lane] * b[i + lane];
        }
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        sum += lanes[lane];
    }
    return sum;
}

/* Turns weights into shares with the sum 1. */
static void soften(float *weights, size_t count)
{
    float largest = weights[0];
    float sum = 0;

    for (size_t i = 1; i < count; i++) {
        largest = weights[i] > largest ? weights[i] : largest;
    }
    for (size_t i = 0; i < count; i++) {
        weights[i] = expf(weights[i] - largest);
        sum += weights[i];
    }
    for (size_t i = 0; i < count; i++) {
        weights[i] /= sum;
    }
}

/* Adds the values of a text's rows, each by its weight. */
static void mix(const float *weights, const float *values, size_t count, size_t stride,
                size_t head_width, float *output)
{
    memset(output, 0, head_width * sizeof(output[0]));
    for (size_t row = 0; row < count; row++) {
        for (size_t i = 0; i < head_width; i++) {
            output[i] += weights[row] * values[row * stride + i];
        }
    }
}

/* Computes one head of attention within one text. `rows` has the text's queries, keys and values. */
static void attend_head(const float *rows, size_t count, size_t width, size_t head, float *output)
{
    size_t head_width = width / MODEL_HEADS;
    size_t stride = 3 * width;
    float scale = 1.0F / sqrtf((float)head_width);
    const float *queries = rows + head * head_width;
    float weights[MODEL_TOKENS_MAX];

    for (size_t row = 0; row < count; row++) {
        for (size_t other = 0; other < count; other++) {
            weights[other] = scale * product(queries + row * stride,
                                             queries + width + other * stride, head_width);
        }
        soften(weights, count);
        mix(weights, queries + 2 * width, count, stride, head_width,
            output + row * width + head * head_width);
    }
}

static void attend(const struct pass *pass, size_t width)
{
    size_t row = 0;

    for (size_t text = 0; text < pass->text_count; text++) {
        for (size_t head = 0; head < MODEL_HEADS; head++) {
            attend_head(pass->inner + row * 3 * width, pass->texts[text].count, width, head,
                        pass->mixed + row * width);
        }
        row += pass->texts[text].count;
    }
}

/* `input` has the layer's width, and is the stream itself in layer 1. */
static void run_layer(const struct pass *pass, const struct model_layer *layer, const float *input)
{
    normalise(pass, &layer->attention_norm, layer->width, input);
    apply(pass, &layer->query_key_value, pass->normed, LINEAR_STORE, pass->inner);
    attend(pass, layer->width);
    if (layer->residual.in > 0) {
        apply(pass, &layer->residual, input, LINEAR_STORE, pass->stream);
    }
    apply(pass, &layer->attention_out, pass->mixed, LINEAR_ADD, pass->stream);
    normalise(pass, &layer->feed_norm, MODEL_WIDE, pass->stream);
    apply(pass, &layer->feed_in, pass->normed, LINEAR_STORE_POSITIVE, pass->inner);
    apply(pass, &layer->feed_out, pass->inner, LINEAR_ADD, pass->stream);
}

static float embedding_at(const struct model *model, size_t token, size_t i)
{
    size_t index = token * MODEL_NARROW + i;

    if (model->weights == MODEL_FLOAT) {
        return ((const float *)model->embeddings)[index];
    }
    return model->embedding_scales[token] * (float)((const int8_t *)model->embeddings)[index];
}

/* Writes twice the token's embedding plus its position, as sines and cosines. */
static void begin_row(const struct model *model, size_t position, size_t token, float *row)
{
    for (size_t i = 0; i < MODEL_TIMESCALES; i++) {
        float angle = (float)position * model->timescales[i];

        row[i] = 2 * embedding_at(model, token, i) + sinf(angle);
        row[MODEL_TIMESCALES + i] =
            2 * embedding_at(model, token, MODEL_TIMESCALES + i) + cosf(angle);
    }
}

static void begin_rows(const struct pass *pass)
{
    float *row = pass->input;

    for (size_t text = 0; text < pass->text_count; text++) {
        for (size_t i = 0; i < pass->texts[text].count; i++) {
            begin_row(pass->model, i, pass->texts[text].ids[i], row);
            row += MODEL_NARROW;
        }
    }
}

/* Writes the means of the texts' rows to the first rows of `normed`. */
static void average(const struct pass *pass)
{
    const float *row = pass->stream;

    for (size_t text = 0; text < pass->text_count; text++) {
        float *mean = pass->normed + text * MODEL_WIDE;

        memset(mean, 0, MODEL_WIDE * sizeof(mean[0]));
        for (size_t i = 0; i < pass->texts[text].count; i++) {
            for (size_t j = 0; j < MODEL_WIDE; j++) {
                mean[j] += row[j];
            }
            row += MODEL_WIDE;
        }
        for (size_t j = 0; j < MODEL_WIDE; j++) {
            mean[j] /= (float)pass->texts[text].count;
        }
    }
}

static void finish_vector(float *vector)
{
    double squares = 0;
    float factor = 0;

    for (size_t i = 0; i < MODEL_WIDE; i++) {
        vector[i] = tanhf(vector[i]);
        squares += (double)vector[i] * (double)vector[i];
    }
    factor = (float)(1 / sqrt(squares > 1e-12 ? squares : 1e-12));
    for (size_t i = 0; i < MODEL_WIDE; i++) {
        vector[i] *= factor;
    }
}

/* Each text has at least one token, so there is a row for each text's mean. */
static void run(struct pass *pass, float *vectors)
{
    begin_rows(pass);
    run_layer(pass, &pass->model->layers[0], pass->input);
    run_layer(pass, &pass->model->layers[1], pass->stream);
    average(pass);
    pass->row_count = pass->text_count;
    apply(pass, &pass->model->result, pass->normed, LINEAR_STORE, vectors);
    for (size_t text = 0; text < pass->text_count; text++) {
        finish_vector(vectors + text * MODEL_WIDE);
    }
}

static enum err take_rows(struct pass *pass, struct arena *arena, size_t rows)
{
    pass->input = (float *)arena_alloc(arena, rows * MODEL_NARROW * sizeof(float));
    pass->stream = (float *)arena_alloc(arena, rows * MODEL_WIDE * sizeof(float));
    pass->normed = (float *)arena_alloc(arena, rows * MODEL_WIDE * sizeof(float));
    pass->inner = (float *)arena_alloc(arena, rows * MODEL_FEED * sizeof(float));
    pass->mixed = (float *)arena_alloc(arena, rows * MODEL_WIDE * sizeof(float));
    pass->rounded = (int16_t *)arena_alloc(arena, rows * MODEL_FEED * sizeof(int16_t));
    pass->row_scales = (float *)arena_alloc(arena, rows * sizeof(float));
    return pass->input != NULL && pass->stream != NULL && pass->normed != NULL &&
                   pass->inner != NULL && pass->mixed != NULL && pass->rounded != NULL &&
                   pass->row_scales != NULL
               ? OK
               : ERR_MEMORY;
}

/* Returns how many of the texts fit into a pass; the first one has tokens. */
static size_t measure_pass(const struct tokens *texts, size_t count, size_t *ret_rows)
{
    size_t rows = 0;
    size_t taken = 0;

    while (taken < count && texts[taken].count > 0 &&
           rows + texts[taken].count <= ENCODER_PASS_TOKENS_MAX) {
        rows += texts[taken].count;
        taken++;
    }
    *ret_rows = rows;
    return taken;
}

enum err encoder_embed(const struct model *model, enum linear_path path, struct arena *arena,
                       const struct tokens *texts, size_t count, float *ret_vectors)
{
    struct pass pass = {.model = model, .path = path};
    size_t all_rows = 0;
    size_t done = 0;

    for (size_t i = 0; i < count; i++) {
        ASSERT(texts[i].count <= MODEL_TOKENS_MAX);
        all_rows += texts[i].count;
    }
    all_rows = all_rows < ENCODER_PASS_TOKENS_MAX ? all_rows : ENCODER_PASS_TOKENS_MAX;
    if (take_rows(&pass, arena, all_rows + 1) != OK) {
        return ERR_MEMORY;
    }
    while (done < count) {
        pass.texts = texts + done;
        pass.text_count = measure_pass(texts + done, count - done, &pass.row_count);
        if (pass.text_count == 0) {
            memset(ret_vectors + done * MODEL_WIDE, 0, MODEL_WIDE * sizeof(float));
            done++;
        } else {
            run(&pass, ret_vectors + done * MODEL_WIDE);
            done += pass.text_count;
        }
    }
    return OK;
}
