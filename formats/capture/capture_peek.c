#include "formats/capture/capture_peek.h"

#include "formats/base/file_io.h"

/* Describes the member at an offset. False: there is none of that kind. */
static bool peek(int descriptor, off_t offset, enum capture_member_kind kind,
                 struct capture_member *member)
{
    uint8_t bytes[CAPTURE_MEMBER_HEADER_MAX];
    const ssize_t size = file_read_at(descriptor, bytes, sizeof bytes, offset);
    return size > 0 && capture_get_member(member, bytes, (size_t)size, NULL) == 1 &&
           member->kind == kind;
}

bool capture_peek_header(int descriptor, struct capture_member *header)
{
    return peek(descriptor, 0, CAPTURE_MEMBER_HEADER, header) && capture_info_has_id(&header->info);
}

bool capture_peek_data(int descriptor, const struct capture_member *header,
                       struct capture_member *data)
{
    return peek(descriptor, (off_t)header->member_bytes, CAPTURE_MEMBER_DATA, data);
}
