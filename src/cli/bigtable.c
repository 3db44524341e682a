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
    FLAG_QUIET,
    FLAG_COUNT
};

static const msi_flag flags[] = {
    [FLAG_FAMILY] = {"--family", "NAME[:TYPE][:max-versions=N][:max-age=D]",
                     "a column family; TYPE raw, int64-sum, int64-min, int64-max or int64-hll; "
                     "cells beyond either limit go; repeatable",
                     false},
    [FLAG_SPLIT] = {"--split", "KEY", "a tablet begins at this key; repeatable", false},
    [FLAG_CHANGE_STREAM] = {"--change-stream", "RETENTION",
                            "keep a change stream, of changes this old: 1d to 7d", false},
    [FLAG_CLUSTER] = {"--cluster", "CLUSTER", "route to this cluster", false},
    [FLAG_TRANSACTIONS] = {"--transactions", NULL, "with --cluster: allow reads that write", false},
    [FLAG_MULTI_CLUSTER] = {"--multi-cluster", NULL, "route to any cluster", false},
    [FLAG_DATA_BOOST] = {"--data-boost", NULL, "reads only, by Data Boost", false},
    [FLAG_PREFIX] = {"--prefix", "KEY", "only rows whose key begins so", false},
    [FLAG_LIMIT] = {"--limit", "N", "at most so many rows", false},
    [FLAG_DATA_DIR] = {"--data-dir", "DIR", "where the embedded Bigtable lives", false},
    [FLAG_BIGTABLE] = {"--bigtable", "WHERE", "embedded, cloud or HOST:PORT", false},
    [FLAG_SET] = {"--set", "KEY=VALUE", "a setting, such as bigtable.tls-ca; repeatable", false},
    [FLAG_QUIET] = {"--quiet", NULL, "no notes on standard error, but for where Bigtable is",
                    false},
};

/* Sets of flags. */
#define BIT(flag) (1u << (flag))
#define FOR_ALL (BIT(FLAG_DATA_DIR) | BIT(FLAG_BIGTABLE) | BIT(FLAG_SET) | BIT(FLAG_QUIET))
#define FOR_PROFILE                                                                                \
    (BIT(FLAG_CLUSTER) | BIT(FLAG_TRANSACTIONS) | BIT(FLAG_MULTI_CLUSTER) | BIT(FLAG_DATA_BOOST))

typedef struct admin_args {
    msi_common common;
    const struct admin_action *action;
    int argc;
    char **argv;
    uint32_t given; /* flags */
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

/* A command of this command. */
typedef struct admin_action {
    const char *title; /* "bigtable ls" */
    const char *operands;
    const char *help;
    const char *example;
    ms_rc (*act)(admin_args *admin, ms_status *st);
    uint32_t flags; /* that it takes beside those for all */
    bool needs_key;
} admin_action;

static const admin_action *find_action(const char *name);
static int unknown_action(const msi_command *command, const char *name);

/* What a part behind a family's name says. */
typedef enum family_part { PART_NONE, PART_TYPE, PART_VERSIONS, PART_AGE, PART_COUNT } family_part;

static const ms_str versions_prefix = {"max-versions=", 13};
static const ms_str age_prefix = {"max-age=", 8};

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
    if (ms_str_starts_with(part, versions_prefix)) {
        bool ok = ms_num_scan_u64(ms_str_slice(part, versions_prefix.bytes, part.bytes), &versions);
        family->max_versions = (uint32_t)versions;
        return ok && versions > 0 && versions <= INT32_MAX ? PART_VERSIONS : PART_NONE;
    }
    if (ms_str_starts_with(part, age_prefix)) {
        ms_str age = ms_str_slice(part, age_prefix.bytes, part.bytes);
        bool ok = ms_num_parse_duration_ms(age, &family->max_age_ms, &st) == MS_OK;
        return ok && family->max_age_ms > 0 ? PART_AGE : PART_NONE;
    }
    return PART_NONE;
}

static int bad_part(const msi_command *command, ms_str part)
{
    if (ms_str_starts_with(part, versions_prefix)) {
        return msi_usage_error(command, "\"%.*s\": the number of versions is 1 to %d",
                               MS_STR_ARG(part), INT32_MAX);
    }
    if (ms_str_starts_with(part, age_prefix)) {
        return msi_usage_error(command,
                               "\"%.*s\": the age is a duration above 0, such as 12h or 30d",
                               MS_STR_ARG(part));
    }
    return msi_usage_error(command, "\"%.*s\" is no part of a family", MS_STR_ARG(part));
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
            return bad_part(command, part);
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
        admin->action = find_action(value);
        return admin->action != NULL ? MSI_EXIT_OK : unknown_action(command, value);
    }
    if (admin->path == NULL) {
        admin->path = value;
    } else if (admin->key == NULL && admin->action->needs_key) {
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

static void print_tablets(uint64_t tablets)
{
    printf("%" PRIu64 " tablet%s\n", tablets, tablets == 1 ? "" : "s");
}

static ms_rc split(admin_args *admin, ms_status *st)
{
    uint64_t tablets = 0;
    MS_TRY(ms_bigtable_split_tablet(admin->common.session, ms_str_cstr(admin->path),
                                    ms_str_cstr(admin->key), &tablets, st));
    print_tablets(tablets);
    return MS_OK;
}

static ms_rc merge(admin_args *admin, ms_status *st)
{
    uint64_t tablets = 0;
    MS_TRY(ms_bigtable_merge_tablets(admin->common.session, ms_str_cstr(admin->path),
                                     ms_str_cstr(admin->key), &tablets, st));
    print_tablets(tablets);
    return MS_OK;
}

static ms_rc collect_garbage(admin_args *admin, ms_status *st)
{
    uint64_t cells = 0;
    MS_TRY(
        ms_bigtable_collect_garbage(admin->common.session, ms_str_cstr(admin->path), &cells, st));
    printf("%" PRIu64 " cell%s collected\n", cells, cells == 1 ? "" : "s");
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

static const admin_action actions[] = {
    {"bigtable create-table", "PROJECT/INSTANCE/TABLE", "make a table with these families",
     "demo/local/people --family cf:max-versions=1 --family visits:int64-sum --split m",
     create_table, BIT(FLAG_FAMILY) | BIT(FLAG_SPLIT) | BIT(FLAG_CHANGE_STREAM), false},
    {"bigtable add-family", "PROJECT/INSTANCE/TABLE", "add families to a table, all or none",
     "demo/local/people --family old:max-age=30d", add_families, BIT(FLAG_FAMILY), false},
    {"bigtable drop-table", "PROJECT/INSTANCE/TABLE", "drop a table with all that is in it",
     "demo/local/people", drop_table, 0, false},
    {"bigtable create-profile", "PROJECT/INSTANCE/ID", "make an app profile",
     "demo/local/solo --cluster local-c1 --transactions", create_profile, FOR_PROFILE, false},
    {"bigtable ls", "PROJECT/INSTANCE", "list the tables of an instance", "demo/local", list, 0,
     false},
    {"bigtable show", "PROJECT/INSTANCE/TABLE", "print rows with all their cells",
     "demo/local/people --prefix a --limit 10", show, BIT(FLAG_PREFIX) | BIT(FLAG_LIMIT), false},
    {"bigtable count", "PROJECT/INSTANCE/TABLE", "count the rows of a table", "demo/local/people",
     count, 0, false},
    {"bigtable split", "PROJECT/INSTANCE/TABLE KEY", "let a tablet begin at a key",
     "demo/local/people m", split, 0, true},
    {"bigtable merge", "PROJECT/INSTANCE/TABLE KEY",
     "join the tablet that begins at a key to the one before", "demo/local/people m", merge, 0,
     true},
    {"bigtable gc", "PROJECT/INSTANCE/TABLE", "collect now what the rules of the families let go",
     "demo/local/people", collect_garbage, 0, false},
};
#define ACTION_COUNT (sizeof actions / sizeof *actions)

static const char *action_name(const admin_action *action)
{
    return action->title + sizeof "bigtable " - 1;
}

static const admin_action *find_action(const char *name)
{
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        if (strcmp(action_name(&actions[i]), name) == 0) {
            return &actions[i];
        }
    }
    return NULL;
}

static int unknown_action(const msi_command *command, const char *name)
{
    msi_nearest near = MSI_NEAREST_NONE;
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        msi_nearest_compare(&near, action_name(&actions[i]), ms_str_cstr(name));
    }
    if (near.name != NULL) {
        return msi_usage_error(command, "there is no command \"bigtable %s\"; did you mean \"%s\"?",
                               name, near.name);
    }
    return msi_usage_error(command, "there is no command \"bigtable %s\"", name);
}

/* An action as a command, for messages; for its usage with room for the options that it takes. */
static msi_command action_command(const admin_action *action, msi_flag own[FLAG_COUNT])
{
    msi_command command = {.name = action->title,
                           .operands = action->operands,
                           .help = action->help,
                           .flags = own,
                           .example = action->example};
    for (size_t i = 0; own != NULL && i < FLAG_COUNT; i++) {
        if (((action->flags | FOR_ALL) & BIT(i)) != 0) {
            own[command.flag_count++] = flags[i];
        }
    }
    return command;
}

static int act(admin_args *admin, const msi_command *command)
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
            (admin->action->act(admin, &st) != MS_OK ||
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
static int check_args(const admin_args *admin)
{
    const admin_action *action = admin->action;
    const msi_command command = action_command(action, NULL);
    uint32_t foreign = admin->given & ~(action->flags | FOR_ALL);
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if ((foreign & BIT(i)) != 0) {
            return msi_usage_error(&command, "option \"%s\" does not go with %s", flags[i].name,
                                   action_name(action));
        }
    }
    if (admin->path == NULL || (action->needs_key && admin->key == NULL)) {
        return msi_usage_error(&command, "%s needs %s", action_name(action), action->operands);
    }
    if (action->act == add_families && admin->family_count == 0) {
        return msi_usage_error(&command, "%s needs --family", action_name(action));
    }
    return action->act == create_profile ? check_routing(admin, &command) : MSI_EXIT_OK;
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
    if (admin.action == NULL) {
        return msi_usage_error(command, "no command");
    }
    status = check_args(&admin);
    return status == MSI_EXIT_OK ? act(&admin, command) : status;
}

static int help_on(const msi_command *command, int argc, char **argv)
{
    const admin_action *action = NULL;
    for (int i = 0; i < argc && action == NULL; i++) {
        action = find_action(argv[i]); /* others may be values of options */
    }
    if (action == NULL && argc > 0 && argv[0][0] != '-') {
        return unknown_action(command, argv[0]);
    }
    if (action != NULL) {
        msi_flag own[FLAG_COUNT];
        const msi_command usage = action_command(action, own);
        msi_print_usage(&usage);
        return MSI_EXIT_OK;
    }
    printf("usage: millstream bigtable COMMAND ...\n\n%s\n\ncommands:\n", command->help);
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        printf("  %-14s %-26s %s\n", action_name(&actions[i]), actions[i].operands,
               actions[i].help);
    }
    printf("\nmillstream help bigtable COMMAND says more about one.\n");
    return MSI_EXIT_OK;
}

const msi_command msi_command_bigtable = {
    .name = "bigtable",
    .operands = "COMMAND ...",
    .help = "look after tables of any Bigtable: make, list, show, count, split and drop them",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run,
    .help_on = help_on,
};
