/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connected socket on a loop, plaintext or TLS: bytes in, bytes out. What is spoken over it is
 * the class's matter; it embeds the msi_conn as its first member.
 *
 * Output is pulled. Whoever has something to send asks for a flush; at the end of the turn the
 * connection calls on_pull until it has no more, or until its buffer is full, and writes all with
 * one system call. While the socket takes no more, nothing is pulled, so that what waits stays
 * where it can be counted, reordered and dropped.
 *
 *     msi_conn_init(&mine->conn, &my_class, loop);
 *     msi_conn_start(&mine->conn, fd, tls, "example.com");
 *     -> on_open, on_bytes ..., on_pull ..., on_lost
 *     msi_conn_close(&mine->conn);
 *     -> on_closed, in a later turn: the memory may go
 *
 * A socket that is closed while bytes of the peer's are unread, or still arrive, is reset by the
 * system, and what was sent last may never be read: the reason why a peer is turned away, or the
 * end of an answer. So a connection that was ended by this side, when it may linger, says that it
 * has ended and reads on, dropping what comes, until the peer has ended, too. It does so for a
 * second after the peer's system has taken something, for so many bytes, and for half a minute at
 * most; the embedder counts it until on_closed comes, and can cut it short.
 *
 * Ownership: the embedder's. The socket is the connection's from start on. Thread: loop.
 */
#ifndef MS_NET_CONN_PRIV_H
#define MS_NET_CONN_PRIV_H

#include "base/str.h"
#include "net/loop_priv.h"
#include "net/tls_priv.h"

#define MSI_CONN_OUT_BYTES (256u << 10) /* pulled ahead of the socket; about what it holds itself */
#define MSI_CONN_KEEP_BYTES (32u << 10) /* of an output buffer that is used no more */

/* Dropped while lingering: what a peer may have on its way, by the windows that servers give. */
#define MSI_CONN_LINGER_BYTES (16u << 20)

typedef struct msi_conn msi_conn;

/* on_lost is called from the connection's own work only, as the last thing that it does. */
typedef struct msi_conn_class {
    void (*on_open)(msi_conn *conn); /* connected, and the TLS handshake is over */
    void (*on_bytes)(msi_conn *conn, ms_str bytes);
    void (*on_pull)(msi_conn *conn);                       /* append while there is room */
    void (*on_lost)(msi_conn *conn, const ms_status *why); /* once; MS_OK: ended as asked for */
    void (*on_closed)(msi_conn *conn);                     /* last */
} msi_conn_class;

/* Read heard_ns, blocked_ns, obstacle, tls, is_open and is_lingering; set may_linger after the
 * init. The others are private. */
struct msi_conn {
    const msi_conn_class *class_of;
    ms_loop *loop;
    uv_poll_t poll;
    int fd; /* -1: not started */
    int events;
    msi_tls_stream *tls;
    bool is_open;
    bool is_over; /* lost or closed: nothing is called back but on_closed */
    bool is_closed;
    bool is_ending;  /* ends when everything was sent */
    ms_buf plain;    /* to be encrypted */
    ms_buf out;      /* to be written */
    size_t out_at;   /* what of it was written */
    size_t out_peak; /* the most in it since it was last empty */
    msi_loop_task flush;
    int64_t heard_ns;         /* when bytes came last, or it was opened */
    int64_t blocked_ns;       /* since when the socket has taken nothing; 0: it takes all */
    ms_tls_obstacle obstacle; /* why it was lost */
    int send_error;           /* why nothing can be sent any more; 0: it can */
    bool may_linger;
    bool is_linger_due; /* the last word was written */
    bool is_lingering;  /* closed, but for the socket */
    bool is_hurried;
    size_t linger_bytes;       /* that may still be dropped */
    size_t undelivered_bytes;  /* that the peer's system had not taken at the last look */
    int64_t linger_until_ns;   /* unless it has taken something by then */
    int64_t linger_end_ns;     /* in any case */
    ms_loop_timer linger_look; /* at all of that */
};

void msi_conn_init(msi_conn *conn, const msi_conn_class *class_of, ms_loop *loop);

/*
 * Takes a socket that is connected. With tls the handshake comes first; name is the server's, NULL
 * on a server. on_open comes in a later turn. On an error the socket is closed, and the connection
 * must be closed. Errors: MS_IO_ERROR.
 */
ms_rc msi_conn_start(msi_conn *conn, int fd, ms_tls *tls, const char *name,
                     ms_status *st) MS_MUST_USE;

/* Sends what there is at the end of the turn. */
static inline void msi_conn_flush(msi_conn *conn)
{
    msi_loop_last(conn->loop, &conn->flush);
}

/* Room for output; 0 when on_pull should stop. */
size_t msi_conn_room(const msi_conn *conn);

/* Appends output, from within on_pull. More than the room is taken, too. */
void msi_conn_append(msi_conn *conn, ms_str bytes);

/* Makes room for so many bytes at the end of the output, which the caller writes. */
char *msi_conn_extend(msi_conn *conn, size_t bytes);

/* Reads no more, sends what there is, then calls on_lost with MS_OK. */
void msi_conn_end(msi_conn *conn);

/* Closes, or begins to linger; idempotent. Only on_closed comes. */
void msi_conn_close(msi_conn *conn);

/* Ends the lingering of a connection that does so. */
void msi_conn_cut(msi_conn *conn);

/* From now on the connection lingers only while bytes of ours are on their way to the peer, which
 * takes no longer than the peer needs to receive them. */
void msi_conn_hurry(msi_conn *conn);

#endif
