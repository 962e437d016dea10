/* x87 and MMX registers: the stack, and the condition codes. */
#include "capture/exec/translate/data_flow_internal.h"

static const struct {
    ZydisMnemonic mnemonic;
    int8_t pushes;
} stack_changes[] = {
    {ZYDIS_MNEMONIC_FLD, 1},     {ZYDIS_MNEMONIC_FILD, 1},     {ZYDIS_MNEMONIC_FBLD, 1},
    {ZYDIS_MNEMONIC_FLD1, 1},    {ZYDIS_MNEMONIC_FLDL2T, 1},   {ZYDIS_MNEMONIC_FLDL2E, 1},
    {ZYDIS_MNEMONIC_FLDPI, 1},   {ZYDIS_MNEMONIC_FLDLG2, 1},   {ZYDIS_MNEMONIC_FLDLN2, 1},
    {ZYDIS_MNEMONIC_FLDZ, 1},    {ZYDIS_MNEMONIC_FPTAN, 1},    {ZYDIS_MNEMONIC_FSINCOS, 1},
    {ZYDIS_MNEMONIC_FXTRACT, 1}, {ZYDIS_MNEMONIC_FDECSTP, 1},  {ZYDIS_MNEMONIC_FINCSTP, -1},
    {ZYDIS_MNEMONIC_FSTP, -1},   {ZYDIS_MNEMONIC_FISTP, -1},   {ZYDIS_MNEMONIC_FISTTP, -1},
    {ZYDIS_MNEMONIC_FBSTP, -1},  {ZYDIS_MNEMONIC_FSTPNCE, -1}, {ZYDIS_MNEMONIC_FADDP, -1},
    {ZYDIS_MNEMONIC_FMULP, -1},  {ZYDIS_MNEMONIC_FSUBP, -1},   {ZYDIS_MNEMONIC_FSUBRP, -1},
    {ZYDIS_MNEMONIC_FDIVP, -1},  {ZYDIS_MNEMONIC_FDIVRP, -1},  {ZYDIS_MNEMONIC_FCOMP, -1},
    {ZYDIS_MNEMONIC_FUCOMP, -1}, {ZYDIS_MNEMONIC_FCOMIP, -1},  {ZYDIS_MNEMONIC_FUCOMIP, -1},
    {ZYDIS_MNEMONIC_FICOMP, -1}, {ZYDIS_MNEMONIC_FYL2X, -1},   {ZYDIS_MNEMONIC_FYL2XP1, -1},
    {ZYDIS_MNEMONIC_FPATAN, -1}, {ZYDIS_MNEMONIC_FFREEP, -1},  {ZYDIS_MNEMONIC_FCOMPP, -2},
    {ZYDIS_MNEMONIC_FUCOMPP, -2}};

int data_flow_x87_pushes(ZydisMnemonic mnemonic)
{
    for (size_t i = 0; i < sizeof stack_changes / sizeof *stack_changes; i++)
        if (stack_changes[i].mnemonic == mnemonic)
            return stack_changes[i].pushes;
    return 0;
}

unsigned data_flow_x87_after(const struct data_flow_making *making, unsigned number)
{
    const int pushes = data_flow_x87_pushes(making->instruction.mnemonic);
    return pushes < 0 ? (number + (unsigned)pushes) % 8 : number; /* pushes: named after them */
}

static bool compares(ZydisMnemonic mnemonic)
{
    static const ZydisMnemonic comparisons[] = {
        ZYDIS_MNEMONIC_FCOM,   ZYDIS_MNEMONIC_FCOMP,   ZYDIS_MNEMONIC_FCOMPP, ZYDIS_MNEMONIC_FUCOM,
        ZYDIS_MNEMONIC_FUCOMP, ZYDIS_MNEMONIC_FUCOMPP, ZYDIS_MNEMONIC_FICOM,  ZYDIS_MNEMONIC_FICOMP,
        ZYDIS_MNEMONIC_FTST,   ZYDIS_MNEMONIC_FXAM,    ZYDIS_MNEMONIC_FPREM,  ZYDIS_MNEMONIC_FPREM1,
        ZYDIS_MNEMONIC_FLDENV, ZYDIS_MNEMONIC_FNINIT,  ZYDIS_MNEMONIC_FNSAVE};
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (comparisons[i] == mnemonic)
            return true;
    return false;
}

static bool uses_mmx(const struct data_flow_making *making)
{
    for (unsigned i = 0; i < making->instruction.operand_count; i++)
        if (making->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(making->operands[i].reg.value) == ZYDIS_REGCLASS_MMX)
            return true;
    return making->instruction.mnemonic == ZYDIS_MNEMONIC_EMMS;
}

/* Zydis names the operands before the push of these, and not the second result. */
static bool has_two_results(ZydisMnemonic mnemonic)
{
    return mnemonic == ZYDIS_MNEMONIC_FPTAN || mnemonic == ZYDIS_MNEMONIC_FSINCOS ||
           mnemonic == ZYDIS_MNEMONIC_FXTRACT;
}

void data_flow_x87_rest(struct data_flow_making *making)
{
    const ZydisMnemonic mnemonic = making->instruction.mnemonic;
    making->flow->x87_pushes = (int8_t)data_flow_x87_pushes(mnemonic);
    making->flow->resets_x87 =
        mnemonic == ZYDIS_MNEMONIC_FNINIT || mnemonic == ZYDIS_MNEMONIC_FNSAVE || uses_mmx(making);
    if (compares(mnemonic))
        data_flow_define(making, DATA_FLOW_CODES, 0, 1, DATA_FLOW_ALWAYS);
    if (mnemonic == ZYDIS_MNEMONIC_FNSTSW || mnemonic == ZYDIS_MNEMONIC_FNSTENV)
        data_flow_read(making, DATA_FLOW_CODES, 0, 1);
    if (!has_two_results(mnemonic))
        return;
    data_flow_read(making, DATA_FLOW_X87, 0, DATA_FLOW_X87_BYTES);
    for (unsigned number = 0; number < 2; number++)
        data_flow_define(making, DATA_FLOW_X87, number, DATA_FLOW_X87_BYTES, DATA_FLOW_ALWAYS);
}
