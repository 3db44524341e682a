/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON by hand, because the claims are five fixed fields; OpenSSL signs.
 */
/* tidy: no-unit-test: tests/unit/net/credentials_cloud_test.c runs it */
#include "net/jwt.h"

#include "base/memory.h"
#include "net/tls_priv.h"

#include <inttypes.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#define TEXT_BYTES_MAX ((size_t)64 << 10)
#define SIGNATURE_BYTES_MAX 1024u /* of a key of 8192 bits */

/* Text. */

/* Appends a text as a JSON string. */
static ms_rc put_json(ms_buf *buf, ms_str text, ms_status *st)
{
    MS_TRY(ms_buf_append_byte(buf, '"', st));
    for (size_t i = 0; i < text.bytes; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '"' || c == '\\') {
            MS_TRY(ms_buf_append_byte(buf, '\\', st));
        }
        MS_TRY(c < 0x20 ? ms_buf_format(buf, st, "\\u%04x", c)
                        : ms_buf_append_byte(buf, (char)c, st));
    }
    return ms_buf_append_byte(buf, '"', st);
}

/* Appends bytes in base64 for URLs, without padding. */
static ms_rc put_base64(ms_buf *buf, ms_str bytes, ms_status *st)
{
    size_t room = (bytes.bytes + 2) / 3 * 4 + 1;
    MS_TRY(ms_buf_reserve(buf, room, st));
    char *to = buf->ptr + buf->bytes;
    int written =
        EVP_EncodeBlock((unsigned char *)to, (const unsigned char *)bytes.ptr, (int)bytes.bytes);
    size_t count = (size_t)written;
    while (count > 0 && to[count - 1] == '=') {
        count--;
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = to[i] == '+' ? '-' : to[i] == '/' ? '_' : to[i];
    }
    buf->bytes += count;
    return MS_OK;
}

static ms_rc put_header(const ms_jwt_claims *claims, ms_buf *json, ms_status *st)
{
    MS_TRY(ms_buf_append(json, ms_str_lit("{\"alg\":\"RS256\",\"typ\":\"JWT\""), st));
    if (claims->key_id.bytes > 0) {
        MS_TRY(ms_buf_append(json, ms_str_lit(",\"kid\":"), st));
        MS_TRY(put_json(json, claims->key_id, st));
    }
    return ms_buf_append_byte(json, '}', st);
}

static ms_rc put_claims(const ms_jwt_claims *claims, ms_buf *json, ms_status *st)
{
    MS_TRY(ms_buf_append(json, ms_str_lit("{\"iss\":"), st));
    MS_TRY(put_json(json, claims->account, st));
    MS_TRY(ms_buf_append(json, ms_str_lit(",\"sub\":"), st));
    MS_TRY(put_json(json, claims->account, st));
    MS_TRY(ms_buf_append(json, ms_str_lit(",\"scope\":"), st));
    MS_TRY(put_json(json, claims->scopes, st));
    return ms_buf_format(json, st, ",\"iat\":%" PRId64 ",\"exp\":%" PRId64 "}", claims->issued_s,
                         claims->expires_s);
}

/* What is signed: both parts in base64, with a dot between. */
static ms_rc put_text(const ms_jwt_claims *claims, ms_buf *text, ms_status *st)
{
    ms_buf json;
    ms_buf_init(&json, TEXT_BYTES_MAX);
    ms_rc rc = put_header(claims, &json, st);
    if (rc == MS_OK) {
        rc = put_base64(text, ms_buf_view(&json), st);
    }
    ms_buf_reset(&json);
    if (rc == MS_OK) {
        rc = ms_buf_append_byte(text, '.', st);
    }
    if (rc == MS_OK) {
        rc = put_claims(claims, &json, st);
    }
    if (rc == MS_OK) {
        rc = put_base64(text, ms_buf_view(&json), st);
    }
    ms_buf_release(&json);
    return rc;
}

/* Keys. */

static ms_rc read_key(const ms_secret *key, EVP_PKEY **key_out, ms_status *st)
{
    ms_str pem = ms_secret_reveal(key);
    BIO *bio = BIO_new_mem_buf(pem.ptr, (int)pem.bytes);
    *key_out = bio == NULL ? NULL : PEM_read_bio_PrivateKey(bio, NULL, msi_tls_no_passphrase, NULL);
    BIO_free(bio);
    ERR_clear_error();
    if (*key_out == NULL || EVP_PKEY_get_base_id(*key_out) != EVP_PKEY_RSA ||
        (size_t)EVP_PKEY_get_size(*key_out) > SIGNATURE_BYTES_MAX) {
        EVP_PKEY_free(*key_out);
        *key_out = NULL;
        return ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                             "the private key of the service account is no RSA key in PEM");
    }
    return MS_OK;
}

static ms_rc put_signature(EVP_PKEY *key, ms_buf *text, ms_status *st)
{
    unsigned char signature[SIGNATURE_BYTES_MAX];
    size_t bytes = sizeof(signature);
    ms_str signed_text = ms_buf_view(text);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_signed = context != NULL &&
                     EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                     EVP_DigestSign(context, signature, &bytes,
                                    (const unsigned char *)signed_text.ptr, signed_text.bytes) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    if (!is_signed) {
        return ms_status_set(st, MS_INTERNAL, ms_span_none, "could not sign a token");
    }
    MS_TRY(ms_buf_append_byte(text, '.', st));
    return put_base64(text, (ms_str){(const char *)signature, bytes}, st);
}

ms_rc ms_jwt_sign(const ms_jwt_claims *claims, const ms_secret *key, ms_secret *token_out,
                  ms_status *st)
{
    EVP_PKEY *private_key = NULL;
    MS_TRY(read_key(key, &private_key, st));
    ms_buf text;
    ms_buf_init(&text, TEXT_BYTES_MAX);
    ms_rc rc = put_text(claims, &text, st);
    if (rc == MS_OK) {
        rc = put_signature(private_key, &text, st);
    }
    if (rc == MS_OK) {
        ms_secret_set(token_out, ms_buf_view(&text));
    }
    ms_secret_wipe(text.ptr, text.bytes);
    ms_buf_release(&text);
    EVP_PKEY_free(private_key);
    return rc;
}
