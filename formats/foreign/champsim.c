#include "formats/foreign/champsim.h"

#include <string.h>

#define DESTINATIONS         CHAMPSIM_DESTINATIONS
#define SOURCES              CHAMPSIM_SOURCES
#define BRANCH_OFFSET        8u
#define TAKEN_OFFSET         9u
#define DESTINATION_REGISTER 10u
#define SOURCE_REGISTER      12u
#define DESTINATION_MEMORY   16u
#define SOURCE_MEMORY        32u

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

/* --- registers --- */

bool champsim_add_register(uint8_t *registers, unsigned count, uint8_t number)
{
    for (unsigned i = 0; i < count; i++) {
        if (registers[i] == 0)
            registers[i] = number;
        if (registers[i] == number)
            return true;
    }
    return false;
}

/* Puts count registers before those of an array of `room` that are none of the three special ones.
 * Returns whether there are others. */
static bool put_special(uint8_t *registers, unsigned room, const uint8_t *special, unsigned count,
                        bool *more)
{
    uint8_t others[SOURCES] = {0};
    unsigned kept = 0;
    for (unsigned i = 0; i < room; i++)
        if (registers[i] != 0 && registers[i] != CHAMPSIM_STACK_POINTER &&
            registers[i] != CHAMPSIM_FLAGS && registers[i] != CHAMPSIM_INSTRUCTION_POINTER)
            others[kept++] = registers[i];
    *more |= kept > room - count;
    memset(registers, 0, room);
    memcpy(registers, special, count);
    memcpy(registers + count, others, kept < room - count ? kept : room - count);
    return kept > 0;
}

void champsim_add_branch(struct champsim_instruction *instruction)
{
    /* the special registers that are written and read, and whether others may be read */
    static const struct {
        uint8_t written[2], read[2];
        uint8_t writes, reads;
        bool other;
    } rules[] = {
        [CHAMPSIM_JUMP] = {{CHAMPSIM_INSTRUCTION_POINTER}, {CHAMPSIM_INSTRUCTION_POINTER}, 1, 1, 0},
        [CHAMPSIM_INDIRECT_JUMP] = {{CHAMPSIM_INSTRUCTION_POINTER}, {0}, 1, 0, 1},
        [CHAMPSIM_CONDITIONAL] = {{CHAMPSIM_INSTRUCTION_POINTER},
                                  {CHAMPSIM_INSTRUCTION_POINTER, CHAMPSIM_FLAGS},
                                  1,
                                  2,
                                  0},
        [CHAMPSIM_CALL] = {{CHAMPSIM_INSTRUCTION_POINTER, CHAMPSIM_STACK_POINTER},
                           {CHAMPSIM_INSTRUCTION_POINTER, CHAMPSIM_STACK_POINTER},
                           2,
                           2,
                           0},
        [CHAMPSIM_INDIRECT_CALL] = {{CHAMPSIM_INSTRUCTION_POINTER, CHAMPSIM_STACK_POINTER},
                                    {CHAMPSIM_INSTRUCTION_POINTER, CHAMPSIM_STACK_POINTER},
                                    2,
                                    2,
                                    1},
        [CHAMPSIM_RETURN] = {{CHAMPSIM_INSTRUCTION_POINTER, CHAMPSIM_STACK_POINTER},
                             {CHAMPSIM_STACK_POINTER},
                             2,
                             1,
                             0},
    };
    unsigned kind = instruction->branch;
    if (kind == CHAMPSIM_PLAIN)
        return;
    put_special(instruction->destinations, DESTINATIONS, rules[kind].written, rules[kind].writes,
                &instruction->more_registers);
    bool found = put_special(instruction->sources, SOURCES, rules[kind].read, rules[kind].reads,
                             &instruction->more_registers);
    uint8_t *rest = instruction->sources + rules[kind].reads;
    if (rules[kind].other && !found)
        *rest = CHAMPSIM_LOADED;
    else if (!rules[kind].other)
        memset(rest, 0, SOURCES - rules[kind].reads);
}

/* --- writing --- */

struct champsim_writer {
    bool chosen; /* processor is set */
    uint8_t processor;
    bool waiting;     /* an instruction is pending until the next fetch */
    uint32_t next_ip; /* address after it, if its size is known */
    bool sized;
    unsigned reads, writes;          /* its number of addresses */
    const struct foreign_code *code; /* NULL: unknown */
    bool known;                      /* the pending instruction is in the code: */
    struct champsim_instruction decoded;
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
    champsim->code = options->code;
    return 0;
}

static void put_registers(uint8_t *instruction, const struct champsim_instruction *decoded)
{
    memcpy(instruction + DESTINATION_REGISTER, decoded->destinations, DESTINATIONS);
    memcpy(instruction + SOURCE_REGISTER, decoded->sources, SOURCES);
}

/* Writes a branch of unknown kind. */
static void make_branch(uint8_t *instruction)
{
    struct champsim_instruction branch = {.branch = CHAMPSIM_CONDITIONAL};
    champsim_add_branch(&branch);
    instruction[BRANCH_OFFSET] = 1;
    instruction[TAKEN_OFFSET] = 1;
    put_registers(instruction, &branch);
}

/* Completes the pending instruction's last record; next is the next fetch, NULL at the end. */
static void complete(struct champsim_writer *champsim, const struct record *next)
{
    const struct champsim_instruction *decoded = &champsim->decoded;
    uint8_t *instruction = champsim->instruction;
    if (!champsim->known) {
        if (next && champsim->sized && next->address != champsim->next_ip)
            make_branch(instruction);
        return;
    }
    put_registers(instruction, decoded);
    instruction[BRANCH_OFFSET] = decoded->branch != CHAMPSIM_PLAIN;
    instruction[TAKEN_OFFSET] =
        decoded->branch == CHAMPSIM_CONDITIONAL
            ? next && next->address == bytes_get32(instruction) + decoded->distance
            : decoded->branch != CHAMPSIM_PLAIN;
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

/* Decodes the instruction that a fetch begins. */
static void decode_fetch(struct champsim_writer *champsim, const struct record *record,
                         uint64_t tick, struct foreign_loss *loss)
{
    const struct champsim_instruction *decoded =
        champsim->code->find(champsim->code->context, tick, record->address);
    /* a fetch of another size is none of this instruction: a bus fetches lines */
    champsim->known = decoded && (record->size == 0 || record->size == decoded->size);
    if (champsim->known)
        champsim->decoded = *decoded;
    loss->count[FOREIGN_CODE] += !champsim->known;
    loss->count[FOREIGN_REGISTERS] += champsim->known && decoded->more_registers;
}

static char *take_fetch(struct champsim_writer *champsim, char *out, const struct record *record,
                        uint64_t tick, struct foreign_loss *loss)
{
    if (champsim->waiting) {
        complete(champsim, record);
        out = put_instruction(champsim, out);
    }
    start_instruction(champsim, record->address);
    champsim->waiting = true;
    champsim->sized = record->size > 0;
    champsim->next_ip = record->address + record->size;
    if (champsim->code)
        decode_fetch(champsim, record, tick, loss);
    return out;
}

/* The number of addresses that a record of the pending instruction holds. */
static unsigned address_room(const struct champsim_writer *champsim, bool write)
{
    const struct champsim_instruction *decoded = &champsim->decoded;
    unsigned once = !champsim->known ? 0 : write ? decoded->writes : decoded->reads;
    return once > 0 ? once : write ? DESTINATIONS : SOURCES;
}

static char *take_data(struct champsim_writer *champsim, char *out, const struct record *record)
{
    bool write = record->type == REQUEST_MEMWRITE;
    unsigned *used = write ? &champsim->writes : &champsim->reads;
    if (*used == address_room(champsim, write)) {
        uint32_t ip = bytes_get32(champsim->instruction);
        if (champsim->known && champsim->decoded.branch == CHAMPSIM_PLAIN)
            put_registers(champsim->instruction, &champsim->decoded);
        out = put_instruction(champsim, out);
        start_instruction(champsim, ip);
    }
    bytes_put64(champsim->instruction + (write ? DESTINATION_MEMORY : SOURCE_MEMORY) + *used * 8,
                record->address);
    (*used)++;
    return out;
}

static enum foreign_reason reason_of(struct champsim_writer *champsim, const struct record *record)
{
    enum foreign_reason reason = foreign_reason_of(record->type);
    bool fetch = record->type == REQUEST_FETCH;
    if (reason != FOREIGN_REASONS)
        return reason;
    if (!champsim->chosen && fetch) {
        champsim->chosen = true;
        champsim->processor = record->processor;
    }
    if (champsim->chosen && record->processor != champsim->processor)
        return FOREIGN_PROCESSOR;
    if (!fetch && !champsim->waiting)
        return FOREIGN_NO_FETCH;
    return !fetch && record->address == 0 ? FOREIGN_ADDRESS : FOREIGN_REASONS;
}

static char *encode(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error)
{
    struct champsim_writer *champsim = state;
    uint64_t tick = run->tick;
    (void)error;
    for (const struct record *r = run->records; r < run->records + run->count; r++) {
        tick += r > run->records ? r->time : 0;
        enum foreign_reason reason = reason_of(champsim, r);
        if (reason != FOREIGN_REASONS) {
            loss->count[reason]++;
            continue;
        }
        out = r->type == REQUEST_FETCH ? take_fetch(champsim, out, r, tick, loss)
                                       : take_data(champsim, out, r);
        loss->count[FOREIGN_INVALIDATE] += r->type == REQUEST_MEMREADINV;
        loss->written++;
    }
    return out;
}

static int finish(void *state, struct text_writer *writer, struct foreign_loss *loss,
                  struct bt_error *error)
{
    struct champsim_writer *champsim = state;
    (void)loss;
    if (!champsim->waiting)
        return 0;
    complete(champsim, NULL);
    return text_writer_put(writer, (const char *)champsim->instruction, CHAMPSIM_BYTES, error);
}

const struct foreign_encoder champsim_encoder = {.state_bytes = sizeof(struct champsim_writer),
                                                 .record_bytes = CHAMPSIM_BYTES,
                                                 .begin = begin,
                                                 .encode = encode,
                                                 .finish = finish};
