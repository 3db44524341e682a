/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-signed tokens of service accounts: a JSON Web Token (RFC 7519) signed with RS256, which
 * Google's services accept in place of one that was fetched.
 *
 * Thread: any.
 */
#ifndef MS_NET_JWT_H
#define MS_NET_JWT_H

#include "net/secret.h"

#include "base/status.h"

typedef struct ms_jwt_claims {
    ms_str key_id;  /* of the header; empty: none */
    ms_str account; /* issuer and subject */
    ms_str scopes;  /* separated by spaces */
    int64_t issued_s;
    int64_t expires_s;
} ms_jwt_claims;

/* Signs with a private key in PEM. MS_INVALID_OPTION when that is no RSA key; no message has any of
 * it. */
ms_rc ms_jwt_sign(const ms_jwt_claims *claims, const ms_secret *key, ms_secret *token_out,
                  ms_status *st) MS_MUST_USE;

#endif
