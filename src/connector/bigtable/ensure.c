/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call after the other, each started by the one before.
 */
#include "connector/bigtable/ensure.h"

#include "base/log.h"

static void call_done(ms_bt_call *call, void *arg);

void msi_bt_ensure_init(msi_bt_ensure *ensure, ms_bt_client *client, struct ms_mailbox *mailbox,
                        const msi_bt_layout *layout, const ms_bt_gc_rule *gc_rule,
                        msi_bt_ensured_fn done, void *arg)
{
    *ensure = (msi_bt_ensure){.client = client, .done = done, .arg = arg};
    ms_arena_init(&ensure->arena, 0);
    ms_bt_family *families = ms_arena_array(&ensure->arena, ms_bt_family, layout->family_count);
    gc_rule = ms_bt_gc_rule_copy(&ensure->arena, gc_rule);
    for (uint32_t i = 0; i < layout->family_count; i++) {
        ms_str name = ms_arena_copy_str(&ensure->arena, layout->families[i].name);
        families[i] = (ms_bt_family){name, MS_BT_VALUE_RAW, gc_rule};
    }
    ensure->table =
        (ms_bt_table){.name = msi_bt_destination_copy(&ensure->arena, &layout->destination),
                      .families = families,
                      .family_count = layout->family_count};
    ensure->missing = ms_arena_array(&ensure->arena, ms_bt_family, layout->family_count);
    ms_bt_table_call_init(&ensure->call, mailbox, call_done, ensure);
}

void msi_bt_ensure_release(msi_bt_ensure *ensure)
{
    ms_bt_table_call_release(&ensure->call);
    ms_arena_release(&ensure->arena);
}

void msi_bt_ensure_start(msi_bt_ensure *ensure)
{
    ms_bt_status_clear(&ensure->status);
    /* Each look that is followed by a lost race found one family more. */
    ensure->rounds_left = (uint32_t)ensure->table.family_count + 1;
    ensure->call.name = ensure->table.name;
    ensure->call.table = &ensure->table;
    ms_bt_client_create_table(ensure->client, &ensure->call);
}

void msi_bt_ensure_cancel(msi_bt_ensure *ensure)
{
    ensure->is_canceled = true;
    ms_bt_call_cancel(&ensure->call.call);
}

static void finish(msi_bt_ensure *ensure)
{
    ensure->done(ensure->arg);
}

static void fail(msi_bt_ensure *ensure)
{
    ensure->status = ensure->call.call.status;
    finish(ensure);
}

static void look(msi_bt_ensure *ensure)
{
    if (ensure->rounds_left == 0) {
        ms_bt_status_set(&ensure->status, MS_BT_ABORTED,
                         "The families of the table change faster than they can be added");
        finish(ensure);
        return;
    }
    ensure->rounds_left--;
    ms_bt_client_get_table(ensure->client, &ensure->call);
}

static void log_made(const msi_bt_ensure *ensure, const char *event)
{
    char destination[MSI_BT_DESTINATION_BYTES];
    ms_log(MS_LOG_INFO, "bigtable", event, "table=%s",
           msi_bt_destination_text(&ensure->table.name, destination));
}

static void add_missing(msi_bt_ensure *ensure)
{
    const ms_bt_table *have = ensure->call.table;
    size_t count = 0;
    for (size_t i = 0; i < ensure->table.family_count; i++) {
        const ms_bt_family *family = &ensure->table.families[i];
        if (ms_bt_table_family(have, family->name) == NULL) {
            ensure->missing[count++] = *family;
        }
    }
    if (count == 0) {
        finish(ensure);
        return;
    }
    ensure->call.families = ensure->missing;
    ensure->call.family_count = count;
    ms_bt_client_add_families(ensure->client, &ensure->call);
}

static void call_done(ms_bt_call *call, void *arg)
{
    msi_bt_ensure *ensure = arg;
    bool is_ok = ms_bt_status_is_ok(&call->status);
    if (ensure->is_canceled) {
        ms_bt_status_set(&ensure->status, MS_BT_CANCELLED, "Nobody waits for the table any more");
        finish(ensure);
        return;
    }
    if (!is_ok &&
        (call->status.code != MS_BT_ALREADY_EXISTS || call->kind == MS_BT_CALL_GET_TABLE)) {
        fail(ensure);
    } else if (!is_ok) {
        look(ensure);
    } else if (call->kind == MS_BT_CALL_GET_TABLE) {
        add_missing(ensure);
    } else {
        log_made(ensure,
                 call->kind == MS_BT_CALL_CREATE_TABLE ? "table-created" : "families-added");
        finish(ensure);
    }
}
