/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of commands: "--name value", "--name=value", operands in any place, "--" before
 * operands that begin with a dash.
 */
/* tidy: no-unit-test: tests/slt and tests/cli drive the program through its command line */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define OPTION_COLUMNS 32 /* of an option and what it takes, in the usage */

/* Behind the option in its column; below it when the option is longer than that. */
static void print_help_of(size_t option_bytes, const char *help)
{
    if (option_bytes > OPTION_COLUMNS) {
        printf("\n%*s %s\n", 2 + OPTION_COLUMNS, "", help);
    } else {
        printf("%*s %s\n", OPTION_COLUMNS - (int)option_bytes, "", help);
    }
}

void msi_print_usage(const msi_command *command)
{
    printf("usage: millstream %s%s%s%s\n\n%s\n", command->name,
           command->operands[0] != '\0' ? " " : "", command->operands,
           command->flag_count > 0 ? " [options]" : "", command->help);
    for (size_t i = 0; i < command->flag_count; i++) {
        const msi_flag *flag = &command->flags[i];
        if (!flag->unsupported) {
            const char *arg = flag->arg != NULL ? flag->arg : "";
            printf("%s  %s %s", i == 0 ? "\noptions:\n" : "", flag->name, arg);
            print_help_of(strlen(flag->name) + 1 + strlen(arg), flag->help);
        }
    }
    if (command->example != NULL) {
        printf("\nexample:\n  millstream %s %s\n", command->name, command->example);
    }
}

int msi_usage_error(const msi_command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "millstream: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\ntry: millstream %s --help\n", command != NULL ? command->name : "");
    va_end(args);
    return MSI_EXIT_USAGE;
}

msi_args msi_args_make(const msi_command *command, int argc, char **argv)
{
    return (msi_args){.command = command, .argc = argc, .argv = argv};
}

static bool fail(msi_args *args)
{
    args->failed = true;
    return false;
}

static const msi_flag *find_flag(const msi_command *command, ms_str name)
{
    for (size_t i = 0; i < command->flag_count; i++) {
        if (ms_str_equals(ms_str_cstr(command->flags[i].name), name)) {
            return &command->flags[i];
        }
    }
    return NULL;
}

void msi_nearest_compare(msi_nearest *nearest, const char *name, ms_str word)
{
    unsigned edits = ms_str_distance(ms_str_cstr(name), word, nearest->edits);
    /* With more than a third of its letters wrong a word is another one. */
    size_t letters = strlen(name);
    if (edits < nearest->edits && edits <= (letters < 3 ? 1 : letters / 3)) {
        nearest->name = name;
        nearest->edits = edits;
    }
}

/* Words of other programs for options of ours. */
static const struct {
    const char *word;
    const char *meant;
} foreign_words[] = {{"--format", "--result"}};

static const msi_flag *find_meant(const msi_command *command, ms_str name)
{
    for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++) {
        if (ms_str_equals(name, ms_str_cstr(foreign_words[i].word))) {
            return find_flag(command, ms_str_cstr(foreign_words[i].meant));
        }
    }
    return NULL;
}

static bool unknown_flag(msi_args *args, ms_str name)
{
    msi_nearest near = MSI_NEAREST_NONE;
    for (size_t i = 0; i < args->command->flag_count; i++) {
        msi_nearest_compare(&near, args->command->flags[i].name, name);
    }
    const msi_flag *meant = find_meant(args->command, name);
    near.name = meant != NULL ? meant->name : near.name;
    if (near.name != NULL) {
        msi_usage_error(args->command, "there is no option \"%.*s\"; did you mean \"%s\"?",
                        MS_STR_ARG(name), near.name);
    } else {
        msi_usage_error(args->command, "there is no option \"%.*s\"", MS_STR_ARG(name));
    }
    return fail(args);
}

/* The value behind "=" or in the next argument. */
static bool take_value(msi_args *args, ms_str name, const char *equals)
{
    if (args->flag->arg == NULL) {
        if (equals != NULL) {
            msi_usage_error(args->command, "option \"%.*s\" takes no value", MS_STR_ARG(name));
            return fail(args);
        }
        return true;
    }
    if (equals != NULL) {
        args->value = equals + 1;
        return true;
    }
    if (args->at == args->argc) {
        msi_usage_error(args->command, "option \"%.*s\" needs %s", MS_STR_ARG(name),
                        args->flag->arg);
        return fail(args);
    }
    args->value = args->argv[args->at++];
    return true;
}

bool msi_args_next(msi_args *args)
{
    args->flag = NULL;
    args->value = NULL;
    if (args->at == args->argc || args->failed) {
        return false;
    }
    const char *word = args->argv[args->at++];
    if (!args->operands_only && strcmp(word, "--") == 0) {
        args->operands_only = true;
        return msi_args_next(args);
    }
    if (args->operands_only || word[0] != '-' || word[1] == '\0') {
        args->value = word;
        return true;
    }
    const char *equals = strchr(word, '=');
    ms_str name = equals != NULL ? ms_str_make(word, (size_t)(equals - word)) : ms_str_cstr(word);
    args->flag = find_flag(args->command, name);
    if (args->flag == NULL) {
        return unknown_flag(args, name);
    }
    if (args->flag->unsupported) {
        msi_usage_error(args->command, "option \"%.*s\" is not built yet", MS_STR_ARG(name));
        return fail(args);
    }
    return take_value(args, name, equals);
}

bool msi_args_is(const msi_args *args, const char *name)
{
    return args->flag != NULL && strcmp(args->flag->name, name) == 0;
}
