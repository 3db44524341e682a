/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "net/address_priv.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static void addresses_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *host;
        uint16_t port;
        bool is_unix;
    } good[] = {
        {"localhost:80", "localhost", 80, false},
        {"bigtable.googleapis.com:443", "bigtable.googleapis.com", 443, false},
        {"127.0.0.1:0", "127.0.0.1", 0, false},
        {"[::1]:65535", "::1", 65535, false},
        {"[fe80::1%eth0]:1", "fe80::1%eth0", 1, false},
        {"unix:/tmp/x y", "/tmp/x y", 0, true},
        {"unix:relative", "relative", 0, true},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        msi_address address;
        ms_status st = {0};
        assert_ok(msi_address_parse(ms_str_cstr(good[i].text), &address, &st));
        assert_string_equal(address.host, good[i].host);
        assert_int_equal(address.port, good[i].port);
        assert_int_equal(address.is_unix, good[i].is_unix);
    }
}

static void what_is_no_address_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",        ":",        "host",          "host:",     ":80",   "host:65536",
        "host:-1", "host:8 0", "host:00000080", "::1:80",    "[::1]", "[::1]:",
        "[::1:80", "[]:80",    "ho st:80",      "host/x:80", "unix:", "http://host:80"};
    msi_address address;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ms_status st = {0};
        assert_int_equal(msi_address_parse(ms_str_cstr(bad[i]), &address, &st), MS_INVALID_OPTION);
        assert_true(st.hint[0] != '\0');
    }
    char text[600];
    memset(text, 'h', sizeof(text));
    memcpy(text + 300, ":80", 3);
    ms_status st = {0};
    assert_int_equal(msi_address_parse((ms_str){text, 303}, &address, &st), MS_INVALID_OPTION);
    memcpy(text, "unix:", 5);
    ms_status_clear(&st);
    assert_int_equal(msi_address_parse((ms_str){text, 200}, &address, &st), MS_INVALID_OPTION);
}

static void numeric_addresses_need_no_resolving(void **state)
{
    (void)state;
    static const char *const texts[] = {"127.0.0.1:8086", "[::1]:8086"};
    for (size_t i = 0; i < 2; i++) {
        msi_address address;
        struct sockaddr_storage at;
        socklen_t bytes = 0;
        char text[MSI_ADDRESS_TEXT_BYTES];
        ms_status st = {0};
        assert_ok(msi_address_parse(ms_str_cstr(texts[i]), &address, &st));
        assert_true(msi_address_to_socket(&address, &at, &bytes));
        assert_true(msi_address_socket_is_local((struct sockaddr *)&at));
        msi_address_format((struct sockaddr *)&at, text);
        assert_string_equal(text, texts[i]);
    }
    msi_address name;
    struct sockaddr_storage at;
    socklen_t bytes = 0;
    ms_status st = {0};
    assert_ok(msi_address_parse(ms_str_lit("example.com:80"), &name, &st));
    assert_false(msi_address_to_socket(&name, &at, &bytes));
    assert_false(msi_address_is_local(&name));
}

static uint64_t network_of(const char *text)
{
    msi_address address;
    struct sockaddr_storage at;
    socklen_t bytes = 0;
    ms_status st = {0};
    assert_ok(msi_address_parse(ms_str_cstr(text), &address, &st));
    assert_true(msi_address_to_socket(&address, &at, &bytes));
    return msi_address_network((struct sockaddr *)&at);
}

static void a_machine_is_known_by_its_network(void **state)
{
    (void)state;
    assert_int_equal(network_of("192.0.2.1:80"), network_of("192.0.2.1:81"));
    assert_int_equal(network_of("192.0.2.1:80"), network_of("[::ffff:192.0.2.1]:80"));
    assert_int_not_equal(network_of("192.0.2.1:80"), network_of("192.0.2.2:80"));
    assert_int_equal(network_of("[2001:db8:0:1::1]:80"), network_of("[2001:db8:0:1:f::2]:80"));
    assert_int_not_equal(network_of("[2001:db8:0:1::1]:80"), network_of("[2001:db8:0:2::1]:80"));
    assert_int_not_equal(network_of("[::1]:80"), 0);
    assert_int_equal(network_of("unix:/tmp/x"), 0);
}

static void a_name_can_be_listened_on(void **state)
{
    (void)state;
    msi_address address;
    ms_status st = {0};
    int fd = -1;
    uint16_t port = 0;
    assert_ok(msi_address_parse(ms_str_lit("localhost:0"), &address, &st));
    assert_ok(msi_address_listen(&address, &fd, &port, &st));
    assert_true(port > 0);
    close(fd);
    assert_ok(msi_address_parse(ms_str_lit("no-such-name.invalid:0"), &address, &st));
    assert_int_equal(msi_address_listen(&address, &fd, &port, &st), MS_IO_ERROR);
    assert_int_equal(fd, -1);
    ms_status_clear(&st);
    assert_ok(msi_address_parse(ms_str_lit("unix:/nonexistent/x"), &address, &st));
    assert_int_not_equal(msi_address_listen(&address, &fd, &port, &st), MS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_parsed),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(numeric_addresses_need_no_resolving),
        cmocka_unit_test(a_machine_is_known_by_its_network),
        cmocka_unit_test(a_name_can_be_listened_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
