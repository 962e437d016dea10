/*
 * Checks that a picture is complete and has the given size: PNG by the checksums of its chunks and
 * its decompressed pixels, SVG by its tags, PDF by its page and end. Sizes are in pixels, 96 an
 * inch.
 *
 * usage: check_picture FILE WIDTH HEIGHT
 */
#define _GNU_SOURCE /* memmem */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BYTES_MAX (64u << 20)
#define DEPTH_MAX 64u

struct picture {
    uint8_t *bytes;
    size_t size;
    unsigned long width, height; /* expected */
};

static int fail(const char *why)
{
    fprintf(stderr, "check_picture: %s\n", why);
    return 1;
}

static uint32_t get32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* --- PNG --- */

/* Whether the compressed pixels are a byte and 3 or 4 bytes a pixel for each line. */
static bool check_pixels(const struct picture *picture, const uint8_t *data, size_t size)
{
    uLongf room = picture->height * (picture->width * 4 + 1);
    uint8_t *pixels = malloc(room);
    uLongf got = room;
    bool good = pixels && uncompress(pixels, &got, data, size) == Z_OK &&
                (got == room || got == picture->height * (picture->width * 3 + 1));
    free(pixels);
    return good;
}

static int check_png(const struct picture *picture)
{
    uint8_t *data = malloc(picture->size);
    size_t data_size = 0;
    bool ended = false;
    for (size_t at = 8; at < picture->size && !ended && data;) {
        const uint8_t *chunk = picture->bytes + at;
        size_t left = picture->size - at;
        uint32_t length = left >= 12 ? get32(chunk) : 0;
        if (left < 12 || length > left - 12)
            return fail("a chunk is cut off");
        if (crc32(0, chunk + 4, length + 4) != get32(chunk + 8 + length))
            return fail("a chunk is damaged");
        if (memcmp(chunk + 4, "IHDR", 4) == 0 &&
            (get32(chunk + 8) != picture->width || get32(chunk + 12) != picture->height))
            return fail("the picture has another size");
        if (memcmp(chunk + 4, "IDAT", 4) == 0) {
            memcpy(data + data_size, chunk + 8, length);
            data_size += length;
        }
        ended = memcmp(chunk + 4, "IEND", 4) == 0;
        at += length + 12;
        if (ended && at != picture->size)
            return fail("something follows the picture");
    }
    bool good = ended && check_pixels(picture, data, data_size);
    free(data);
    return good ? 0 : fail("the pixels have a wrong size");
}

/* --- SVG --- */

/* The names of the tags that are open. */
struct tags {
    char names[DEPTH_MAX][32];
    size_t depth;
};

static bool take_tag(struct tags *tags, const char *tag, const char *end)
{
    char name[32];
    bool closes = *tag == '/';
    tag += closes;
    size_t length = strcspn(tag, " \t\r\n/>");
    if (length >= sizeof name)
        return false;
    memcpy(name, tag, length);
    name[length] = 0;
    if (closes)
        return tags->depth > 0 && strcmp(tags->names[--tags->depth], name) == 0;
    if (end[-1] == '/')
        return true;
    if (tags->depth == DEPTH_MAX)
        return false;
    strcpy(tags->names[tags->depth++], name);
    return true;
}

/* Every & begins a character's name or number. */
static bool check_references(const char *text)
{
    while ((text = strchr(text, '&'))) {
        text++;
        size_t length =
            strspn(text, "#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        if (length == 0 || text[length] != ';')
            return false;
    }
    return true;
}

static int check_svg(const struct picture *picture)
{
    const char *text = (const char *)picture->bytes;
    struct tags tags = {.depth = 0};
    char size[64];
    snprintf(size, sizeof size, "width=\"%lu\" height=\"%lu\"", picture->width, picture->height);
    if (!strstr(text, size))
        return fail("the picture has another size");
    if (strlen(text) != picture->size || strstr(text, "]]>") || !check_references(text))
        return fail("a character cannot be in SVG");
    for (const char *at = text; (at = strchr(at, '<'));) {
        bool comment = strncmp(at, "<!--", 4) == 0;
        const char *end = comment ? strstr(at, "-->") : strchr(at, '>');
        if (!end)
            return fail("a tag is cut off");
        if (at[1] != '?' && at[1] != '!' && !take_tag(&tags, at + 1, end))
            return fail("tags do not fit one another");
        at = end;
    }
    return tags.depth == 0 ? 0 : fail("a tag is not closed");
}

/* --- PDF --- */

static int check_pdf(const struct picture *picture)
{
    double width;
    double height;
    const uint8_t *box = memmem(picture->bytes, picture->size, "/MediaBox", 9);
    const char *end = (const char *)picture->bytes + picture->size;
    if (!box || sscanf((const char *)box + 9, " [ 0 0 %lf %lf", &width, &height) != 2)
        return fail("there is no page");
    if (fabs(width - 0.75 * (double)picture->width) > 1 ||
        fabs(height - 0.75 * (double)picture->height) > 1)
        return fail("the page has another size");
    if (memcmp(end - 6, "%%EOF\n", 6) != 0)
        return fail("the picture is cut off");
    return 0;
}

int main(int argc, char **argv)
{
    struct picture picture = {.size = 0};
    FILE *file = argc == 4 ? fopen(argv[1], "rb") : NULL;
    picture.bytes = calloc(1, BYTES_MAX + 1);
    if (!file || !picture.bytes)
        return fail("usage: check_picture FILE WIDTH HEIGHT");
    picture.size = fread(picture.bytes, 1, BYTES_MAX, file);
    picture.width = strtoul(argv[2], NULL, 10);
    picture.height = strtoul(argv[3], NULL, 10);
    fclose(file);
    bool png = picture.size > 8 && memcmp(picture.bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
    bool pdf = picture.size > 8 && memcmp(picture.bytes, "%PDF-", 5) == 0;
    int status = png ? check_png(&picture) : pdf ? check_pdf(&picture) : check_svg(&picture);
    free(picture.bytes);
    return status;
}
