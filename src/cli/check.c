/* SPDX-License-Identifier: Apache-2.0 */
/*
 * millstream check FILE.sql: parses, binds and plans every statement, runs none, and reports all
 * errors.
 */
/* tidy: no-unit-test: tests/cli drives the program through its command line */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const msi_flag flags[] = {
    {"--set", "KEY=VALUE", "a setting, as by SET", false},
    {"--define", "NAME=VALUE", "the value of ${NAME}", false},
};

typedef struct check_report {
    const msi_common *common;
    const ms_script *script;
} check_report;

static void report(void *arg, uint32_t statement, const ms_status *st)
{
    const check_report *to = arg;
    msi_print_status(to->common, to->script, statement, st);
}

static int check_script(msi_common *common, const char *path)
{
    ms_status st = {0};
    ms_buf text;
    ms_buf_init(&text, (17u << 20));
    ms_script *script = NULL;
    ms_rc rc = msi_read_script(path, &text, &st);
    if (rc == MS_OK) {
        rc = ms_script_open(common->session, ms_str_cstr(path), ms_buf_view(&text), &script, &st);
    }
    if (rc == MS_OK) {
        rc = ms_script_parse(script, &st);
    }
    uint32_t errors = rc != MS_OK;
    if (rc != MS_OK) {
        msi_print_status(common, script, 0, &st);
    } else {
        check_report to = {common, script};
        errors = ms_script_check(script, report, &to);
    }
    ms_script_close(script);
    ms_buf_release(&text);
    return errors == 0 ? MSI_EXIT_OK : MSI_EXIT_FAILED;
}

static int run(const msi_command *command, int argc, char **argv)
{
    msi_common common = {0};
    ms_status st = {0};
    ms_engine_options options = {
        .struct_bytes = sizeof options, .notice = msi_common_notice, .notice_arg = &common};
    if (ms_engine_open(&options, &common.engine, &st) != MS_OK ||
        ms_session_open(common.engine, &common.session, &st) != MS_OK) {
        msi_print_status(&common, NULL, 0, &st);
        return MSI_EXIT_FAILED;
    }
    const char *path = NULL;
    int status = MSI_EXIT_OK;
    msi_args args = msi_args_make(command, argc, argv);
    while (status == MSI_EXIT_OK && msi_args_next(&args)) {
        if (args.flag != NULL) {
            status = msi_apply_pair(&common, command, args.flag->name, args.value);
        } else if (path != NULL) {
            status = msi_usage_error(command, "more than one script");
        } else {
            path = args.value;
        }
    }
    if (args.failed) {
        status = MSI_EXIT_USAGE;
    } else if (status == MSI_EXIT_OK && path == NULL) {
        status = msi_usage_error(command, "no script");
    }
    if (status == MSI_EXIT_OK) {
        status = check_script(&common, path);
    }
    ms_session_close(common.session);
    ms_engine_close(common.engine);
    return status;
}

const msi_command msi_command_check = {
    .name = "check",
    .operands = "FILE.sql",
    .help = "parse, bind and plan a script, run nothing, report all errors",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run,
};
