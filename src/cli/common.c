/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing and reading that the commands share.
 */
/* tidy: no-unit-test: tests/cli drives the program through its command line */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define SCRIPT_BYTES_MAX (16u << 20)
#define STATUS_TEXT_BYTES (16u << 10)

int msi_apply_setting(msi_common *common, const char *flag, const char *key, const char *value)
{
    ms_status st = {0};
    if (ms_session_set(common->session, ms_str_cstr(key), ms_str_cstr(value), &st) != MS_OK) {
        if (st.detail[0] == '\0') {
            ms_status_detail(&st, "option \"%s\" gives the setting its value", flag);
        }
        msi_print_status(common, NULL, 0, &st);
        return MSI_EXIT_USAGE;
    }
    return MSI_EXIT_OK;
}

int msi_apply_pair(msi_common *common, const msi_command *command, const char *flag,
                   const char *value)
{
    ms_str text = ms_str_cstr(value);
    size_t equals = ms_str_find_byte(text, '=', 0);
    if (equals == SIZE_MAX) {
        return msi_usage_error(command, "option \"%s\" needs NAME=VALUE, not \"%s\"", flag, value);
    }
    ms_str name = ms_str_slice(text, 0, equals);
    ms_str rest = ms_str_slice(text, equals + 1, text.bytes);
    ms_status st = {0};
    ms_rc rc = flag[2] == 's' ? ms_session_set(common->session, name, rest, &st)
                              : ms_session_define(common->session, name, rest, &st);
    if (rc != MS_OK) {
        msi_print_status(common, NULL, 0, &st);
        return MSI_EXIT_USAGE;
    }
    return MSI_EXIT_OK;
}

void msi_common_notice(void *arg, bool is_essential, const ms_status *notice)
{
    const msi_common *common = arg;
    if (is_essential || !common->quiet) {
        /* Only the thread that runs the script tells of places in it. */
        bool has_place = notice->span.end != 0;
        msi_print_status(common, has_place ? common->script : NULL,
                         has_place ? common->statement : 0, notice);
    }
}

void msi_print_status(const msi_common *common, const ms_script *script, uint32_t statement,
                      const ms_status *st)
{
    char text[STATUS_TEXT_BYTES];
    ms_status_render(st, script, statement, MS_ERROR_TEXT, text, sizeof text);
    fputs(text, stderr);
    if (common->json_errors && st->code != MS_OK) {
        ms_status_render(st, script, statement, MS_ERROR_JSON, text, sizeof text);
        fputs(text, stderr);
    }
}

bool msi_write_stdout(void *arg, ms_str bytes)
{
    msi_common *common = arg;
    size_t done = 0;
    while (done < bytes.bytes) {
        ssize_t wrote = write(STDOUT_FILENO, bytes.ptr + done, bytes.bytes - done);
        if (wrote >= 0) {
            done += (size_t)wrote;
        } else if (errno == EAGAIN) {
            /* Somebody who shares the descriptor has made it non-blocking. */
            struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};
            (void)poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            common->output_errno = errno;
            return false;
        }
    }
    return true;
}

ms_rc msi_output_status(int errno_value, ms_status *st)
{
    return errno_value == 0 || errno_value == EPIPE
               ? MS_OK
               : ms_status_set_errno(st, errno_value, "could not write to standard output");
}

static ms_rc read_all(int fd, const char *path, ms_buf *text, ms_status *st)
{
    for (;;) {
        MS_TRY(ms_buf_reserve(text, 64u << 10, st));
        ssize_t got = read(fd, text->ptr + text->bytes, 64u << 10);
        if (got == 0) {
            return MS_OK;
        }
        if (got < 0 && errno != EINTR) {
            return ms_status_set_errno(st, errno, "could not read script \"%s\"", path);
        }
        text->bytes += got > 0 ? (size_t)got : 0;
        if (text->bytes > SCRIPT_BYTES_MAX) {
            return ms_status_set(st, MS_STATEMENT_TOO_LARGE, ms_span_none,
                                 "script \"%s\" has more than %u bytes", path, SCRIPT_BYTES_MAX);
        }
    }
}

ms_rc msi_read_script(const char *path, ms_buf *text, ms_status *st)
{
    bool is_stdin = path[0] == '-' && path[1] == '\0';
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return ms_status_set_errno(st, errno, "could not open script \"%s\"", path);
    }
    ms_rc rc = read_all(fd, path, text, st);
    if (!is_stdin) {
        close(fd);
    }
    return rc;
}
