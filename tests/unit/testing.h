/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What unit tests of all folders share: cmocka with the headers that it needs, and a few checks of
 * our own. A test program includes this first.
 */
#ifndef MS_TESTS_UNIT_TESTING_H
#define MS_TESTS_UNIT_TESTING_H

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define assert_str_equal(text, literal)                                                            \
    do {                                                                                           \
        ms_str assert_str = (text);                                                                \
        assert_int_equal(assert_str.bytes, strlen(literal));                                       \
        assert_memory_equal(assert_str.bytes != 0 ? assert_str.ptr : "", (literal),                \
                            assert_str.bytes);                                                     \
    } while (0)

/* Fails with the message of the status, which says more than the code. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != MS_OK) {                                                                     \
            fail_msg("%s: %s (%s)", #call, st.message, st.detail);                                 \
        }                                                                                          \
    } while (0)

/* Runs fn(arg) in a child process, silenced. Returns how it ended, as waitpid says it, or -1. */
static inline int wait_status_of_child(void (*fn)(void *arg), void *arg)
{
    pid_t child = fork();
    if (child == 0) {
        int quiet = open("/dev/null", O_WRONLY);
        if (quiet >= 0) {
            dup2(quiet, STDERR_FILENO);
        }
        signal(SIGABRT, SIG_DFL);
        fn(arg);
        _exit(0);
    }
    int status = 0;
    return child < 0 || waitpid(child, &status, 0) != child ? -1 : status;
}

/* The signal that ended the child, or 0. */
static inline int run_in_child(void (*fn)(void *arg), void *arg)
{
    int status = wait_status_of_child(fn, arg);
    if (status == -1) {
        return -1;
    }
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A bug is caught: fn(arg) aborts. */
#define assert_aborts(fn, arg) assert_int_equal(run_in_child((fn), (arg)), SIGABRT)

/* Memory is exhausted: fn(arg) ends the process with exit status 1. */
#define assert_exhausts(fn, arg)                                                                   \
    do {                                                                                           \
        int assert_status = wait_status_of_child((fn), (arg));                                     \
        assert_true(WIFEXITED(assert_status));                                                     \
        assert_int_equal(WEXITSTATUS(assert_status), 1);                                           \
    } while (0)

#endif
