#include "tools/dcfg/dot_text.h"

#include "formats/base/printable.h"
#include "formats/base/utf8.h"

#include <math.h>
#include <string.h>

static const char *put_character(FILE *out, const char *at)
{
    unsigned char c = (unsigned char)*at++;
    if (c == '"' || c == '\\')
        putc('\\', out);
    if (c == '&')
        fputs("&amp;", out);
    else
        putc(c, out);
    for (; ((unsigned char)*at & 0xc0) == 0x80; at++)
        putc(*at, out);
    return at;
}

void dot_text(FILE *out, const char *text)
{
    text = PRINTABLE(text);
    while (*text)
        text = put_character(out, text);
}

void dot_text_short(FILE *out, const char *text, size_t width)
{
    text = PRINTABLE(text);
    size_t count = utf8_count(text);
    if (count <= width) {
        dot_text(out, text);
        return;
    }
    size_t head = width * 2 / 3;
    size_t tail = width - head - 1;
    for (size_t i = 0; i < head; i++)
        text = put_character(out, text);
    fputs("\xe2\x80\xa6", out); /* an ellipsis */
    for (size_t i = head; i < count - tail; i++)
        do
            text++;
        while (((unsigned char)*text & 0xc0) == 0x80);
    dot_text(out, text);
}

const char *dot_edge_word(enum dcfg_edge_type type)
{
    static const char *const words[DCFG_EDGE_TYPES] = {
        [DCFG_EDGE_ENTRY] = "entry",
        [DCFG_EDGE_EXIT] = "exit",
        [DCFG_EDGE_CALL] = "call",
        [DCFG_EDGE_DIRECT_CALL] = "call",
        [DCFG_EDGE_INDIRECT_CALL] = "indirect call",
        [DCFG_EDGE_RETURN] = "return",
        [DCFG_EDGE_CALL_BYPASS] = "call bypass",
        [DCFG_EDGE_BRANCH] = "branch",
        [DCFG_EDGE_CONDITIONAL_BRANCH] = "conditional",
        [DCFG_EDGE_UNCONDITIONAL_BRANCH] = "jump",
        [DCFG_EDGE_DIRECT_BRANCH] = "branch",
        [DCFG_EDGE_INDIRECT_BRANCH] = "indirect branch",
        [DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH] = "conditional",
        [DCFG_EDGE_INDIRECT_CONDITIONAL_BRANCH] = "indirect conditional",
        [DCFG_EDGE_DIRECT_UNCONDITIONAL_BRANCH] = "jump",
        [DCFG_EDGE_INDIRECT_UNCONDITIONAL_BRANCH] = "indirect jump",
        [DCFG_EDGE_REP] = "rep",
        [DCFG_EDGE_FALL_THROUGH] = "fall through",
        [DCFG_EDGE_SYSTEM_CALL] = "system call",
        [DCFG_EDGE_SYSTEM_RETURN] = "system return",
        [DCFG_EDGE_SYSTEM_CALL_BYPASS] = "system call bypass",
        [DCFG_EDGE_CONTEXT_CHANGE] = "context change",
        [DCFG_EDGE_CONTEXT_CHANGE_RETURN] = "context return",
        [DCFG_EDGE_CONTEXT_CHANGE_BYPASS] = "context bypass",
        [DCFG_EDGE_EXCLUDED_CODE_BYPASS] = "excluded code",
        [DCFG_EDGE_UNKNOWN] = "unknown"};
    return type < DCFG_EDGE_TYPES && words[type] ? words[type] : "other";
}

const char *dot_edge_style(enum dcfg_edge_type type)
{
    if (dcfg_edge_type_is_bypass(type))
        return "color=\"#888888\", fontcolor=\"#666666\", style=dashed";
    if (dcfg_edge_type_is_call(type) || type == DCFG_EDGE_SYSTEM_CALL ||
        type == DCFG_EDGE_CONTEXT_CHANGE)
        return "color=\"#1f5fa8\", fontcolor=\"#1f5fa8\"";
    if (type == DCFG_EDGE_RETURN || type == DCFG_EDGE_SYSTEM_RETURN ||
        type == DCFG_EDGE_CONTEXT_CHANGE_RETURN)
        return "color=\"#7a4fa3\", fontcolor=\"#7a4fa3\"";
    if (dcfg_edge_type_is_branch(type) || type == DCFG_EDGE_REP)
        return "color=\"#2e7d32\", fontcolor=\"#2e7d32\"";
    return "color=\"#333333\", fontcolor=\"#333333\"";
}

void dot_heat(FILE *out, double share)
{
    double heat = sqrt(share < 0 ? 0 : share > 1 ? 1 : share);
    fprintf(out, "%.3f %.3f 1.000", 0.13 - 0.11 * heat, 0.02 + 0.58 * heat);
}
