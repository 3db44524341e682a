/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigning memory to registers, lanes and selections, and printing programs. One pass backward
 * finds the last use of everything; one pass forward hands out buffers and takes them back. Buffers
 * are kept apart by the width of their values. A result never shares the buffer of an operand of
 * the same instruction, so kernels may assume that they do not overlap.
 */
/* tidy: no-unit-test: compile_test.c and evaluate_test.c run its programs */
#include "expr/program_priv.h"

typedef struct allocator {
    ms_arena *arena;
    ms_program *program;
    msi_instr *instrs;
    msi_reg *regs;
    msi_sel *sels;
    uint32_t *free_data[MS_PHYS_COUNT]; /* stacks of free buffers by width class */
    uint32_t free_data_count[MS_PHYS_COUNT];
    uint32_t *free_lanes;
    uint32_t free_lane_count;
    uint32_t *free_sels;
    uint32_t free_sel_count;
    msi_buffer *buffers;
} allocator;

bool msi_instr_borrows(const msi_instr *instr, const msi_reg *out)
{
    return instr->op == MSI_OP_FIELD || instr->op == MSI_OP_ALIAS ||
           (instr->op == MSI_OP_CALL && ms_type_is_nested(out->type));
}

/* One form stands for all of its width; MS_PHYS_NONE for values that get no buffer. */
static ms_phys width_class(ms_phys phys)
{
    switch (phys) {
    case MS_PHYS_BOOL:
    case MS_PHYS_I8:
        return MS_PHYS_BOOL;
    case MS_PHYS_I16:
        return MS_PHYS_I16;
    case MS_PHYS_I32:
    case MS_PHYS_F32:
        return MS_PHYS_I32;
    case MS_PHYS_I64:
    case MS_PHYS_F64:
        return MS_PHYS_I64;
    case MS_PHYS_I128:
    case MS_PHYS_TS16:
    case MS_PHYS_STR:
        return MS_PHYS_I128;
    case MS_PHYS_NONE:
    case MS_PHYS_LIST:
    case MS_PHYS_ROW:
    case MS_PHYS_COUNT:
        break;
    }
    return MS_PHYS_NONE;
}

static void extend(uint32_t *last_use, uint32_t at)
{
    *last_use = *last_use < at ? at : *last_use;
}

static void find_last_uses(allocator *a)
{
    const ms_program *program = a->program;
    uint32_t end = program->instr_count;
    for (uint32_t i = 0; i < program->output_count; i++) {
        a->regs[program->output_regs[i]].last_use = end;
    }
    a->sels[program->filter_sel].last_use = end;
    if (program->filter_reg != MSI_NONE) {
        a->regs[program->filter_reg].last_use = end;
    }
    for (uint32_t i = end; i-- > 0;) {
        const msi_instr *instr = &a->instrs[i];
        extend(&a->sels[instr->sel].last_use, i);
        if (instr->out != MSI_NONE) {
            extend(&a->regs[instr->out].last_use, i);
        }
        uint32_t until = i;
        if (instr->out != MSI_NONE && msi_instr_borrows(instr, &a->regs[instr->out])) {
            until = a->regs[instr->out].last_use;
        }
        for (uint32_t k = 0; k < instr->arg_count; k++) {
            extend(&a->regs[instr->args[k]].last_use, until);
        }
        if (instr->op == MSI_OP_SPLIT && instr->yes != MSI_NONE) {
            extend(&a->sels[instr->yes].last_use, i);
        }
        if (instr->op == MSI_OP_SPLIT && instr->no != MSI_NONE) {
            extend(&a->sels[instr->no].last_use, i);
        }
        if (instr->arg_count > a->program->arg_max) {
            a->program->arg_max = instr->arg_count;
        }
    }
}

static uint32_t take_data(allocator *a, ms_phys class)
{
    if (a->free_data_count[class] > 0) {
        return a->free_data[class][--a->free_data_count[class]];
    }
    a->buffers[a->program->buffer_count].phys = class;
    return a->program->buffer_count++;
}

static uint32_t take_free(uint32_t *stack, uint32_t *count, uint32_t *made)
{
    return *count > 0 ? stack[--*count] : (*made)++;
}

static void open_reg(allocator *a, const msi_instr *instr)
{
    msi_reg *reg = &a->regs[instr->out];
    ms_phys class = width_class(reg->type->phys);
    bool borrows = instr->op == MSI_OP_FIELD || instr->op == MSI_OP_ALIAS;
    if (reg->buffer == MSI_NONE && class != MS_PHYS_NONE && !borrows) {
        reg->buffer = take_data(a, class);
    }
    if (reg->lane == MSI_NONE && reg->can_fail) {
        reg->lane = take_free(a->free_lanes, &a->free_lane_count, &a->program->lane_count);
    }
}

static void open_sel(allocator *a, uint32_t sel)
{
    if (sel != MSI_NONE) {
        a->sels[sel].buffer =
            take_free(a->free_sels, &a->free_sel_count, &a->program->sel_buffer_count);
    }
}

/* What ends at an instruction, as lists by instruction. */
typedef struct endings {
    uint32_t *first_reg; /* by instruction: head of a list, MSI_NONE for none */
    uint32_t *next_reg;
    uint32_t *first_sel;
    uint32_t *next_sel;
} endings;

static endings list_endings(const allocator *a)
{
    const ms_program *program = a->program;
    endings e;
    e.first_reg = ms_arena_array(a->arena, uint32_t, (size_t)program->instr_count + 1);
    e.first_sel = ms_arena_array(a->arena, uint32_t, (size_t)program->instr_count + 1);
    e.next_reg = ms_arena_array(a->arena, uint32_t, program->reg_count);
    e.next_sel = ms_arena_array(a->arena, uint32_t, program->sel_count);
    for (uint32_t i = 0; i <= program->instr_count; i++) {
        e.first_reg[i] = MSI_NONE;
        e.first_sel[i] = MSI_NONE;
    }
    for (uint32_t r = 0; r < program->reg_count; r++) {
        e.next_reg[r] = e.first_reg[a->regs[r].last_use];
        e.first_reg[a->regs[r].last_use] = r;
    }
    for (uint32_t s = 1; s < program->sel_count; s++) {
        e.next_sel[s] = e.first_sel[a->sels[s].last_use];
        e.first_sel[a->sels[s].last_use] = s;
    }
    return e;
}

static void close_at(allocator *a, const endings *e, uint32_t at)
{
    for (uint32_t r = e->first_reg[at]; r != MSI_NONE; r = e->next_reg[r]) {
        const msi_reg *reg = &a->regs[r];
        if (reg->buffer != MSI_NONE) {
            ms_phys class = a->buffers[reg->buffer].phys;
            a->free_data[class][a->free_data_count[class]++] = reg->buffer;
        }
        if (reg->lane != MSI_NONE) {
            a->free_lanes[a->free_lane_count++] = reg->lane;
        }
    }
    for (uint32_t s = e->first_sel[at]; s != MSI_NONE; s = e->next_sel[s]) {
        if (a->sels[s].buffer != MSI_NONE) {
            a->free_sels[a->free_sel_count++] = a->sels[s].buffer;
        }
    }
}

void msi_program_allocate(ms_arena *arena, ms_program *program, msi_instr *instrs, msi_reg *regs,
                          msi_sel *sels)
{
    allocator a = {
        .arena = arena, .program = program, .instrs = instrs, .regs = regs, .sels = sels};
    a.buffers = ms_arena_array(arena, msi_buffer, program->reg_count);
    a.free_lanes = ms_arena_array(arena, uint32_t, program->reg_count);
    a.free_sels = ms_arena_array(arena, uint32_t, program->sel_count);
    for (uint32_t class = 0; class < MS_PHYS_COUNT; class ++) {
        bool is_used = width_class((ms_phys) class) == (ms_phys) class;
        a.free_data[class] = ms_arena_array(arena, uint32_t, is_used ? program->reg_count : 0);
    }
    find_last_uses(&a);
    endings e = list_endings(&a);
    for (uint32_t i = 0; i < program->instr_count; i++) {
        const msi_instr *instr = &instrs[i];
        if (instr->out != MSI_NONE) {
            open_reg(&a, instr);
        }
        if (instr->op == MSI_OP_SPLIT) {
            open_sel(&a, instr->yes);
            open_sel(&a, instr->no);
        }
        close_at(&a, &e, i);
    }
    program->buffers = a.buffers;
}

/* Text. */

static ms_str reg_text(ms_arena *arena, const ms_program *program, uint32_t reg)
{
    const msi_reg *r = &program->regs[reg];
    return r->source == MSI_FROM_COLUMN ? ms_arena_format(arena, "$%u", r->column)
                                        : ms_arena_format(arena, "r%u", reg);
}

static ms_str instr_text(ms_arena *arena, const ms_program *program, const msi_instr *instr)
{
    static const char *const names[] = {
        [MSI_OP_CALL] = "call",   [MSI_OP_FIELD] = "field", [MSI_OP_ALIAS] = "alias",
        [MSI_OP_CLEAR] = "clear", [MSI_OP_MERGE] = "merge", [MSI_OP_LOGIC] = "logic",
        [MSI_OP_PAIR] = "pair",   [MSI_OP_SPLIT] = "split"};
    ms_str text =
        instr->out == MSI_NONE ? ms_str_lit("") : ms_arena_format(arena, "r%u = ", instr->out);
    text = ms_arena_format(arena, "%.*s%s", MS_STR_ARG(text), names[instr->op]);
    if (instr->op == MSI_OP_CALL) {
        text = ms_arena_format(arena, "%.*s %s", MS_STR_ARG(text),
                               instr->fn != NULL ? instr->fn->desc->name : "CAST");
    }
    for (uint32_t i = 0; i < instr->arg_count; i++) {
        text = ms_arena_format(arena, "%.*s %.*s", MS_STR_ARG(text),
                               MS_STR_ARG(reg_text(arena, program, instr->args[i])));
    }
    text = ms_arena_format(arena, "%.*s over s%u", MS_STR_ARG(text), instr->sel);
    if (instr->op == MSI_OP_SPLIT && instr->yes != MSI_NONE) {
        text = ms_arena_format(arena, "%.*s yes s%u", MS_STR_ARG(text), instr->yes);
    }
    if (instr->op == MSI_OP_SPLIT && instr->no != MSI_NONE) {
        text = ms_arena_format(arena, "%.*s no s%u", MS_STR_ARG(text), instr->no);
    }
    return text;
}

ms_str ms_program_text(ms_arena *arena, const ms_program *program)
{
    ms_str text = ms_str_lit("");
    for (uint32_t i = 0; i < program->instr_count; i++) {
        text = ms_arena_format(arena, "%.*s%.*s\n", MS_STR_ARG(text),
                               MS_STR_ARG(instr_text(arena, program, &program->instrs[i])));
    }
    return text;
}
