/*
 * disk_image.c: chooses the state of data that no sync has made durable, by a seed, and writes an
 * image.
 */
#include "tests/fault/power_cut/disk_model.h"

#include "store/base/random.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_SECTORS 8
/* Maximum folders of an image: a data folder has at most five. */
#define FOLDERS_MAX 16

/* The choices of one image. */
struct picker {
    enum disk_choice choice;
    uint64_t seed;
    uint64_t until; /* DISK_PREFIX: number of the torn change */
    uint64_t tear; /* DISK_PREFIX: sectors of it below this one are written */
    struct random_seeded random;
};

static uint64_t draw(struct picker *picker, uint64_t below)
{
    uint64_t number = 0;

    random_fill(&picker->random.random, &number, sizeof(number));
    return number % below;
}

/* A random bit that is always the same for the same key. */
static bool flip(const struct picker *picker, uint64_t of_what, uint64_t which)
{
    uint64_t mixed = (picker->seed ^ of_what * 0x9e3779b97f4a7c15u) + which * 0xbf58476d1ce4e5b9u;

    mixed ^= mixed >> 31;
    mixed *= 0x94d049bb133111ebu;
    return (mixed >> 33 & 1) != 0;
}

static bool has_change(const struct picker *picker, uint64_t order)
{
    switch (picker->choice) {
    case DISK_NOTHING:
        return false;
    case DISK_EVERYTHING:
        return true;
    case DISK_PREFIX:
        return order <= picker->until;
    case DISK_WRITES:
    case DISK_PAGES:
    case DISK_SECTORS:
    case DISK_CHOICE_COUNT:
        break;
    }
    return flip(picker, 1, order);
}

static bool has_version(const struct picker *picker, const struct disk_version *version)
{
    if (picker->choice == DISK_PREFIX && version->order == picker->until) {
        return version->sector < picker->tear;
    }
    if (picker->choice == DISK_PAGES) {
        return flip(picker, 2 + version->order, version->sector / PAGE_SECTORS);
    }
    if (picker->choice == DISK_SECTORS) {
        return flip(picker, 2 + version->order, version->sector);
    }
    return has_change(picker, version->order);
}

static void write_at(int file, const void *bytes, size_t size, uint64_t offset)
{
    if (pwrite(file, bytes, size, (off_t)offset) != (ssize_t)size) {
        perror("an image can't be written");
        abort();
    }
}

static void make_file(const struct picker *picker, const struct disk_node *node, const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    uint64_t length = node->promised_bytes;
    uint64_t stored = node->promised_bytes < node->room ? node->promised_bytes : node->room;

    if (file < 0) {
        perror(path);
        abort();
    }
    if (stored > 0) {
        write_at(file, node->promised, stored, 0);
    }
    for (size_t i = 0; i < node->length_count; i++) {
        if (has_change(picker, node->lengths[i].order)) {
            length = node->lengths[i].bytes;
        }
    }
    for (size_t i = 0; i < node->version_count; i++) {
        const struct disk_version *version = &node->versions[i];
        uint64_t offset = version->sector * DISK_SECTOR_BYTES;

        if (has_version(picker, version)) {
            write_at(file, version->bytes, version->end, offset);
            length = offset + version->end > length ? offset + version->end : length;
        }
    }
    if (ftruncate(file, (off_t)length) != 0 || close(file) != 0) {
        perror(path);
        abort();
    }
}

/* Chooses the names of a folder after the cut. */
static int node_named(const struct picker *picker, const struct disk_node *folder, const char *name,
                      int promised)
{
    int node = promised;

    for (size_t i = 0; i < folder->naming_count; i++) {
        const struct disk_naming *naming = &folder->namings[i];

        if (!has_change(picker, naming->order)) {
            continue;
        }
        if (naming->removed != NULL && strcmp(naming->removed, name) == 0) {
            node = -1;
        }
        if (naming->added != NULL && strcmp(naming->added, name) == 0) {
            node = naming->node;
        }
    }
    return node;
}

static int promised_node(const struct disk_node *folder, const char *name)
{
    for (size_t i = 0; i < folder->names_promised.count; i++) {
        if (strcmp(folder->names_promised.items[i].name, name) == 0) {
            return folder->names_promised.items[i].node;
        }
    }
    return -1;
}

/* A folder that is to be made. */
struct place {
    int node;
    char path[PATH_MAX];
};

struct places {
    struct place items[FOLDERS_MAX];
    size_t count;
};

/* Writes the files of a folder; its folders are written later. */
static void make_folder(const struct disk_model *model, const struct picker *picker,
                        const struct place *place, struct places *places)
{
    const struct disk_node *folder = &model->nodes[place->node];

    /* Every name that ever existed has an entry in the list of names. */
    for (size_t i = 0; i < folder->names_seen.count; i++) {
        const char *name = folder->names_seen.items[i].name;
        int node = node_named(picker, folder, name, promised_node(folder, name));
        struct place inner = {.node = node};

        if (node < 0) {
            continue;
        }
        (void)snprintf(inner.path, sizeof(inner.path), "%.2000s/%.255s", place->path, name);
        if (!model->nodes[node].is_folder) {
            make_file(picker, &model->nodes[node], inner.path);
        } else if (places->count < FOLDERS_MAX && mkdir(inner.path, 0700) == 0) {
            places->items[places->count++] = inner;
        }
    }
}

void disk_model_make_image(const struct disk_model *model, enum disk_choice choice, uint64_t seed,
                           const char *folder)
{
    static struct places places;
    struct picker picker = {.choice = choice, .seed = seed};

    random_seeded_init(&picker.random, seed);
    picker.until = model->order - draw(&picker, model->order < 40 ? model->order + 1 : 40);
    picker.tear = draw(&picker, 2) == 0 ? draw(&picker, 64) : draw(&picker, 2048);
    places.count = 1;
    places.items[0].node = 0;
    (void)snprintf(places.items[0].path, sizeof(places.items[0].path), "%s", folder);
    for (size_t i = 0; i < places.count; i++) {
        const struct place place = places.items[i];

        make_folder(model, &picker, &place, &places);
    }
}
