/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a unary gRPC call costs, client and server together, without anything behind it.
 *
 *     bench_grpc [calls] [repetitions]
 *
 * One process, one loop for the client and one for the server, one connection, plaintext over
 * 127.0.0.1. Each call has a path, three metadata headers as a Bigtable client sends them, a
 * deadline, a request of 100 bytes and an answer of 50 bytes. Cost is the CPU time of the process,
 * user and system, both loops and the kernel's part of them included, per call.
 *
 * The bound, 8 us, is for 100 calls in flight. With 1 in flight a call is four wake-ups of a
 * thread, which is the machine's matter more than ours: printed, not judged. The stream line is
 * messages of 64 KiB from server to client.
 */
#include "base/env.h"
#include "base/memory.h"
#include "base/num.h"
#include "bench.h"
#include "net/grpc_client.h"
#include "net/grpc_server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BOUND_US 8.0
#define REPETITIONS_MAX 15
#define REQUEST_BYTES 100
#define ANSWER_BYTES 50
#define STREAM_MESSAGE_BYTES (64u << 10)
#define STREAM_MESSAGES 16384u

typedef struct bench {
    ms_loop *client_loop;
    ms_loop *server_loop;
    ms_grpc_server *server;
    ms_grpc_channel *channel;
    ms_parker parker;
    uint64_t to_start;
    uint64_t to_finish;
    uint64_t received_bytes;
    int in_flight;
} bench;

static char request_bytes[REQUEST_BYTES];
static char answer_bytes[ANSWER_BYTES];
static char stream_bytes[STREAM_MESSAGE_BYTES];

static const ms_grpc_pair metadata[] = {
    {{"x-goog-request-params", 21},
     {"table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Forders&app_profile_id=default", 80}},
    {{"x-goog-api-client", 17}, {"gl-c/17 millstream/0.1 grpc/nghttp2", 35}},
    {{"bigtable-features", 17}, {"AAAAAAAAAA==", 12}},
};

/* Server. */

static void stream_more(ms_grpc_server_call *call)
{
    uint64_t left = (uint64_t)(uintptr_t)ms_grpc_server_call_user(call);
    ms_grpc_message message = {.bytes = {stream_bytes, sizeof(stream_bytes)}};
    bool has_room = true;
    while (left > 0 && has_room) {
        has_room = ms_grpc_server_call_send(call, message);
        left--;
    }
    ms_grpc_server_call_set_user(call, (void *)(uintptr_t)left);
    if (left == 0) {
        ms_grpc_server_call_finish(call, &(ms_grpc_result){.code = MS_GRPC_OK});
    }
}

static void on_start(ms_grpc_server_call *call, const ms_grpc_server_start *start, void *arg)
{
    (void)arg;
    bool is_stream = ms_str_equals(start->path, ms_str_lit("/bench.Bench/Stream"));
    ms_grpc_server_call_set_user(call, (void *)(uintptr_t)(is_stream ? STREAM_MESSAGES : 0));
}

static void on_half_close(ms_grpc_server_call *call)
{
    if (ms_grpc_server_call_user(call) != NULL) {
        stream_more(call);
        return;
    }
    ms_grpc_server_call_send(call,
                             (ms_grpc_message){.bytes = {answer_bytes, sizeof(answer_bytes)}});
    ms_grpc_server_call_finish(call, &(ms_grpc_result){.code = MS_GRPC_OK});
}

static void on_cancel(ms_grpc_server_call *call)
{
    ms_grpc_server_call_finish(call, &(ms_grpc_result){.code = MS_GRPC_CANCELLED});
}

static const ms_grpc_server_events server_events = {.on_start = on_start,
                                                    .on_half_close = on_half_close,
                                                    .on_writable = stream_more,
                                                    .on_cancel = on_cancel};

/* Client. */

static void start_one(bench *all);

static void on_message(ms_grpc_call *call, ms_str message, void *arg)
{
    (void)call;
    bench *all = arg;
    all->received_bytes += message.bytes;
}

static void on_done(ms_grpc_call *call, const ms_grpc_result *result, void *arg)
{
    (void)call;
    bench *all = arg;
    if (result->code != MS_GRPC_OK) {
        char text[256];
        snprintf(text, sizeof(text), "%.*s", MS_STR_ARG(result->message));
        bench_fail("a call failed", text);
    }
    all->to_finish--;
    if (all->to_finish == 0) {
        ms_parker_unpark(&all->parker);
    } else if (all->to_start > 0) {
        start_one(all);
    }
}

static const ms_grpc_call_events client_events = {.on_message = on_message, .on_done = on_done};

static void start_call(bench *all, const char *path)
{
    ms_grpc_message request = {.bytes = {request_bytes, sizeof(request_bytes)}};
    ms_grpc_call_options options = {.path = ms_str_cstr(path),
                                    .metadata = {metadata, 3},
                                    .deadline_ns =
                                        ms_loop_now_ns(all->client_loop) + INT64_C(60000000000),
                                    .request = &request,
                                    .events = &client_events,
                                    .arg = all};
    (void)ms_grpc_call_start(all->channel, &options);
}

static void start_one(bench *all)
{
    all->to_start--;
    start_call(all, "/google.bigtable.v2.Bigtable/ReadModifyWriteRow");
}

static void start_all(void *arg)
{
    bench *all = arg;
    for (int i = 0; i < all->in_flight && all->to_start > 0; i++) {
        start_one(all);
    }
}

static void start_stream(void *arg)
{
    start_call(arg, "/bench.Bench/Stream");
}

static void wait_for_end(bench *all)
{
    while (!ms_parker_park(&all->parker, MS_PARK_FOREVER)) {
    }
}

/* Microseconds of CPU per call. */
static double run_unary(bench *all, uint64_t calls, int in_flight, double *per_second_out)
{
    all->to_start = calls;
    all->to_finish = calls;
    all->in_flight = in_flight;
    double cpu_s = bench_cpu_s();
    int64_t wall_ns = ms_env_mono_ns();
    uint64_t allocations = ms_mem_allocation_count();
    ms_loop_call(all->client_loop, start_all, all);
    wait_for_end(all);
    cpu_s = bench_cpu_s() - cpu_s;
    wall_ns = ms_env_mono_ns() - wall_ns;
    allocations = ms_mem_allocation_count() - allocations;
    *per_second_out = (double)calls / ((double)wall_ns / 1e9);
    printf("unary, %d in flight: %.3g us/call, %.0f calls/s, %.3f allocations of ours a call\n",
           in_flight, cpu_s / (double)calls * 1e6, *per_second_out,
           (double)allocations / (double)calls);
    return cpu_s / (double)calls * 1e6;
}

static void run_stream(bench *all)
{
    all->to_finish = 1;
    all->received_bytes = 0;
    double cpu_s = bench_cpu_s();
    int64_t wall_ns = ms_env_mono_ns();
    ms_loop_call(all->client_loop, start_stream, all);
    wait_for_end(all);
    cpu_s = bench_cpu_s() - cpu_s;
    wall_ns = ms_env_mono_ns() - wall_ns;
    if (all->received_bytes != (uint64_t)STREAM_MESSAGES * STREAM_MESSAGE_BYTES) {
        bench_fail("bytes of the stream were lost", "");
    }
    printf("stream of 64 KiB messages: %.0f MB/s, %.3g us/message\n",
           (double)all->received_bytes / ((double)wall_ns / 1e9) / 1e6,
           cpu_s / STREAM_MESSAGES * 1e6);
}

static void close_channel(void *arg)
{
    bench *all = arg;
    ms_grpc_channel_destroy(all->channel);
}

static void open_all(bench *all)
{
    ms_status st = {0};
    char target[32];
    bench_must(ms_loop_create("client", &all->client_loop, &st), &st);
    bench_must(ms_loop_create("server", &all->server_loop, &st), &st);
    ms_grpc_server_options server = {.loops = &all->server_loop,
                                     .loop_count = 1,
                                     .listen = ms_str_lit("127.0.0.1:0"),
                                     .events = &server_events};
    bench_must(ms_grpc_server_create(&server, &all->server, &st), &st);
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)ms_grpc_server_port(all->server));
    ms_grpc_channel_options channel = {
        .target = ms_str_cstr(target), .connections_max = 1, .calls_per_connection = 200};
    bench_must(ms_grpc_channel_create(all->client_loop, &channel, &all->channel, &st), &st);
    ms_parker_init(&all->parker);
}

int main(int argc, char **argv)
{
    uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 300000;
    int repetitions = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5;
    bench all = {0};
    double costs[REPETITIONS_MAX];
    double per_second = 0;
    if (calls < 100 || repetitions < 1 || repetitions > REPETITIONS_MAX) {
        bench_fail("usage: bench_grpc [calls from 100] [repetitions from 1 to 15]", "");
    }
    bench_print_machine("bench_grpc");
    open_all(&all);
    (void)run_unary(&all, calls / 10, 100, &per_second); /* warms up */
    for (int i = 0; i < repetitions; i++) {
        costs[i] = run_unary(&all, calls, 100, &per_second);
    }
    (void)run_unary(&all, calls / 10, 1, &per_second);
    run_stream(&all);
    double middle = bench_median(costs, repetitions);
    printf("unary, 100 in flight, middle: %.3g us/call; bound %.3g us; ratio %.2f\n", middle,
           BOUND_US, middle / BOUND_US);
    bench_report(&(bench_result){
        .name = "unary gRPC call", .unit = "us/call", .ours = middle, .bound = BOUND_US});
    ms_loop_call(all.client_loop, close_channel, &all);
    ms_grpc_server_destroy(all.server, INT64_C(1000000000));
    ms_loop_destroy(all.client_loop);
    ms_loop_destroy(all.server_loop);
    return 0;
}
