/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets are polled with libuv and read and written here, which is all of libuv's streams that is
 * needed: a read goes into the loop's buffer, a write comes from one contiguous buffer. Bytes are
 * copied into that buffer once; next to the kernel's own copy this costs little and spares the
 * bookkeeping of borrowed pieces.
 */
#include "net/conn_priv.h"

#include "net/buffer_priv.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* A connection reads so often, or fills its buffer so often, before others have their turn. */
#define READS_PER_TURN 4
#define FILLS_PER_TURN 4

/* Above what is appended beyond the room at once: a frame, or the library's control frames. */
#define OUT_BYTES_MAX (MSI_CONN_OUT_BYTES + (64u << 20))

/* TLS answers some of what a peer says, requests for new keys for instance, and the answers wait
 * with it until the socket takes them. A turn's input causes less than this. */
#define SEALED_BYTES_MAX ((size_t)2 * READS_PER_TURN * MSI_LOOP_BUFFER_BYTES)

/* Lingering: the peer has this long to end its side, or to take more of what was sent; and this
 * long in all. In a hurry it is looked after more often: systems delay what they acknowledge by up
 * to 40 ms. */
#define LINGER_NS INT64_C(1000000000)
#define LINGER_ALL_NS INT64_C(30000000000)
#define HURRY_NS INT64_C(10000000)

static void flush_conn(msi_loop_task *task);
static void look_after(ms_loop_timer *timer);
static void watch(msi_conn *conn, int events);

void msi_conn_init(msi_conn *conn, const msi_conn_class *class_of, ms_loop *loop)
{
    *conn = (msi_conn){.class_of = class_of, .loop = loop, .fd = -1};
    conn->flush.run = flush_conn;
    ms_loop_timer_init(&conn->linger_look, look_after);
    ms_buf_init(&conn->plain, OUT_BYTES_MAX);
    ms_buf_init(&conn->out, OUT_BYTES_MAX * 2);
}

/* The end. */

static void lose(msi_conn *conn, const ms_status *why)
{
    if (!conn->is_over) {
        conn->is_over = true;
        conn->class_of->on_lost(conn, why);
    }
}

static void lose_errno(msi_conn *conn, int error, const char *what)
{
    ms_status why = {0};
    ms_status_set_errno(&why, error, "%s", what);
    lose(conn, &why);
}

static void poll_closed(uv_handle_t *handle)
{
    msi_conn *conn = handle->data;
    if (conn->fd >= 0) {
        close(conn->fd);
        conn->fd = -1;
    }
    ms_buf_release(&conn->plain);
    ms_buf_release(&conn->out);
    conn->class_of->on_closed(conn);
}

/* Of a connection that has no handle: its start failed. */
static void closed_unstarted(msi_loop_task *task)
{
    msi_conn *conn = MSI_OWNER(task, msi_conn, flush);
    conn->poll.data = conn;
    poll_closed((uv_handle_t *)&conn->poll);
}

static void close_socket(msi_conn *conn)
{
    /* The peer learns at once; the descriptor goes with the handle. */
    shutdown(conn->fd, SHUT_RDWR);
    uv_close((uv_handle_t *)&conn->poll, poll_closed);
}

void msi_conn_cut(msi_conn *conn)
{
    if (conn->is_lingering) {
        conn->is_lingering = false;
        ms_loop_timer_stop(conn->loop, &conn->linger_look);
        close_socket(conn);
    }
}

/* What the peer's system has not acknowledged. The end itself, for which it may take its time,
 * counts as one byte and is left out. */
static size_t undelivered(const msi_conn *conn)
{
    int bytes = 0;
    return ioctl(conn->fd, SIOCOUTQ, &bytes) == 0 && bytes > 1 ? (size_t)bytes : 0;
}

static void look_after(ms_loop_timer *timer)
{
    msi_conn *conn = MSI_OWNER(timer, msi_conn, linger_look);
    int64_t now_ns = ms_loop_now_ns(conn->loop);
    size_t bytes = undelivered(conn);
    if (bytes < conn->undelivered_bytes) {
        conn->undelivered_bytes = bytes;
        conn->linger_until_ns = now_ns + LINGER_NS;
    }
    int64_t next_ns = conn->is_hurried ? now_ns + HURRY_NS : conn->linger_until_ns;
    bool is_done = conn->is_hurried && bytes == 0;
    if (is_done || now_ns >= conn->linger_until_ns || now_ns >= conn->linger_end_ns) {
        msi_conn_cut(conn);
    } else {
        ms_loop_timer_start(conn->loop, timer, next_ns);
    }
}

void msi_conn_hurry(msi_conn *conn)
{
    conn->is_hurried = true;
    if (conn->is_lingering) {
        look_after(&conn->linger_look);
    }
}

static void linger(msi_conn *conn)
{
    ms_buf_release(&conn->plain);
    ms_buf_release(&conn->out);
    shutdown(conn->fd, SHUT_WR);
    conn->is_lingering = true;
    conn->linger_bytes = MSI_CONN_LINGER_BYTES;
    conn->undelivered_bytes = SIZE_MAX;
    conn->linger_end_ns = ms_loop_now_ns(conn->loop) + LINGER_ALL_NS;
    watch(conn, UV_READABLE);
    look_after(&conn->linger_look);
}

void msi_conn_close(msi_conn *conn)
{
    if (conn->is_closed) {
        return;
    }
    conn->is_over = true;
    conn->is_closed = true;
    msi_loop_cancel(&conn->flush);
    msi_tls_stream_destroy(conn->tls);
    conn->tls = NULL;
    if (conn->may_linger && conn->is_linger_due) {
        linger(conn);
    } else if (conn->fd >= 0) {
        close_socket(conn);
    } else {
        conn->flush.run = closed_unstarted;
        msi_loop_soon(conn->loop, &conn->flush);
    }
}

/* Output. */

static size_t unsent(const msi_conn *conn)
{
    return conn->plain.bytes + conn->out.bytes - conn->out_at;
}

size_t msi_conn_room(const msi_conn *conn)
{
    size_t bytes = unsent(conn);
    return bytes < MSI_CONN_OUT_BYTES ? MSI_CONN_OUT_BYTES - bytes : 0;
}

char *msi_conn_extend(msi_conn *conn, size_t bytes)
{
    ms_buf *buf = conn->tls != NULL ? &conn->plain : &conn->out;
    char *at = msi_buffer_room(buf, bytes);
    buf->bytes += bytes;
    return at;
}

void msi_conn_append(msi_conn *conn, ms_str bytes)
{
    if (bytes.bytes > 0) {
        memcpy(msi_conn_extend(conn, bytes.bytes), bytes.ptr, bytes.bytes);
    }
}

/* Moves what TLS wants to send to the output. */
static void take_sealed(msi_conn *conn)
{
    ms_str sealed = msi_tls_stream_sealed(conn->tls);
    if (sealed.bytes > 0) {
        msi_buffer_append(&conn->out, sealed);
        msi_tls_stream_sealed_taken(conn->tls);
    }
}

static void poll_event(uv_poll_t *poll, int status, int events);

static void watch(msi_conn *conn, int events)
{
    if (events != conn->events) {
        conn->events = events;
        int rc = uv_poll_start(&conn->poll, events, poll_event);
        MS_ASSERT(rc == 0);
    }
}

/* Writes what it can: 0 when the output is empty, EAGAIN when the socket takes no more for now, or
 * what is wrong with it. */
static int write_bytes(msi_conn *conn)
{
    if (conn->out.bytes > conn->out_peak) {
        conn->out_peak = conn->out.bytes;
    }
    while (conn->out_at < conn->out.bytes) {
        ssize_t count = send(conn->fd, conn->out.ptr + conn->out_at, conn->out.bytes - conn->out_at,
                             MSG_NOSIGNAL);
        if (count > 0) {
            conn->out_at += (size_t)count;
            conn->blocked_ns = 0;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (conn->blocked_ns == 0) {
                conn->blocked_ns = ms_loop_now_ns(conn->loop);
            }
            watch(conn, conn->is_ending ? UV_WRITABLE : UV_READABLE | UV_WRITABLE);
            return EAGAIN;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    conn->out.bytes = 0;
    conn->out_at = 0;
    conn->blocked_ns = 0;
    return 0;
}

static void lose_broken(msi_conn *conn);

/* Writes what it can; true when the output is empty. On an error the connection is lost. */
static bool write_out(msi_conn *conn)
{
    int error = write_bytes(conn);
    if (error != 0 && error != EAGAIN) {
        conn->send_error = error;
        lose_broken(conn);
    }
    return error == 0;
}

/* Gets more output. False: there is none, or TLS failed and the connection is lost. */
static bool fill(msi_conn *conn)
{
    if (conn->is_open && !conn->is_over) {
        conn->class_of->on_pull(conn);
    }
    if (conn->is_over) {
        return false;
    }
    if (conn->tls != NULL) {
        ms_status why = {0};
        if (msi_tls_stream_seal(conn->tls, ms_buf_view(&conn->plain), &why) != MS_OK) {
            lose(conn, &why);
            return false;
        }
        conn->plain.bytes = 0;
        take_sealed(conn);
    }
    return unsent(conn) > 0;
}

static void trim(ms_buf *buf)
{
    if (buf->capacity_bytes > MSI_CONN_KEEP_BYTES) {
        size_t max_bytes = buf->max_bytes;
        ms_buf_release(buf);
        ms_buf_init(buf, max_bytes);
    }
}

/* Everything was sent. Large buffers are given back when they were not needed this time, so that a
 * connection that streams keeps them and one that has streamed does not. */
static void rest(msi_conn *conn)
{
    watch(conn, UV_READABLE);
    if (conn->out_peak <= MSI_CONN_KEEP_BYTES) {
        trim(&conn->out);
        trim(&conn->plain);
    }
    conn->out_peak = 0;
}

/* So that a TLS peer knows that nothing was cut off. Whether it gets the word is its matter. */
static void say_farewell(msi_conn *conn)
{
    if (conn->tls != NULL) {
        msi_tls_stream_end(conn->tls);
        take_sealed(conn);
        (void)write_bytes(conn);
    }
}

static void flush_conn(msi_loop_task *task)
{
    msi_conn *conn = MSI_OWNER(task, msi_conn, flush);
    if (conn->is_over || (!conn->is_open && conn->tls == NULL)) {
        return; /* opening flushes */
    }
    if (!write_out(conn)) {
        return; /* blocked, or lost */
    }
    for (int i = 0; i < FILLS_PER_TURN; i++) {
        if (!fill(conn)) {
            break;
        }
        if (!write_out(conn)) {
            return;
        }
        if (i == FILLS_PER_TURN - 1) {
            msi_conn_flush(conn);
            return;
        }
    }
    if (conn->is_over) {
        return;
    }
    if (conn->is_ending) {
        ms_status ended = {0};
        say_farewell(conn);
        conn->is_linger_due = true;
        lose(conn, &ended);
    } else {
        rest(conn);
    }
}

void msi_conn_end(msi_conn *conn)
{
    if (conn->is_over || conn->is_ending) {
        return;
    }
    conn->is_ending = true;
    msi_conn_flush(conn);
}

/* Input. */

static void open_conn(msi_conn *conn)
{
    conn->is_open = true;
    conn->class_of->on_open(conn);
    msi_conn_flush(conn);
}

/* Gives the plaintext of what was fed to the class, piece by piece. */
static void open_bytes(msi_conn *conn)
{
    char *buffer = msi_loop_buffer(conn->loop);
    while (!conn->is_over) {
        ms_status why = {0};
        size_t bytes = 0;
        bool is_end = false;
        if (msi_tls_stream_open(conn->tls, buffer, MSI_LOOP_BUFFER_BYTES, &bytes, &is_end, &why) !=
            MS_OK) {
            lose(conn, &why);
        } else if (is_end) {
            ms_status_set(&why, MS_IO_ERROR, ms_span_none, "the peer closed the connection");
            lose(conn, &why);
        } else if (bytes == 0) {
            break;
        } else {
            conn->class_of->on_bytes(conn, (ms_str){buffer, bytes});
        }
    }
}

static void receive(msi_conn *conn, ms_str bytes)
{
    conn->heard_ns = ms_loop_now_ns(conn->loop);
    if (conn->tls == NULL) {
        conn->class_of->on_bytes(conn, bytes);
        return;
    }
    msi_tls_stream_feed(conn->tls, bytes);
    msi_conn_flush(conn); /* for what TLS has to say */
    if (!conn->is_open) {
        ms_status why = {0};
        bool is_done = false;
        if (msi_tls_stream_handshake(conn->tls, &is_done, &why) != MS_OK) {
            conn->obstacle = msi_tls_stream_obstacle(conn->tls);
            take_sealed(conn); /* the alert, so that the peer knows why */
            conn->is_linger_due = write_bytes(conn) == 0;
            lose(conn, &why);
            return;
        }
        if (!is_done) {
            return;
        }
        open_conn(conn);
    }
    open_bytes(conn);
    if (!conn->is_over && msi_tls_stream_sealed(conn->tls).bytes > SEALED_BYTES_MAX) {
        ms_status why = {0};
        ms_status_set(&why, MS_IO_ERROR, ms_span_none, "the peer does not read what TLS answers");
        lose(conn, &why);
    }
}

/* True: there may be more, for the next turn. */
static bool read_conn(msi_conn *conn)
{
    for (int i = 0; i < READS_PER_TURN && !conn->is_over && !conn->is_ending; i++) {
        char *buffer = msi_loop_buffer(conn->loop);
        ssize_t count = recv(conn->fd, buffer, MSI_LOOP_BUFFER_BYTES, 0);
        if (count > 0) {
            receive(conn, (ms_str){buffer, (size_t)count});
            if (count < MSI_LOOP_BUFFER_BYTES) {
                return false; /* there is no more; should there be, the poll says so */
            }
        } else if (count == 0 && conn->send_error != 0) {
            return false; /* which says more */
        } else if (count == 0) {
            ms_status why = {0};
            ms_status_set(&why, MS_IO_ERROR, ms_span_none, "the peer closed the connection");
            lose(conn, &why);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return false;
        } else if (errno != EINTR) {
            lose_errno(conn, errno, "the connection was lost");
        }
    }
    return !conn->is_over && !conn->is_ending;
}

/* The socket has failed, and the peer is gone. What came before may still be read, and often says
 * why; it is no more than the system holds. */
static void lose_broken(msi_conn *conn)
{
    int error = 0;
    socklen_t bytes = sizeof(error);
    while (read_conn(conn)) {
    }
    if (conn->send_error != 0) {
        lose_errno(conn, conn->send_error, "the connection was lost while sending");
        return;
    }
    getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
    lose_errno(conn, error != 0 ? error : ECONNRESET, "the connection was lost");
}

/* Drops what still comes while the connection lingers. */
static void drop_bytes(msi_conn *conn)
{
    for (int i = 0; i < READS_PER_TURN; i++) {
        ssize_t count = recv(conn->fd, msi_loop_buffer(conn->loop), MSI_LOOP_BUFFER_BYTES, 0);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return;
        }
        if (count <= 0 || (size_t)count > conn->linger_bytes) {
            msi_conn_cut(conn); /* the peer has ended, or will not */
            return;
        }
        conn->linger_bytes -= (size_t)count;
    }
}

static void poll_event(uv_poll_t *poll, int status, int events)
{
    msi_conn *conn = poll->data;
    if (conn->is_lingering && status != 0) {
        msi_conn_cut(conn);
    } else if (conn->is_lingering) {
        drop_bytes(conn);
    }
    if (conn->is_over) {
        return;
    }
    if (!conn->is_open && conn->tls == NULL) {
        open_conn(conn);
    }
    if (status != 0) {
        lose_broken(conn);
        return;
    }
    if ((events & UV_WRITABLE) != 0) {
        msi_conn_flush(conn);
    }
    if ((events & UV_READABLE) != 0) {
        (void)read_conn(conn);
    }
}

/* Starting. */

ms_rc msi_conn_start(msi_conn *conn, int fd, ms_tls *tls, const char *name, ms_status *st)
{
    int rc = uv_poll_init(msi_loop_uv(conn->loop), &conn->poll, fd);
    if (rc != 0) {
        close(fd);
        ms_status_set(st, MS_IO_ERROR, ms_span_none, "a socket cannot be polled");
        return ms_status_detail(st, "%s", uv_strerror(rc));
    }
    int on = 1; /* without effect on unix sockets */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    conn->fd = fd;
    conn->poll.data = conn;
    conn->heard_ns = ms_loop_now_ns(conn->loop);
    if (tls == NULL) {
        watch(conn, UV_READABLE | UV_WRITABLE);
        return MS_OK;
    }
    watch(conn, UV_READABLE);
    MS_TRY(msi_tls_stream_create(tls, name, &conn->tls, st));
    bool is_done = false;
    MS_TRY(msi_tls_stream_handshake(conn->tls, &is_done, st)); /* a client's first words */
    take_sealed(conn);
    msi_conn_flush(conn);
    return MS_OK;
}
