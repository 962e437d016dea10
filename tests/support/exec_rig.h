/* Runs translated code in tests: memory below 2 GiB, an executor for it, and its records. */
#ifndef TESTS_SUPPORT_EXEC_RIG_H
#define TESTS_SUPPORT_EXEC_RIG_H

#include "capture/exec/dispatch/executor.h"
#include "tests/support/native_run.h"

#define EXEC_RIG_CODE       0x20000000u
#define EXEC_RIG_CODE_BYTES (8u << 20)
#define EXEC_RIG_DATA       0x30000000u
#define EXEC_RIG_DATA_BYTES 0x4000u
#define EXEC_RIG_RECORDS    (1u << 20)
#define EXEC_RIG_ENTRIES    CODE_CACHE_SLOTS

#define EXEC_RIG_INTERRUPTIONS 5000u /* number of signals after which a timer is stopped */

struct exec_rig {
    uint8_t *code; /* EXEC_RIG_CODE bytes that the executor may translate */
    uint8_t *data;
    struct exec_thread *thread;
    struct executor *executor;
    struct record *records;
    size_t count;                       /* records kept, at most EXEC_RIG_RECORDS */
    uint64_t total;                     /* all records */
    uint32_t entries[EXEC_RIG_ENTRIES]; /* the last ones, with EXEC_TRACE_OUTCOMES or _VALUES: no
                                           records */
    size_t entry_count;
    const struct code_cache *cache; /* of the entries' blocks */
    const struct block *part;       /* NULL: the entries are of whole blocks; else of this one, */
    unsigned executed;              /* of which so many instructions were executed */
    unsigned interruptions;         /* number of signals sent to exec_signal_entry() */
};

/* Returns false if memory or a thread is not available. */
bool exec_rig_begin(struct exec_rig *rig, enum exec_trace trace, bool stepping, size_t buffer_bytes,
                    size_t cache_bytes);
void exec_rig_end(struct exec_rig *rig);

void exec_rig_load(struct exec_rig *rig, const struct machine *machine);
void exec_rig_save(const struct exec_rig *rig, struct machine *machine);

/* Runs from the thread's rip; keeps the records of this run only. */
struct executor_stop exec_rig_run(struct exec_rig *rig);

#endif
