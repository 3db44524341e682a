/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a program: what compile.c makes and evaluate.c runs.
 *
 * A program is a list of instructions over registers. A register is written by one instruction (a
 * merge register by a CLEAR and the MERGEs or LOGICs that follow it) and is an input column, a
 * constant, or computed. Every instruction runs over a selection; selection 0 is the batch's,
 * others are made by SPLIT from their parent.
 *
 *     CASE WHEN a > 0 THEN b / a ELSE 0 END
 *
 *     r3 = call > r0 r2            over s0         r2: the constant 0
 *     r4 = clear                   over s0
 *     split r3 true                over s0  -> s1 s2, failures to r4
 *     r5 = call / r1 r0            over s1
 *     merge r4 <- r5               over s1
 *     merge r4 <- r2               over s2
 *
 * Registers, lanes and selections share buffers by lifetime: a buffer is free again behind the last
 * instruction that reads what is in it. A register whose value points into another's memory (a
 * field of a row, a row made of columns) keeps that one alive.
 *
 * Thread: a program is const; an evaluator belongs to one task.
 */
#ifndef MS_EXPR_PROGRAM_PRIV_H
#define MS_EXPR_PROGRAM_PRIV_H

#include "expr/program.h"
#include "func/call.h"

#define MSI_NONE UINT32_MAX

typedef enum msi_op {
    MSI_OP_CALL,  /* out = fn(args) */
    MSI_OP_FIELD, /* out = field `index` of the row in args[0] */
    MSI_OP_ALIAS, /* out = args[0] under another type */
    MSI_OP_CLEAR, /* out = NULL in all rows */
    MSI_OP_MERGE, /* out = args[0] in the selected rows: values, NULLs, failures */
    MSI_OP_LOGIC, /* out = out AND (OR) args[0] in the selected rows */
    MSI_OP_PAIR,  /* out = args[0] AND (OR) args[1] in all rows; neither can fail */
    MSI_OP_SPLIT  /* yes = rows where args[0] is what `test` says, no = the others */
} msi_op;

typedef enum msi_test { MSI_TEST_TRUE, MSI_TEST_FALSE, MSI_TEST_NULL } msi_test;

typedef struct msi_instr {
    msi_op op;
    uint32_t out; /* SPLIT: gets the failures; may be MSI_NONE */
    uint32_t sel;
    uint32_t arg_count;
    const uint32_t *args;
    /* CALL. */
    const ms_fn *fn; /* NULL: a cast */
    ms_fn_prepared prepared;
    bool is_strict;
    bool takes_constants;
    uint16_t site;
    /* FIELD. */
    uint32_t index;
    /* LOGIC, PAIR. */
    bool is_or;
    /* SPLIT. */
    msi_test test;
    uint32_t yes; /* MSI_NONE: not needed */
    uint32_t no;
} msi_instr;

typedef enum msi_source { MSI_FROM_COLUMN, MSI_FROM_CONST, MSI_FROM_INSTR } msi_source;

typedef struct msi_reg {
    msi_source source;
    const ms_type *type;
    uint32_t column;
    const ms_vec *constant;
    bool can_fail;
    uint32_t buffer; /* MSI_NONE: nested, made anew in each run, or borrowed */
    uint32_t lane;   /* MSI_NONE: cannot fail */
    uint32_t last_use;
} msi_reg;

typedef struct msi_sel {
    uint32_t parent;
    uint32_t buffer;
    uint32_t last_use;
} msi_sel;

/* A data buffer: so many bytes a row. */
typedef struct msi_buffer {
    ms_phys phys; /* one of the forms of that width */
} msi_buffer;

struct ms_program {
    ms_eval_config config;
    const ms_expr *filter;
    const ms_expr *const *outputs;
    uint32_t output_count;
    const uint32_t *output_regs;
    ms_schema input;
    ms_schema schema;
    uint32_t filter_reg; /* MSI_NONE: no filter */
    uint32_t filter_sel; /* 0: no filter */
    bool can_fail;
    uint32_t rows_max; /* of a run, for the sake of lists */
    uint32_t instr_count;
    const msi_instr *instrs;
    uint32_t reg_count;
    const msi_reg *regs;
    uint32_t sel_count;
    const msi_sel *sels;
    uint32_t buffer_count;
    const msi_buffer *buffers;
    uint32_t lane_count;
    uint32_t sel_buffer_count;
    uint32_t arg_max;
    uint32_t site_count;
    const ms_span *sites;
};

/* Assigns buffers, lanes and selection buffers by lifetime (allocate.c). */
void msi_program_allocate(ms_arena *arena, ms_program *program, msi_instr *instrs, msi_reg *regs,
                          msi_sel *sels);

/* True when the register's value may point into the memory of its operands. */
bool msi_instr_borrows(const msi_instr *instr, const msi_reg *out);

#endif
