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

#define FAMILIES_MAX 100u /* as many as the service recommends for a table */

static const msi_flag flags[] = {
    {"--family", "NAME[:raw][:max-versions=N][:max-age=D]", "a column family; repeatable", false},
    {"--prefix", "KEY", "show: only rows whose key begins so", false},
    {"--limit", "N", "show: at most so many rows", false},
    {"--data-dir", "DIR", "where the embedded Bigtable lives", false},
    {"--bigtable", "WHERE", "embedded (cloud and HOST:PORT are not built yet)", false},
    {"--quiet", NULL, "no notes on standard error", false},
    {"--split", "KEY", "", true},
    {"--change-stream", "RETENTION", "", true},
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
} admin_args;

/* One part behind a family's name. */
static bool family_part(ms_bigtable_family *family, ms_str part)
{
    ms_status st = {0};
    uint64_t versions = 0;
    if (ms_str_equals(part, ms_str_lit("raw"))) {
        return true;
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
        } else if (ms_str_starts_with(part, ms_str_lit("int64-"))) {
            return msi_usage_error(command, "aggregate families (\"%.*s\") are not built yet",
                                   MS_STR_ARG(part));
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
    } else {
        return msi_usage_error(command, "unexpected \"%s\"", value);
    }
    return MSI_EXIT_OK;
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
    admin->prefix = msi_args_is(args, "--prefix") ? args->value : admin->prefix;
    admin->backend = msi_args_is(args, "--bigtable") ? args->value : admin->backend;
    admin->common.data_dir = msi_args_is(args, "--data-dir") ? args->value : admin->common.data_dir;
    admin->common.quiet |= msi_args_is(args, "--quiet");
    return MSI_EXIT_OK;
}

/* The actions. */

static ms_rc create_table(admin_args *admin, ms_status *st)
{
    return ms_bigtable_create_table(admin->common.session, ms_str_cstr(admin->path),
                                    admin->families, admin->family_count, st);
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
    bool needs_path;
    ms_rc (*act)(admin_args *admin, ms_status *st); /* NULL: not built yet */
} admin_action;

static const admin_action actions[] = {
    {"create-table", true, create_table},
    {"ls", true, list},
    {"show", true, show},
    {"count", true, count},
    {"add-family", true, NULL},
    {"drop-table", true, NULL},
    {"create-profile", true, NULL},
    {"split", true, NULL},
    {"merge", true, NULL},
    {"gc", true, NULL},
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
    if (action->act == NULL) {
        return msi_usage_error(command, "command \"%s\" is not built yet", action->name);
    }
    if (action->needs_path && admin.path == NULL) {
        return msi_usage_error(command, "%s needs PROJECT/INSTANCE%s", action->name,
                               action->act == list ? "" : "/TABLE");
    }
    return act(&admin, action);
}

const msi_command msi_command_bigtable = {
    "bigtable",
    "create-table|ls|show|count PROJECT/INSTANCE/TABLE",
    "make, list, show and count Bigtable tables",
    flags,
    sizeof flags / sizeof *flags,
    run,
};
