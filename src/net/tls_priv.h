/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS as a filter between a socket and what is spoken over it. It knows no socket: bytes that came
 * are fed in, bytes to be sent are taken out.
 *
 *     socket --feed--> | TLS | --open--> plaintext
 *     socket <--sealed-- |   | <--seal-- plaintext
 *
 * Ownership: a stream is its creator's. Thread: one at a time.
 */
#ifndef MS_NET_TLS_PRIV_H
#define MS_NET_TLS_PRIV_H

#include "base/str.h"
#include "net/tls.h"

typedef struct msi_tls_stream msi_tls_stream;

/* For OpenSSL: a key file with a passphrase is refused, not asked about on the terminal. */
int msi_tls_no_passphrase(char *buf, int size, int rwflag, void *arg);

bool msi_tls_is_server(const ms_tls *tls);

/* name: what the server's certificate must be for, a host name or an IP address; NULL for a
 * server. Errors: MS_IO_ERROR. */
ms_rc msi_tls_stream_create(ms_tls *tls, const char *name, msi_tls_stream **stream_out,
                            ms_status *st) MS_MUST_USE;
void msi_tls_stream_destroy(msi_tls_stream *stream);

/* Takes bytes that came from the socket. */
void msi_tls_stream_feed(msi_tls_stream *stream, ms_str bytes);

/* Goes on with the handshake, as far as what was fed allows. Errors: MS_IO_ERROR with the
 * reason. */
ms_rc msi_tls_stream_handshake(msi_tls_stream *stream, bool *done_out, ms_status *st) MS_MUST_USE;

/* Why the handshake failed. */
ms_tls_obstacle msi_tls_stream_obstacle(const msi_tls_stream *stream);

/* Plaintext of what was fed; bytes_out is 0 when there is no more of it for now. Errors:
 * MS_IO_ERROR; is_end_out: the peer ended the stream in an orderly way. */
ms_rc msi_tls_stream_open(msi_tls_stream *stream, char *out, size_t capacity, size_t *bytes_out,
                          bool *is_end_out, ms_status *st) MS_MUST_USE;

/* Encrypts bytes. Errors: MS_IO_ERROR. */
ms_rc msi_tls_stream_seal(msi_tls_stream *stream, ms_str bytes, ms_status *st) MS_MUST_USE;

/* Says farewell; the alert is among the sealed bytes. */
void msi_tls_stream_end(msi_tls_stream *stream);

/* What is to be sent on the socket; valid until the next call of a function here. */
ms_str msi_tls_stream_sealed(msi_tls_stream *stream);

/* Drops all of it: the caller has copied or sent it. */
void msi_tls_stream_sealed_taken(msi_tls_stream *stream);

#endif
