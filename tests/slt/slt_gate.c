/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate: sources are made with a class of their own, which asks before it polls and counts
 * behind it. A source that may not poll says that it has nothing now, as one does that waits for
 * its input, and is woken as such a one is. Barriers reach it meanwhile.
 */
#include "slt_gate.h"

#include "base/limits.h"
#include "engine/engine_test.h"
#include "exec/operator.h"
#include "os/thread.h"

#define CLASSES_MAX 4u
#define HELD_MAX 256u
#define LOOK_NS 2000000

typedef struct gated_class {
    ms_op_class klass; /* first: what the operator points to */
    const ms_op_class *original;
} gated_class;

static struct {
    bool is_made;
    ms_mutex mutex;
    ms_cond cond; /* closed */
    uint64_t allowed;
    uint64_t rows;
    uint64_t table_rows;
    uint32_t inside;         /* sources that poll now */
    ms_waker held[HELD_MAX]; /* of sources that were sent away */
    uint32_t held_count;
    gated_class classes[CLASSES_MAX];
    uint32_t class_count;
} gate;

/* True when the source may poll; else it is woken when it may. */
static bool enter(const ms_waker *waker)
{
    ms_mutex_lock(&gate.mutex);
    bool may = gate.rows < gate.allowed;
    gate.inside += may ? 1 : 0;
    if (!may) {
        uint32_t i = 0;
        while (i < gate.held_count && gate.held[i].task != waker->task) {
            i++;
        }
        MS_ASSERT(i < HELD_MAX);
        gate.held[i] = *waker;
        gate.held_count = i == gate.held_count ? i + 1 : gate.held_count;
    }
    ms_mutex_unlock(&gate.mutex);
    return may;
}

/* What was allowed has passed, and nobody is about to add to it. */
static bool is_closed(void)
{
    return gate.rows >= gate.allowed && gate.inside == 0;
}

static void leave(const ms_op *op, uint64_t rows)
{
    ms_mutex_lock(&gate.mutex);
    gate.inside--;
    gate.rows += rows;
    gate.table_rows += op->node->kind == MS_PNODE_SOURCE ? rows : 0;
    if (is_closed()) {
        ms_cond_broadcast(&gate.cond);
    }
    ms_mutex_unlock(&gate.mutex);
}

static ms_step gated_poll(ms_op *op)
{
    if (!enter(&op->ctx->env->waker)) {
        op->host->source_pending(op);
        return MS_DONE;
    }
    uint64_t before = op->rows_out;
    ms_step step = ((const gated_class *)op->klass)->original->poll(op);
    MS_ASSERT(step == MS_DONE);
    leave(op, op->rows_out - before);
    return step;
}

static const ms_op_class *gated(const ms_op_class *original)
{
    for (uint32_t i = 0; i < gate.class_count; i++) {
        if (gate.classes[i].original == original) {
            return &gate.classes[i].klass;
        }
    }
    MS_ASSERT(gate.class_count < CLASSES_MAX);
    gated_class *made = &gate.classes[gate.class_count++];
    made->klass = *original;
    made->klass.poll = gated_poll;
    made->original = original;
    return &made->klass;
}

static ms_op *make_op(const ms_pnode *node, ms_arena *arena)
{
    ms_op *op = ms_op_create(node, arena);
    if (op->klass->poll != NULL) {
        op->klass = gated(op->klass);
    }
    return op;
}

void slt_gate_install(ms_engine *engine)
{
    if (!gate.is_made) {
        gate.is_made = true;
        ms_mutex_init(&gate.mutex, MS_RANK_LOG);
        ms_cond_init(&gate.cond);
    }
    slt_gate_begin(SLT_GATE_OPEN);
    ms_engine_set_make_op(engine, make_op);
}

void slt_gate_begin(uint64_t rows)
{
    ms_mutex_lock(&gate.mutex);
    gate.allowed = rows;
    gate.rows = 0;
    gate.table_rows = 0;
    gate.held_count = 0;
    ms_mutex_unlock(&gate.mutex);
}

void slt_gate_allow(uint64_t rows)
{
    ms_waker held[HELD_MAX];
    ms_mutex_lock(&gate.mutex);
    gate.allowed = rows;
    uint32_t count = gate.held_count;
    memcpy(held, gate.held, count * sizeof *held);
    gate.held_count = 0;
    ms_mutex_unlock(&gate.mutex);
    for (uint32_t i = 0; i < count; i++) {
        ms_wake(&held[i]);
    }
}

bool slt_gate_wait(ms_job *job)
{
    bool is_reached = false;
    while (!is_reached && ms_job_state_now(job) <= MS_JOB_STATE_RUNNING) {
        ms_mutex_lock(&gate.mutex);
        is_reached =
            is_closed() || (ms_cond_wait_for(&gate.cond, &gate.mutex, LOOK_NS) && is_closed());
        ms_mutex_unlock(&gate.mutex);
    }
    return is_reached;
}

uint64_t slt_gate_rows(void)
{
    ms_mutex_lock(&gate.mutex);
    uint64_t rows = gate.rows;
    ms_mutex_unlock(&gate.mutex);
    return rows;
}

uint64_t slt_gate_table_rows(void)
{
    ms_mutex_lock(&gate.mutex);
    uint64_t rows = gate.table_rows;
    ms_mutex_unlock(&gate.mutex);
    return rows;
}
