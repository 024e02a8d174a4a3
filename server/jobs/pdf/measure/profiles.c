/*
 * profiles.c: colour profiles are not read. Poppler has lcms make tables of each ICC profile in a
 * document, which takes up to ten times as long as all else on the page (130 of 140 ms), and is
 * another parser of hostile bytes. Measuring asks of a colour only whether it is all but white,
 * which the alternate colour space that is beside each profile tells as well.
 * libpoppler calls lcms through its linkage table, so that the definition here comes first; since
 * only a library's library refers to it, the linker is told to export it (tools/cmake/parts.cmake).
 */
#include <stddef.h>
#include <stdint.h>

/* As lcms2.h declares it, whose types these are; a profile that is NULL is one that can't be read. */
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of the function taken over
void *cmsOpenProfileFromMem(const void *bytes, uint32_t size);

// NOLINTNEXTLINE(readability-identifier-naming): see above
void *cmsOpenProfileFromMem(const void *bytes, uint32_t size)
{
    (void)bytes;
    (void)size;
    return NULL;
}
