#include "formats/wire/packing.h"

#include <string.h>

/* "Packed records", the control byte. */
#define CONTROL_SLOT          0x0fu
#define CONTROL_ADDRESS_SHIFT 4u
#define CONTROL_TIME_SHIFT    6u
#define SLOT_NEW              15u
#define ADDRESS_WHOLE         3u
#define TIME_REPEATS          3u

static uint32_t record_kind(const struct record *record)
{
    return (uint32_t)record->type | (uint32_t)record->size << 8 |
           (uint32_t)record->attribute << 16 | (uint32_t)record->processor << 24;
}

/* Puts a kind into the slot whose turn it is. */
static struct packing_slot *slot_add(struct packing *packing, uint32_t kind)
{
    struct packing_slot *slot = &packing->slots[packing->next];
    *slot = (struct packing_slot){.kind = kind};
    packing->next = (uint8_t)((packing->next + 1u) % PACKING_SLOTS);
    if (packing->used < PACKING_SLOTS)
        packing->used++;
    return slot;
}

static unsigned slot_find(const struct packing *packing, uint32_t kind)
{
    for (unsigned i = 0; i < packing->used; i++)
        if (packing->slots[i].kind == kind)
            return i;
    return SLOT_NEW;
}

void packing_reset(struct packing *packing)
{
    packing->used = 0;
    packing->next = 0;
}

/* The shortest of the four forms of an address; difference is to the slot's last, modulo 2^32. */
static unsigned address_code(uint32_t difference)
{
    if (difference + 0x80u <= 0xffu)
        return 0;
    if (difference + 0x8000u <= 0xffffu)
        return 1;
    if (difference + 0x800000u <= 0xffffffu)
        return 2;
    return ADDRESS_WHOLE;
}

static unsigned time_code(uint32_t time, uint32_t last)
{
    if (time == last)
        return TIME_REPEATS;
    return time <= 0xffu ? 0 : time <= 0xffffu ? 1 : 2;
}

static const uint8_t address_bytes[4] = {1, 2, 3, 4};
static const uint8_t time_bytes[4] = {1, 2, 4, 0};

size_t packing_put(struct packing *packing, const struct record *record, uint8_t *out)
{
    uint32_t kind = record_kind(record);
    unsigned number = slot_find(packing, kind);
    size_t size = 1;
    struct packing_slot *slot;
    if (number == SLOT_NEW) {
        slot = slot_add(packing, kind);
        bytes_put32(out + size, kind);
        size += 4;
    } else {
        slot = &packing->slots[number];
    }
    uint32_t difference = record->address - slot->address;
    unsigned address = address_code(difference);
    unsigned time = time_code(record->time, slot->time);
    out[0] = (uint8_t)(number | address << CONTROL_ADDRESS_SHIFT | time << CONTROL_TIME_SHIFT);
    uint32_t value = address == ADDRESS_WHOLE ? record->address : difference;
    for (unsigned i = 0; i < address_bytes[address]; i++)
        out[size++] = (uint8_t)(value >> 8 * i);
    for (unsigned i = 0; i < time_bytes[time]; i++)
        out[size++] = (uint8_t)(record->time >> 8 * i);
    slot->address = record->address;
    slot->time = record->time;
    return size;
}

/*
 * Unpacks one record from PACKING_RECORD_MAX_BYTES readable bytes. Returns how many of them it had,
 * 0 for a slot that holds nothing. Reads whole words and masks them: branches on the codes would
 * be mispredicted, and this is the host's inner loop.
 */
static size_t get_one(struct packing *packing, struct record *record, const uint8_t *bytes)
{
    static const uint32_t address_mask[4] = {0xff, 0xffff, 0xffffff, 0xffffffff};
    static const uint32_t address_sign[4] = {0x80, 0x8000, 0x800000, 0};
    static const uint32_t address_base[4] = {0xffffffff, 0xffffffff, 0xffffffff, 0};
    static const uint32_t time_mask[4] = {0xff, 0xffff, 0xffffffff, 0};
    unsigned number = bytes[0] & CONTROL_SLOT;
    unsigned address = bytes[0] >> CONTROL_ADDRESS_SHIFT & 3u;
    unsigned time = bytes[0] >> CONTROL_TIME_SHIFT;
    size_t size = 1;
    struct packing_slot *slot;
    if (number == SLOT_NEW) {
        slot = slot_add(packing, bytes_get32(bytes + size));
        size += 4;
    } else if (number < packing->used) {
        slot = &packing->slots[number];
    } else {
        return 0;
    }
    uint32_t value = bytes_get32(bytes + size) & address_mask[address];
    value = (value ^ address_sign[address]) - address_sign[address];
    slot->address = (slot->address & address_base[address]) + value;
    size += address_bytes[address];
    uint32_t fresh = bytes_get32(bytes + size) & time_mask[time];
    slot->time = time == TIME_REPEATS ? slot->time : fresh;
    size += time_bytes[time];
    *record = (struct record){.address = slot->address,
                              .type = (uint8_t)slot->kind,
                              .size = (uint8_t)(slot->kind >> 8),
                              .attribute = (uint8_t)(slot->kind >> 16),
                              .processor = (uint8_t)(slot->kind >> 24),
                              .time = slot->time};
    return size;
}

int packing_get_all(struct record *records, size_t count, const uint8_t *bytes, size_t size)
{
    struct packing packing;
    packing_reset(&packing);
    size_t done = 0;
    size_t at = 0;
    /* get_one reads whole words: the last few records are unpacked from a padded copy */
    for (; done < count && size - at >= PACKING_RECORD_MAX_BYTES; done++) {
        size_t step = get_one(&packing, &records[done], bytes + at);
        if (step == 0)
            return -1;
        at += step;
    }
    for (; done < count; done++) {
        uint8_t padded[PACKING_RECORD_MAX_BYTES] = {0};
        size_t left = size - at;
        if (left > sizeof padded)
            left = sizeof padded;
        memcpy(padded, bytes + at, left);
        size_t step = get_one(&packing, &records[done], padded);
        if (step == 0 || step > left)
            return -1;
        at += step;
    }
    return at == size ? 0 : -1;
}
