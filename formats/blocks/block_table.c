#include "formats/blocks/block_table.h"

#include "formats/base/error.h"
#include "formats/blocks/block_template.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct block_table *block_table_new(void)
{
    struct block_table *table = calloc(1, sizeof *table);
    if (table)
        atomic_init(&table->users, 1);
    return table;
}

void block_table_share(struct block_table *table)
{
    atomic_fetch_add(&table->users, 1);
}

static void free_block(const struct table_block *block)
{
    while (block) {
        const struct table_block *next = block->next;
        free((void *)block);
        block = next;
    }
}

void block_table_leave(struct block_table *table)
{
    if (!table || atomic_fetch_sub(&table->users, 1) > 1)
        return;
    for (uint32_t i = 0; i < table->count; i++)
        free_block(block_table_entry(table, i)->block);
    for (uint32_t i = 0; i < BLOCK_TABLE_MAX / BLOCK_TABLE_CHUNK; i++)
        free(table->chunks[i]);
    free(table);
}

/* Number of records, from the first on, that one template holds: whole instructions. 0: the first
 * instruction has too many. */
static unsigned template_length(const struct record *records, unsigned count)
{
    unsigned length;
    if (count <= BLOCK_TEMPLATE_RECORDS_MAX)
        return count;
    for (length = BLOCK_TEMPLATE_RECORDS_MAX; length > 0; length--)
        if (records[length].type == REQUEST_FETCH)
            break;
    return length;
}

/* Records [from, from + count) and their addresses, from *address on. NULL: no memory. */
static struct table_block *make_block(const struct table_description *description, unsigned from,
                                      unsigned count, unsigned *address)
{
    const struct table_address *addresses = description->addresses;
    const unsigned first = *address;
    while (*address < description->address_count && addresses[*address].record < from + count)
        ++*address;
    const unsigned address_count = *address - first;
    struct table_block *block = malloc(sizeof *block + count * sizeof *block->records +
                                       address_count * sizeof *block->addresses);
    if (!block)
        return NULL;
    *block = (struct table_block){.record_count = (uint8_t)count,
                                  .address_count = (uint8_t)address_count,
                                  .addresses = (void *)(block->records + count)};
    memcpy(block->records, description->records + from, count * sizeof *block->records);
    for (unsigned i = 0; i < address_count; i++) {
        block->addresses[i] = addresses[first + i];
        block->addresses[i].record = (uint16_t)(addresses[first + i].record - from);
    }
    for (unsigned i = 0; i < count; i++)
        if (block->records[i].type == REQUEST_FETCH)
            block->end = block->records[i].address + block->records[i].size;
    return block;
}

/* Whether executions can be coded as such: words and records take place together, the first record
 * is a fetch, whose attribute has room for events, and templates hold whole instructions. */
static bool is_codable(const struct table_description *description)
{
    const struct record *records = description->records;
    unsigned left = description->record_count;
    if (!description->addresses || left == 0 || records->type != REQUEST_FETCH ||
        (records->attribute & (ATTRIBUTE_EVENT | ATTRIBUTE_PART)) ||
        description->words > left * BLOCK_TABLE_WORDS)
        return false;
    for (unsigned length = 1; left > 0 && length > 0; records += length, left -= length)
        length = template_length(records, left);
    return left == 0;
}

/* NULL: no memory. */
static struct table_block *make_blocks(const struct table_description *description)
{
    struct table_block *first = NULL, **to = &first;
    unsigned address = 0, length;
    for (unsigned at = 0; at < description->record_count; at += length) {
        length = template_length(description->records + at, description->record_count - at);
        *to = make_block(description, at, length, &address);
        if (!*to) {
            free_block(first);
            return NULL;
        }
        to = &(*to)->next;
    }
    return first;
}

int block_table_add(struct block_table *table, const struct table_description *description)
{
    struct table_entry **chunk;
    if (table->count == BLOCK_TABLE_MAX)
        return BT_MEMORY;
    chunk = &table->chunks[table->count / BLOCK_TABLE_CHUNK];
    if (!*chunk && !(*chunk = malloc(BLOCK_TABLE_CHUNK * sizeof **chunk)))
        return BT_MEMORY;
    struct table_entry entry = {.records = description->record_count,
                                .words = description->words,
                                .instructions = description->instructions};
    if (is_codable(description) && !(entry.block = make_blocks(description)))
        return BT_MEMORY;
    (*chunk)[table->count++ % BLOCK_TABLE_CHUNK] = entry;
    return 0;
}
