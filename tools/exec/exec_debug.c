#define _GNU_SOURCE /* sigabbrev_np, strerrorname_np */
#include "tools/exec/exec_debug.h"

#include "capture/exec/dispatch/trampoline.h"
#include "tools/common/own_stream.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_WIDTH 40 /* columns of the source, left of the translation */
#define TEXT_BYTES   128

int exec_debug_parse(unsigned *what, const char *list, struct bt_error *error)
{
    static const struct {
        const char *name;
        unsigned bit;
    } choices[] = {{"blocks", EXEC_DEBUG_BLOCKS},
                   {"signals", EXEC_DEBUG_SIGNALS},
                   {"system-calls", EXEC_DEBUG_SYSTEM_CALLS}};
    for (const char *name = list;; name += strcspn(name, ",") + 1) {
        size_t size = strcspn(name, ","), i = 0;
        while (i < 3 && (strlen(choices[i].name) != size || memcmp(choices[i].name, name, size)))
            i++;
        if (i == 3)
            return bt_fail(error, BT_USAGE,
                           "unknown event '%.*s'; a list of blocks, signals, system-calls, "
                           "separated by commas, is needed",
                           (int)size, name);
        *what |= choices[i].bit;
        if (name[size] == '\0')
            return 0;
    }
}

FILE *exec_debug_open(const char *path, struct bt_error *error)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        bt_fail_errno(error, "cannot write %s", path);
        return NULL;
    }
    FILE *stream = own_stream_on(descriptor, error);
    close(descriptor);
    return stream;
}

static void begin(FILE *to, unsigned processor, struct own_signals *signals)
{
    own_stream_hold(signals);
    fprintf(to, "%ld:%u ", (long)getpid(), processor);
}

static void end(FILE *to, const struct own_signals *signals)
{
    fflush(to);
    own_stream_release(signals);
}

/* --- blocks ------------------------------------------------------------------------------------
 */

/* Writes the instruction at code, of at most size bytes, as text. Returns its size in bytes, at
 * least 1. */
static size_t format(char text[TEXT_BYTES], const uint8_t *code, size_t size)
{
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &instruction, operands)) ||
        !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
            &formatter, &instruction, operands, instruction.operand_count_visible, text, TEXT_BYTES,
            (uint64_t)(uintptr_t)code, NULL))) {
        snprintf(text, TEXT_BYTES, "(bad 0x%02x)", code[0]);
        return 1;
    }
    return instruction.length;
}

/* Prints the source beside the first instruction of its translation, [code, end). */
static void print_translation(FILE *to, const char *source, const uint8_t *code, const uint8_t *end)
{
    char text[TEXT_BYTES];
    if (code == end)
        fprintf(to, "    %s\n", source);
    for (size_t size; code < end; code += size, source = "") {
        size = format(text, code, (size_t)(end - code));
        fprintf(to, "    %-*s | %s\n", SOURCE_WIDTH, source, text);
    }
}

void exec_debug_block(FILE *to, unsigned processor, const struct block *block)
{
    struct own_signals signals;
    char source[TEXT_BYTES + 20], text[TEXT_BYTES];
    if (!to || block->pc_map_count == 0)
        return;
    begin(to, processor, &signals);
    fprintf(to, "block 0x%" PRIx64 ": %u instructions, %u bytes; translation: %zu bytes\n",
            block->address, block->pc_map_count, block->size,
            (size_t)(block->code_end - block->code));
    print_translation(to, "(entry)", block->code, block->code + block->pc_map[0].traced);
    for (unsigned i = 0; i < block->pc_map_count; i++) {
        const struct pc_map_entry *entry = &block->pc_map[i];
        const bool last = i + 1 == block->pc_map_count;
        const uint64_t address = block->address + entry->offset;
        format(text, (const uint8_t *)(uintptr_t)address, block->size - entry->offset);
        snprintf(source, sizeof source, "0x%08" PRIx64 "  %s", address, text);
        print_translation(to, source, block->code + entry->traced,
                          last ? block->code_end : block->code + entry[1].traced);
    }
    end(to, &signals);
}

/* --- signals and system calls ------------------------------------------------------------------
 */

void exec_debug_signal(FILE *to, unsigned processor, const struct signal_report *signal)
{
    struct own_signals signals;
    if (!to)
        return;
    const char *name = sigabbrev_np(signal->number);
    begin(to, processor, &signals);
    fprintf(to, "signal %d", signal->number);
    if (name)
        fprintf(to, " SIG%s", name);
    fprintf(to, ", code %d", signal->code);
    if (signal->address)
        fprintf(to, ", address 0x%" PRIx64, signal->address);
    if (signal->handler)
        fprintf(to, ": handler 0x%" PRIx64 "\n", signal->handler);
    else
        fputs(": ends the program\n", to);
    end(to, &signals);
}

/* Names by number, generated from the system's headers. */
static const char *const names[] = {
#include "tools/exec/system_call_names.h"
};

void exec_debug_call(FILE *to, unsigned processor, const struct system_call *call, bool returned)
{
    struct own_signals signals;
    if (!to)
        return;
    const char *name = call->number < sizeof names / sizeof *names ? names[call->number] : NULL;
    const uint64_t *a = call->arguments;
    const char *code = call->result < 0 ? strerrorname_np((int)-call->result) : NULL;
    begin(to, processor, &signals);
    fprintf(to,
            "system call %" PRIu64 " %s(0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64
            ", 0x%" PRIx64 ", 0x%" PRIx64 ")",
            call->number, name ? name : "unknown", a[0], a[1], a[2], a[3], a[4], a[5]);
    if (!returned)
        fputc('\n', to);
    else if (call->result == EXEC_SYSTEM_CALL_AGAIN)
        fputs(" interrupted\n", to);
    else if (code)
        fprintf(to, " = -%s\n", code);
    else
        fprintf(to, " = 0x%" PRIx64 "\n", (uint64_t)call->result);
    end(to, &signals);
}
