#include "capture/exec/aria/not_taken_internal.h"

#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/translate/xsave_area.h"

#include <string.h>

#define CHUNK 64u

static void add(struct not_taken *not_taken, uint64_t address, unsigned size, unsigned offset,
                bool write)
{
    if (not_taken->reference_count < NOT_TAKEN_REFERENCES)
        not_taken->references[not_taken->reference_count++] = (struct not_taken_reference){
            .address = address,
            .size = (uint16_t)size,
            .offset = (uint16_t)offset,
            .write = write,
            .own = !write && not_taken_is_own(not_taken, address, size)};
}

static void add_range(struct not_taken *not_taken, uint64_t address, unsigned size, unsigned offset,
                      bool write)
{
    for (unsigned done = 0; done < size; done += CHUNK)
        add(not_taken, address + done, size - done < CHUNK ? size - done : CHUNK, offset + done,
            write);
}

/* The address of an operand, without the index of a gather. */
static uint64_t address_of(const struct not_taken *not_taken, const struct decode_access *access)
{
    const uint64_t *registers = not_taken->thread->registers;
    bool lanes = access->form == DECODE_GATHER || access->form == DECODE_GATHER_VECTOR;
    uint64_t address = (uint64_t)access->displacement;
    if (access->base != DECODE_NONE)
        address += registers[access->base];
    if (access->form == DECODE_TABLE)
        address += registers[DECODE_RAX] & 0xff;
    else if (access->index != DECODE_NONE && !lanes)
        address += registers[access->index] * access->scale;
    return address;
}

/* Truncates an address to the address size and adds the base of fs. */
static uint64_t finish(const struct not_taken *not_taken, const struct decode_access *access,
                       uint64_t address)
{
    if (access->narrow)
        address = (uint32_t)address;
    return address + (access->fs ? not_taken->thread->fs_base : 0);
}

static uint64_t lanes_of(const struct decode_access *access)
{
    return access->lanes >= 64 ? UINT64_MAX : ((uint64_t)1 << access->lanes) - 1;
}

static uint64_t mask_of(const struct not_taken *not_taken, const struct decode_access *access)
{
    return lanes_of(access) &
           vector_state_opmask(&not_taken->aria->layout, not_taken->thread->vector, access->mask);
}

/* The highest bits of the elements of a vector. */
static uint64_t vector_mask_of(const struct not_taken *not_taken,
                               const struct decode_access *access)
{
    uint8_t bytes[VECTOR_STATE_BYTES] = {0};
    uint64_t mask = 0;
    if (access->vector == 8) {
        uint64_t value = vector_state_mmx(not_taken->thread->vector, access->mask);
        memcpy(bytes, &value, sizeof value);
    } else {
        vector_state_get(&not_taken->aria->layout, not_taken->thread->vector, access->mask, bytes);
    }
    for (unsigned lane = 0; lane < access->lanes; lane++)
        mask |= (uint64_t)(bytes[(lane + 1) * access->element - 1] >> 7) << lane;
    return mask;
}

static void add_elements(struct not_taken *not_taken, const struct decode_access *access,
                         uint64_t address, uint64_t mask, bool write)
{
    for (unsigned lane = 0; lane < access->lanes; lane++) {
        unsigned first = lane;
        while (lane < access->lanes && (mask >> lane & 1))
            lane++;
        if (lane > first)
            add(not_taken, address + first * access->element, (lane - first) * access->element,
                first * access->element, write);
    }
}

static void add_gather(struct not_taken *not_taken, const struct decode_access *access,
                       uint64_t mask, bool write)
{
    uint8_t indices[VECTOR_STATE_BYTES];
    uint64_t base = address_of(not_taken, access);
    vector_state_get(&not_taken->aria->layout, not_taken->thread->vector, access->index, indices);
    for (unsigned lane = 0; lane < access->lanes; lane++) {
        int64_t index = 0;
        int32_t narrow_index;
        if (!(mask >> lane & 1))
            continue;
        if (access->index_size == 8) {
            memcpy(&index, indices + lane * 8, sizeof index);
        } else {
            memcpy(&narrow_index, indices + lane * 4, sizeof narrow_index);
            index = narrow_index;
        }
        add(not_taken, finish(not_taken, access, base + (uint64_t)index * access->scale),
            access->element, lane * access->element, write);
    }
}

/* The element that contains a bit. */
static uint64_t bit_address(const struct not_taken *not_taken, const struct decode_access *access)
{
    uint64_t bit = not_taken->thread->registers[access->mask];
    return address_of(not_taken, access) + (uint64_t)decode_bit_offset(access, bit);
}

/* Legacy area and header, then components: for xrstor those of the header in memory, for xsave
 * those in use. */
static void add_xsave(struct not_taken *not_taken, const struct decode_access *access,
                      uint64_t address, bool write)
{
    const struct trace_expander *known = &not_taken->executor->expander;
    const uint64_t *registers = not_taken->thread->registers;
    uint64_t asked = (uint32_t)registers[DECODE_RAX] | registers[DECODE_RDX] << 32;
    uint64_t header[2] = {0, 0};
    uint32_t offset, size;
    if (access->element == DECODE_XSAVE_RESTORE)
        not_taken_load(not_taken, header, address + XSAVE_HEADER, sizeof header);
    else
        memcpy(header, not_taken->thread->vector + XSAVE_HEADER, sizeof *header);
    struct trace_areas areas = trace_expander_areas(known, (enum decode_xsave)access->element,
                                                    asked, header[0], header[1]);
    add_range(not_taken, address, XSAVE_OTHERS, 0, write);
    while (trace_expander_next_area(known, &areas, &offset, &size))
        add_range(not_taken, address + offset, size, offset, write);
}

static void add_access(struct not_taken *not_taken, const struct decode_access *access, bool write)
{
    uint64_t address = finish(not_taken, access, address_of(not_taken, access));
    switch (access->form) {
    case DECODE_BITS:
        add(not_taken, finish(not_taken, access, bit_address(not_taken, access)), access->size, 0,
            write);
        break;
    case DECODE_OPMASK:
        add_elements(not_taken, access, address,
                     decode_elements(access, mask_of(not_taken, access)), write);
        break;
    case DECODE_OPMASK_PACKED: {
        unsigned count = (unsigned)__builtin_popcountll(mask_of(not_taken, access));
        add_range(not_taken, address, count * access->element, 0, write);
        break;
    }
    case DECODE_VECTOR_MASK:
        add_elements(not_taken, access, address, vector_mask_of(not_taken, access), write);
        break;
    case DECODE_GATHER:
        add_gather(not_taken, access, mask_of(not_taken, access), write);
        break;
    case DECODE_GATHER_VECTOR:
        add_gather(not_taken, access, vector_mask_of(not_taken, access), write);
        break;
    case DECODE_FRAMES:
        for (unsigned i = 0; i < access->lanes; i++)
            add(not_taken, address - (uint64_t)i * access->size, access->size, 0, write);
        break;
    case DECODE_XSAVE:
        add_xsave(not_taken, access, address, write);
        break;
    default:
        add_range(not_taken, address, access->size, 0, write);
        break;
    }
}

void not_taken_find_references(struct not_taken *not_taken,
                               const struct decode_instruction *instruction)
{
    not_taken->reference_count = 0;
    for (int write = 0; write < 2; write++)
        for (unsigned i = 0; i < instruction->access_count; i++) {
            const struct decode_access *access = &instruction->accesses[i];
            if (write ? access->write : access->read)
                add_access(not_taken, access, write);
        }
}

/* Whether the program may read the whole range; writable or executable implies readable. */
static bool is_readable(struct space *space, uint64_t address, unsigned size)
{
    struct space_mapping mapping;
    uint64_t end = address + size;
    if (address >= SPACE_END || end > SPACE_END)
        return false;
    for (; address < end; address = mapping.end)
        if (!space_find(space, address, &mapping) || mapping.protection == 0)
            return false;
    return true;
}

/* The instruction itself then applies the mask. */
bool not_taken_find_whole(struct not_taken *not_taken, const struct decode_access *access,
                          uint64_t *address)
{
    if (!access->read || (access->form != DECODE_OPMASK && access->form != DECODE_VECTOR_MASK))
        return false;
    *address = finish(not_taken, access, address_of(not_taken, access));
    return is_readable(not_taken->aria->process->space, *address, access->size);
}

void not_taken_load(struct not_taken *not_taken, void *to, uint64_t address, unsigned size)
{
    struct space *space = not_taken->aria->process->space;
    if (!is_readable(space, address, size) ||
        exec_copy(to, (const void *)(uintptr_t)address, size) != 0)
        memset(to, 0, size);
    if (not_taken->aria->stores)
        store_buffer_get(not_taken->aria->stores, to, address, size);
}

bool not_taken_record_one(struct not_taken *not_taken, uint64_t address, unsigned size,
                          uint8_t type)
{
    const struct record record = {.address = (uint32_t)address,
                                  .type = type,
                                  .size = (uint8_t)size,
                                  .attribute = ATTRIBUTE_WRITE_BACK,
                                  .time = type == REQUEST_FETCH ? 1 : 0};
    if (type != REQUEST_FETCH && not_taken->aria->settings.only_fetches)
        return true;
    return aria_add_records(not_taken->aria, &record, 1);
}

bool not_taken_record(struct not_taken *not_taken, const struct decode_instruction *instruction)
{
    bool enough =
        not_taken_record_one(not_taken, instruction->address, instruction->size, REQUEST_FETCH);
    for (unsigned i = 0; i < not_taken->reference_count && enough; i++) {
        const struct not_taken_reference *reference = &not_taken->references[i];
        not_taken->own_reads += reference->own;
        enough = not_taken_record_one(not_taken, reference->address, reference->size,
                                      reference->write ? REQUEST_MEMWRITE : REQUEST_MEMREAD);
    }
    return enough;
}
