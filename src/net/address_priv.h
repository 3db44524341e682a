/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses as users write them: "host:port", "127.0.0.1:8086", "[::1]:8086", "unix:/path". A name
 * is not resolved here, but for listening.
 */
#ifndef MS_NET_ADDRESS_PRIV_H
#define MS_NET_ADDRESS_PRIV_H

#include "base/str.h"

#include <sys/socket.h>

#define MSI_ADDRESS_HOST_BYTES 256 /* a DNS name has at most 253 */
#define MSI_ADDRESS_TEXT_BYTES 64  /* "[" IPv6 with zone "]:65535" */

typedef struct msi_address {
    char host[MSI_ADDRESS_HOST_BYTES]; /* without brackets; of a unix socket, its path */
    uint16_t port;
    bool is_unix;
} msi_address;

/* Errors: MS_INVALID_OPTION. */
ms_rc msi_address_parse(ms_str text, msi_address *address_out, ms_status *st) MS_MUST_USE;

/* 127.0.0.0/8, ::1, "localhost" or a unix socket. */
bool msi_address_is_local(const msi_address *address);

/* The socket address, when it takes no resolving. */
bool msi_address_to_socket(const msi_address *address, struct sockaddr_storage *socket_out,
                           socklen_t *bytes_out);

/* True for a loopback or unix socket address. */
bool msi_address_socket_is_local(const struct sockaddr *socket);

/* Where somebody comes from who may have many sockets: an IPv4 address, or the /64 that an IPv6
 * address is in. 0 for unix sockets. */
uint64_t msi_address_network(const struct sockaddr *socket);

/* "127.0.0.1:8086", "[::1]:8086" or "unix:". */
void msi_address_format(const struct sockaddr *socket, char text_out[MSI_ADDRESS_TEXT_BYTES]);

/*
 * A socket that listens; a name is resolved, which may block. The port that was taken is in
 * port_out. A unix socket that nobody listens on any more is replaced. Errors: MS_IO_ERROR.
 */
ms_rc msi_address_listen(const msi_address *address, int *fd_out, uint16_t *port_out,
                         ms_status *st) MS_MUST_USE;

#endif
