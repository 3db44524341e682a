/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT and SIGTERM: the first stops, the second or a bound on stopping cancels. One thread waits
 * for them, so that nothing here runs in a signal handler. SIGPIPE is ignored: a writer sees EPIPE.
 */
/* tidy: no-unit-test: tests/cli sends the signals to the program */
#include "cli/cli.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define STOP_BOUND_SECONDS 30 /* the contract of the command line */

static _Atomic int first_signal;
static _Atomic bool canceled;

static sigset_t handled_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

static void *wait_for_signals(void *arg)
{
    ms_engine *engine = arg;
    sigset_t set = handled_signals();
    int signal_number = 0;
    if (sigwait(&set, &signal_number) != 0) {
        return NULL;
    }
    atomic_store(&first_signal, signal_number);
    ms_engine_stop(engine);
    struct timespec bound = {.tv_sec = STOP_BOUND_SECONDS};
    (void)sigtimedwait(&set, NULL, &bound); /* a second signal and the bound mean the same */
    atomic_store(&canceled, true);
    ms_engine_cancel(engine);
    return NULL;
}

void msi_signals_start(ms_engine *engine)
{
    sigset_t set = handled_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_signals, engine) == 0) {
        pthread_detach(thread);
    }
}

int msi_signals_received(void)
{
    return atomic_load(&first_signal);
}

bool msi_signals_canceled(void)
{
    return atomic_load(&canceled);
}
