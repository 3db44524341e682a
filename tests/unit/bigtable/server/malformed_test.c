/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no client would send: bytes that are no message, names that are none, calls that are no
 * gRPC, frames that are no HTTP/2. Each has an end that is known, and the server answers as before
 * after it. A row is one of bytes (over a good call), of headers and data (over a good connection),
 * or of frames.
 */
#include "bigtable/server/server_testing.h"
#include "net/raw.h"

#define RUN(list) check_all(*state, list, sizeof(list) / sizeof((list)[0]))

/* Bytes. */

/* A list in a list, seventy messages deep: of values, resp. of rules. */
#define LIST(inner) "4{1{" inner "}}"
#define LIST7(inner) LIST(LIST(LIST(LIST(LIST(LIST(LIST(inner)))))))
#define DEEP LIST7(LIST7(LIST7(LIST7(LIST7("")))))

#define NO_NAME(name)                                                                              \
    "Error in field 'table_name' : Should be of the form "                                         \
    "projects/<project>/instances/<instance>/tables/<table>, but found '" name "'"
#define BAD_MESSAGE(name, why) "message google.bigtable.v2." name " is malformed: " why
#define CUT "a field is cut short or has a wrong tag"
#define WRONG_TYPE "a field has the wrong type"
#define NO_TEXT "a text is not UTF-8, or holds a NUL"
#define TOO_DEEP "it is nested too deep"
#define TWICE "a field occurs twice"
#define NO_INSTANCE_NAME(name)                                                                     \
    "Invalid name '" name "': expected projects/<project>/instances/<instance>"
static const bad_request messages[] = {
    {"nothing at all", DATA "MutateRow", "", MS_GRPC_INVALID_ARGUMENT, NO_NAME(""), 0},
    {"nothing to read", DATA "ReadRows", "", MS_GRPC_INVALID_ARGUMENT, NO_NAME(""), 0},
    {"nothing to write", DATA "MutateRows", "", MS_GRPC_INVALID_ARGUMENT, NO_NAME(""), 0},
    {"nothing to check", DATA "CheckAndMutateRow", "", MS_GRPC_INVALID_ARGUMENT, NO_NAME(""), 0},
    {"nothing to modify", DATA "ReadModifyWriteRow", "", MS_GRPC_INVALID_ARGUMENT, NO_NAME(""), 0},
    {"nothing to sample", DATA "SampleRowKeys", "", MS_GRPC_INVALID_ARGUMENT, NO_NAME(""), 0},
    {"nothing to warm", DATA "PingAndWarm", "", MS_GRPC_INVALID_ARGUMENT, NO_INSTANCE_NAME(""), 0},
    {"no table of changes", DATA "ReadChangeStream", "", MS_GRPC_INVALID_ARGUMENT, NO_NAME(""), 0},
    {"nothing to create", ADMIN "CreateTable", "", MS_GRPC_INVALID_ARGUMENT, NO_INSTANCE_NAME(""),
     0},
    {"nothing to update", ADMIN "UpdateTable", "", MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'table' : not set", 0},
    {"nothing to delete", ADMIN "DeleteTable", "", MS_GRPC_INVALID_ARGUMENT, NO_NAME(""), 0},
    {"tag that is cut", DATA "ReadRows", T "!80!", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", CUT), 0},
    {"varint that is cut", DATA "ReadRows", T "!20ff!", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", CUT), 0},
    {"varint of eleven bytes", DATA "ReadRows", T "!20ffffffffffffffffffff01!",
     MS_GRPC_INVALID_ARGUMENT, BAD_MESSAGE("ReadRowsRequest", CUT), 0},
    {"length that is cut", DATA "ReadRows", T "!12!", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", CUT), 0},
    {"length beyond the end", DATA "ReadRows", T "!120461!", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", CUT), 0},
    {"length of two gigabytes", DATA "ReadRows", T "!12ffffffff07!", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", CUT), 0},
    {"length that overflows", DATA "ReadRows", T "!12ffffffffffffffffff01!",
     MS_GRPC_INVALID_ARGUMENT, BAD_MESSAGE("ReadRowsRequest", CUT), 0},
    {"double that is cut", DATA "ReadRows", T "3{!7101020304!}", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", CUT), 0},
    {"field zero", DATA "ReadRows", T "!0000!", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", CUT), 0},
    {"field beyond the last", DATA "ReadRows", T "!f8ffffffff0f00!", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", CUT), 0},
    {"group", DATA "ReadRows", T "!0b0c!", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", WRONG_TYPE), 0},
    {"end of a group", DATA "ReadRows", T "!0c!", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", WRONG_TYPE), 0},
    {"wire type 6", DATA "ReadRows", T "!0e00!", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", WRONG_TYPE), 0},
    {"wire type 7", DATA "ReadRows", T "!0f00!", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", WRONG_TYPE), 0},
    {"number for a name", DATA "ReadRows", "1#5", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", WRONG_TYPE), 0},
    {"number for a message", DATA "ReadRows", T "2#5", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", WRONG_TYPE), 0},
    {"text for a number", DATA "ReadRows", T "4'five'", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", WRONG_TYPE), 0},
    {"message that is cut inside", DATA "ReadRows", T "2{!0a05!1'k'}", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", CUT), 0},
    {"entry that is cut inside", DATA "MutateRows", T "2{1'bad' 2{1{1'cf' !2205!}}}",
     MS_GRPC_INVALID_ARGUMENT, BAD_MESSAGE("MutateRowsRequest", CUT), 0},
    {"mutation that is cut inside", DATA "MutateRow", T "2'bad' 3{1{1'cf' !22!}}",
     MS_GRPC_INVALID_ARGUMENT, BAD_MESSAGE("MutateRowRequest", CUT), 0},
    {"name that is not UTF-8", DATA "ReadRows", "1'" TABLE "\\xff'", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", NO_TEXT), 0},
    {"name with a NUL", DATA "ReadRows", "1'" TABLE "\\x00x'", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", NO_TEXT), 0},
    {"overlong UTF-8", DATA "ReadRows", "1'" TABLE "\\xc0\\x80'", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", NO_TEXT), 0},
    {"half of a pair", DATA "ReadRows", "1'" TABLE "\\xed\\xa0\\x80'", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", NO_TEXT), 0},
    {"family that is not UTF-8", DATA "MutateRow", T "2'bad' 3{1{1'\\xff'}}",
     MS_GRPC_INVALID_ARGUMENT, BAD_MESSAGE("MutateRowRequest", NO_TEXT), 0},
    {"family of an entry that is not UTF-8", DATA "MutateRows", T "2{1'bad' 2{1{1'\\xff'}}}",
     MS_GRPC_INVALID_ARGUMENT, BAD_MESSAGE("MutateRowsRequest", NO_TEXT), 0},
    {"profile that is not UTF-8", DATA "MutateRow", T "2'bad' 3{" SET_OK "} 4'\\xff'",
     MS_GRPC_INVALID_ARGUMENT, BAD_MESSAGE("MutateRowRequest", NO_TEXT), 0},
    {"filters in filters", DATA "ReadRows", T "3{(1{})>1000}", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", TOO_DEEP), 0},
    {"filters in a hundred thousand filters", DATA "ReadRows", T "3{(1{})>20000}",
     MS_GRPC_INVALID_ARGUMENT, BAD_MESSAGE("ReadRowsRequest", TOO_DEEP), 0},
    {"values in values", DATA "MutateRow", T "2'bad' 3{5{1'sum' 2{" DEEP "}}}",
     MS_GRPC_INVALID_ARGUMENT, BAD_MESSAGE("Value", TOO_DEEP), 0},
    {"rules in rules", ADMIN "CreateTable", "1'" INSTANCE "' 2'new' 3{3{1'f' 2{1{" DEEP "}}}}",
     MS_GRPC_INVALID_ARGUMENT,
     "message google.bigtable.admin.v2.CreateTableRequest is malformed: it is nested too deep", 0},
    {"a filter twice", DATA "ReadRows", T "(3{17#1})*2", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", TWICE), 0},
    {"a row set many times", DATA "ReadRows", T "(2{1'k'})*1000", MS_GRPC_INVALID_ARGUMENT,
     BAD_MESSAGE("ReadRowsRequest", TWICE), 0},
    {"too many fields", DATA "CheckAndMutateRow", T "(2'bad')*2097153", MS_GRPC_INVALID_ARGUMENT,
     "message google.bigtable.v2.CheckAndMutateRowRequest is malformed: it would take too much "
     "memory",
     0},
    {"too many mutations of nothing", DATA "MutateRows", T "2{1'bad' (2{})*2100000}",
     MS_GRPC_INVALID_ARGUMENT, "Error in Mutation list : Error in element #0 : No mutation is set",
     0},
    {"name of half a table", DATA "ReadRows", "1'projects/p/instances/i'", MS_GRPC_INVALID_ARGUMENT,
     NO_NAME("projects/p/instances/i"), 0},
    {"name of a table and more", DATA "ReadRows", "1'" TABLE "/x'", MS_GRPC_INVALID_ARGUMENT,
     NO_NAME("projects/p/instances/i/tables/t/x"), 0},
    {"name without a project", DATA "ReadRows", "1'projects//instances/i/tables/t'",
     MS_GRPC_INVALID_ARGUMENT,
     "Error in field 'project_id' : Invalid id for collection projects : Length should be between "
     "[1,128], but found ''",
     0},
    {"name in other letters", DATA "ReadRows", "1'Projects/p/Instances/i/Tables/t'",
     MS_GRPC_INVALID_ARGUMENT, NO_NAME("Projects/p/Instances/i/Tables/t"), 0},
    {"name that goes up", DATA "ReadRows", "1'projects/p/instances/../tables/t'", MS_GRPC_NOT_FOUND,
     "No tables found for instance projects/p/instances/..", 0},
    {"name of slashes", DATA "ReadRows", "1'////////'", MS_GRPC_INVALID_ARGUMENT,
     NO_NAME("////////"), 0},
    {"long name", DATA "ReadRows", "1'x'*100000", MS_GRPC_INVALID_ARGUMENT,
     NO_NAME("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."),
     0},
    {"long profile", DATA "ReadRows", T "5'x'*100000", MS_GRPC_NOT_FOUND,
     "App profile "
     "\"projects/p/instances/i/appProfiles/"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" not found; this makes it: millstream bigtable "
     "create-profile "
     "p/i/"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxx... --cluster local-c1",
     0},
    {"profile of two parts", DATA "ReadRows", T "5'a/b'", MS_GRPC_NOT_FOUND,
     "App profile \"projects/p/instances/i/appProfiles/a/b\" not found; this makes it: millstream "
     "bigtable create-profile p/i/a/b --cluster local-c1",
     0},
    {"statistics that are none", DATA "ReadRows", T "6#99", MS_GRPC_OK, "", 0},
    {"fields that are unknown", DATA "ReadRows", T "99'x' 100#1 101~2 !fd0701020304!", MS_GRPC_OK,
     "", 0},
};

static void each_of_these_messages(void **state)
{
    RUN(messages);
}

/* Calls. */

#define HEAD ":scheme=http;:authority=test;te=trailers;content-type=application/grpc;"
#define POST(path) ":method=POST;:path=" path ";" HEAD
#define READ "/" DATA "ReadRows"
#define WRITE "/" DATA "MutateRow"
#define NAMED(type) ":method=POST;:path=" READ ";:scheme=http;:authority=test;te=trailers;" type

/* A message that reads nothing but the good row; 35 bytes. */
#define MESSAGE "1'" TABLE "' 4#1"
#define FRAME(flag) "!" flag "00000023!" MESSAGE

/* One that writes a row; 52 bytes. */
#define WRITTEN "!0000000034!" T "2'bad' 3{" SET_OK "}"

/* How a call ends: a text among the headers that came, or the end of the stream, or of more. */
#define NOT_NONE "grpc-message=the method takes one request message, not none;"
#define NOT_MORE "grpc-message=the method takes one request message, not more;"
#define RESET "RST"
#define GONE "CLOSED"

typedef struct bad_call {
    const char *what;
    const char *headers;
    const char *data; /* NULL: none */
    const char *end;
} bad_call;

static const bad_call calls[] = {
    {"as it should be", POST(READ), FRAME("00"), "grpc-status=0;"},
    {"unknown method", POST("/" DATA "Nope"), FRAME("00"),
     "grpc-status=12;grpc-message=Unknown method /" DATA "Nope;"},
    {"unknown service", POST("/google.bigtable.v3.Bigtable/ReadRows"), FRAME("00"),
     "grpc-status=12;"},
    {"method in other letters", POST("/google.bigtable.v2.bigtable/readrows"), FRAME("00"),
     "grpc-status=12;"},
    {"method and more", POST(READ "/x"), FRAME("00"), "grpc-status=12;"},
    {"method with a question", POST(READ "?x=1"), FRAME("00"), "grpc-status=12;"},
    {"escaped method", POST("%2F" DATA "ReadRows"), FRAME("00"), RESET},
    {"only a slash", POST("/"), FRAME("00"), "grpc-status=12;"},
    {"no slash", POST("ReadRows"), FRAME("00"), RESET},
    {"method of no letters", POST("/\x01\x02/\x7f"), FRAME("00"), RESET},
    {"method beyond ASCII", POST("/\xc3\xa4/\xff"), FRAME("00"),
     "grpc-status=12;grpc-message=Unknown method /\\xc3\\xa4/\\xff;"},
    {"GET", ":method=GET;:path=" READ ";" HEAD, NULL, ":status=405;"},
    {"OPTIONS of everything", ":method=OPTIONS;:path=*;" HEAD, NULL, ":status=405;"},
    {"CONNECT", ":method=CONNECT;:authority=test;", NULL, ":status=405;"},
    {"no method", ":path=" READ ";" HEAD, FRAME("00"), RESET},
    {"no path", ":method=POST;" HEAD, FRAME("00"), RESET},
    {"two paths", ":path=/a/b;" POST(READ), FRAME("00"), RESET},
    {"path behind the others", ":method=POST;" HEAD ":path=" READ ";", FRAME("00"), RESET},
    {"unknown of the first ones", ":secret=x;" POST(READ), FRAME("00"), RESET},
    {"no type", NAMED(""), FRAME("00"), ":status=415;"},
    {"HTML", NAMED("content-type=text/html;"), FRAME("00"), ":status=415;"},
    {"JSON", NAMED("content-type=application/json;"), FRAME("00"), ":status=415;"},
    {"another gRPC", NAMED("content-type=application/grpc-web;"), FRAME("00"), ":status=415;"},
    {"messages of JSON", NAMED("content-type=application/grpc+json;"), FRAME("00"),
     "grpc-status=12;grpc-message=content-type is neither application/grpc nor "
     "application/grpc+proto;"},
    {"type in letters of another case", NAMED("content-type=Application/GRPC;"), FRAME("00"),
     ":status=415;"},
    {"messages of protobuf", NAMED("content-type=application/grpc+proto;"), FRAME("00"),
     "grpc-status=0;"},
    {"no trailers wanted",
     ":method=POST;:path=" READ ";:scheme=http;:authority=test;content-type=application/grpc;",
     FRAME("00"), "grpc-status=13;grpc-message=the header te: trailers is missing;"},
    {"compressed without an encoding", POST(READ), FRAME("01"),
     "grpc-status=13;grpc-message=a message is compressed, though no compression was agreed on;"},
    {"compressed", POST(READ) "grpc-encoding=gzip;", FRAME("01"),
     "grpc-status=12;grpc-message=compressed messages are not supported;"},
    {"encoding that is not used", POST(READ) "grpc-encoding=gzip;", FRAME("00"),
     "grpc-status=12;grpc-message=compressed messages are not supported;"},
    {"unknown encoding", POST(READ) "grpc-encoding=snappy;", FRAME("01"),
     "grpc-status=12;grpc-message=compressed messages are not supported;"},
    {"flag that is none", POST(READ), FRAME("02"),
     "grpc-status=13;grpc-message=a message does not begin with 0 or 1;"},
    {"all flags", POST(READ), FRAME("ff"),
     "grpc-status=13;grpc-message=a message does not begin with 0 or 1;"},
    {"timeout of letters", POST(READ) "grpc-timeout=abc;", FRAME("00"),
     "grpc-status=13;grpc-message=malformed grpc-timeout;"},
    {"timeout of nothing", POST(READ) "grpc-timeout=;", FRAME("00"),
     "grpc-status=13;grpc-message=malformed grpc-timeout;"},
    {"timeout of nine digits", POST(READ) "grpc-timeout=123456789S;", FRAME("00"),
     "grpc-status=13;grpc-message=malformed grpc-timeout;"},
    {"negative timeout", POST(READ) "grpc-timeout=-1S;", FRAME("00"),
     "grpc-status=13;grpc-message=malformed grpc-timeout;"},
    {"timeout without a unit", POST(READ) "grpc-timeout=10;", FRAME("00"),
     "grpc-status=13;grpc-message=malformed grpc-timeout;"},
    {"no time at all", POST(READ) "grpc-timeout=0n;", FRAME("00"), "grpc-status=4;"},
    {"two timeouts", POST(READ) "grpc-timeout=1H;grpc-timeout=0n;", FRAME("00"), "grpc-status=0;"},
    {"no base64", POST(READ) "x-bin=%%%;", FRAME("00"),
     "grpc-status=13;grpc-message=a binary header is not base64;"},
    {"half a digit of base64", POST(READ) "x-bin=QUJDR;", FRAME("00"),
     "grpc-status=13;grpc-message=a binary header is not base64;"},
    {"routing to another table", POST(READ) "x-goog-request-params=table_name=other;", FRAME("00"),
     "grpc-status=0;"},
    {"routing that is garbage", POST(READ) "x-goog-request-params=%%%&&&==%zz;", FRAME("00"),
     "grpc-status=0;"},
    {"routing twice", POST(READ) "x-goog-request-params=a=b;x-goog-request-params=;", FRAME("00"),
     "grpc-status=0;"},
    {"features that are garbage", POST(READ) "bigtable-features=%%%;", FRAME("00"),
     "grpc-status=0;"},
    {"features that are cut", POST(READ) "bigtable-features=CA==;", FRAME("00"), "grpc-status=0;"},
    {"features twice", POST(READ) "bigtable-features=;bigtable-features=CAE=;", FRAME("00"),
     "grpc-status=0;"},
    {"header in capitals", POST(READ) "X-Big=1;", FRAME("00"), RESET},
    {"header of HTTP/1", POST(READ) "connection=close;", FRAME("00"), RESET},
    {"transfer of HTTP/1", POST(READ) "transfer-encoding=chunked;", FRAME("00"), RESET},
    {"length that is wrong", POST(READ) "content-length=7;", FRAME("00"), RESET},
    {"length that is none", POST(READ) "content-length=x;", FRAME("00"), RESET},
    {"blank behind a value", POST(READ) "x-blank=x ;", FRAME("00"), RESET},
    {"answer in a question", POST(READ) "grpc-status=0;grpc-message=hello;", FRAME("00"),
     "grpc-status=0;"},

    {"no message", POST(READ), NULL, "grpc-status=12;" NOT_NONE},
    {"no byte of a message", POST(READ), "", "grpc-status=12;" NOT_NONE},
    {"four bytes of a prefix", POST(READ), "!00000000!",
     "grpc-status=13;grpc-message=the last message is cut off;"},
    {"prefix without its message", POST(READ), "!0000000023!",
     "grpc-status=13;grpc-message=the last message is cut off;"},
    {"message that is cut", POST(READ), "!0000000024!" MESSAGE,
     "grpc-status=13;grpc-message=the last message is cut off;"},
    {"message of four gigabytes", POST(READ), "!00ffffffff!" MESSAGE, "grpc-status=8;"},
    {"message above the limit", POST(READ), "!0010000001!" MESSAGE, "grpc-status=8;"},
    {"two messages", POST(READ), FRAME("00") FRAME("00"), "grpc-status=12;" NOT_MORE},
    {"two writes in one call", POST(WRITE), WRITTEN WRITTEN, "grpc-status=12;" NOT_MORE},
    {"half a write behind one", POST(WRITE), WRITTEN "!0000000034!",
     "grpc-status=13;grpc-message=the last message is cut off;"},
    {"half a message behind one", POST(READ), FRAME("00") "!0000000023!",
     "grpc-status=13;grpc-message=the last message is cut off;"},
    {"message of nothing", POST(WRITE), "!0000000000!", "grpc-status=3;"},
    {"thousand messages of nothing", POST(WRITE), "(!0000000000!)*1000",
     "grpc-status=12;" NOT_MORE},
};

#define STREAM 1

static void send_call(raw_peer *peer, const bad_call *bad, int32_t stream)
{
    raw_headers(peer, bad->data == NULL ? RAW_END_BOTH : RAW_END_HEADERS, stream, bad->headers);
    if (bad->data != NULL) {
        ms_buf data;
        ms_buf_init(&data, 1u << 20);
        request_make(bad->data, &data);
        raw_frame(peer, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, stream, data.ptr, data.bytes);
        ms_buf_release(&data);
    }
}

/* Reads to the end of the stream: what came, as in the table. */
static const char *read_end(raw_peer *peer, int32_t stream)
{
    for (;;) {
        raw_event event = raw_read(peer);
        if (event == RAW_CLOSED) {
            return GONE;
        }
        if (peer->stream == stream && event == RAW_RST) {
            return RESET;
        }
        if (peer->stream == stream && event == RAW_STREAM_END) {
            return peer->fields;
        }
    }
}

static void open_peer(raw_peer *peer, const caller *c)
{
    raw_connect(peer, ms_bt_server_port(c->f->server));
    raw_start(peer);
}

/* A good call goes well on the connection. */
static bool serves(raw_peer *peer)
{
    peer->fields_bytes = 0;
    peer->fields[0] = '\0';
    send_call(peer, &calls[0], 9);
    return strstr(read_end(peer, 9), calls[0].end) != NULL;
}

static void each_of_these_calls(void **state)
{
    caller *c = *state;
    raw_peer *peer = calloc(1, sizeof(*peer));
    int wrong = 0;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const bad_call *bad = &calls[i];
        open_peer(peer, c);
        send_call(peer, bad, STREAM);
        const char *end = read_end(peer, STREAM);
        if (strstr(end, bad->end) == NULL) {
            print_error("%s: %s\n", bad->what, end);
            wrong++;
        }
        if (strcmp(bad->end, GONE) != 0 && !serves(peer)) {
            print_error("%s: its connection serves no more\n", bad->what);
            wrong++;
        }
        raw_close(peer);
        check_server(c, bad->what);
    }
    free(peer);
    assert_int_equal(wrong, 0);
}

/* Headers of more than a frame, and the end of the call behind them. */
static void send_in_frames(raw_peer *peer, int32_t stream, const char *fields)
{
    static char block[RAW_BYTES_MAX];
    size_t bytes = raw_block(block, fields);
    for (size_t at = 0; at < bytes; at += 16384) {
        size_t rest = bytes - at < 16384 ? bytes - at : 16384;
        uint8_t flags = at == 0 ? NGHTTP2_FLAG_END_STREAM : 0;
        flags = (uint8_t)(flags | (at + rest == bytes ? RAW_END_HEADERS : 0));
        raw_frame(peer, at == 0 ? NGHTTP2_HEADERS : NGHTTP2_CONTINUATION, flags, stream, block + at,
                  rest);
    }
}

/* Headers that are too many or too long. */
static void headers_beyond_the_limit(void **state)
{
    caller *c = *state;
    raw_peer *peer = calloc(1, sizeof(*peer));
    static char text[60000];
    for (int kind = 0; kind < 2; kind++) {
        size_t at = (size_t)snprintf(text, sizeof(text), "%s", POST(READ));
        for (int i = 0; i < (kind == 0 ? 1 : 1500); i++) {
            at += (size_t)snprintf(text + at, sizeof(text) - at, "x-%d=%0*d;", i,
                                   kind == 0 ? 40000 : 1, 0);
        }
        open_peer(peer, c);
        send_in_frames(peer, STREAM, text);
        assert_non_null(strstr(read_end(peer, STREAM),
                               "grpc-status=8;grpc-message=received metadata larger than max;"));
        assert_true(serves(peer));
        raw_close(peer);
        check_server(c, "headers beyond the limit");
    }
    free(peer);
}

/* Frames. */

typedef struct bad_frame {
    const char *what;
    uint8_t type;
    uint8_t flags;
    int32_t stream;
    const char *payload;
    bool is_harmless; /* the connection goes on */
} bad_frame;

static const bad_frame frames[] = {
    {"data on no stream", NGHTTP2_DATA, 0, 0, "!00!", false},
    {"data on a stream that is not open", NGHTTP2_DATA, 0, 5, "!00!", false},
    {"headers on no stream", NGHTTP2_HEADERS, RAW_END_BOTH, 0, "!82!", false},
    {"headers on a stream of the server", NGHTTP2_HEADERS, RAW_END_BOTH, 2, "!82!", false},
    {"headers from no table", NGHTTP2_HEADERS, RAW_END_BOTH, 1, "!ff8000!", false},
    {"headers that are cut", NGHTTP2_HEADERS, RAW_END_BOTH, 1, "!40!", false},
    {"headers of half a Huffman code", NGHTTP2_HEADERS, RAW_END_BOTH, 1, "!4081ff81ff!", false},
    {"headers of nothing", NGHTTP2_HEADERS, RAW_END_BOTH, 1, "", true},
    {"padding longer than its frame", NGHTTP2_HEADERS, RAW_END_BOTH | NGHTTP2_FLAG_PADDED, 1,
     "!ff82!", false},
    {"continuation of nothing", NGHTTP2_CONTINUATION, RAW_END_HEADERS, 1, "!82!", false},
    {"push of a client", NGHTTP2_PUSH_PROMISE, RAW_END_HEADERS, 1, "!0000000282!", false},
    {"priority of itself", NGHTTP2_PRIORITY, 0, 3, "!0000000310!", true},
    {"short priority", NGHTTP2_PRIORITY, 0, 3, "!00!", false},
    {"reset of a stream that is not open", NGHTTP2_RST_STREAM, 0, 7, "!00000008!", false},
    {"short reset", NGHTTP2_RST_STREAM, 0, 1, "!00!", false},
    {"short settings", NGHTTP2_SETTINGS, 0, 0, "!0001!", false},
    {"settings of a stream", NGHTTP2_SETTINGS, 0, 1, "", false},
    {"window beyond the largest", NGHTTP2_SETTINGS, 0, 0, "!0004ffffffff!", false},
    {"frames below the smallest", NGHTTP2_SETTINGS, 0, 0, "!000500000001!", false},
    {"settings that are unknown", NGHTTP2_SETTINGS, 0, 0, "!00ff00000001!", true},
    {"acknowledgment with contents", NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "!000100000001!",
     false},
    {"short ping", NGHTTP2_PING, 0, 0, "!00!", false},
    {"ping of a stream", NGHTTP2_PING, 0, 1, "!0000000000000000!", false},
    {"short goodbye", NGHTTP2_GOAWAY, 0, 0, "!00!", false},
    {"window of nothing", NGHTTP2_WINDOW_UPDATE, 0, 0, "!00000000!", false},
    {"window that overflows", NGHTTP2_WINDOW_UPDATE, 0, 0, "!7fffffff!", false},
    {"window of a stream that is not open", NGHTTP2_WINDOW_UPDATE, 0, 5, "!00000001!", false},
    {"unknown frame", 0x42, 0xff, 0, "!00112233!", true},
    {"frame longer than allowed", NGHTTP2_DATA, 0, 1, "(!00!)*20000", false},
};

static void each_of_these_frames(void **state)
{
    caller *c = *state;
    raw_peer *peer = calloc(1, sizeof(*peer));
    int wrong = 0;
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        const bad_frame *bad = &frames[i];
        ms_buf payload;
        ms_buf_init(&payload, 1u << 20);
        request_make(bad->payload, &payload);
        open_peer(peer, c);
        raw_frame(peer, bad->type, bad->flags, bad->stream, payload.ptr, payload.bytes);
        bool is_alive = raw_is_alive(peer) && serves(peer);
        if (is_alive != bad->is_harmless) {
            print_error("%s: the connection %s\n", bad->what, is_alive ? "goes on" : "is closed");
            wrong++;
        }
        raw_close(peer);
        ms_buf_release(&payload);
        check_server(c, bad->what);
    }
    free(peer);
    assert_int_equal(wrong, 0);
}

/* What is no HTTP/2 from the first byte on, and what ends in the middle. */

static const char *const starts[] = {
    "",
    "!00!",
    "!474554202f20485454502f312e310d0a486f73743a20780d0a0d0a!",
    "!505249202a20485454502f322e300d0a0d0a!",
    "!505249202a20485454502f322e300d0a0d0a534d0d0a0d0b!",
    "!160301020001000001fc0303!",
    "(!ff!)*100000",
    /* The preface, then nothing, half a frame, a frame that is announced. */
    "!505249202a20485454502f322e300d0a0d0a534d0d0a0d0a!",
    "!505249202a20485454502f322e300d0a0d0a534d0d0a0d0a000000!",
    "!505249202a20485454502f322e300d0a0d0a534d0d0a0d0a000000040000000000000010010400000001!",
};

static void each_of_these_starts(void **state)
{
    caller *c = *state;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        raw_peer *peer = calloc(1, sizeof(*peer));
        ms_buf data;
        ms_buf_init(&data, 1u << 20);
        request_make(starts[i], &data);
        raw_connect(peer, ms_bt_server_port(c->f->server));
        raw_write(peer, data.ptr, data.bytes);
        shutdown(peer->fd, SHUT_WR);
        assert_int_equal(raw_read_until(peer, RAW_CLOSED), RAW_CLOSED);
        raw_close(peer);
        ms_buf_release(&data);
        free(peer);
        check_server(c, "a bad start");
    }
}

/* Calls that are given up in the middle, on every byte of the way. */
static void calls_that_break_off_anywhere(void **state)
{
    caller *c = *state;
    raw_peer *peer = calloc(1, sizeof(*peer));
    ms_buf data;
    ms_buf_init(&data, 1u << 20);
    request_make(FRAME("00"), &data);
    for (size_t bytes = 0; bytes <= data.bytes; bytes++) {
        open_peer(peer, c);
        raw_headers(peer, RAW_END_HEADERS, STREAM, POST(WRITE));
        raw_frame(peer, NGHTTP2_DATA, 0, STREAM, data.ptr, bytes);
        if (bytes % 2 == 0) {
            raw_frame(peer, NGHTTP2_RST_STREAM, 0, STREAM, "\0\0\0\x08", 4);
            assert_true(serves(peer));
        }
        raw_close(peer);
    }
    check_server(c, "calls that broke off");
    ms_buf_release(&data);
    free(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_of_these_messages),   TEST(each_of_these_calls),
        TEST(headers_beyond_the_limit), TEST(each_of_these_frames),
        TEST(each_of_these_starts),     TEST(calls_that_break_off_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
