/* SPDX-License-Identifier: Apache-2.0 */
/*
 * millstream bigtable COMMAND: administration of Bigtable tables on any backend.
 */
/* tidy: no-unit-test: tests/cli drives the program through its command line */
#include "cli/cli.h"

#include "base/num.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SPLITS_MAX 1000u
#define FAMILIES_MAX 100u /* as many as the service recommends for a table */

static const msi_flag flags[] = {
    {"--family", "NAME[:TYPE][:max-versions=N][:max-age=D]",
     "a column family; TYPE raw, int64-sum, int64-min, int64-max or int64-hll; repeatable", false},
    {"--split", "KEY", "create-table: a tablet begins here; repeatable", false},
    {"--change-stream", "RETENTION", "create-table: keep changes this long (1 to 7 d)", false},
    {"--cluster", "CLUSTER", "create-profile: route to this cluster", false},
    {"--transactions", NULL, "create-profile: with a cluster, allow reads that write", false},
    {"--multi-cluster", NULL, "create-profile: route to any cluster", false},
    {"--data-boost", NULL, "create-profile: reads only, by Data Boost", false},
    {"--prefix", "KEY", "show: only rows whose key begins so", false},
    {"--limit", "N", "show: at most so many rows", false},
    {"--data-dir", "DIR", "where the embedded Bigtable lives", false},
    {"--bigtable", "WHERE", "embedded, cloud or HOST:PORT", false},
    {"--quiet", NULL, "no notes on standard error", false},
};

typedef struct admin_args {
    msi_common common;
    const char *action;
    const char *path;
    const char *prefix;
    const char *backend;
    uint64_t limit;
    ms_bigtable_family families[FAMILIES_MAX];
    uint32_t family_count;
    ms_str splits[SPLITS_MAX];
    uint32_t split_count;
    const char *key; /* of split and merge */
    int64_t change_retention_ms;
    ms_bigtable_profile_options profile;
    bool is_multi_cluster;
} admin_args;

static const struct {
    const char *name;
    ms_bigtable_type type;
} types[] = {{"raw", MS_BIGTABLE_RAW},
             {"int64-sum", MS_BIGTABLE_INT64_SUM},
             {"int64-min", MS_BIGTABLE_INT64_MIN},
             {"int64-max", MS_BIGTABLE_INT64_MAX},
             {"int64-hll", MS_BIGTABLE_INT64_HLL}};

/* One part behind a family's name. */
static bool family_part(ms_bigtable_family *family, ms_str part)
{
    ms_status st = {0};
    uint64_t versions = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (ms_str_equals(part, ms_str_cstr(types[i].name))) {
            family->type = types[i].type;
            return true;
        }
    }
    if (ms_str_starts_with(part, ms_str_lit("max-versions="))) {
        bool ok = ms_num_scan_u64(ms_str_slice(part, 13, part.bytes), &versions);
        family->max_versions = (uint32_t)versions;
        return ok && versions > 0 && versions <= INT32_MAX;
    }
    if (ms_str_starts_with(part, ms_str_lit("max-age="))) {
        ms_str age = ms_str_slice(part, 8, part.bytes);
        return ms_num_parse_duration_ms(age, &family->max_age_ms, &st) == MS_OK &&
               family->max_age_ms > 0;
    }
    return false;
}

static int add_family(admin_args *admin, const msi_command *command, const char *text)
{
    if (admin->family_count == FAMILIES_MAX) {
        return msi_usage_error(command, "more than %u families", FAMILIES_MAX);
    }
    ms_bigtable_family family = {0};
    ms_str rest = ms_str_cstr(text);
    bool is_name = true;
    for (;;) {
        size_t colon = ms_str_find_byte(rest, ':', 0);
        ms_str part = ms_str_slice(rest, 0, colon);
        if (is_name) {
            family.name = part;
        } else if (!family_part(&family, part)) {
            return msi_usage_error(command, "\"%.*s\" is no part of a family", MS_STR_ARG(part));
        }
        is_name = false;
        if (colon == SIZE_MAX) {
            break;
        }
        rest = ms_str_slice(rest, colon + 1, rest.bytes);
    }
    admin->families[admin->family_count++] = family;
    return MSI_EXIT_OK;
}

static int take_operand(admin_args *admin, const msi_command *command, const char *value)
{
    if (admin->action == NULL) {
        admin->action = value;
    } else if (admin->path == NULL) {
        admin->path = value;
    } else if (admin->key == NULL &&
               (strcmp(admin->action, "split") == 0 || strcmp(admin->action, "merge") == 0)) {
        admin->key = value;
    } else {
        return msi_usage_error(command, "unexpected \"%s\"", value);
    }
    return MSI_EXIT_OK;
}

static void take_profile_flag(admin_args *admin, const msi_args *args)
{
    ms_bigtable_profile_options *profile = &admin->profile;
    profile->cluster = msi_args_is(args, "--cluster") ? args->value : profile->cluster;
    profile->transactions |= msi_args_is(args, "--transactions");
    profile->data_boost |= msi_args_is(args, "--data-boost");
    admin->is_multi_cluster |= msi_args_is(args, "--multi-cluster");
}

static int take_arg(admin_args *admin, const msi_command *command, const msi_args *args)
{
    if (args->flag == NULL) {
        return take_operand(admin, command, args->value);
    }
    if (msi_args_is(args, "--family")) {
        return add_family(admin, command, args->value);
    }
    if (msi_args_is(args, "--limit") &&
        (!ms_num_scan_u64(ms_str_cstr(args->value), &admin->limit) || admin->limit == 0)) {
        return msi_usage_error(command, "\"%s\" is no number of rows; use a number from 1",
                               args->value);
    }
    if (msi_args_is(args, "--split")) {
        if (admin->split_count == SPLITS_MAX) {
            return msi_usage_error(command, "more than %u splits", SPLITS_MAX);
        }
        admin->splits[admin->split_count++] = ms_str_cstr(args->value);
    }
    ms_status st = {0};
    if (msi_args_is(args, "--change-stream") &&
        ms_num_parse_duration_ms(ms_str_cstr(args->value), &admin->change_retention_ms, &st) !=
            MS_OK) {
        return msi_usage_error(command, "\"%s\" is no duration, such as 24h or 7d", args->value);
    }
    take_profile_flag(admin, args);
    admin->prefix = msi_args_is(args, "--prefix") ? args->value : admin->prefix;
    admin->backend = msi_args_is(args, "--bigtable") ? args->value : admin->backend;
    admin->common.data_dir = msi_args_is(args, "--data-dir") ? args->value : admin->common.data_dir;
    admin->common.quiet |= msi_args_is(args, "--quiet");
    return MSI_EXIT_OK;
}

/* The actions. */

static ms_rc create_table(admin_args *admin, ms_status *st)
{
    ms_bigtable_table_options options = {.struct_bytes = sizeof options,
                                         .families = admin->families,
                                         .family_count = admin->family_count,
                                         .splits = admin->splits,
                                         .split_count = admin->split_count,
                                         .change_retention_ms = admin->change_retention_ms};
    return ms_bigtable_create_table(admin->common.session, ms_str_cstr(admin->path), &options, st);
}

static ms_rc add_families(admin_args *admin, ms_status *st)
{
    return ms_bigtable_add_families(admin->common.session, ms_str_cstr(admin->path),
                                    admin->families, admin->family_count, st);
}

static ms_rc drop_table(admin_args *admin, ms_status *st)
{
    return ms_bigtable_drop_table(admin->common.session, ms_str_cstr(admin->path), st);
}

static ms_rc create_profile(admin_args *admin, ms_status *st)
{
    admin->profile.struct_bytes = sizeof admin->profile;
    return ms_bigtable_create_profile(admin->common.session, ms_str_cstr(admin->path),
                                      &admin->profile, st);
}

static ms_rc split(admin_args *admin, ms_status *st)
{
    uint64_t tablets = 0;
    MS_TRY(ms_bigtable_split_tablet(admin->common.session, ms_str_cstr(admin->path),
                                    ms_str_cstr(admin->key), &tablets, st));
    printf("%" PRIu64 " tablets\n", tablets);
    return MS_OK;
}

static ms_rc merge(admin_args *admin, ms_status *st)
{
    uint64_t tablets = 0;
    MS_TRY(ms_bigtable_merge_tablets(admin->common.session, ms_str_cstr(admin->path),
                                     ms_str_cstr(admin->key), &tablets, st));
    printf("%" PRIu64 " tablets\n", tablets);
    return MS_OK;
}

static ms_rc collect_garbage(admin_args *admin, ms_status *st)
{
    uint64_t cells = 0;
    MS_TRY(
        ms_bigtable_collect_garbage(admin->common.session, ms_str_cstr(admin->path), &cells, st));
    printf("%" PRIu64 " cells collected\n", cells);
    return MS_OK;
}

static ms_rc list(admin_args *admin, ms_status *st)
{
    return ms_bigtable_list(admin->common.session, ms_str_cstr(admin->path), msi_write_stdout,
                            &admin->common, st);
}

static ms_rc show(admin_args *admin, ms_status *st)
{
    ms_str prefix = admin->prefix != NULL ? ms_str_cstr(admin->prefix) : ms_str_lit("");
    return ms_bigtable_show(admin->common.session, ms_str_cstr(admin->path), prefix, admin->limit,
                            msi_write_stdout, &admin->common, st);
}

static ms_rc count(admin_args *admin, ms_status *st)
{
    uint64_t rows = 0;
    MS_TRY(ms_bigtable_count(admin->common.session, ms_str_cstr(admin->path), &rows, st));
    printf("%" PRIu64 "\n", rows);
    return MS_OK;
}

typedef struct admin_action {
    const char *name;
    const char *operands;
    ms_rc (*act)(admin_args *admin, ms_status *st);
    bool needs_key;
    bool needs_family;
} admin_action;

static const admin_action actions[] = {
    {"create-table", "PROJECT/INSTANCE/TABLE", create_table, false, false},
    {"add-family", "PROJECT/INSTANCE/TABLE", add_families, false, true},
    {"drop-table", "PROJECT/INSTANCE/TABLE", drop_table, false, false},
    {"create-profile", "PROJECT/INSTANCE/ID", create_profile, false, false},
    {"ls", "PROJECT/INSTANCE", list, false, false},
    {"show", "PROJECT/INSTANCE/TABLE", show, false, false},
    {"count", "PROJECT/INSTANCE/TABLE", count, false, false},
    {"split", "PROJECT/INSTANCE/TABLE KEY", split, true, false},
    {"merge", "PROJECT/INSTANCE/TABLE KEY", merge, true, false},
    {"gc", "PROJECT/INSTANCE/TABLE", collect_garbage, false, false},
};

static const admin_action *find_action(const char *name)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].name, name) == 0) {
            return &actions[i];
        }
    }
    return NULL;
}

static int act(admin_args *admin, const admin_action *action)
{
    ms_status st = {0};
    ms_engine_options options = {.struct_bytes = sizeof options,
                                 .data_dir = admin->common.data_dir,
                                 .notice = msi_common_notice,
                                 .notice_arg = &admin->common};
    int status = MSI_EXIT_FAILED;
    if (ms_engine_open(&options, &admin->common.engine, &st) == MS_OK &&
        ms_session_open(admin->common.engine, &admin->common.session, &st) == MS_OK) {
        status = admin->backend == NULL ? MSI_EXIT_OK
                                        : msi_apply_setting(&admin->common, "--bigtable",
                                                            "bigtable.backend", admin->backend);
        if (status == MSI_EXIT_OK &&
            (action->act(admin, &st) != MS_OK ||
             msi_output_status(admin->common.output_errno, &st) != MS_OK)) {
            status = MSI_EXIT_FAILED;
        }
    }
    if (!ms_status_is_ok(&st)) {
        msi_print_status(&admin->common, NULL, 0, &st);
    }
    ms_session_close(admin->common.session);
    ms_engine_close(admin->common.engine);
    return status;
}

/* One way of routing, and transactions with a cluster only. */
static int check_routing(const admin_args *admin, const msi_command *command)
{
    const ms_bigtable_profile_options *profile = &admin->profile;
    int ways = (profile->cluster != NULL) + admin->is_multi_cluster + profile->data_boost;
    if (ways != 1) {
        return msi_usage_error(command,
                               "create-profile needs one of --cluster, --multi-cluster and "
                               "--data-boost");
    }
    return profile->transactions && profile->cluster == NULL
               ? msi_usage_error(command, "--transactions goes with --cluster")
               : MSI_EXIT_OK;
}

static int run(const msi_command *command, int argc, char **argv)
{
    admin_args admin = {0};
    int status = MSI_EXIT_OK;
    msi_args args = msi_args_make(command, argc, argv);
    while (status == MSI_EXIT_OK && msi_args_next(&args)) {
        status = take_arg(&admin, command, &args);
    }
    if (status != MSI_EXIT_OK || args.failed) {
        return MSI_EXIT_USAGE;
    }
    const admin_action *action = admin.action != NULL ? find_action(admin.action) : NULL;
    if (action == NULL) {
        return msi_usage_error(command, "%s%s", admin.action == NULL ? "no command" : "no command ",
                               admin.action == NULL ? "" : admin.action);
    }
    if (admin.path == NULL || (action->needs_key && admin.key == NULL)) {
        return msi_usage_error(command, "%s needs %s", action->name, action->operands);
    }
    if (action->needs_family && admin.family_count == 0) {
        return msi_usage_error(command, "%s needs --family", action->name);
    }
    if (action->act == create_profile && check_routing(&admin, command) != MSI_EXIT_OK) {
        return MSI_EXIT_USAGE;
    }
    return act(&admin, action);
}

const msi_command msi_command_bigtable = {
    "bigtable",
    "COMMAND PROJECT/INSTANCE[/TABLE] [KEY]",
    "create-table, add-family, drop-table, create-profile, ls, show, count, split, merge, gc",
    flags,
    sizeof flags / sizeof *flags,
    run,
};
