/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three kinds of credentials behind one class: what they have in common is the file, the scopes and
 * the shape of a fetched token.
 */
#include "net/credentials_cloud.h"

#include "base/env.h"
#include "base/memory.h"
#include "net/http.h"
#include "net/jwt.h"
#include "os/file.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define PATH_BYTES 4096
#define TOKEN_LIFE_S 3600
#define FETCHED_LIFE_MAX_S 86400 /* longer than any is given */
#define FETCH_TIMEOUT_MS 20000
#define TOKEN_URI "https://oauth2.googleapis.com/token"
#define METADATA_HOST "metadata.google.internal"
#define METADATA_PATH "/computeMetadata/v1/instance/service-accounts/default/token?scopes="

typedef enum cloud_kind { SERVICE_ACCOUNT, AUTHORIZED_USER, METADATA_SERVER } cloud_kind;

typedef struct cloud_credentials {
    ms_credentials base; /* first */
    cloud_kind kind;
    const char *scopes;
    ms_arena arena;
    ms_str account;   /* SERVICE_ACCOUNT */
    ms_str key_id;    /* SERVICE_ACCOUNT */
    ms_str client_id; /* AUTHORIZED_USER */
    ms_str url;       /* where tokens are fetched */
    ms_secret secret; /* the private key, resp. the client's secret */
    ms_secret refresh_token;
} cloud_credentials;

/* JSON. */

/* Wipes the texts of an object before its memory goes. */
static void drop_object(json_t *object)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value)
    {
        if (json_is_string(value)) {
            ms_secret_wipe((void *)(uintptr_t)json_string_value(value), json_string_length(value));
        }
    }
    json_decref(object);
}

/* NULL when the text is no object. Where it is wrong is said by place, never by its content. */
static json_t *parse_object(ms_str text, int *line_out)
{
    json_error_t error;
    json_t *object = json_loadb(text.ptr, text.bytes, JSON_REJECT_DUPLICATES, &error);
    *line_out = object == NULL ? error.line : 0;
    if (object != NULL && !json_is_object(object)) {
        json_decref(object);
        object = NULL;
    }
    return object;
}

static ms_str member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? (ms_str){json_string_value(value), json_string_length(value)}
                                 : (ms_str){NULL, 0};
}

/* Fetched tokens. */

/* "invalid_grant" and its like: codes, no secrets. */
static bool is_error_code(ms_str text)
{
    for (size_t i = 0; i < text.bytes; i++) {
        if (text.ptr[i] != '_' && (text.ptr[i] < 'a' || text.ptr[i] > 'z')) {
            return false;
        }
    }
    return text.bytes > 0 && text.bytes <= 64;
}

/* The same request may do better later. */
static bool is_passing(long status)
{
    return status >= 500 || status == 429 || status == 408;
}

static ms_rc refuse_answer(const cloud_credentials *cloud, long status, const json_t *object,
                           ms_status *st)
{
    ms_str error = member(object, "error");
    ms_status_set(st, MS_IO_ERROR, ms_span_none, "the %s gave no token (HTTP %ld)",
                  cloud->kind == METADATA_SERVER ? "metadata server" : "token endpoint", status);
    st->retriable = is_passing(status);
    return is_error_code(error) ? ms_status_detail(st, "%.*s", MS_STR_ARG(error)) : st->code;
}

static ms_rc read_answer(const cloud_credentials *cloud, long status, ms_str text,
                         ms_credentials_token *token_out, ms_status *st)
{
    int line = 0;
    json_t *object = parse_object(text, &line);
    ms_str token = member(object, "access_token");
    const json_t *expires = json_object_get(object, "expires_in");
    if (status != 200 || token.bytes == 0) {
        ms_rc rc = refuse_answer(cloud, status, object, st);
        drop_object(object);
        return rc;
    }
    ms_buf header;
    ms_buf_init(&header, FILE_BYTES_MAX);
    ms_rc rc = ms_buf_append(&header, ms_str_lit("Bearer "), st);
    if (rc == MS_OK) {
        rc = ms_buf_append(&header, token, st);
    }
    if (rc == MS_OK) {
        int64_t seconds = json_is_integer(expires) ? (int64_t)json_integer_value(expires) : 0;
        seconds = seconds < 0 ? 0 : seconds < FETCHED_LIFE_MAX_S ? seconds : FETCHED_LIFE_MAX_S;
        ms_secret_set(&token_out->authorization, ms_buf_view(&header));
        token_out->expires_wall_ms = ms_env_wall_ms() + seconds * 1000;
    }
    ms_secret_wipe(header.ptr, header.bytes);
    ms_buf_release(&header);
    drop_object(object);
    return rc;
}

static ms_rc call_endpoint(const cloud_credentials *cloud, const ms_http_request *request,
                           ms_credentials_token *token_out, ms_status *st)
{
    long status = 0;
    ms_buf answer;
    ms_buf_init(&answer, MS_HTTP_ANSWER_BYTES_MAX);
    ms_rc rc = ms_http_call(request, &status, &answer, st);
    if (rc == MS_OK) {
        rc = read_answer(cloud, status, ms_buf_view(&answer), token_out, st);
    }
    ms_secret_wipe(answer.ptr, answer.bytes);
    ms_buf_release(&answer);
    return rc;
}

/* Appends key=value of a form. */
static ms_rc put_field(ms_buf *form, const char *key, ms_str value, ms_status *st)
{
    MS_TRY(ms_buf_format(form, st, "%s%s=", form->bytes > 0 ? "&" : "", key));
    for (size_t i = 0; i < value.bytes; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        MS_TRY(is_plain ? ms_buf_append_byte(form, (char)c, st)
                        : ms_buf_format(form, st, "%%%02X", c));
    }
    return MS_OK;
}

static ms_rc fill_form(const cloud_credentials *cloud, ms_buf *form, ms_status *st)
{
    MS_TRY(put_field(form, "grant_type", ms_str_lit("refresh_token"), st));
    MS_TRY(put_field(form, "client_id", cloud->client_id, st));
    MS_TRY(put_field(form, "client_secret", ms_secret_reveal(&cloud->secret), st));
    return put_field(form, "refresh_token", ms_secret_reveal(&cloud->refresh_token), st);
}

static ms_rc fetch_with_refresh_token(const cloud_credentials *cloud,
                                      ms_credentials_token *token_out, ms_status *st)
{
    ms_buf form;
    ms_buf_init(&form, FILE_BYTES_MAX);
    ms_rc rc = fill_form(cloud, &form, st);
    if (rc == MS_OK) {
        ms_http_request request = {
            .url = cloud->url.ptr, .body = ms_buf_view(&form), .timeout_ms = FETCH_TIMEOUT_MS};
        rc = call_endpoint(cloud, &request, token_out, st);
    }
    ms_secret_wipe(form.ptr, form.bytes);
    ms_buf_release(&form);
    return rc;
}

static ms_rc fetch_from_metadata(const cloud_credentials *cloud, ms_credentials_token *token_out,
                                 ms_status *st)
{
    static const char *const headers[] = {"Metadata-Flavor: Google"};
    ms_http_request request = {.url = cloud->url.ptr,
                               .headers = headers,
                               .header_count = 1,
                               .timeout_ms = FETCH_TIMEOUT_MS};
    if (call_endpoint(cloud, &request, token_out, st) == MS_OK) {
        return MS_OK;
    }
    return ms_status_hint(st, "No credentials were found in files: set "
                              "GOOGLE_APPLICATION_CREDENTIALS, or run gcloud auth "
                              "application-default login.");
}

/* Signed tokens. */

static ms_rc sign_token(const cloud_credentials *cloud, ms_credentials_token *token_out,
                        ms_status *st)
{
    int64_t now_s = ms_env_wall_ms() / 1000;
    ms_jwt_claims claims = {.key_id = cloud->key_id,
                            .account = cloud->account,
                            .scopes = ms_str_cstr(cloud->scopes),
                            .issued_s = now_s,
                            .expires_s = now_s + TOKEN_LIFE_S};
    ms_secret token = {0};
    MS_TRY(ms_jwt_sign(&claims, &cloud->secret, &token, st));
    ms_buf header;
    ms_buf_init(&header, FILE_BYTES_MAX);
    ms_rc rc = ms_buf_append(&header, ms_str_lit("Bearer "), st);
    if (rc == MS_OK) {
        rc = ms_buf_append(&header, ms_secret_reveal(&token), st);
    }
    if (rc == MS_OK) {
        ms_secret_set(&token_out->authorization, ms_buf_view(&header));
        token_out->expires_wall_ms = claims.expires_s * 1000;
    }
    ms_secret_wipe(header.ptr, header.bytes);
    ms_buf_release(&header);
    ms_secret_release(&token);
    return rc;
}

/* The class. */

static ms_rc fetch(ms_credentials *credentials, ms_credentials_token *token_out, ms_status *st)
{
    const cloud_credentials *cloud = (const cloud_credentials *)credentials;
    switch (cloud->kind) {
    case SERVICE_ACCOUNT:
        return sign_token(cloud, token_out, st);
    case AUTHORIZED_USER:
        return fetch_with_refresh_token(cloud, token_out, st);
    case METADATA_SERVER:
        return fetch_from_metadata(cloud, token_out, st);
    }
    MS_UNREACHABLE();
}

static void destroy(ms_credentials *credentials)
{
    cloud_credentials *cloud = (cloud_credentials *)credentials;
    ms_secret_release(&cloud->secret);
    ms_secret_release(&cloud->refresh_token);
    ms_arena_release(&cloud->arena);
    ms_mem_free(cloud);
}

static const ms_credentials_class classes[] = {
    [SERVICE_ACCOUNT] = {.name = "service account", .fetch = fetch, .destroy = destroy},
    [AUTHORIZED_USER] = {.name = "authorized user", .fetch = fetch, .destroy = destroy},
    [METADATA_SERVER] = {.name = "metadata server", .fetch = fetch, .destroy = destroy},
};

/* Files. */

static ms_rc missing_member(const char *path, const char *key, ms_status *st)
{
    return ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                         "credentials file \"%s\" has no \"%s\"", path, key);
}

static ms_rc read_service_account(cloud_credentials *cloud, const char *path, const json_t *object,
                                  ms_status *st)
{
    ms_str account = member(object, "client_email");
    ms_str key = member(object, "private_key");
    if (account.bytes == 0 || key.bytes == 0) {
        return missing_member(path, account.bytes == 0 ? "client_email" : "private_key", st);
    }
    cloud->kind = SERVICE_ACCOUNT;
    cloud->account = ms_arena_copy_str(&cloud->arena, account);
    cloud->key_id = ms_arena_copy_str(&cloud->arena, member(object, "private_key_id"));
    ms_secret_set(&cloud->secret, key);
    /* A key that cannot sign is found now, not with the first call. */
    ms_credentials_token token = {0};
    ms_rc rc = sign_token(cloud, &token, st);
    ms_secret_release(&token.authorization);
    return rc == MS_OK ? MS_OK : ms_status_detail(st, "it is in credentials file \"%s\"", path);
}

/* Only Google, or a test on this machine, is told a refresh token. What stands before an "@" is a
 * user, not the host that it looks like. */
static bool is_token_uri(ms_str uri)
{
    if (ms_str_find_byte(uri, '@', 0) != SIZE_MAX || ms_str_find_byte(uri, '\\', 0) != SIZE_MAX) {
        return false;
    }
    return ms_str_starts_with(uri, ms_str_lit("https://")) ||
           ms_str_starts_with(uri, ms_str_lit("http://127.0.0.1:")) ||
           ms_str_starts_with(uri, ms_str_lit("http://localhost:"));
}

static ms_rc read_authorized_user(cloud_credentials *cloud, const char *path, const json_t *object,
                                  ms_status *st)
{
    ms_str client_id = member(object, "client_id");
    ms_str client_secret = member(object, "client_secret");
    ms_str refresh_token = member(object, "refresh_token");
    if (client_id.bytes == 0 || client_secret.bytes == 0 || refresh_token.bytes == 0) {
        return missing_member(path,
                              client_id.bytes == 0       ? "client_id"
                              : client_secret.bytes == 0 ? "client_secret"
                                                         : "refresh_token",
                              st);
    }
    ms_str uri = member(object, "token_uri");
    cloud->kind = AUTHORIZED_USER;
    cloud->client_id = ms_arena_copy_str(&cloud->arena, client_id);
    cloud->url = ms_arena_copy_str(&cloud->arena, uri.bytes > 0 ? uri : ms_str_lit(TOKEN_URI));
    if (!is_token_uri(cloud->url)) {
        return ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                             "credentials file \"%s\" has a \"token_uri\" that is not https, or "
                             "names a user",
                             path);
    }
    ms_secret_set(&cloud->secret, client_secret);
    ms_secret_set(&cloud->refresh_token, refresh_token);
    return MS_OK;
}

static ms_rc read_object(cloud_credentials *cloud, const char *path, const json_t *object,
                         bool wants_account, ms_status *st)
{
    ms_str type = member(object, "type");
    if (ms_str_equals(type, ms_str_lit("service_account"))) {
        return read_service_account(cloud, path, object, st);
    }
    if (ms_str_equals(type, ms_str_lit("authorized_user")) && !wants_account) {
        return read_authorized_user(cloud, path, object, st);
    }
    char text[64];
    snprintf(text, sizeof(text), "%.*s", (int)(type.bytes < 40 ? type.bytes : 40),
             type.ptr != NULL ? type.ptr : "");
    ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                  "credentials file \"%s\" is of type \"%s\", which cannot be used here", path,
                  text);
    return ms_status_hint(st, wants_account ? "Use the key file of a service account."
                                            : "Use service_account or authorized_user.");
}

static ms_rc read_file(cloud_credentials *cloud, const char *path, bool wants_account,
                       ms_status *st)
{
    ms_buf text;
    ms_buf_init(&text, FILE_BYTES_MAX);
    ms_rc rc = ms_file_read_all(path, &text, st);
    if (rc == MS_OK) {
        int line = 0;
        json_t *object = parse_object(ms_buf_view(&text), &line);
        if (object == NULL) {
            rc = ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                               "credentials file \"%s\" is no JSON object", path);
            rc = line > 0 ? ms_status_detail(st, "line %d", line) : rc;
        } else {
            rc = read_object(cloud, path, object, wants_account, st);
            drop_object(object);
        }
    }
    ms_secret_wipe(text.ptr, text.bytes);
    ms_buf_release(&text);
    return rc;
}

/* Where the default is. */

/* The file that gcloud leaves; false when there is none. */
static bool find_well_known(char path_out[PATH_BYTES])
{
    const char *config = getenv("CLOUDSDK_CONFIG");
    const char *home = getenv("HOME");
    int bytes = 0;
    if (config != NULL && config[0] != '\0') {
        bytes = snprintf(path_out, PATH_BYTES, "%s/application_default_credentials.json", config);
    } else if (home != NULL && home[0] != '\0') {
        bytes = snprintf(path_out, PATH_BYTES,
                         "%s/.config/gcloud/application_default_credentials.json", home);
    }
    ms_status st = {0};
    ms_file_info info = {.kind = MS_FILE_KIND_NONE};
    return bytes > 0 && bytes < PATH_BYTES && ms_file_stat(path_out, &info, &st) == MS_OK &&
           info.kind == MS_FILE_KIND_FILE;
}

bool ms_credentials_cloud_has_file(void)
{
    char path[PATH_BYTES];
    const char *named = getenv("GOOGLE_APPLICATION_CREDENTIALS");
    return (named != NULL && named[0] != '\0') || find_well_known(path);
}

static ms_rc use_metadata(cloud_credentials *cloud, ms_status *st)
{
    const char *host = getenv("GCE_METADATA_HOST");
    if (host != NULL && strpbrk(host, "@/?#\\ ") != NULL) {
        return ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                             "GCE_METADATA_HOST is neither HOST nor HOST:PORT");
    }
    ms_str scopes = ms_arena_copy_str(&cloud->arena, ms_str_cstr(cloud->scopes));
    char *at = (char *)(uintptr_t)scopes.ptr;
    for (size_t i = 0; i < scopes.bytes; i++) {
        at[i] = at[i] == ' ' ? ',' : at[i];
    }
    cloud->kind = METADATA_SERVER;
    cloud->url =
        ms_arena_format(&cloud->arena, "http://%s" METADATA_PATH "%.*s",
                        host != NULL && host[0] != '\0' ? host : METADATA_HOST, MS_STR_ARG(scopes));
    return MS_OK;
}

static ms_rc load(cloud_credentials *cloud, const char *key_file, ms_status *st)
{
    if (key_file != NULL) {
        return read_file(cloud, key_file, true, st);
    }
    const char *named = getenv("GOOGLE_APPLICATION_CREDENTIALS");
    if (named != NULL && named[0] != '\0') {
        return read_file(cloud, named, false, st);
    }
    char path[PATH_BYTES];
    if (find_well_known(path)) {
        return read_file(cloud, path, false, st);
    }
    return use_metadata(cloud, st);
}

ms_rc ms_credentials_create_cloud(const ms_credentials_cloud_options *options,
                                  ms_credentials **credentials_out, ms_status *st)
{
    *credentials_out = NULL;
    cloud_credentials *cloud = ms_mem_calloc(1, sizeof(*cloud));
    cloud->scopes = options->scopes;
    ms_arena_init(&cloud->arena, 0);
    if (load(cloud, options->key_file, st) != MS_OK) {
        destroy(&cloud->base);
        return st->code;
    }
    ms_credentials_init(&cloud->base, &classes[cloud->kind], options->loop, options->pool);
    *credentials_out = &cloud->base;
    return MS_OK;
}
