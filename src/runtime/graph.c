/* SPDX-License-Identifier: Apache-2.0 */
/* tidy: no-unit-test: driver_test builds and runs random graphs */
/*
 * From a plan to tasks. The plan is cut into stages; a stage is a tree of nodes with one root, and
 * is run by as many tasks as its parallelism says.
 *
 *     SOURCE a --- CALC --+                 stage 0   SOURCE a, CALC      2 tasks
 *                         UNION --- SINK    stage 1   SOURCE b, CALC      2 tasks
 *     SOURCE b --- CALC --+                 stage 2   UNION, SINK         2 tasks
 *
 * A node begins a stage when it has no input, or several (barriers align at channels), when its
 * input is an EXCHANGE, or when its input has another parallelism. An edge between stages without
 * an EXCHANGE keeps the subtask where the parallelism is equal, gathers to one, or spreads batches.
 *
 * Every producer has a tail for each consumer; the tail has a channel to each subtask it may send
 * to. Nothing here runs yet.
 */
#include "runtime/runtime_priv.h"

#include "base/env.h"

#define CHANNELS_MAX (1u << 20) /* of a job: two exchanges of 128 to 128 take 32768 */

/* What a job builds from its plan; scratch of this file. */
typedef struct builder {
    ms_job *job;
    uint32_t *stage_of; /* by index in plan->nodes; UINT32_MAX for EXCHANGE */
    uint32_t next_channel;
} builder;

uint32_t msi_graph_parallelism(const ms_job *job, const ms_pnode *pnode)
{
    return pnode->parallelism > 0 ? pnode->parallelism : job->options.parallelism;
}

static uint32_t index_of(const ms_plan *plan, const ms_pnode *pnode)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (plan->nodes[i] == pnode) {
            return i;
        }
    }
    MS_UNREACHABLE();
}

/* The node that really produces an input: the one below an EXCHANGE. */
static const ms_pnode *producer_of(const ms_pnode *input)
{
    return input->kind == MS_PNODE_EXCHANGE ? input->inputs[0] : input;
}

/* ---- Stages ---- */

static bool begins_stage(const ms_job *job, const ms_pnode *pnode)
{
    return pnode->input_count != 1 || pnode->inputs[0]->kind == MS_PNODE_EXCHANGE ||
           msi_graph_parallelism(job, pnode->inputs[0]) != msi_graph_parallelism(job, pnode);
}

static ms_rc check_node(const ms_job *job, const ms_pnode *pnode, ms_status *st)
{
    if (pnode->kind == MS_PNODE_EXCHANGE &&
        (pnode->input_count != 1 || pnode->inputs[0]->kind == MS_PNODE_EXCHANGE)) {
        return ms_status_set(st, MS_INTERNAL, pnode->span,
                             "an exchange in the plan has no single operator below it");
    }
    uint32_t parallelism = msi_graph_parallelism(job, pnode);
    if (parallelism > MS_LIMIT_PARALLELISM) {
        ms_status_set(st, MS_LIMIT, pnode->span, "parallelism %u is more than %d", parallelism,
                      MS_LIMIT_PARALLELISM);
        return ms_status_hint(st, "Set a smaller parallelism.");
    }
    return MS_OK;
}

static ms_rc make_stages(builder *b, ms_status *st)
{
    ms_job *job = b->job;
    const ms_plan *plan = job->plan;
    job->stages = ms_arena_array(&job->arena, msi_stage, plan->node_count);
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const ms_pnode *pnode = plan->nodes[i];
        MS_TRY(check_node(job, pnode, st));
        b->stage_of[i] = UINT32_MAX;
        if (pnode->kind == MS_PNODE_EXCHANGE) {
            continue;
        }
        msi_stage *stage = NULL;
        if (begins_stage(job, pnode)) {
            b->stage_of[i] = job->stage_count;
            stage = &job->stages[job->stage_count++];
            stage->parallelism = msi_graph_parallelism(job, pnode);
            stage->pnodes = ms_arena_array(&job->arena, const ms_pnode *, plan->node_count);
        } else {
            b->stage_of[i] = b->stage_of[index_of(plan, pnode->inputs[0])];
            stage = &job->stages[b->stage_of[i]];
        }
        stage->pnodes[stage->pnode_count++] = pnode;
        job->node_count += stage->parallelism;
    }
    if (job->node_count > MS_LIMIT_OPS_PER_JOB) {
        ms_status_set(st, MS_LIMIT, ms_span_none, "the job has %u operators, more than %u",
                      job->node_count, MS_LIMIT_OPS_PER_JOB);
        return ms_status_hint(st, "Set a smaller parallelism.");
    }
    return MS_OK;
}

/* ---- Tasks ---- */

static void wake_task(void *task)
{
    msi_actor_wake(&((msi_task *)task)->actor);
}

static void wake_task_at(void *task, int64_t mono_ns)
{
    msi_actor_wake_at(&((msi_task *)task)->actor, mono_ns);
}

static void fill_env(msi_task *task)
{
    ms_job *job = task->job;
    task->env = (ms_task_env){.waker = {.wake = wake_task, .task = task, .wake_at = wake_task_at},
                              .iopool = msi_workers_iopool(job->workers),
                              .account = &job->op_account,
                              .subtask = task->subtask,
                              .parallelism = task->parallelism,
                              .batch_rows = job->options.batch_rows,
                              .canceled = &job->canceled,
                              .job_name = job->options.name,
                              .checkpoint_dir = job->options.checkpoint_dir,
                              .run_id = job->run_id,
                              .local_time_zone = job->plan->local_time_zone};
}

static msi_node *find_node(msi_task *task, const ms_pnode *pnode)
{
    for (uint32_t n = 0; n < task->node_count; n++) {
        if (task->nodes[n].pnode == pnode) {
            return &task->nodes[n];
        }
    }
    return NULL;
}

/* True when the edge from producer to an input of consumer stays inside a task. */
static bool is_inner_edge(const ms_job *job, const ms_pnode *consumer)
{
    return !begins_stage(job, consumer);
}

/* Counts or, with outputs made, connects the consumers of a node inside its task. */
static void connect_inner(msi_task *task, msi_node *node, bool connect)
{
    for (uint32_t n = 0; n < task->node_count; n++) {
        msi_node *consumer = &task->nodes[n];
        if (is_inner_edge(task->job, consumer->pnode) &&
            consumer->pnode->inputs[0] == node->pnode) {
            if (connect) {
                node->outputs[node->output_count] = &consumer->inbox;
            }
            node->output_count++;
        }
    }
}

/* Calls fn for every edge that leaves a node towards another stage. */
static void each_outer_edge(const ms_job *job, const ms_pnode *producer,
                            void (*fn)(void *arg, const ms_pnode *consumer, uint32_t input),
                            void *arg)
{
    const ms_plan *plan = job->plan;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const ms_pnode *consumer = plan->nodes[i];
        if (consumer->kind == MS_PNODE_EXCHANGE || !begins_stage(job, consumer)) {
            continue;
        }
        for (uint32_t input = 0; input < consumer->input_count; input++) {
            if (producer_of(consumer->inputs[input]) == producer) {
                fn(arg, consumer, input);
            }
        }
    }
}

static void count_edge(void *arg, const ms_pnode *consumer, uint32_t input)
{
    (void)consumer;
    (void)input;
    (*(uint32_t *)arg)++;
}

static void make_node(msi_task *task, uint32_t index, const ms_pnode *pnode)
{
    ms_job *job = task->job;
    msi_node *node = &task->nodes[index];
    node->pnode = pnode;
    node->task = task;
    node->index = index;
    node->input_count = pnode->input_count;
    node->op = job->options.make_op(pnode, &task->arena);
    node->commits =
        pnode->kind == MS_PNODE_SINK && pnode->u.sink.sink->klass->committer_create != NULL;
}

static void make_task(ms_job *job, msi_task *task, uint32_t stage_index, uint32_t subtask)
{
    const msi_stage *stage = &job->stages[stage_index];
    task->job = job;
    task->index = stage->first_task + subtask;
    task->stage = stage_index;
    task->subtask = subtask;
    task->parallelism = stage->parallelism;
    task->watermark = MS_WATERMARK_NONE;
    task->commands_end = &task->commands;
    ms_arena_init(&task->arena, 0);
    ms_arena_init(&task->scratch, 0);
    atomic_init(&task->turns, 0);
    fill_env(task);
    task->node_count = stage->pnode_count;
    task->nodes = ms_arena_array(&job->arena, msi_node, stage->pnode_count);
    for (uint32_t n = 0; n < stage->pnode_count; n++) {
        make_node(task, n, stage->pnodes[n]);
        uint32_t edges = 0;
        each_outer_edge(job, stage->pnodes[n], count_edge, &edges);
        task->tail_count += edges;
    }
    task->is_source = stage->pnodes[0]->input_count == 0;
    task->open_channels = ms_arena_array(&job->arena, uint32_t, stage->pnodes[0]->input_count + 1);
    task->tails = ms_arena_array(&job->arena, msi_tail, task->tail_count);
}

static void make_tasks(ms_job *job)
{
    for (uint32_t s = 0; s < job->stage_count; s++) {
        job->stages[s].first_task = job->task_count;
        job->task_count += job->stages[s].parallelism;
    }
    job->tasks = ms_arena_array(&job->arena, msi_task, job->task_count);
    for (uint32_t s = 0; s < job->stage_count; s++) {
        for (uint32_t subtask = 0; subtask < job->stages[s].parallelism; subtask++) {
            make_task(job, &job->tasks[job->stages[s].first_task + subtask], s, subtask);
        }
    }
}

/* ---- Tails and channels ---- */

typedef struct edge_maker {
    builder *b;
    msi_task *task;
    msi_node *node;
    uint32_t tail; /* index in the task, of the next edge */
} edge_maker;

static msi_tail_kind kind_of_edge(const ms_job *job, const ms_pnode *consumer, uint32_t input)
{
    const ms_pnode *below = consumer->inputs[input];
    if (below->kind != MS_PNODE_EXCHANGE) {
        uint32_t from = msi_graph_parallelism(job, below);
        uint32_t to = msi_graph_parallelism(job, consumer);
        return from == to ? MSI_TAIL_FORWARD : to == 1 ? MSI_TAIL_GATHER : MSI_TAIL_REBALANCE;
    }
    switch (below->u.exchange.kind) {
    case MS_EXCHANGE_GATHER:
        return MSI_TAIL_GATHER;
    case MS_EXCHANGE_HASH:
        return MSI_TAIL_HASH;
    case MS_EXCHANGE_REBALANCE:
    case MS_EXCHANGE_COUNT:
        break;
    }
    return MSI_TAIL_REBALANCE;
}

/* Sets the subtasks of the consumer that a tail sends to: [*first_out, *first_out + the result). */
static uint32_t targets_of(msi_tail_kind kind, uint32_t subtask, uint32_t parallelism,
                           uint32_t *first_out)
{
    *first_out = kind == MSI_TAIL_FORWARD ? subtask : 0;
    return kind == MSI_TAIL_FORWARD || kind == MSI_TAIL_GATHER ? 1 : parallelism;
}

static void count_channels(void *arg, const ms_pnode *consumer, uint32_t input)
{
    edge_maker *maker = arg;
    ms_job *job = maker->b->job;
    msi_tail_kind kind = kind_of_edge(job, consumer, input);
    const msi_stage *stage = &job->stages[maker->b->stage_of[index_of(job->plan, consumer)]];
    uint32_t first = 0;
    uint32_t count = targets_of(kind, maker->task->subtask, stage->parallelism, &first);
    job->channel_count += count;
    for (uint32_t t = 0; t < count; t++) {
        job->tasks[stage->first_task + first + t].channel_count++;
    }
}

static void make_tail(void *arg, const ms_pnode *consumer, uint32_t input)
{
    edge_maker *maker = arg;
    ms_job *job = maker->b->job;
    const ms_pnode *below = consumer->inputs[input];
    const msi_stage *stage = &job->stages[maker->b->stage_of[index_of(job->plan, consumer)]];
    msi_tail *tail = &maker->task->tails[maker->tail++];
    tail->task = maker->task;
    tail->kind = kind_of_edge(job, consumer, input);
    tail->schema = &maker->node->pnode->schema;
    uint32_t first = 0;
    tail->channel_count = targets_of(tail->kind, maker->task->subtask, stage->parallelism, &first);
    tail->channels = ms_arena_array(&job->arena, msi_channel *, tail->channel_count);
    if (tail->kind == MSI_TAIL_HASH) {
        tail->key_count = below->u.exchange.key_count;
        tail->keys = below->u.exchange.keys;
    }
    for (uint32_t t = 0; t < tail->channel_count; t++) {
        msi_channel *channel = &job->channels[maker->b->next_channel++];
        msi_task *target = &job->tasks[stage->first_task + first + t];
        msi_channel_init(channel, job->options.ring_slots, job->options.ring_bytes,
                         &job->ring_account);
        channel->producer = &maker->task->actor;
        channel->consumer = &target->actor;
        channel->input = input;
        tail->channels[t] = channel;
        target->channels[target->channel_count++] = channel;
        target->open_channels[input]++;
    }
    maker->node->outputs[maker->node->output_count++] = &tail->inbox;
}

static void each_task_edge(builder *b,
                           void (*fn)(void *arg, const ms_pnode *consumer, uint32_t input))
{
    ms_job *job = b->job;
    for (uint32_t t = 0; t < job->task_count; t++) {
        edge_maker maker = {.b = b, .task = &job->tasks[t]};
        for (uint32_t n = 0; n < maker.task->node_count; n++) {
            maker.node = &maker.task->nodes[n];
            each_outer_edge(job, maker.node->pnode, fn, &maker);
        }
    }
}

/* Makes the arrays of outputs, inside a task and out of it. */
static void make_outputs(ms_job *job)
{
    for (uint32_t t = 0; t < job->task_count; t++) {
        msi_task *task = &job->tasks[t];
        for (uint32_t n = 0; n < task->node_count; n++) {
            msi_node *node = &task->nodes[n];
            uint32_t outer = 0;
            each_outer_edge(job, node->pnode, count_edge, &outer);
            connect_inner(task, node, false);
            node->outputs =
                ms_arena_array(&job->arena, msi_inbox *, node->output_count + outer + 1);
            node->output_count = 0;
            connect_inner(task, node, true);
        }
    }
}

/* The inboxes downstream of every node: its outputs, and what is below those. */
static void make_below(ms_job *job, msi_task *task)
{
    uint32_t most = task->node_count + task->tail_count;
    for (uint32_t n = task->node_count; n-- > 0;) {
        msi_node *node = &task->nodes[n];
        node->below = ms_arena_array(&job->arena, msi_inbox *, most + 1);
        for (uint32_t o = 0; o < node->output_count; o++) {
            node->below[node->below_count++] = node->outputs[o];
            for (uint32_t c = n + 1; c < task->node_count; c++) {
                msi_node *consumer = &task->nodes[c];
                for (uint32_t i = 0;
                     &consumer->inbox == node->outputs[o] && i < consumer->below_count; i++) {
                    node->below[node->below_count++] = consumer->below[i];
                }
            }
        }
    }
}

static ms_rc make_channels(builder *b, ms_status *st)
{
    ms_job *job = b->job;
    each_task_edge(b, count_channels);
    if (job->channel_count > CHANNELS_MAX) {
        ms_status_set(st, MS_LIMIT, ms_span_none, "the job has %u channels, more than %u",
                      job->channel_count, CHANNELS_MAX);
        return ms_status_hint(st, "Set a smaller parallelism.");
    }
    job->channels = ms_mem_alloc_aligned(sizeof(msi_channel) * (job->channel_count + 1), 64);
    memset(job->channels, 0, sizeof(msi_channel) * (job->channel_count + 1));
    for (uint32_t t = 0; t < job->task_count; t++) {
        msi_task *task = &job->tasks[t];
        task->channels = ms_arena_array(&job->arena, msi_channel *, task->channel_count + 1);
        task->channel_count = 0;
    }
    make_outputs(job);
    each_task_edge(b, make_tail);
    ms_env_random random;
    ms_env_random_init(&random, job->options.seed);
    for (uint32_t t = 0; t < job->task_count; t++) {
        msi_task *task = &job->tasks[t];
        make_below(job, task);
        if (task->channel_count > 0) {
            /* Until it is known how much the task takes. */
            msi_task_give_credit(task, (double)job->options.ring_bytes);
            task->next_channel = (uint32_t)ms_env_random_below(&random, task->channel_count);
        }
    }
    return MS_OK;
}

/* All operators in plan order, the subtasks of one in a row. */
static void list_nodes(builder *b)
{
    ms_job *job = b->job;
    job->nodes = ms_arena_array(&job->arena, msi_node *, job->node_count);
    job->gauges = ms_arena_array(&job->arena, msi_gauges, job->node_count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < job->plan->node_count; i++) {
        if (b->stage_of[i] == UINT32_MAX) {
            continue;
        }
        const msi_stage *stage = &job->stages[b->stage_of[i]];
        for (uint32_t subtask = 0; subtask < stage->parallelism; subtask++) {
            msi_node *node =
                find_node(&job->tasks[stage->first_task + subtask], job->plan->nodes[i]);
            node->gauges = &job->gauges[at];
            atomic_init(&node->gauges->watermark, MS_WATERMARK_NONE);
            job->nodes[at++] = node;
        }
    }
}

ms_rc msi_graph_build(ms_job *job, ms_status *st)
{
    builder b = {.job = job};
    b.stage_of = ms_arena_array(&job->arena, uint32_t, job->plan->node_count);
    MS_TRY(make_stages(&b, st));
    make_tasks(job);
    list_nodes(&b);
    return make_channels(&b, st);
}

void msi_graph_release(ms_job *job)
{
    for (uint32_t c = 0; c < job->channel_count && job->channels != NULL; c++) {
        msi_channel_release(&job->channels[c]);
    }
    ms_mem_free(job->channels);
    for (uint32_t t = 0; t < job->task_count && job->tasks != NULL; t++) {
        ms_arena_release(&job->tasks[t].scratch);
        ms_arena_release(&job->tasks[t].arena);
    }
}
