/* SPDX-License-Identifier: Apache-2.0 */
/* The test proxy as a program: listens until SIGINT or SIGTERM. See proxy/README.md. */
/* tidy: no-unit-test: proxy_test.c drives what it starts */
#include "proxy.h"

#include <signal.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc > 2) {
        fprintf(stderr, "usage: %s [HOST:PORT]    without it: 127.0.0.1:9999\n", argv[0]);
        return 2;
    }
    /* Blocked before any thread is there, so that sigwait is who gets them. */
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    ms_status st = {0};
    proxy *it = NULL;
    if (proxy_create(ms_str_cstr(argc > 1 ? argv[1] : "127.0.0.1:9999"), &it, &st) != MS_OK) {
        fprintf(stderr, "proxy: %s\n%s\n", st.message, st.detail);
        return 1;
    }
    printf("proxy: listening at port %u\n", (unsigned)proxy_port(it));
    fflush(stdout);
    int number = 0;
    (void)sigwait(&ends, &number);
    proxy_destroy(it);
    return 0;
}
