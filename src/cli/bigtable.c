/* SPDX-License-Identifier: Apache-2.0 */
/*
 * millstream bigtable COMMAND: administration of Bigtable tables on any backend.
 */
/* tidy: no-unit-test: tests/cli drives the program through its command line */
#include "cli/cli.h"

#include "base/num.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SPLITS_MAX 1000u
#define FAMILIES_MAX 100u /* as many as the service recommends for a table */

enum {
    FLAG_FAMILY,
    FLAG_SPLIT,
    FLAG_CHANGE_STREAM,
    FLAG_CLUSTER,
    FLAG_TRANSACTIONS,
    FLAG_MULTI_CLUSTER,
    FLAG_DATA_BOOST,
    FLAG_PREFIX,
    FLAG_LIMIT,
    FLAG_DATA_DIR,
    FLAG_BIGTABLE,
    FLAG_SET,
    FLAG_QUIET
};

static const msi_flag flags[] = {
    [FLAG_FAMILY] = {"--family", "NAME[:TYPE][:max-versions=N][:max-age=D]",
                     "a column family; TYPE raw, int64-sum, int64-min, int64-max or int64-hll; "
                     "repeatable",
                     false},
    [FLAG_SPLIT] = {"--split", "KEY", "create-table: a tablet begins here; repeatable", false},
    [FLAG_CHANGE_STREAM] = {"--change-stream", "RETENTION",
                            "create-table: keep changes this long (1 to 7 d)", false},
    [FLAG_CLUSTER] = {"--cluster", "CLUSTER", "create-profile: route to this cluster", false},
    [FLAG_TRANSACTIONS] = {"--transactions", NULL,
                           "create-profile: with a cluster, allow reads that write", false},
    [FLAG_MULTI_CLUSTER] = {"--multi-cluster", NULL, "create-profile: route to any cluster", false},
    [FLAG_DATA_BOOST] = {"--data-boost", NULL, "create-profile: reads only, by Data Boost", false},
    [FLAG_PREFIX] = {"--prefix", "KEY", "show: only rows whose key begins so", false},
    [FLAG_LIMIT] = {"--limit", "N", "show: at most so many rows", false},
    [FLAG_DATA_DIR] = {"--data-dir", "DIR", "where the embedded Bigtable lives", false},
    [FLAG_BIGTABLE] = {"--bigtable", "WHERE", "embedded, cloud or HOST:PORT", false},
    [FLAG_SET] = {"--set", "KEY=VALUE", "a setting, such as bigtable.tls-ca; repeatable", false},
    [FLAG_QUIET] = {"--quiet", NULL, "no notes on standard error", false},
};

/* Sets of flags. */
#define BIT(flag) (1u << (flag))
#define FOR_ALL (BIT(FLAG_DATA_DIR) | BIT(FLAG_BIGTABLE) | BIT(FLAG_SET) | BIT(FLAG_QUIET))
#define FOR_PROFILE                                                                                \
    (BIT(FLAG_CLUSTER) | BIT(FLAG_TRANSACTIONS) | BIT(FLAG_MULTI_CLUSTER) | BIT(FLAG_DATA_BOOST))

typedef struct admin_args {
    msi_common common;
    int argc;
    char **argv;
    uint32_t given; /* flags */
    const char *action;
    const char *path;
    const char *prefix;
    uint64_t limit;
    ms_bigtable_family families[FAMILIES_MAX];
    uint32_t family_count;
    ms_str splits[SPLITS_MAX];
    uint32_t split_count;
    const char *key; /* of split and merge */
    int64_t change_retention_ms;
    ms_bigtable_profile_options profile;
} admin_args;

static const struct {
    const char *name;
    ms_bigtable_type type;
} types[] = {{"raw", MS_BIGTABLE_RAW},
             {"int64-sum", MS_BIGTABLE_INT64_SUM},
             {"int64-min", MS_BIGTABLE_INT64_MIN},
             {"int64-max", MS_BIGTABLE_INT64_MAX},
             {"int64-hll", MS_BIGTABLE_INT64_HLL}};

/* What a part behind a family's name says. */
typedef enum family_part { PART_NONE, PART_TYPE, PART_VERSIONS, PART_AGE, PART_COUNT } family_part;

static family_part read_part(ms_bigtable_family *family, ms_str part)
{
    ms_status st = {0};
    uint64_t versions = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (ms_str_equals(part, ms_str_cstr(types[i].name))) {
            family->type = types[i].type;
            return PART_TYPE;
        }
    }
    if (ms_str_starts_with(part, ms_str_lit("max-versions="))) {
        bool ok = ms_num_scan_u64(ms_str_slice(part, 13, part.bytes), &versions);
        family->max_versions = (uint32_t)versions;
        return ok && versions > 0 && versions <= INT32_MAX ? PART_VERSIONS : PART_NONE;
    }
    if (ms_str_starts_with(part, ms_str_lit("max-age="))) {
        ms_str age = ms_str_slice(part, 8, part.bytes);
        bool ok = ms_num_parse_duration_ms(age, &family->max_age_ms, &st) == MS_OK;
        return ok && family->max_age_ms > 0 ? PART_AGE : PART_NONE;
    }
    return PART_NONE;
}

/* The parts behind the name, each kind once. */
static int read_parts(ms_bigtable_family *family, const msi_command *command, ms_str text,
                      size_t at)
{
    static const char *const kinds[PART_COUNT] = {
        [PART_TYPE] = "type", [PART_VERSIONS] = "number of versions", [PART_AGE] = "age"};
    uint32_t given = 0;
    while (at <= text.bytes) {
        size_t colon = ms_str_find_byte(text, ':', at);
        ms_str part = ms_str_slice(text, at, colon);
        family_part kind = read_part(family, part);
        if (kind == PART_NONE) {
            return msi_usage_error(command, "\"%.*s\" is no part of a family", MS_STR_ARG(part));
        }
        if ((given & BIT(kind)) != 0) {
            return msi_usage_error(command, "family \"%.*s\" says \"%.*s\" after another %s",
                                   MS_STR_ARG(text), MS_STR_ARG(part), kinds[kind]);
        }
        given |= BIT(kind);
        at = colon == SIZE_MAX ? SIZE_MAX : colon + 1;
    }
    return MSI_EXIT_OK;
}

static int add_family(admin_args *admin, const msi_command *command, const char *text)
{
    if (admin->family_count == FAMILIES_MAX) {
        return msi_usage_error(command, "more than %u families", FAMILIES_MAX);
    }
    ms_str all = ms_str_cstr(text);
    size_t colon = ms_str_find_byte(all, ':', 0);
    ms_bigtable_family family = {.name = ms_str_slice(all, 0, colon)};
    if (family.name.bytes == 0) {
        return msi_usage_error(command, "family \"%s\" has no name", text);
    }
    int status = colon == SIZE_MAX ? MSI_EXIT_OK : read_parts(&family, command, all, colon + 1);
    if (status != MSI_EXIT_OK) {
        return status;
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

static int add_split(admin_args *admin, const msi_command *command, const char *key)
{
    if (admin->split_count == SPLITS_MAX) {
        return msi_usage_error(command, "more than %u splits", SPLITS_MAX);
    }
    admin->splits[admin->split_count++] = ms_str_cstr(key);
    return MSI_EXIT_OK;
}

static int set_retention(admin_args *admin, const msi_command *command, const char *value)
{
    ms_status st = {0};
    ms_rc rc = ms_num_parse_duration_ms(ms_str_cstr(value), &admin->change_retention_ms, &st);
    return rc == MS_OK && admin->change_retention_ms > 0
               ? MSI_EXIT_OK
               : msi_usage_error(command, "\"%s\" is no duration, such as 24h or 7d", value);
}

static int set_limit(admin_args *admin, const msi_command *command, const char *value)
{
    bool ok = ms_num_scan_u64(ms_str_cstr(value), &admin->limit) && admin->limit > 0;
    return ok ? MSI_EXIT_OK
              : msi_usage_error(command, "\"%s\" is no number of rows; use a number from 1", value);
}

static int take_flag(admin_args *admin, const msi_command *command, const msi_args *args)
{
    ptrdiff_t flag = args->flag - flags;
    admin->given |= BIT(flag);
    switch (flag) {
    case FLAG_FAMILY:
        return add_family(admin, command, args->value);
    case FLAG_SPLIT:
        return add_split(admin, command, args->value);
    case FLAG_CHANGE_STREAM:
        return set_retention(admin, command, args->value);
    case FLAG_LIMIT:
        return set_limit(admin, command, args->value);
    case FLAG_CLUSTER:
        admin->profile.cluster = args->value;
        break;
    case FLAG_TRANSACTIONS:
        admin->profile.transactions = true;
        break;
    case FLAG_DATA_BOOST:
        admin->profile.data_boost = true;
        break;
    case FLAG_PREFIX:
        admin->prefix = args->value;
        break;
    case FLAG_DATA_DIR:
        admin->common.data_dir = args->value;
        break;
    case FLAG_QUIET:
        admin->common.quiet = true;
        break;
    default: /* a setting waits for the session; the others are only given or not */
        break;
    }
    return MSI_EXIT_OK;
}

/* The settings, in the order in which they were given. */
static int apply_settings(admin_args *admin, const msi_command *command)
{
    int status = MSI_EXIT_OK;
    msi_args args = msi_args_make(command, admin->argc, admin->argv);
    while (status == MSI_EXIT_OK && msi_args_next(&args)) {
        if (msi_args_is(&args, "--bigtable")) {
            status =
                msi_apply_setting(&admin->common, "--bigtable", "bigtable.backend", args.value);
        } else if (msi_args_is(&args, "--set")) {
            status = msi_apply_pair(&admin->common, command, "--set", args.value);
        }
    }
    return status;
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
    uint32_t flags; /* that it takes beside those for all */
    bool needs_key;
} admin_action;

static const admin_action actions[] = {
    {"create-table", "PROJECT/INSTANCE/TABLE", create_table,
     BIT(FLAG_FAMILY) | BIT(FLAG_SPLIT) | BIT(FLAG_CHANGE_STREAM), false},
    {"add-family", "PROJECT/INSTANCE/TABLE", add_families, BIT(FLAG_FAMILY), false},
    {"drop-table", "PROJECT/INSTANCE/TABLE", drop_table, 0, false},
    {"create-profile", "PROJECT/INSTANCE/ID", create_profile, FOR_PROFILE, false},
    {"ls", "PROJECT/INSTANCE", list, 0, false},
    {"show", "PROJECT/INSTANCE/TABLE", show, BIT(FLAG_PREFIX) | BIT(FLAG_LIMIT), false},
    {"count", "PROJECT/INSTANCE/TABLE", count, 0, false},
    {"split", "PROJECT/INSTANCE/TABLE KEY", split, 0, true},
    {"merge", "PROJECT/INSTANCE/TABLE KEY", merge, 0, true},
    {"gc", "PROJECT/INSTANCE/TABLE", collect_garbage, 0, false},
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

static int act(admin_args *admin, const msi_command *command, const admin_action *action)
{
    ms_status st = {0};
    ms_engine_options options = {.struct_bytes = sizeof options,
                                 .data_dir = admin->common.data_dir,
                                 .notice = msi_common_notice,
                                 .notice_arg = &admin->common};
    int status = MSI_EXIT_FAILED;
    if (ms_engine_open(&options, &admin->common.engine, &st) == MS_OK &&
        ms_session_open(admin->common.engine, &admin->common.session, &st) == MS_OK) {
        status = apply_settings(admin, command);
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
    bool is_multi_cluster = (admin->given & BIT(FLAG_MULTI_CLUSTER)) != 0;
    int ways = (profile->cluster != NULL) + is_multi_cluster + profile->data_boost;
    if (ways != 1) {
        return msi_usage_error(command,
                               "create-profile needs one of --cluster, --multi-cluster and "
                               "--data-boost");
    }
    return profile->transactions && profile->cluster == NULL
               ? msi_usage_error(command, "--transactions goes with --cluster")
               : MSI_EXIT_OK;
}

/* What an action does not take is refused, and what it needs asked for. */
static int check_args(const admin_args *admin, const msi_command *command,
                      const admin_action *action)
{
    uint32_t foreign = admin->given & ~(action->flags | FOR_ALL);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if ((foreign & BIT(i)) != 0) {
            return msi_usage_error(command, "option \"%s\" does not go with %s", flags[i].name,
                                   action->name);
        }
    }
    if (admin->path == NULL || (action->needs_key && admin->key == NULL)) {
        return msi_usage_error(command, "%s needs %s", action->name, action->operands);
    }
    if (action->act == add_families && admin->family_count == 0) {
        return msi_usage_error(command, "%s needs --family", action->name);
    }
    return action->act == create_profile ? check_routing(admin, command) : MSI_EXIT_OK;
}

static int run(const msi_command *command, int argc, char **argv)
{
    admin_args admin = {.argc = argc, .argv = argv};
    int status = MSI_EXIT_OK;
    msi_args args = msi_args_make(command, argc, argv);
    while (status == MSI_EXIT_OK && msi_args_next(&args)) {
        status = args.flag == NULL ? take_operand(&admin, command, args.value)
                                   : take_flag(&admin, command, &args);
    }
    if (status != MSI_EXIT_OK || args.failed) {
        return MSI_EXIT_USAGE;
    }
    const admin_action *action = admin.action != NULL ? find_action(admin.action) : NULL;
    if (action == NULL) {
        return msi_usage_error(command, "%s%s", admin.action == NULL ? "no command" : "no command ",
                               admin.action == NULL ? "" : admin.action);
    }
    status = check_args(&admin, command, action);
    return status == MSI_EXIT_OK ? act(&admin, command, action) : status;
}

const msi_command msi_command_bigtable = {
    "bigtable",
    "COMMAND PROJECT/INSTANCE[/TABLE] [KEY]",
    "create-table, add-family, drop-table, create-profile, ls, show, count, split, merge, gc",
    flags,
    sizeof flags / sizeof *flags,
    run,
};
