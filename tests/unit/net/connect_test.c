/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "net/connect_priv.h"
#include "net/raw.h"

#include <stdatomic.h>

#define S_NS INT64_C(1000000000)

typedef struct
try {
    ms_loop *loop;
    msi_connect_options options;
    msi_address address;
    msi_connector *connector;
    bool cancel_at_once;
    ms_parker parker;
    _Atomic int done;
    int fd;
    ms_status st;
}
try;

static void note_done(void *arg, int fd, const ms_status *st)
{
    try *own = arg;
    own->connector = NULL;
    own->fd = fd;
    own->st = *st;
    own->done++;
    ms_parker_unpark(&own->parker);
}

static void start_now(void *arg)
{
    try *own = arg;
    own->connector = msi_connect(own->loop, &own->options);
    assert_int_equal(own->done, 0);
    if (own->cancel_at_once) {
        msi_connect_cancel(own->connector);
        own->connector = NULL;
    }
}

static void cancel_now(void *arg)
{
    try *own = arg;
    if (own->connector != NULL) {
        msi_connect_cancel(own->connector);
        own->connector = NULL;
    }
}

static void open_try(try *own, const char *target)
{
    ms_status st = {0};
    *own = (try){.fd = -1};
    ms_parker_init(&own->parker);
    assert_ok(ms_loop_create("loop", &own->loop, &st));
    assert_ok(msi_address_parse(ms_str_cstr(target), &own->address, &st));
    own->options = (msi_connect_options){
        .address = &own->address, .timeout_ns = 20 * S_NS, .done = note_done, .arg = own};
}

static void run_try(try *own)
{
    ms_loop_call(own->loop, start_now, own);
    while (own->done == 0) {
        (void)ms_parker_park(&own->parker, MS_PARK_FOREVER);
    }
}

static void a_socket_is_connected(void **state)
{
    (void)state;
    static const char *const hosts[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; i < 2; i++) {
        uint16_t port = 0;
        int listen_fd = raw_listen(&port);
        char target[32];
        try own;
        snprintf(target, sizeof(target), "%s:%u", hosts[i], (unsigned)port);
        open_try(&own, target);
        own.options.only_local = true;
        run_try(&own);
        assert_true(own.fd >= 0);
        int peer = accept(listen_fd, NULL, NULL);
        assert_int_equal(send(own.fd, "x", 1, 0), 1);
        char byte = 0;
        assert_int_equal(recv(peer, &byte, 1, 0), 1);
        close(peer);
        close(own.fd);
        close(listen_fd);
        ms_loop_destroy(own.loop);
    }
}

static void a_refusal_says_whose(void **state)
{
    (void)state;
    uint16_t port = 0;
    char target[32];
    try own;
    close(raw_listen(&port));
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
    open_try(&own, target);
    run_try(&own);
    assert_int_equal(own.fd, -1);
    assert_int_equal(own.st.code, MS_IO_ERROR);
    assert_non_null(strstr(own.st.message, target));
    assert_string_equal(own.st.detail, "Connection refused");
    ms_loop_destroy(own.loop);
}

static void a_name_that_is_none_is_told(void **state)
{
    (void)state;
    try own;
    open_try(&own, "no-such-name.invalid:80");
    run_try(&own);
    assert_int_equal(own.fd, -1);
    assert_non_null(strstr(own.st.message, "no-such-name.invalid:80"));
    assert_true(own.st.detail[0] != '\0');
    ms_loop_destroy(own.loop);
}

static void other_machines_are_not_tried_where_that_is_not_wanted(void **state)
{
    (void)state;
    try own;
    open_try(&own, "192.0.2.1:80");
    own.options.only_local = true;
    run_try(&own);
    assert_int_equal(own.fd, -1);
    assert_string_equal(own.st.detail, "the address is not of this machine");
    ms_loop_destroy(own.loop);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

/* A listener whose queue is full does not answer. */
static void an_attempt_without_an_answer_times_out(void **state)
{
    (void)state;
    uint16_t port = 0;
    int listen_fd = raw_listen(&port);
    int fillers[8];
    char target[32];
    ms_env_clock clock = {.mono_ns = 100 * S_NS};
    ms_env_set_clock(&clock);
    assert_int_equal(listen(listen_fd, 0), 0);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    for (int i = 0; i < 8; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(fillers[i], (struct sockaddr *)&at, sizeof(at));
    }
    try own;
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
    open_try(&own, target);
    ms_loop_call(own.loop, start_now, &own);
    ms_loop_call(own.loop, do_nothing, NULL);
    ms_env_clock_advance_us(&clock, 19999999);
    ms_loop_call(own.loop, do_nothing, NULL);
    assert_int_equal(own.done, 0);
    ms_env_clock_advance_us(&clock, 1);
    ms_loop_call(own.loop, do_nothing, NULL);
    assert_int_equal(own.done, 1);
    assert_int_equal(own.fd, -1);
    assert_string_equal(own.st.detail, "no answer in time");
    for (int i = 0; i < 8; i++) {
        close(fillers[i]);
    }
    close(listen_fd);
    ms_loop_destroy(own.loop);
    ms_env_set_clock(NULL);
}

static void a_connector_may_be_canceled_at_any_time(void **state)
{
    (void)state;
    static const char *const targets[] = {"127.0.0.1", "localhost", "no-such-name.invalid"};
    uint16_t port = 0;
    int listen_fd = raw_listen(&port);
    for (size_t i = 0; i < 3; i++) {
        for (int turns = -1; turns < 3; turns++) {
            char target[64];
            try own;
            snprintf(target, sizeof(target), "%s:%u", targets[i], (unsigned)port);
            open_try(&own, target);
            own.cancel_at_once = turns < 0;
            ms_loop_call(own.loop, start_now, &own);
            for (int j = 0; j < turns; j++) {
                ms_loop_call(own.loop, do_nothing, NULL);
            }
            ms_loop_call(own.loop, cancel_now, &own);
            ms_loop_destroy(own.loop);
            assert_true(own.done <= 1);
            if (own.fd >= 0) {
                close(own.fd);
            }
        }
    }
    close(listen_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socket_is_connected),
        cmocka_unit_test(a_refusal_says_whose),
        cmocka_unit_test(a_name_that_is_none_is_told),
        cmocka_unit_test(other_machines_are_not_tried_where_that_is_not_wanted),
        cmocka_unit_test(an_attempt_without_an_answer_times_out),
        cmocka_unit_test(a_connector_may_be_canceled_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
