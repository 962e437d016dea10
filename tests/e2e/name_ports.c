/*
 * What a twin of slices must know of the instructions in a WET file, a line for each:
 *
 *     ID PORTS TEXT
 *
 * PORTS: the data ports in their order, with commas, registers by their full names, or "-"; TEXT:
 * the instruction, in the syntax of AT&T; before it "linker " if it is the dynamic linker's.
 *
 * usage: name_ports FILE
 */
#include "tools/symbols/disassemble.h"
#include "tools/wet/replay/wet_replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_port(const struct data_flow_part *port)
{
    static const char *const general[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                          "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    static const char *const others[] = {
        [DATA_FLOW_VECTOR] = "zmm",   [DATA_FLOW_X87] = "st", [DATA_FLOW_MMX] = "mm",
        [DATA_FLOW_CODES] = "codes",  [DATA_FLOW_MASK] = "k", [DATA_FLOW_FLAGS] = "flags",
        [DATA_FLOW_MEMORY] = "memory"};
    if (port->kind == DATA_FLOW_GENERAL)
        printf("%s", general[port->number]);
    else if (port->kind == DATA_FLOW_MEMORY || port->kind == DATA_FLOW_FLAGS)
        printf("%s", others[port->kind]);
    else
        printf("%s%u", others[port->kind], port->number);
}

/* Whether the file of an address is a dynamic linker, and not the program. */
static bool is_linker(const struct wet_code *code, uint64_t address)
{
    const struct wet_module *module = wet_code_module(code, address);
    if (!module || module == code->modules)
        return false;
    const char *slash = strrchr(module->path, '/'), *name = slash ? slash + 1 : module->path;
    return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.", 3) == 0 ||
           strncmp(name, "ld64.", 5) == 0;
}

static void print_instruction(const struct wet_trace *trace, const struct disassembler *texts,
                              uint32_t id)
{
    const struct wet_instruction *one = &trace->file.code.instructions[id];
    const struct wet_flow *flow = &trace->flows.flows[id];
    struct image_instruction branch;
    char text[DISASSEMBLE_BYTES] = "?";
    printf("%" PRIu32 " %s", id, flow->port_count ? "" : "-");
    for (unsigned i = 0; i < flow->port_count; i++) {
        printf("%s", i ? "," : "");
        print_port(&wet_flows_ports(&trace->flows, flow)[i]);
    }
    disassemble(texts, 64, one->bytes, one->size, one->address, &branch, text);
    printf(" %s%s\n", is_linker(&trace->file.code, one->address) ? "linker " : "", text);
}

int main(int count, char **arguments)
{
    static struct wet_trace trace;
    struct bt_error error = {.code = 0};
    if (count != 2)
        return 2;
    struct disassembler *texts = disassembler_new(DISASSEMBLE_ATT, &error);
    if (!texts || wet_trace_open(&trace, arguments[1], &error) < 0) {
        fprintf(stderr, "name_ports: %s\n", error.message);
        return 1;
    }
    for (uint32_t id = 1; id < trace.file.code.instruction_count; id++)
        print_instruction(&trace, texts, id);
    wet_trace_close(&trace);
    disassembler_free(texts);
    return 0;
}
