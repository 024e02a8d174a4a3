/*
 * model.h: the model file: the sentence encoder (Universal Sentence Encoder Lite), and optionally word vectors
 * and antonyms; defines its layout, and finds its sections in memory. The file is written by tools/mkmodel
 * and mapped by the server; numbers are little-endian. A file is input: model_open checks every size and
 * every index, so that no later function reads outside it. Handles neither files nor texts.
 */
#ifndef ERRATA_SERVER_DOMAIN_EMBED_MODEL_H
#define ERRATA_SERVER_DOMAIN_EMBED_MODEL_H

#include "store/base/err.h"
#include "store/base/slice.h"

/* Sizes of the encoder. */
#define MODEL_TOKENS_MAX 128 /* the encoder ignores later tokens */
#define MODEL_EMBEDDING_ROWS 8002
#define MODEL_NARROW 256 /* width of an embedding and of the input of layer 0 */
#define MODEL_WIDE 512 /* width of layer 1 and of the result */
#define MODEL_FEED 1536 /* width inside a feed-forward part */
#define MODEL_HEADS 4
#define MODEL_TIMESCALES 128
/* Number of outputs of a linear layer whose weights are stored together; each layer has a multiple of it. */
#define MODEL_PANEL 16
/* Maximum pieces of the vocabulary: ids are indices of embedding rows. */
#define MODEL_PIECES_MAX MODEL_EMBEDDING_ROWS
/* Maximum nodes of the trie: 8,000 pieces of at most 48 bytes in UTF-8 need fewer. */
#define MODEL_NODES_MAX 400000
/* Numbers of a word's vector. */
#define MODEL_WORD_WIDTH 100
/* Maximum words with a vector: more frequent ones are kept, and rarer ones change few texts. */
#define MODEL_WORDS_MAX 100000
/* Maximum words with an antonym: pairs have indices of 16 bits. WordNet has some 6,000. */
#define MODEL_ANTONYM_WORDS_MAX 65535
#define MODEL_ANTONYMS_MAX 65535
/* Maximum bytes of all words of a list: those of 100,000 words are 730,000. */
#define MODEL_WORD_BYTES_MAX ((uint32_t)4 << 20)
/* Alignment of a section in the file. */
#define MODEL_ALIGN_BYTES 64

/* The number type of weights; the numbers are part of the file. */
enum model_weights {
    MODEL_FLOAT = 0, /* as in the original; used for comparisons */
    MODEL_INT8 = 1 /* with one scale per output of a layer and per row of the embedding table */
};

/* The head of the file, before its sections. */
struct model_head {
    char magic[8];
    uint32_t weights; /* enum model_weights */
    uint32_t piece_count;
    uint32_t node_count;
    uint32_t word_count; /* 0: without word vectors */
    uint32_t word_bytes;
    uint32_t antonym_word_count; /* 0: without antonyms */
    uint32_t antonym_word_bytes;
    uint32_t antonym_count;
    uint32_t zero[6];
};

/* Changes with the layout, and with every change of the code that computes vectors. */
#define MODEL_MAGIC "ERRATAM2"

/* A node of the trie of pieces, by the bytes of UTF-8. Children are adjacent, in ascending order of
 * their bytes, and have higher indices than their parent. Node 0 is the root. */
struct model_node {
    uint32_t first_child;
    uint16_t child_count;
    uint16_t piece; /* id of the piece that ends here; 0: none, since id 0 is the unknown piece */
};

/* A linear layer: out = in * weights + bias. Weights are in panels of 16 outputs. MODEL_FLOAT: of each
 * input 16 floats; MODEL_INT8: of each pair of inputs 16 pairs of int8_t. */
struct model_linear {
    uint32_t in;
    uint32_t out;
    const void *weights;
    const float *scales; /* MODEL_INT8: one for each output */
    const float *bias;
};

/* Scale and bias of a layer normalisation. */
struct model_norm {
    const float *scale;
    const float *bias;
};

/* A transformer layer. */
struct model_layer {
    uint32_t width; /* width of the attention: MODEL_NARROW or MODEL_WIDE */
    struct model_norm attention_norm;
    struct model_linear query_key_value;
    struct model_linear attention_out;
    struct model_linear
        residual; /* for layer 0, from MODEL_NARROW to MODEL_WIDE; otherwise `in` is 0 */
    struct model_norm feed_norm;
    struct model_linear feed_in;
    struct model_linear feed_out;
};

/* A list of words in lower case, in ascending order of their bytes. */
struct model_words {
    uint32_t count;
    const uint32_t *ends; /* for each word, the offset after it */
    const char *text;
};

/* Two words of opposite meaning, as indices of the list of words with an antonym. Each pair is stored both ways,
 * in ascending order. */
struct model_antonym {
    uint16_t word;
    uint16_t other;
};

/* A model. All pointers are borrowed from the file's bytes. */
struct model {
    enum model_weights weights;
    uint32_t piece_count;
    uint32_t node_count;
    const struct model_node *nodes;
    const uint8_t *labels; /* for each node, the byte that leads to it */
    const float *scores; /* for each piece, its log probability */
    const float *timescales; /* MODEL_TIMESCALES */
    const void *embeddings; /* rows of MODEL_NARROW numbers */
    const float *embedding_scales; /* MODEL_INT8: one for each row */
    struct model_layer layers[2];
    struct model_linear result; /* before the hyperbolic tangent */
    struct model_words words;
    const int8_t *word_vectors; /* MODEL_WORD_WIDTH numbers for each word */
    const float
        *word_scales; /* for each word, the value of 1, including the word's weight in a text */
    struct model_words antonym_words;
    const struct model_antonym *antonyms;
    uint32_t antonym_count;
};

/* Returns the size of a file with this head. */
size_t model_bytes(const struct model_head *head);
/* Finds the sections in `bytes`, aligned to MODEL_ALIGN_BYTES, of which the head is valid and the
 * size that of model_bytes. Checks nothing: tools/mkmodel fills the sections in. */
void model_locate(struct slice bytes, struct model *ret_model);
/* Checks a file's bytes and finds its sections. The bytes must be aligned to MODEL_ALIGN_BYTES and
 * outlive the model. ERR_CORRUPT if they are not a model file of this version. */
MUST_CHECK enum err model_open(struct slice bytes, struct model *ret_model);

#endif
