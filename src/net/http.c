/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl by dlopen: its header gives the types, the library is found at run time.
 */
/* tidy: no-unit-test: tests/unit/net/credentials_cloud_test.c runs it */
#include "net/http.h"

#include "os/thread.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>

#define LIBRARY "libcurl.so.4"
#define CONNECT_TIMEOUT_MS 5000L

typedef struct curl_library {
    void *handle;
    const char *missing; /* what could not be found; NULL: all is there */
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *curl, CURLoption option, ...);
    CURLcode (*easy_perform)(CURL *curl);
    CURLcode (*easy_getinfo)(CURL *curl, CURLINFO info, ...);
    void (*easy_cleanup)(CURL *curl);
    const char *(*easy_strerror)(CURLcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
} curl_library;

/* Opened once and kept: libcurl has threads and state of its own that no unload survives. */
static curl_library library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void find(const char *name, void *function_out)
{
    void *symbol = dlsym(library.handle, name);
    if (symbol == NULL) {
        library.missing = name;
        return;
    }
    /* ISO C has no cast from a data pointer to a function. */
    memcpy(function_out, &symbol, sizeof(symbol));
}

static void open_library(void)
{
    library.handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library.handle == NULL) {
        library.missing = LIBRARY;
        return;
    }
    CURLcode (*global_init)(long flags) = NULL;
    find("curl_global_init", &global_init);
    find("curl_easy_init", &library.easy_init);
    find("curl_easy_setopt", &library.easy_setopt);
    find("curl_easy_perform", &library.easy_perform);
    find("curl_easy_getinfo", &library.easy_getinfo);
    find("curl_easy_cleanup", &library.easy_cleanup);
    find("curl_easy_strerror", &library.easy_strerror);
    find("curl_slist_append", &library.slist_append);
    find("curl_slist_free_all", &library.slist_free_all);
    if (library.missing == NULL && global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        library.missing = "curl_global_init";
    }
}

static ms_rc check_library(ms_status *st)
{
    pthread_once(&library_once, open_library);
    if (library.missing == NULL) {
        return MS_OK;
    }
    ms_status_set(st, MS_IO_ERROR, ms_span_none, "could not load libcurl: %s is missing",
                  library.missing);
    return ms_status_hint(st, "Install the package libcurl4.");
}

typedef struct answer_sink {
    ms_buf *answer;
    size_t left;
} answer_sink;

static size_t take_answer(char *bytes, size_t size, size_t count, void *arg)
{
    answer_sink *sink = arg;
    ms_status st = {0};
    size_t total = size * count;
    if (total > sink->left || ms_buf_append(sink->answer, (ms_str){bytes, total}, &st) != MS_OK) {
        return 0;
    }
    sink->left -= total;
    return total;
}

/* The part of a URL that messages may show: host and port, without user, path and question. */
static ms_str host_of(const char *url)
{
    const char *scheme_end = strstr(url, "://");
    const char *host = scheme_end == NULL ? url : scheme_end + 3;
    const char *end = host + strcspn(host, "/?#\\");
    for (const char *at = host; at < end; at++) {
        host = *at == '@' ? at + 1 : host;
    }
    return (ms_str){host, (size_t)(end - host)};
}

static bool is_plaintext(const char *url)
{
    return strncmp(url, "https:", 6) != 0;
}

static void set_options(CURL *curl, const ms_http_request *request, struct curl_slist *headers,
                        answer_sink *sink)
{
    (void)library.easy_setopt(curl, CURLOPT_URL, request->url);
    (void)library.easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    (void)library.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    if (is_plaintext(request->url)) {
        /* For this machine or the one that hosts it: no proxy in between is to see it. */
        (void)library.easy_setopt(curl, CURLOPT_NOPROXY, "*");
    }
    (void)library.easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    (void)library.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)library.easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
    (void)library.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
    (void)library.easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
    (void)library.easy_setopt(curl, CURLOPT_WRITEDATA, sink);
    if (request->body.ptr != NULL) {
        (void)library.easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)request->body.bytes);
        (void)library.easy_setopt(curl, CURLOPT_POSTFIELDS, request->body.ptr);
    }
}

ms_rc ms_http_call(const ms_http_request *request, long *status_out, ms_buf *answer, ms_status *st)
{
    *status_out = 0;
    MS_TRY(check_library(st));
    CURL *curl = library.easy_init();
    struct curl_slist *headers = NULL;
    for (size_t i = 0; i < request->header_count; i++) {
        headers = library.slist_append(headers, request->headers[i]);
    }
    answer_sink sink = {answer, MS_HTTP_ANSWER_BYTES_MAX};
    CURLcode code = curl == NULL ? CURLE_OUT_OF_MEMORY : CURLE_OK;
    if (code == CURLE_OK) {
        set_options(curl, request, headers, &sink);
        code = library.easy_perform(curl);
    }
    if (code == CURLE_OK) {
        code = library.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status_out);
    }
    library.slist_free_all(headers);
    library.easy_cleanup(curl);
    if (code == CURLE_OK) {
        return MS_OK;
    }
    ms_status_set(st, MS_IO_ERROR, ms_span_none, "%s://%.*s did not answer",
                  is_plaintext(request->url) ? "http" : "https", MS_STR_ARG(host_of(request->url)));
    st->retriable = true;
    return ms_status_detail(st, "%s", library.easy_strerror(code));
}
