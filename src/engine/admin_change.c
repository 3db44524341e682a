/* SPDX-License-Identifier: Apache-2.0 */
/*
 * include/millstream/bigtable.h: admin commands that change something.
 */
#include "engine/admin.h"

#include "millstream/bigtable.h"

/* Families. */

static const ms_bt_gc_rule *gc_rule(ms_arena *arena, const ms_bigtable_family *family)
{
    const ms_bt_gc_rule *rules[2];
    size_t count = 0;
    if (family->max_versions > 0) {
        rules[count++] = ms_bt_gc_rule_max_versions(arena, (int32_t)family->max_versions);
    }
    if (family->max_age_ms > 0) {
        rules[count++] = ms_bt_gc_rule_max_age(arena, family->max_age_ms * 1000);
    }
    return count == 0 ? NULL : count == 1 ? rules[0] : ms_bt_gc_rule_union(arena, rules, 2);
}

static ms_bt_value_type value_type(ms_bigtable_type type)
{
    switch (type) {
    case MS_BIGTABLE_RAW:
        return MS_BT_VALUE_RAW;
    case MS_BIGTABLE_INT64_SUM:
        return MS_BT_VALUE_INT64_SUM;
    case MS_BIGTABLE_INT64_MIN:
        return MS_BT_VALUE_INT64_MIN;
    case MS_BIGTABLE_INT64_MAX:
        return MS_BT_VALUE_INT64_MAX;
    case MS_BIGTABLE_INT64_HLL:
        return MS_BT_VALUE_INT64_HLL;
    }
    return MS_BT_VALUE_RAW;
}

static const ms_bt_family *make_families(ms_arena *arena, const ms_bigtable_family *families,
                                         uint32_t count)
{
    ms_bt_family *list = ms_arena_array(arena, ms_bt_family, count);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (ms_bt_family){families[i].name, value_type(families[i].type),
                                 gc_rule(arena, &families[i])};
    }
    return list;
}

/* Calls on tables. */

/* One call: what is asked, and how a failure is told. */
typedef struct table_change {
    msi_admin admin;
    ms_bt_table_call call;
} table_change;

static ms_rc change_init(table_change *change, ms_session *session, ms_str path, ms_status *st)
{
    *change = (table_change){0};
    MS_TRY(msi_admin_path(path, "TABLE", &change->admin.name, st));
    ms_bt_table_name name = change->admin.name;
    ms_rc rc = msi_admin_init(&change->admin, session, true, st);
    ms_bt_table_call_init(&change->call, &change->admin.mailbox, msi_admin_done, NULL);
    change->call.name = name;
    change->call.call.reach_ms = MSI_ADMIN_REACH_MS;
    if (rc != MS_OK) {
        ms_bt_table_call_release(&change->call);
        msi_admin_release(&change->admin);
    }
    return rc;
}

/* A failure as "could not <what> table ..."; of what no other Bigtable has, as that. */
static ms_rc report(const table_change *change, const char *what, ms_status *st)
{
    const ms_bt_call *call = &change->call.call;
    ms_str table = change->call.name.table;
    if (call->status.code == MS_BT_ALREADY_EXISTS && call->kind == MS_BT_CALL_CREATE_TABLE) {
        return ms_status_set(st, MS_DUPLICATE_TABLE, ms_span_none, "table \"%.*s\" exists already",
                             MS_STR_ARG(table));
    }
    bool is_ours = call->kind == MS_BT_CALL_SPLIT_TABLET ||
                   call->kind == MS_BT_CALL_MERGE_TABLETS ||
                   call->kind == MS_BT_CALL_COLLECT_GARBAGE;
    if (is_ours && call->status.code == MS_BT_UNIMPLEMENTED &&
        !ms_bt_client_is_millstream(change->admin.client)) {
        ms_bt_status_report(&call->status, st,
                            "could not %s table \"%.*s\": this Bigtable is not Millstream's", what,
                            MS_STR_ARG(table));
        return ms_status_hint(st, "Only the embedded Bigtable and millstream serve have this.");
    }
    return ms_bt_status_report(&call->status, st, "could not %s table \"%.*s\"", what,
                               MS_STR_ARG(table));
}

/* Carries the call out and releases. */
static ms_rc change_run(table_change *change,
                        void (*fn)(ms_bt_client *client, ms_bt_table_call *call), const char *what,
                        uint64_t *count_out, ms_status *st)
{
    fn(change->admin.client, &change->call);
    ms_bt_call_wait(&change->call.call, &change->admin.parker);
    ms_rc rc = MS_OK;
    if (!ms_bt_status_is_ok(&change->call.call.status)) {
        rc = report(change, what, st);
    } else if (count_out != NULL) {
        *count_out = change->call.count;
    }
    ms_bt_table_call_release(&change->call);
    msi_admin_release(&change->admin);
    return rc;
}

ms_rc ms_bigtable_create_table(ms_session *session, ms_str path,
                               const ms_bigtable_table_options *options, ms_status *st)
{
    table_change change;
    MS_TRY(change_init(&change, session, path, st));
    ms_bt_table table = {
        .name = change.call.name,
        .families = make_families(&change.admin.arena, options->families, options->family_count),
        .family_count = options->family_count,
        .splits = options->splits,
        .split_count = options->split_count,
        .change_retention_micros = options->change_retention_ms * 1000,
    };
    change.call.table = &table;
    return change_run(&change, ms_bt_client_create_table, "create", NULL, st);
}

ms_rc ms_bigtable_add_families(ms_session *session, ms_str path, const ms_bigtable_family *families,
                               uint32_t family_count, ms_status *st)
{
    table_change change;
    MS_TRY(change_init(&change, session, path, st));
    change.call.families = make_families(&change.admin.arena, families, family_count);
    change.call.family_count = family_count;
    return change_run(&change, ms_bt_client_add_families, "add families to", NULL, st);
}

ms_rc ms_bigtable_drop_table(ms_session *session, ms_str path, ms_status *st)
{
    table_change change;
    MS_TRY(change_init(&change, session, path, st));
    return change_run(&change, ms_bt_client_drop_table, "drop", NULL, st);
}

ms_rc ms_bigtable_split_tablet(ms_session *session, ms_str path, ms_str key, uint64_t *tablets_out,
                               ms_status *st)
{
    table_change change;
    MS_TRY(change_init(&change, session, path, st));
    change.call.key = key;
    return change_run(&change, ms_bt_client_split_tablet, "split a tablet of", tablets_out, st);
}

ms_rc ms_bigtable_merge_tablets(ms_session *session, ms_str path, ms_str key, uint64_t *tablets_out,
                                ms_status *st)
{
    table_change change;
    MS_TRY(change_init(&change, session, path, st));
    change.call.key = key;
    return change_run(&change, ms_bt_client_merge_tablets, "merge tablets of", tablets_out, st);
}

ms_rc ms_bigtable_collect_garbage(ms_session *session, ms_str path, uint64_t *cells_out,
                                  ms_status *st)
{
    table_change change;
    MS_TRY(change_init(&change, session, path, st));
    return change_run(&change, ms_bt_client_collect_garbage, "collect garbage of", cells_out, st);
}

/* App profiles. */

static ms_rc create_profile(msi_admin *a, const ms_bigtable_profile_options *options, ms_status *st)
{
    ms_bt_profile_call call;
    ms_bt_profile_call_init(&call, &a->mailbox, msi_admin_done, NULL);
    call.profile = (ms_bt_profile){
        .project = a->name.project,
        .instance = a->name.instance,
        .id = a->name.table,
        .routing =
            options->cluster != NULL ? MS_BT_ROUTING_SINGLE_CLUSTER : MS_BT_ROUTING_MULTI_CLUSTER,
        .cluster = ms_str_cstr(options->cluster != NULL ? options->cluster : ""),
        .allows_transactions = options->transactions,
        .is_data_boost = options->data_boost,
    };
    call.call.reach_ms = MSI_ADMIN_REACH_MS;
    ms_bt_client_create_profile(a->client, &call);
    ms_bt_call_wait(&call.call, &a->parker);
    ms_rc rc =
        ms_bt_status_is_ok(&call.call.status)
            ? MS_OK
            : ms_bt_status_report(&call.call.status, st, "could not create app profile \"%.*s\"",
                                  MS_STR_ARG(a->name.table));
    ms_bt_profile_call_release(&call);
    return rc;
}

ms_rc ms_bigtable_create_profile(ms_session *session, ms_str path,
                                 const ms_bigtable_profile_options *options, ms_status *st)
{
    ms_bt_table_name name;
    MS_TRY(msi_admin_path(path, "ID", &name, st));
    msi_admin a = {.name = name};
    ms_rc rc = msi_admin_init(&a, session, true, st);
    rc = rc == MS_OK ? create_profile(&a, options, st) : rc;
    msi_admin_release(&a);
    return rc;
}
