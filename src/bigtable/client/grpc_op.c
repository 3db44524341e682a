/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations: attempts with their headers, what the ends of attempts mean, backoff, cancellation.
 *
 *     start -> attempt -> end? -> (wait -> attempt -> end?)* -> finish
 *
 * All on the loop's thread, so there is no lock. A call's own end is a mail to its caller; after
 * finish nothing here refers to it.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/client/grpc_priv.h"

#include "base/memory.h"
#include "bigtable/wire/rpc_status.h"
#include "millstream/version.h"

#include <inttypes.h>

#define COOKIE_PREFIX "x-goog-cbt-cookie-"
#define VERSION_HEADER "x-millstream-version"
#define PAIRS_MAX (3u + MSI_COOKIES_MAX)

/* What is kept of operations that are over: as many as are likely to be under way at a time, each
 * with what small ones need. */
#define SPARE_OPS_MAX 64u
#define SPARE_BYTES ((size_t)8 << 10)
#define SCRATCH_BYTES ((size_t)64 << 10)

/* Life. */

static msi_op *allocate(msi_grpc *grpc)
{
    msi_op *op = ms_mem_calloc(1, MSI_OP_BYTES);
    op->grpc = grpc;
    ms_arena_init(&op->arena, 0);
    ms_buf_init(&op->request, MS_GRPC_MESSAGE_BYTES_DEFAULT);
    ms_buf_init(&op->cookie_bytes, MSI_COOKIES_MAX * MSI_COOKIE_BYTES_MAX);
    return op;
}

msi_op *msi_op_create(msi_grpc *grpc, const msi_op_class *class_of, int64_t timeout_ms)
{
    ms_spare *spare = ms_spares_take(&grpc->spares);
    msi_op *op = spare != NULL ? (msi_op *)(void *)spare : allocate(grpc);
    op->class_of = class_of;
    op->path = class_of->path;
    op->timeout_ms = timeout_ms;
    return op;
}

static void free_op(ms_spare *spare)
{
    msi_op *op = (msi_op *)(void *)spare;
    ms_buf_release(&op->request);
    ms_buf_release(&op->cookie_bytes);
    ms_arena_release(&op->arena);
    ms_mem_free(op);
}

void msi_op_init_spares(msi_grpc *grpc)
{
    ms_spares_init(&grpc->spares, SPARE_OPS_MAX, MSI_OP_BYTES);
}

void msi_op_free_spares(msi_grpc *grpc)
{
    ms_spares_release(&grpc->spares, free_op);
}

void msi_op_destroy(msi_op *op)
{
    ms_arena_trim(&op->arena, SPARE_BYTES);
    if (op->request.capacity_bytes > SPARE_BYTES) {
        ms_buf_release(&op->request);
    }
    ms_buf_reset(&op->request);
    ms_buf_reset(&op->cookie_bytes);
    memset(&op->class_of, 0, MSI_OP_BYTES - offsetof(msi_op, class_of));
    if (!ms_spares_give(&op->grpc->spares, &op->spare)) {
        free_op(&op->spare);
    }
}

ms_arena *msi_op_fresh_scratch(const msi_op *op)
{
    ms_arena *scratch = &op->grpc->scratch;
    ms_arena_trim(scratch, SCRATCH_BYTES);
    return scratch;
}

/* Preparation. */

/* A value of a query string: everything but letters, digits and -_.~ as %XX. */
static char *put_escaped(char *to, ms_str text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.bytes; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        if (is_plain) {
            *to++ = (char)c;
        } else {
            *to++ = '%';
            *to++ = digits[c >> 4];
            *to++ = digits[c & 15];
        }
    }
    return to;
}

void msi_op_set_params(msi_op *op, const char *key, ms_str name, ms_str app_profile)
{
    static const char profile_key[] = "&app_profile_id=";
    size_t key_bytes = strlen(key);
    size_t room = key_bytes + 1 + 3 * name.bytes + sizeof(profile_key) + 3 * app_profile.bytes;
    char *text = ms_arena_alloc(&op->arena, room, 1);
    char *to = text;
    memcpy(to, key, key_bytes);
    to += key_bytes;
    *to++ = '=';
    to = put_escaped(to, name);
    if (!op->class_of->is_admin) {
        memcpy(to, profile_key, sizeof(profile_key) - 1);
        to = put_escaped(to + sizeof(profile_key) - 1, app_profile);
    }
    op->params = (ms_str){text, (size_t)(to - text)};
}

void msi_op_set_table(msi_op *op, const ms_bt_table_name *table, ms_str app_profile)
{
    char path[MS_BT_TABLE_PATH_BYTES];
    size_t bytes = ms_bt_table_name_path(table, path);
    msi_op_set_params(op, op->class_of->is_admin ? "name" : "table_name", (ms_str){path, bytes},
                      app_profile);
}

/* Cookies. */

/* Points the list into the buffer, which has stopped moving. */
static void place_cookies(msi_op *op)
{
    const char *at = op->cookie_bytes.ptr;
    for (uint32_t i = 0; i < op->cookie_count; i++) {
        op->cookies[i].key.ptr = at;
        op->cookies[i].value.ptr = at + op->cookies[i].key.bytes;
        at += op->cookies[i].key.bytes + op->cookies[i].value.bytes;
    }
}

/* Keeps the routing cookies of an attempt's end; when it has none, those of earlier ones stay. */
static void keep_cookies(msi_op *op, ms_grpc_metadata trailers)
{
    ms_status st = {0};
    bool is_first = true;
    for (size_t i = 0; i < trailers.count; i++) {
        const ms_grpc_pair *pair = &trailers.pairs[i];
        if (!ms_str_starts_with(pair->key, ms_str_lit(COOKIE_PREFIX)) ||
            pair->key.bytes + pair->value.bytes > MSI_COOKIE_BYTES_MAX) {
            continue;
        }
        if (is_first) {
            op->cookie_count = 0;
            ms_buf_reset(&op->cookie_bytes);
            is_first = false;
        }
        if (op->cookie_count == MSI_COOKIES_MAX ||
            ms_buf_append(&op->cookie_bytes, pair->key, &st) != MS_OK ||
            ms_buf_append(&op->cookie_bytes, pair->value, &st) != MS_OK) {
            break;
        }
        op->cookies[op->cookie_count++] = *pair;
    }
    place_cookies(op);
}

/* Ends. */

static void finish(msi_op *op)
{
    op->prev->next = op->next;
    op->next->prev = op->prev;
    op->class_of->finish(op);
}

/* True when no server was reached for as long as the caller would wait for one, which the status
 * tells then. */
static bool is_out_of_reach(msi_op *op, int64_t now_ns)
{
    if (!op->retry.is_unprocessed) {
        op->lost_ns = now_ns;
    }
    int64_t lost_ms = (now_ns - op->lost_ns) / 1000000;
    if (op->reach_ms == 0 || lost_ms < op->reach_ms) {
        return false;
    }
    ms_bt_status last = op->status;
    ms_bt_status_clear(&op->status);
    ms_bt_status_set(&op->status, last.code, "%s (no server was reached for %" PRId64 " s)",
                     last.text, lost_ms / 1000);
    op->status.hint = last.hint;
    return true;
}

/* The moment at which an attempt that is ready at at_ns may begin; at the deadline or later: none
 * may. */
static int64_t when_to_begin(msi_op *op, int64_t at_ns)
{
    return op->class_of->is_paced ? msi_rate_take(&op->grpc->rate, at_ns, op->retry.deadline_ns)
                                  : at_ns;
}

/* An attempt has ended, and op->status says how. */
static void decide(msi_op *op)
{
    msi_op_next next = ms_bt_status_is_ok(&op->status) ? MSI_OP_FINISH : MSI_OP_AGAIN;
    if (op->class_of->end != NULL) {
        next = op->class_of->end(op);
    }
    int64_t wait_ns = op->pause_ns;
    int64_t now_ns = ms_env_mono_ns();
    if (next == MSI_OP_NEXT) {
        op->retry.attempts = 0;
    }
    bool goes_on = !op->is_ended && !op->is_hopeless && !is_out_of_reach(op, now_ns) &&
                   (next == MSI_OP_NEXT || (next == MSI_OP_AGAIN &&
                                            msi_retry_again(&op->retry, op->status.code,
                                                            op->retry_delay_ns, now_ns, &wait_ns)));
    int64_t begin_ns = goes_on ? when_to_begin(op, now_ns + wait_ns) : 0;
    if (!goes_on || (op->class_of->is_paced && begin_ns >= op->retry.deadline_ns)) {
        finish(op);
        return;
    }
    ms_loop_timer_start(op->grpc->loop, &op->timer, begin_ns);
}

static void read_details(msi_op *op, ms_str details)
{
    if (details.bytes == 0) {
        return;
    }
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_wire_status decoded;
    bool is_good = ms_wire_status_decode(details, &arena, &decoded);
    if (is_good && decoded.has_retry_delay) {
        op->retry_delay_ns = decoded.retry_delay_micros < INT64_MAX / 1000
                                 ? decoded.retry_delay_micros * 1000
                                 : INT64_MAX;
    }
    ms_str large_row;
    if (is_good && ms_wire_large_row_decode(&decoded, &arena, &large_row)) {
        op->large_row = ms_arena_copy_str(&op->arena, large_row);
    }
    ms_arena_release(&arena);
}

/* Who is on the other side: in the headers, or in the trailers of an answer without messages. */
static void note_server(msi_op *op, ms_grpc_metadata metadata)
{
    ms_str version;
    if (ms_grpc_metadata_find(metadata, ms_str_lit(VERSION_HEADER), &version)) {
        /* Order relaxed: a fact of its own. */
        atomic_store_explicit(&op->grpc->is_millstream, true, memory_order_relaxed);
    }
}

/* What the user has to change, when the attempt has ended so. */
static const char *hint_of(const msi_op *op, const ms_grpc_result *result)
{
    const ms_bt_grpc_hints *hints = &op->grpc->hints;
    switch (result->obstacle) {
    case MS_TLS_OBSTACLE_CERTIFICATE:
        return hints->certificate;
    case MS_TLS_OBSTACLE_TLS:
        return hints->tls;
    case MS_TLS_OBSTACLE_PLAINTEXT:
        return hints->plaintext;
    case MS_TLS_OBSTACLE_NONE:
        break;
    }
    /* Credentials that could not be had speak for themselves; here a server has answered. */
    return result->code == MS_GRPC_UNAUTHENTICATED && !result->is_unprocessed ? hints->token : NULL;
}

static void on_done(ms_grpc_call *call, const ms_grpc_result *result, void *arg)
{
    (void)call;
    msi_op *op = arg;
    op->call = NULL;
    note_server(op, result->trailers);
    if (!op->is_ended && ms_bt_status_is_ok(&op->status)) {
        if (result->code != MS_GRPC_OK) {
            ms_bt_status_set_text(&op->status, (ms_bt_code)result->code, result->message);
            op->status.hint = hint_of(op, result);
        }
        op->is_hopeless = result->obstacle != MS_TLS_OBSTACLE_NONE;
        op->retry.is_unprocessed = result->is_unprocessed;
        read_details(op, result->details);
        keep_cookies(op, result->trailers);
    }
    decide(op);
}

/* Attempts. */

static void keep(void *arg)
{
    (void)arg;
}

static void on_headers(ms_grpc_call *call, ms_grpc_metadata headers, void *arg)
{
    (void)call;
    note_server(arg, headers);
}

static void on_message(ms_grpc_call *call, ms_str message, void *arg)
{
    msi_op *op = arg;
    if (op->is_ended || !ms_bt_status_is_ok(&op->status)) {
        return;
    }
    if (op->class_of->message(op, message, &op->status) != MS_BT_OK) {
        ms_grpc_call_cancel(call);
    }
}

static const ms_grpc_call_events events = {
    .on_headers = on_headers, .on_message = on_message, .on_done = on_done};

static bool wants_end(msi_op *op)
{
    /* Order relaxed: a wish, which guards no other memory. */
    return atomic_load_explicit(op->is_canceled, memory_order_relaxed);
}

static void set_canceled(msi_op *op)
{
    ms_bt_status_clear(&op->status);
    ms_bt_status_set(&op->status, MS_BT_CANCELLED, "The call was canceled");
    op->is_ended = true;
}

static void begin_attempt(msi_op *op)
{
    ms_bt_status_clear(&op->status);
    op->retry_delay_ns = -1;
    op->large_row = (ms_str){NULL, 0};
    if (wants_end(op)) {
        set_canceled(op);
    }
    ms_buf_reset(&op->request);
    if (!op->is_ended && op->class_of->request(op, &op->request, &op->status) != MS_BT_OK) {
        op->is_ended = true;
    }
    if (op->is_ended) {
        finish(op);
        return;
    }
    ms_grpc_pair pairs[PAIRS_MAX] = {
        {ms_str_lit("x-goog-request-params"), op->params},
        {ms_str_lit("x-goog-api-client"), ms_str_lit("gl-c/17 millstream/" MS_VERSION)},
        {ms_str_lit("bigtable-features"), op->grpc->features},
    };
    for (uint32_t i = 0; i < op->cookie_count; i++) {
        pairs[3 + i] = op->cookies[i];
    }
    /* The request stays until the operation is over, so nobody needs to be told. */
    ms_grpc_message request = {.bytes = ms_buf_view(&op->request), .release = keep, .arg = op};
    op->call = ms_grpc_call_start(
        op->class_of->is_admin ? op->grpc->admin_channel : op->grpc->channel,
        &(ms_grpc_call_options){.path = ms_str_cstr(op->path),
                                .metadata = {pairs, 3 + op->cookie_count},
                                .deadline_ns = msi_retry_begin(&op->retry, ms_env_mono_ns()),
                                .request = &request,
                                .events = &events,
                                .arg = op});
}

static void retry(ms_loop_timer *timer)
{
    begin_attempt(MS_LOOP_TIMER_OWNER(timer, msi_op, timer));
}

/* Starting and canceling. */

void msi_op_start_here(msi_op *op)
{
    msi_op *ring = &op->grpc->ring;
    op->next = ring;
    op->prev = ring->prev;
    ring->prev->next = op;
    ring->prev = op;
    int64_t timeout_ns =
        op->timeout_ms < INT64_MAX / 1000000 ? op->timeout_ms * 1000000 : INT64_MAX;
    ms_loop_timer_init(&op->timer, retry);
    int64_t now_ns = ms_env_mono_ns();
    op->lost_ns = now_ns;
    msi_retry_init(&op->retry, &op->class_of->policy, timeout_ns, now_ns, ms_env_next_seed());
    int64_t begin_ns = wants_end(op) ? now_ns : when_to_begin(op, now_ns);
    if (begin_ns >= op->retry.deadline_ns) {
        ms_bt_status_set(&op->status, MS_BT_DEADLINE_EXCEEDED,
                         "The call would begin after its deadline, as fast as the service lets "
                         "writes begin");
        op->is_ended = true;
        finish(op);
    } else if (begin_ns > now_ns) {
        ms_loop_timer_start(op->grpc->loop, &op->timer, begin_ns);
    } else {
        begin_attempt(op);
    }
}

static void deliver_start(ms_mail *mail)
{
    msi_op_start_here(MS_MAIL_OWNER(mail, msi_op, start_mail));
}

void msi_op_start(msi_op *op)
{
    op->start_mail.deliver = deliver_start;
    ms_mailbox_push(ms_loop_mailbox(op->grpc->loop), &op->start_mail);
}

void msi_op_sweep(msi_grpc *grpc)
{
    msi_op *next = NULL;
    for (msi_op *op = grpc->ring.next; op != &grpc->ring; op = next) {
        next = op->next;
        if (op->is_ended || !wants_end(op)) {
            continue;
        }
        set_canceled(op);
        if (op->call != NULL) {
            ms_grpc_call_cancel(op->call);
        } else {
            ms_loop_timer_stop(grpc->loop, &op->timer);
            finish(op);
        }
    }
}
