/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT, SIGTERM and SIGHUP (the terminal was closed): the first stops, the second or a bound on
 * stopping cancels. One thread waits for them, so that nothing here runs in a signal handler.
 */
/* tidy: no-unit-test: tests/cli sends the signals to the program */
#include "cli/cli.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define STOP_BOUND_SECONDS 30  /* the contract of the command line */
#define CANCEL_BOUND_SECONDS 2 /* canceled jobs end in milliseconds */

static _Atomic int first_signal;
static _Atomic bool canceled;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards target */
static ms_engine *target;                                 /* NULL: it is being closed */

/* SIGHUP is left out where it is ignored, as nohup has it, because whoever waits for a signal gets
 * it all the same. SIGINT is not: shells have their background jobs ignore it. */
static sigset_t handled_signals(void)
{
    sigset_t set;
    struct sigaction hangup = {0};
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
        sigaddset(&set, SIGHUP);
    }
    return set;
}

static void ask(void (*request)(ms_engine *engine))
{
    pthread_mutex_lock(&mutex);
    if (target != NULL) {
        request(target);
    }
    pthread_mutex_unlock(&mutex);
}

static void *wait_for_signals(void *arg)
{
    (void)arg;
    sigset_t set = handled_signals();
    int signal_number = 0;
    if (sigwait(&set, &signal_number) != 0) {
        return NULL;
    }
    atomic_store(&first_signal, signal_number);
    ask(ms_engine_stop);
    struct timespec bound = {.tv_sec = STOP_BOUND_SECONDS};
    (void)sigtimedwait(&set, NULL, &bound); /* a second signal and the bound mean the same */
    atomic_store(&canceled, true);
    ask(ms_engine_cancel);
    bound.tv_sec = CANCEL_BOUND_SECONDS;
    (void)sigtimedwait(&set, NULL, &bound); /* a third signal waits no longer */
    _exit(128 + signal_number);
}

void msi_signals_start(ms_engine *engine)
{
    sigset_t set = handled_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    target = engine;
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_signals, NULL) == 0) {
        pthread_detach(thread);
    }
}

void msi_signals_block(void)
{
    sigset_t set = handled_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* The second signal waits for nothing. */
static void *wait_for_second(void *arg)
{
    (void)arg;
    sigset_t set = handled_signals();
    int signal_number = 0;
    if (sigwait(&set, &signal_number) == 0) {
        _exit(128 + signal_number);
    }
    return NULL;
}

int msi_signals_wait(int64_t period_ns, void (*meanwhile)(void *arg), void *arg)
{
    sigset_t set = handled_signals();
    const struct timespec period = {.tv_sec = period_ns / 1000000000,
                                    .tv_nsec = period_ns % 1000000000};
    int signal_number = -1;
    while (signal_number < 0) {
        signal_number = sigtimedwait(&set, NULL, &period);
        if (signal_number < 0 && errno == EAGAIN) {
            meanwhile(arg);
        }
    }
    atomic_store(&first_signal, signal_number);
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_second, NULL) == 0) {
        pthread_detach(thread);
    }
    return signal_number;
}

void msi_signals_end(void)
{
    pthread_mutex_lock(&mutex);
    target = NULL;
    pthread_mutex_unlock(&mutex);
}

int msi_signals_received(void)
{
    return atomic_load(&first_signal);
}

bool msi_signals_canceled(void)
{
    return atomic_load(&canceled);
}
