/* SPDX-License-Identifier: Apache-2.0 */
/*
 * include/millstream/bigtable.h: admin commands through the client. Each call has a mailbox of its
 * own and waits on it: these functions run on the session's thread, never on a worker.
 */
/* tidy: no-unit-test: the tests of the command line run it on the embedded store */
#include "engine/admin.h"

#include "millstream/bigtable.h"

#include <inttypes.h>

#define LINE_BYTES_MAX (512u << 20)

void msi_admin_done(ms_bt_call *call, void *arg)
{
    (void)call;
    (void)arg; /* ms_bt_call_wait sees it */
}

static void woken(void *arg)
{
    (void)arg; /* ms_bt_read_wait polls */
}

ms_rc msi_admin_init(msi_admin *a, ms_session *session, bool for_write, ms_status *st)
{
    ms_parker_init(&a->parker);
    ms_mailbox_init(&a->mailbox, &a->parker);
    ms_arena_init(&a->arena, 0);
    msi_bigtable *bigtable = &session->engine->bigtable;
    bigtable->session = session;
    static const ms_bigtable_place anywhere;
    ms_rc rc = bigtable->service.open(&bigtable->service, &anywhere, for_write, &a->client, st);
    if (rc == MS_BIGTABLE_NOT_FOUND && !for_write) {
        ms_status_clear(st);
        return MS_OK;
    }
    return rc;
}

void msi_admin_release(msi_admin *a)
{
    ms_arena_release(&a->arena);
    ms_mailbox_release(&a->mailbox);
}

/* What the path would be with a part more, or less. */
static ms_rc hint_of_shape(const ms_str parts[3], size_t count, const char *last, ms_status *st)
{
    if (last != NULL && count == 2) {
        return ms_status_hint(st, "Write the %s too: \"%.*s/%.*s/%s\".",
                              strcmp(last, "TABLE") == 0 ? "table" : "profile's ID",
                              MS_STR_ARG(parts[0]), MS_STR_ARG(parts[1]), last);
    }
    if (last == NULL && count > 2) {
        return ms_status_hint(st, "An instance is meant, without its tables: \"%.*s/%.*s\".",
                              MS_STR_ARG(parts[0]), MS_STR_ARG(parts[1]));
    }
    return ms_status_hint(st, "Write %s names with a slash between them.",
                          last != NULL ? "three" : "two");
}

ms_rc msi_admin_path(ms_str path, const char *last, ms_bt_table_name *name_out, ms_status *st)
{
    ms_str parts[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    size_t wanted = last != NULL ? 3 : 2;
    size_t count = 0;
    for (size_t at = 0; count < 3 && at <= path.bytes;) {
        size_t slash = ms_str_find_byte(path, '/', at);
        slash = slash == SIZE_MAX ? path.bytes : slash;
        parts[count++] = ms_str_slice(path, at, slash);
        at = slash + 1;
        if (count == 3 && at <= path.bytes) {
            count = 4; /* a fourth part */
        }
    }
    if (count != wanted) {
        ms_status_set(st, MS_INVALID_ARGUMENT, ms_span_none, "\"%.*s\" is not PROJECT/INSTANCE%s%s",
                      MS_STR_ARG(path), last != NULL ? "/" : "", last != NULL ? last : "");
        return hint_of_shape(parts, count, last, st);
    }
    *name_out = (ms_bt_table_name){parts[0], parts[1], parts[2]};
    ms_bt_status bt = {0};
    bool is_table = last != NULL && strcmp(last, "TABLE") == 0;
    ms_bt_code code =
        is_table ? ms_bt_table_name_check(name_out, &bt) : ms_bt_instance_name_check(name_out, &bt);
    if (code == MS_BT_OK && last != NULL && !is_table) {
        code = ms_bt_profile_id_check(name_out->table, &bt);
    }
    return code == MS_BT_OK
               ? MS_OK
               : ms_bt_status_report(&bt, st, "\"%.*s\" is no valid name", MS_STR_ARG(path));
}

/* Listing. */

/* The answer of an instance in which there is nothing, as a store gives it. */
static ms_bt_status instance_missing(const msi_admin *a)
{
    ms_bt_status bt = {0};
    ms_bt_instance_name_missing(&a->name, &bt);
    return bt;
}

/* How an instance of ours comes to be. */
static ms_rc hint_of_making(const msi_admin *a, const ms_bt_status *bt, ms_status *st)
{
    bool is_ours = a->client == NULL || ms_bt_client_is_millstream(a->client);
    return bt->code != MS_BT_NOT_FOUND || !is_ours
               ? st->code
               : ms_status_hint(st, "An instance is there once a table is in it, which is made by "
                                    "millstream bigtable create-table, or by an INSERT with "
                                    "'sink.create-disposition' = 'create-if-needed'.");
}

static ms_rc report_listing(const msi_admin *a, const ms_bt_status *bt, ms_status *st)
{
    ms_bt_status_report(bt, st, "could not list the tables of \"%.*s/%.*s\"",
                        MS_STR_ARG(a->name.project), MS_STR_ARG(a->name.instance));
    return hint_of_making(a, bt, st);
}

static ms_rc print_names(const msi_admin *a, const ms_bt_table_call *call,
                         ms_bigtable_write_fn write, void *arg, ms_status *st)
{
    ms_buf line;
    ms_buf_init(&line, LINE_BYTES_MAX);
    ms_rc rc = MS_OK;
    for (size_t i = 0; rc == MS_OK && i < call->name_count; i++) {
        ms_buf_reset(&line);
        rc = ms_buf_format(&line, st, "%.*s/%.*s/%.*s\n", MS_STR_ARG(a->name.project),
                           MS_STR_ARG(a->name.instance), MS_STR_ARG(call->names[i]));
        if (rc == MS_OK && !write(arg, ms_buf_view(&line))) {
            break;
        }
    }
    ms_buf_release(&line);
    return rc;
}

static ms_rc list_tables(msi_admin *a, ms_bigtable_write_fn write, void *arg, ms_status *st)
{
    if (a->client == NULL) {
        ms_bt_status missing = instance_missing(a);
        return report_listing(a, &missing, st);
    }
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &a->mailbox, msi_admin_done, NULL);
    call.name = a->name;
    call.call.timeout_ms = MSI_ADMIN_LOOK_MS;
    call.call.reach_ms = MSI_ADMIN_REACH_MS;
    ms_bt_client_list_tables(a->client, &call);
    ms_bt_call_wait(&call.call, &a->parker);
    ms_rc rc = ms_bt_status_is_ok(&call.call.status) ? print_names(a, &call, write, arg, st)
                                                     : report_listing(a, &call.call.status, st);
    ms_bt_table_call_release(&call);
    return rc;
}

ms_rc ms_bigtable_list(ms_session *session, ms_str path, ms_bigtable_write_fn write, void *arg,
                       ms_status *st)
{
    ms_bt_table_name name;
    MS_TRY(msi_admin_path(path, NULL, &name, st));
    msi_admin a = {.name = name};
    ms_rc rc = msi_admin_init(&a, session, false, st);
    rc = rc == MS_OK ? list_tables(&a, write, arg, st) : rc;
    msi_admin_release(&a);
    return rc;
}

/* Reading. */

static void closed(void *arg)
{
    *(bool *)arg = true;
}

static ms_rc report_reading(const msi_admin *a, const ms_bt_status *bt, ms_status *st)
{
    return ms_bt_status_report(bt, st, "could not read table \"%.*s\"", MS_STR_ARG(a->name.table));
}

/* Calls on every page until the function stops it or the read ends. */
static ms_rc scan(msi_admin *a, const ms_bt_read_options *options,
                  ms_rc (*on_page)(void *arg, const ms_bt_page *page, bool *stop_out,
                                   ms_status *st),
                  void *arg, ms_status *st)
{
    if (a->client == NULL) {
        ms_bt_status missing = instance_missing(a);
        report_reading(a, &missing, st);
        return hint_of_making(a, &missing, st);
    }
    ms_bt_read *read = ms_bt_client_read_rows(a->client, options, &a->mailbox, woken, NULL);
    ms_rc rc = MS_OK;
    bool stop = false;
    while (rc == MS_OK && !stop) {
        const ms_bt_page *page = NULL;
        ms_bt_poll poll = ms_bt_read_wait(read, &a->parker, &page);
        if (poll == MS_BT_POLL_PAGE) {
            rc = on_page(arg, page, &stop, st);
            ms_bt_read_return(read, page);
        } else if (poll == MS_BT_POLL_FAILED) {
            rc = report_reading(a, ms_bt_read_status(read), st);
        } else {
            stop = poll == MS_BT_POLL_END;
        }
    }
    bool is_closed = false;
    is_closed = ms_bt_read_close(read, closed, &is_closed) || is_closed;
    while (!is_closed) {
        if (ms_mailbox_deliver(&a->mailbox, 16) == 0) {
            ms_parker_park(&a->parker, MS_PARK_FOREVER);
        }
    }
    return rc;
}

static ms_rc count_page(void *arg, const ms_bt_page *page, bool *stop_out, ms_status *st)
{
    (void)st;
    *stop_out = false;
    *(uint64_t *)arg += page->row_count;
    return MS_OK;
}

ms_rc ms_bigtable_count(ms_session *session, ms_str path, uint64_t *rows_out, ms_status *st)
{
    *rows_out = 0;
    ms_bt_table_name name;
    MS_TRY(msi_admin_path(path, "TABLE", &name, st));
    msi_admin a = {.name = name};
    ms_rc rc = msi_admin_init(&a, session, false, st);
    if (rc == MS_OK) {
        const ms_bt_filter *keys_only[] = {ms_bt_filter_cells_per_row(&a.arena, 1),
                                           ms_bt_filter_strip_value(&a.arena)};
        ms_bt_read_options options = {.table = name,
                                      .reach_ms = MSI_ADMIN_REACH_MS,
                                      .filter = ms_bt_filter_chain(&a.arena, keys_only, 2)};
        rc = scan(&a, &options, count_page, rows_out, st);
    }
    msi_admin_release(&a);
    return rc;
}

typedef struct show_state {
    ms_buf text;
    ms_bigtable_write_fn write;
    void *arg;
} show_state;

#define SHOWN_BYTES 1024u /* of a key, qualifier or value; more is cut and ends in "..." */

/* As cbt prints: a line of dashes, the key, then two lines a cell. */
static ms_rc show_row(show_state *show, const ms_bt_page *page, const ms_bt_row *row, ms_status *st)
{
    char text[SHOWN_BYTES];
    MS_TRY(ms_buf_format(&show->text, st, "----------------------------------------\n%s\n",
                         ms_bt_bytes_text(ms_bt_page_key(page, row), text, sizeof text)));
    for (uint32_t i = 0; i < row->cell_count; i++) {
        const ms_bt_cell *cell = &page->cells[row->first_cell + i];
        ms_str family = ms_bt_page_family(page, cell);
        MS_TRY(ms_buf_format(&show->text, st, "  %.*s:%s @ %" PRId64 "\n", MS_STR_ARG(family),
                             ms_bt_bytes_text(ms_bt_page_qualifier(page, cell), text, sizeof text),
                             cell->timestamp_micros));
        MS_TRY(ms_buf_format(&show->text, st, "    \"%s\"\n",
                             ms_bt_bytes_text(ms_bt_page_value(page, cell), text, sizeof text)));
    }
    return MS_OK;
}

static ms_rc show_page(void *arg, const ms_bt_page *page, bool *stop_out, ms_status *st)
{
    show_state *show = arg;
    ms_buf_reset(&show->text);
    for (uint32_t r = 0; r < page->row_count; r++) {
        MS_TRY(show_row(show, page, &page->rows[r], st));
    }
    *stop_out = !show->write(show->arg, ms_buf_view(&show->text));
    return MS_OK;
}

ms_rc ms_bigtable_show(ms_session *session, ms_str path, ms_str prefix, uint64_t row_limit,
                       ms_bigtable_write_fn write, void *arg, ms_status *st)
{
    ms_bt_table_name name;
    MS_TRY(msi_admin_path(path, "TABLE", &name, st));
    msi_admin a = {.name = name};
    show_state show = {.write = write, .arg = arg};
    ms_buf_init(&show.text, LINE_BYTES_MAX);
    ms_rc rc = msi_admin_init(&a, session, false, st);
    if (rc == MS_OK) {
        ms_bt_range range = ms_bt_range_prefix(prefix, &a.arena);
        ms_bt_read_options options = {
            .table = name,
            .reach_ms = MSI_ADMIN_REACH_MS,
            .rows_limit = row_limit > INT64_MAX ? INT64_MAX : (int64_t)row_limit,
        };
        if (prefix.bytes > 0) {
            options.rows = (ms_bt_row_set){.ranges = &range, .range_count = 1};
        }
        rc = scan(&a, &options, show_page, &show, st);
    }
    ms_buf_release(&show.text);
    msi_admin_release(&a);
    return rc;
}
