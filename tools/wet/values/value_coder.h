/*
 * The values of a WET file: what the executed instructions computed, in as few bytes as possible.
 *
 * Writer and reader guess each value alike, by a machine that executes most instructions
 * (value_machine.h) or from the instruction's values so far. Stored are the number of guesses in a
 * row that were right, and what the others should have been: doc/wet-file.md, "Values".
 *
 * Both sides make the same calls in the order of execution: for each instruction that was executed
 * (unless value_rule_is_empty()) value_coder_put() or _get(), and value_coder_fork() and _switch()
 * for threads. The state continues over chunks; only the runs end with each. An object writes or
 * reads, never both. One object is used by one thread at a time.
 */
#ifndef TOOLS_WET_VALUES_VALUE_CODER_H
#define TOOLS_WET_VALUES_VALUE_CODER_H

#include "formats/base/error.h"
#include "formats/wet/wet_bytes.h"
#include "tools/wet/values/value_rule.h"

#define VALUE_STREAMS 3u     /* byte strings that hold the values, in this order */
#define VALUE_THREADS 65536u /* threads have lower numbers */

struct value_coder;

/* Thread 0 executes first, with registers of 0. NULL without memory. */
struct value_coder *value_coder_new(struct bt_error *error);
void value_coder_free(struct value_coder *coder);

/* The thread that executes next; one that is new has registers of 0. 0, BT_MEMORY, or BT_DATA: no
 * thread has this number. */
int value_coder_switch(struct value_coder *coder, uint32_t thread);

/* Gives the thread the registers of its parent. Errors as above. */
int value_coder_fork(struct value_coder *coder, uint32_t thread, uint32_t parent);

/* The thread's system call returned: rax, which the caller stores. 0, or as value_coder_switch().
 */
int value_coder_result(struct value_coder *coder, uint32_t thread, uint64_t result);

/* --- writing -----------------------------------------------------------------------------------
 */

/* Where the next values go: VALUE_STREAMS elements, borrowed until the next call. */
void value_coder_write_to(struct value_coder *coder, struct wet_bytes *streams);

/*
 * The current thread executed the instruction of the rule, and its value is rule->size bytes; if
 * the rule has a value. Eight bytes may be read, if the value has less. `defines` false: it has not
 * defined it (doc/wet.md, "Conditional definitions"), and there is none. Of a system call only
 * value_coder_result() takes the value. 0 or BT_MEMORY.
 */
int value_coder_put(struct value_coder *coder, struct value_rule *rule, bool defines,
                    const uint8_t *value);

/* Ends the chunk: what was put is in the streams. 0 or BT_MEMORY. */
int value_coder_finish(struct value_coder *coder);

/* --- reading -----------------------------------------------------------------------------------
 */

/* Where the next values are: VALUE_STREAMS elements, borrowed until the next call. */
void value_coder_read_from(struct value_coder *coder, struct wet_cursor *streams);

/* As value_coder_put(): sets the first rule->size bytes; others change, too. 0, or BT_DATA: the
 * streams have no more values, or other bytes. */
int value_coder_get(struct value_coder *coder, struct value_rule *rule, bool defines,
                    uint8_t value[VALUE_BYTES]);

#endif
