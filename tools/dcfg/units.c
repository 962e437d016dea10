#include "tools/dcfg/units.h"

const char *unit_name(bool chunks, uint64_t count)
{
    static const char *const names[2][2] = {{"instruction", "instructions"}, {"chunk", "chunks"}};
    return names[chunks][count != 1];
}

const char *unit_executed(bool chunks, uint64_t count)
{
    static const char *const names[2] = {"visit of a chunk", "visits of chunks"};
    return chunks ? names[count != 1] : unit_name(false, count);
}
