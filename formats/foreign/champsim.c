#include "formats/foreign/champsim.h"

#include <string.h>

#define DESTINATIONS         2u
#define SOURCES              4u
#define BRANCH_OFFSET        8u
#define TAKEN_OFFSET         9u
#define DESTINATION_REGISTER 10u
#define SOURCE_REGISTER      12u
#define DESTINATION_MEMORY   16u
#define SOURCE_MEMORY        32u

#define REGISTER_FLAGS               25u
#define REGISTER_INSTRUCTION_POINTER 26u

#define SIZE_UNTOLD 4u
#define AHEAD       8u /* records examined for the size of an instruction */

/* --- reading --- */

static void add_reference(struct foreign_item *item, uint64_t address, uint64_t size, uint8_t type)
{
    item->references[item->count++] = (struct foreign_reference){
        .address = address, .size = size, .type = type, .attribute = ATTRIBUTE_WRITE_BACK};
}

static void add_data(struct foreign_item *item, const uint8_t *bytes, unsigned count, uint8_t type)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t address = bytes_get64(bytes + i * 8);
        if (address != 0)
            add_reference(item, address, SIZE_UNTOLD, type);
    }
}

static bool is_full(const uint8_t *bytes)
{
    return bytes_get64(bytes + SOURCE_MEMORY + (SOURCES - 1) * 8) != 0 ||
           bytes_get64(bytes + DESTINATION_MEMORY + (DESTINATIONS - 1) * 8) != 0;
}

/* Whether the next record continues this one, which is full. */
static bool goes_on(const uint8_t *bytes)
{
    return is_full(bytes) && !bytes[TAKEN_OFFSET] &&
           bytes_get64(bytes) == bytes_get64(bytes + CHAMPSIM_BYTES);
}

/* The size of an instruction from count records, of which the second and later ones belong to it
 * only if they continue it. 0: the instruction is not a branch, and the next one is not its
 * successor. */
static uint64_t length_of(const uint8_t *bytes, size_t count)
{
    uint64_t ip = bytes_get64(bytes);
    for (; count > 1 && goes_on(bytes); count--)
        bytes += CHAMPSIM_BYTES;
    if (count < 2)
        return SIZE_UNTOLD;
    uint64_t distance = bytes_get64(bytes + CHAMPSIM_BYTES) - ip;
    if (bytes[TAKEN_OFFSET]) /* any size that does not lead to the target */
        return distance == SIZE_UNTOLD ? SIZE_UNTOLD / 2 : SIZE_UNTOLD;
    return distance <= UINT8_MAX ? distance : 0;
}

struct champsim_reader {
    bool inside; /* the next record continues the last one */
};

static int decode(void *state, const uint8_t *bytes, size_t size, bool last,
                  struct foreign_item *item, struct bt_error *error)
{
    struct champsim_reader *champsim = state;
    (void)error;
    if (size < CHAMPSIM_BYTES || (size < AHEAD * CHAMPSIM_BYTES && !last))
        return 0;
    size_t count = size / CHAMPSIM_BYTES < AHEAD ? size / CHAMPSIM_BYTES : AHEAD;
    item->used = CHAMPSIM_BYTES;
    if (!champsim->inside)
        add_reference(item, bytes_get64(bytes), length_of(bytes, count), REQUEST_FETCH);
    add_data(item, bytes + SOURCE_MEMORY, SOURCES, REQUEST_MEMREAD);
    add_data(item, bytes + DESTINATION_MEMORY, DESTINATIONS, REQUEST_MEMWRITE);
    champsim->inside = count > 1 && goes_on(bytes);
    return 0;
}

const struct foreign_decoder champsim_decoder = {
    .sizes_estimated = true, .state_bytes = sizeof(struct champsim_reader), .decode = decode};

/* --- writing --- */

struct champsim_writer {
    bool chosen; /* processor is set */
    uint8_t processor;
    bool waiting;     /* an instruction is pending until the next fetch */
    uint32_t next_ip; /* address after it, if its size is known */
    bool sized;
    unsigned reads, writes; /* its number of addresses */
    uint8_t instruction[CHAMPSIM_BYTES];
};

static int begin(void *state, const struct foreign_options *options, struct text_writer *writer,
                 char *out, size_t *filled, struct bt_error *error)
{
    struct champsim_writer *champsim = state;
    (void)writer;
    (void)out;
    (void)filled;
    (void)error;
    champsim->chosen = options->one_processor;
    champsim->processor = options->processor;
    return 0;
}

/* Registers by which ChampSim recognises a conditional branch. */
static void make_branch(uint8_t *instruction)
{
    instruction[BRANCH_OFFSET] = 1;
    instruction[TAKEN_OFFSET] = 1;
    instruction[DESTINATION_REGISTER] = REGISTER_INSTRUCTION_POINTER;
    instruction[SOURCE_REGISTER] = REGISTER_INSTRUCTION_POINTER;
    instruction[SOURCE_REGISTER + 1] = REGISTER_FLAGS;
}

static char *put_instruction(struct champsim_writer *champsim, char *out)
{
    memcpy(out, champsim->instruction, CHAMPSIM_BYTES);
    champsim->reads = champsim->writes = 0;
    return out + CHAMPSIM_BYTES;
}

static void start_instruction(struct champsim_writer *champsim, uint32_t ip)
{
    memset(champsim->instruction, 0, CHAMPSIM_BYTES);
    bytes_put64(champsim->instruction, ip);
    champsim->reads = champsim->writes = 0;
}

static char *take_fetch(struct champsim_writer *champsim, char *out, const struct record *record)
{
    if (champsim->waiting) {
        if (champsim->sized && record->address != champsim->next_ip)
            make_branch(champsim->instruction);
        out = put_instruction(champsim, out);
    }
    start_instruction(champsim, record->address);
    champsim->waiting = true;
    champsim->sized = record->size > 0;
    champsim->next_ip = record->address + record->size;
    return out;
}

static char *take_data(struct champsim_writer *champsim, char *out, const struct record *record)
{
    bool write = record->type == REQUEST_MEMWRITE;
    unsigned *used = write ? &champsim->writes : &champsim->reads;
    if (*used == (write ? DESTINATIONS : SOURCES)) {
        uint32_t ip = bytes_get32(champsim->instruction);
        out = put_instruction(champsim, out);
        start_instruction(champsim, ip);
        used = write ? &champsim->writes : &champsim->reads;
    }
    bytes_put64(champsim->instruction + (write ? DESTINATION_MEMORY : SOURCE_MEMORY) + *used * 8,
                record->address);
    (*used)++;
    return out;
}

static char *encode(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error)
{
    struct champsim_writer *champsim = state;
    (void)error;
    for (const struct record *r = run->records; r < run->records + run->count; r++) {
        enum foreign_reason reason = foreign_reason_of(r->type);
        if (reason == FOREIGN_REASONS && !champsim->chosen && r->type == REQUEST_FETCH) {
            champsim->chosen = true;
            champsim->processor = r->processor;
        }
        if (reason == FOREIGN_REASONS && champsim->chosen && r->processor != champsim->processor)
            reason = FOREIGN_PROCESSOR;
        else if (reason == FOREIGN_REASONS && r->type != REQUEST_FETCH && !champsim->waiting)
            reason = FOREIGN_NO_FETCH;
        else if (reason == FOREIGN_REASONS && r->type != REQUEST_FETCH && r->address == 0)
            reason = FOREIGN_ADDRESS;
        if (reason != FOREIGN_REASONS) {
            loss->count[reason]++;
            continue;
        }
        out = r->type == REQUEST_FETCH ? take_fetch(champsim, out, r) : take_data(champsim, out, r);
        loss->count[FOREIGN_INVALIDATE] += r->type == REQUEST_MEMREADINV;
        loss->written++;
    }
    return out;
}

static int finish(void *state, struct text_writer *writer, struct foreign_loss *loss,
                  struct bt_error *error)
{
    const struct champsim_writer *champsim = state;
    (void)loss;
    if (!champsim->waiting)
        return 0;
    return text_writer_put(writer, (const char *)champsim->instruction, CHAMPSIM_BYTES, error);
}

const struct foreign_encoder champsim_encoder = {.state_bytes = sizeof(struct champsim_writer),
                                                 .record_bytes = CHAMPSIM_BYTES,
                                                 .begin = begin,
                                                 .encode = encode,
                                                 .finish = finish};
