/*
 * warm_up.c: does the work of a process's first document in advance: fontconfig's configuration,
 * Poppler's tables, cairo's. Measures two small documents, one with Latin text and one with
 * Japanese text through a predefined CMap, which also shows whether poppler-data can be read. The
 * first stays open, since Poppler's tables exist only while a document does.
 */
#include "server/jobs/pdf/measure/measure_internal.h"

#include <locale.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Neither has a table of objects: Poppler finds them nevertheless. */
static const char latin_pdf[] =
    "%PDF-1.4\n"
    "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources"
    "<</Font<</F1 5 0 R/F2 6 0 R/F3 7 0 R>>>>>>endobj\n"
    "4 0 obj<</Length 138>>stream\n"
    "BT /F1 12 Tf 20 100 Td (Invoice) Tj /F2 12 Tf (Total) Tj /F3 12 Tf (12.50) Tj ET\n"
    "1 0 0 RG 20 50 m 120 50 l S 20 20 100 20 re f            \n"
    "endstream endobj\n"
    "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>endobj\n"
    "6 0 obj<</Type/Font/Subtype/Type1/BaseFont/Times-Bold/Encoding/WinAnsiEncoding>>endobj\n"
    "7 0 obj<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>endobj\n"
    "trailer<</Root 1 0 R/Size 8>>\n";

static const char japanese_pdf[] =
    "%PDF-1.4\n"
    "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources"
    "<</Font<</F1 5 0 R>>>>>>endobj\n"
    "4 0 obj<</Length 46>>stream\n"
    "BT /F1 12 Tf 20 100 Td <93FA967B> Tj ET       \n"
    "endstream endobj\n"
    "5 0 obj<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/90ms-RKSJ-H"
    "/DescendantFonts[6 0 R]>>endobj\n"
    "6 0 obj<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/CIDSystemInfo"
    "<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>/FontDescriptor 7 0 R>>endobj\n"
    "7 0 obj<</Type/FontDescriptor/FontName/Ryumin-Light/Flags 4/FontBBox[0 -200 1000 900]"
    "/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>endobj\n"
    "trailer<</Root 1 0 R/Size 8>>\n";

/* Measures a document in memory, and leaves it open; its snippet shows whether that succeeded. */
static struct measure_document *measure_sample(struct slice pdf, const char *expected)
{
    struct measure_document *document = NULL;
    struct pdf_text text = {0};
    struct pdf_explanation explanation = {0};
    int fd = memfd_create("errata-warm-up", MFD_CLOEXEC);

    if (fd < 0) {
        return NULL;
    }
    if (write(fd, pdf.data, pdf.size) != (ssize_t)pdf.size ||
        measure_open(fd, (struct slice){0}, &document) != PDF_READ) {
        close(fd);
        return NULL;
    }
    close(fd);
    if (measure_text(document, &text) != PDF_READ ||
        measure_tables(document, 0, &explanation) != PDF_CUT_NONE ||
        !slice_starts_with(text.snippet, slice_text(expected))) {
        measure_close(document);
        return NULL;
    }
    return document;
}

bool measure_warm_up(void)
{
    /* Keeps Poppler's tables for the life of the process. */
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see above
    static struct measure_document *kept;
    /* Poppler converts passwords to Latin-1; while this is open, the converter stays loaded, which
     * the sandbox could not read later. */
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see above
    static GIConv volatile to_latin1; /* never read; volatile prevents its removal */
    struct measure_document *japanese = NULL;
    bool has_cmaps = false;

    /* Numbers in PDFs have a point, regardless of the environment. */
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, ahead of the first document
    (void)setlocale(LC_ALL, "C");
    to_latin1 = g_iconv_open("ISO-8859-1", "UTF-8");
    (void)to_latin1;
    kept = measure_sample(slice_text(latin_pdf), "Invoice");
    japanese = measure_sample(slice_text(japanese_pdf), "日本");
    has_cmaps = japanese != NULL;
    measure_close(japanese);
    return kept != NULL && has_cmaps;
}
