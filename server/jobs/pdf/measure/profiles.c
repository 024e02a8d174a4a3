/*
 * profiles.c: disables colour profiles. Poppler has lcms compute tables of each ICC profile in a
 * document, which takes up to ten times as long as everything else on the page (130 of 140 ms), and
 * is another parser of hostile bytes. Measuring only needs to know whether a colour is almost
 * white, for which the alternate colour space of each profile is sufficient. libpoppler calls lcms
 * through its linkage table, so that the definition here is found first; since only a library
 * refers to it, the linker is asked to export it (tools/cmake/parts.cmake).
 */
#include <stddef.h>
#include <stdint.h>

/* Declared as in lcms2.h, which has these types; a NULL profile means that it cannot be read. */
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of the function taken over
void *cmsOpenProfileFromMem(const void *bytes, uint32_t size);

// NOLINTNEXTLINE(readability-identifier-naming): see above
void *cmsOpenProfileFromMem(const void *bytes, uint32_t size)
{
    (void)bytes;
    (void)size;
    return NULL;
}
