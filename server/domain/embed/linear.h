/*
 * linear.h: the arithmetic of linear layers, nearly all of the encoder's time. With int8 weights the
 * inputs are rounded to 14 bits per row and multiplied as integers, so that every path gives the
 * same bits. The path is chosen by the caller at run time.
 */
#ifndef ERRATA_SERVER_DOMAIN_EMBED_LINEAR_H
#define ERRATA_SERVER_DOMAIN_EMBED_LINEAR_H

#include "server/domain/embed/model.h"

/* The largest rounded input: 1,536 products with weights of at most 127 fit into 31 bits. */
#define LINEAR_INPUT_MAX 8191

enum linear_path {
    LINEAR_PLAIN, /* for any machine */
    LINEAR_AVX2
};

/* How the results of a layer are stored. */
enum linear_then {
    LINEAR_STORE,
    LINEAR_STORE_POSITIVE, /* negative results become 0 (ReLU) */
    LINEAR_ADD /* added to the output */
};

/* Inputs of a layer: rows, and room for them in rounded form. */
struct linear_input {
    const float *rows;
    size_t count;
    int16_t *rounded; /* MODEL_INT8: room for count * in numbers */
    float *row_scales; /* MODEL_INT8: room for count numbers */
};

/* Returns the fastest path that this machine has. */
enum linear_path linear_best_path(void);
/* Computes `count` rows of linear->out numbers. */
void linear_apply(const struct model_linear *linear, enum linear_path path,
                  const struct linear_input *input, enum linear_then then, float *output);

#endif
