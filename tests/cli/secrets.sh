# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Canaries in every place that holds a secret: what the program prints, logs and leaves in directories has none of them,
# neither as they are nor in another form. Read by run.sh, which says what cases are made of. Each case makes sure that
# the program has come as far as the secret, and case_secrets_would_be_seen that the look would find one.

# ---- What these cases are made of ----

canary='CaNaRy7Secret/+' # and two digits behind

# Secrets live in a directory that is not looked at; what the program says is kept. All that it can log, it does.
begin_secrets() {
    mkdir secret
    export MILLSTREAM_LOG=debug CLOUDSDK_CONFIG=$PWD/nothing
    python3 "$here/token_server.py" "$PWD/secret" >secret/server.log 2>&1 &
    until_true test -e secret/port
    endpoint=127.0.0.1:$(cat secret/port)
}

# Keeps what the last run said, resp. what a server says.
keep() {
    cat out err serve.out serve.err s.sql 2>/dev/null >>said
}
spy() { # arguments of the program
    timeout 20 "$program" "$@" >out 2>err </dev/null
    status=$?
    keep
}

# A private key is its own canary: the lines of its text are, and "\n" between them in JSON.
new_key() { # file
    openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$1" 2>/dev/null || fail 'openssl made no key'
    grep -v -- ----- "$1" | head -c 200 | head -3 >>secret/key-lines
}
in_json() { # file
    awk '{ printf "%s\\n", $0 }' "$1"
}

# The forms in which a canary could be found: as it is, base64 at each of the three alignments (less the characters that
# depend on the neighbors), and hexadecimal. What URLs escape stands behind the part that is looked for.
forms() {
    local text=${canary%/+} encoded offset
    printf '%s\n' "$text"
    for offset in 0 1 2; do
        encoded=$(printf '%s%s' "$(printf '%*s' $offset '')" "$text" | base64 -w0)
        encoded=${encoded:$(((offset * 8 + 5) / 6))}
        printf '%s\n' "${encoded:0:$(((${#text} * 8 - 10) / 6))}"
    done
    printf '%s' "$text" | od -An -v -tx1 | tr -d ' \n'
    echo
    cat secret/key-lines 2>/dev/null
}

# Files in which a secret is seen: what was said and all that is in the case's directory but the secrets.
seen() {
    forms >secret/forms
    grep -rlaiF -f secret/forms --exclude-dir=secret .
}
nothing_is_seen() {
    keep
    local where
    where=$(seen) && fail "a secret is in $where: $(grep -aihF -f secret/forms $where | head -3 | cut -c1-300)"
    [ -s said ] || fail 'nothing was said'
}

answers() { # status, body
    printf '%s\n%s' "$1" "$2" >secret/answer
    : >secret/asked
}
was_asked() { # text of a request
    grep -qaF -- "$1" secret/asked || fail "no \"$1\" in what the endpoint was asked: $(head -c 600 secret/asked)"
}

# The statements that meet a Bigtable: plans, descriptions, reading, writing, administration.
statements() { # options of the table
    printf "CREATE TABLE t (k STRING NOT NULL, cf ROW<n BIGINT>, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector'='bigtable', 'project'='p', 'instance'='i', 'table'='t'%s);\nSHOW TABLES;\nDESCRIBE t;\n" "$1"
}
run_all() { # options of the table, options of the program
    local table=$1 last
    shift
    for last in 'EXPLAIN SELECT k FROM t;' 'EXPLAIN INSERT INTO t VALUES (1);' 'SHOW CREATE TABLE t;' 'SELECT nope FROM t;'; do
        printf '%b' "$(statements "$table")$last" >s.sql
        spy run s.sql "$@"
        spy check s.sql
        spy explain s.sql "$@"
    done
}

# ---- The look itself ----

case_secrets_would_be_seen() {
    begin_secrets
    new_key secret/key.pem
    echo nothing >said
    mkdir -p data/deep
    ! seen >/dev/null || fail "seen where nothing is: $(seen)"
    local text="${canary}00" form
    for form in "$text" "x$(printf '%s' "$text" | base64 -w0)" "$(printf 'a%s' "$text" | base64 -w0)" \
        "$(printf 'ab%s' "$text" | base64 -w0)" "$(printf 'Bearer abc:%s' "$text" | base64 -w0)" \
        "$(printf '%s' "$text" | od -An -v -tx1 | tr -d ' \n' | tr a-f A-F)" 'x=CaNaRy7Secret%2F%2B00' \
        "\"private_key\":\"$(in_json secret/key.pem)\"" "$(printf 'CaNaRy7Secret' | tr '[:upper:]' '[:lower:]')"; do
        printf '\0\1binary %s\0\2' "$form" >data/deep/file.sst
        [ "$(seen)" = ./data/deep/file.sst ] || fail "not seen: $form"
    done
    rm data/deep/file.sst
    # In files that the program itself writes, too.
    script "CREATE TABLE t (k STRING NOT NULL, cf ROW<n STRING>, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector'='bigtable', 'project'='p', 'instance'='i', 'table'='t', 'sink.create-disposition'='create-if-needed', 'sink.table-create.gc-rule.max-versions'='1');\nINSERT INTO t VALUES ('a', ROW('$text'));"
    status_is 0
    rm s.sql
    seen | grep -q '^./millstream-data/bigtable/' || fail "a row is not seen in the store: $(seen)"
    (nothing_is_seen 3>/dev/null) && fail 'what is seen is no failure'
    return 0
}

# ---- Files of keys ----

case_secrets_in_files_of_service_accounts() {
    begin_secrets
    new_key secret/key.pem
    export GOOGLE_APPLICATION_CREDENTIALS=$PWD/secret/account.json
    # A good one: the key, its id, the account, what is unknown. There is no way to Cloud from here.
    printf '{"type":"service_account","client_email":"%s01@example.com","private_key_id":"%s02","private_key":"%s","more":"%s03"}' \
        "$canary" "$canary" "$(in_json secret/key.pem)" "$canary" >secret/account.json
    export https_proxy=http://127.0.0.1:9
    spy bigtable ls p/i --bigtable cloud
    status_is 1
    err_has 'bigtable: Cloud, with default credentials'
    err_has 'error[BIGTABLE_UNAVAILABLE]'
    run_all ", 'service-account-key-file'='secret/account.json'"
    err_has_no 'error[FILE_NOT_FOUND]'
    # Bad ones, each told by its name.
    local text count=0
    while IFS= read -r text; do
        printf '%b' "$text" >secret/account.json
        spy bigtable ls p/i --bigtable cloud
        status_is 1
        err_has 'error[INVALID_OPTION]'
        err_has secret/account.json
        run_all ", 'service-account-key-file'='secret/account.json'"
        count=$((count + 1))
    done <<END
${canary}04
{"type":"service_account","client_email":"x","private_key":"${canary}05
{"type":"service_account","client_email":"x","private_key":"${canary}05"}
{"type":"service_account","client_email":"x","private_key":"-----BEGIN PRIVATE KEY-----\\\\n${canary}06\\\\n-----END PRIVATE KEY-----\\\\n"}
{"type":"service_account","client_email":"x","private_key":{"${canary}06":"${canary}06"}}
{"type":"external_account","credential_source":{"headers":"${canary}07"}}
{"private_key":"${canary}05","private_key":"${canary}06"}
["${canary}07"]
{"type":"authorized_user","client_secret":"${canary}09"}
{"type":"authorized_user","client_id":"i","client_secret":"${canary}09","refresh_token":7}
\\\\0377${canary}04
END
    [ $count = 11 ] || fail "only $count files"
    nothing_is_seen
}

# ---- Tokens that are fetched ----

case_secrets_of_users_and_their_tokens() {
    begin_secrets
    export GOOGLE_APPLICATION_CREDENTIALS=$PWD/secret/user.json
    user() { # token_uri
        printf '{"type":"authorized_user","client_id":"id","client_secret":"%s09","refresh_token":"%s10","token_uri":"%s"}' \
            "$canary" "$canary" "$1" >secret/user.json
    }
    user "http://$endpoint/token"
    answers 200 "{\"access_token\":\"${canary}11\",\"expires_in\":3599,\"id_token\":\"${canary}12\",\"refresh_token\":\"${canary}10\"}"
    spy bigtable ls p/i --bigtable cloud
    status_is 1
    err_has 'error[BIGTABLE_UNAVAILABLE]'
    was_asked 'client_secret=CaNaRy7Secret%2F%2B09'
    was_asked 'refresh_token=CaNaRy7Secret%2F%2B10'
    run_all '' --bigtable cloud
    # Refusals and answers that are none.
    local body refused=0
    for body in "{\"error\":\"invalid_grant\",\"error_description\":\"${canary}13\"}" "${canary}14" "{\"error\":\"${canary}14\",\"error_uri\":\"${canary}13\"}"; do
        answers 400 "$body"
        spy bigtable ls p/i --bigtable cloud
        status_is 1
        was_asked 'grant_type=refresh_token'
        err_has 'token endpoint'
        refused=$((refused + 1))
    done
    for body in "{\"access_token\":\"${canary}11" "{\"token\":\"${canary}11\"}" "${canary}14" "{\"access_token\":[\"${canary}11\"]}" "{\"access_token\":\"a\\nb${canary}11\",\"expires_in\":1}"; do
        answers 200 "$body"
        spy bigtable ls p/i --bigtable cloud
        status_is 1
        was_asked 'grant_type=refresh_token'
        refused=$((refused + 1))
    done
    [ $refused = 8 ] || fail "only $refused answers"
    # A password in the address of the endpoint.
    for uri in "https://user:${canary}15@127.0.0.1:1/token" "http://127.0.0.1:${canary}15@$endpoint/token" "ftp://${canary}15" "http://$endpoint/token?key=${canary}15"; do
        answers 500 nothing
        user "$uri"
        spy bigtable ls p/i --bigtable cloud
        status_is 1
    done
    nothing_is_seen
}
case_secrets_of_the_metadata_server() {
    begin_secrets
    export GCE_METADATA_HOST=$endpoint
    answers 200 "{\"access_token\":\"${canary}16\",\"expires_in\":3599,\"token_type\":\"Bearer\"}"
    spy bigtable ls p/i --bigtable cloud
    status_is 1
    was_asked 'Metadata-Flavor: Google'
    err_has 'error[BIGTABLE_UNAVAILABLE]'
    for status_line in 403 404 500; do
        answers $status_line "${canary}17"
        spy bigtable ls p/i --bigtable cloud
        status_is 1
        was_asked 'Metadata-Flavor: Google'
    done
    answers 200 "{\"access_token\":\"${canary}16\",\"expires_in\":\"${canary}17\"}"
    spy bigtable ls p/i --bigtable cloud
    status_is 1
    nothing_is_seen
}

# ---- A server of ours ----

case_secrets_of_a_server() {
    begin_secrets
    (cd secret && certificates)
    grep -v -- ----- secret/server.key >>secret/key-lines
    echo "${canary}18" >secret/token
    echo "${canary}19" >secret/wrong
    local tls=(--set bigtable.tls-ca=secret/ca.pem --set bigtable.token-file=secret/token)
    serve --tls-cert secret/server.pem --tls-key secret/server.key --token-file secret/token --data-dir data
    spy bigtable create-table p/i/t --family cf --bigtable "$address" "${tls[@]}"
    status_is 0
    run_all '' --bigtable "$address" "${tls[@]}"
    spy bigtable ls p/i --data-dir data "${tls[@]}"
    status_is 0
    spy bigtable ls p/i --bigtable "$address" --set bigtable.tls-ca=secret/ca.pem --set bigtable.token-file=secret/wrong
    status_is 1
    err_has 'UNAUTHENTICATED: '
    # A job with checkpoints, stopped and resumed.
    printf '%b' "SET 'bigtable.tls-ca' = 'secret/ca.pem';\nSET 'bigtable.token-file' = 'secret/token';\n$(numbers g 300 300)\n$(rows_of t)\nINSERT INTO t SELECT CAST(id AS STRING), ROW(id) FROM g;" >s.sql
    start run s.sql --bigtable "$address" --checkpoint-interval 50ms --data-dir job
    until_true test -e job/checkpoints/s-1/LOCK
    sleep 0.4
    stop_with INT
    status_is 0
    keep
    nothing_is_seen
    spy run s.sql --bigtable "$address" --checkpoint-interval 50ms --data-dir job --resume
    status_is 0
    spy bigtable count p/i/t --bigtable "$address" "${tls[@]}"
    out_is '300\n'
    # Strangers who send a secret.
    exec 7<>"/dev/tcp/127.0.0.1/$port"
    # In a shell of its own, which SIGPIPE may end: the server has closed after the first line.
    (printf 'GET /%s20 HTTP/1.1\r\nAuthorization: Bearer %s20\r\n\r\n' "$canary" "$canary" >&7)
    exec 7>&-
    end_server TERM 0
    nothing_is_seen
}
case_secrets_in_files_that_a_server_cannot_use() {
    begin_secrets
    (cd secret && certificates)
    grep -v -- ----- secret/server.key >>secret/key-lines
    local text
    # Keys: a text, a PEM of garbage, one that is cut, one of another certificate, one with a passphrase.
    echo "${canary}21" >secret/1.key
    printf -- '-----BEGIN PRIVATE KEY-----\n%s22\n-----END PRIVATE KEY-----\n' "$canary" >secret/2.key
    head -c 150 secret/server.key >secret/3.key
    cp secret/other.key secret/4.key
    openssl pkey -in secret/server.key -aes256 -passout "pass:${canary}23" -out secret/5.key 2>/dev/null
    for text in 1 2 3 4 5; do
        spy serve --listen 127.0.0.1:0 --tls-cert secret/server.pem --tls-key secret/$text.key --data-dir data
        status_is 1
        err_has 'error[INVALID_OPTION]'
        spy serve --listen 127.0.0.1:0 --tls-cert secret/$text.key --tls-key secret/$text.key --data-dir data
        status_is 1
        spy bigtable ls p/i --bigtable 127.0.0.1:1 --set bigtable.tls-ca=secret/$text.key
        status_is 1
    done
    # Tokens that cannot be sent: several lines, other bytes, a key in place of a token.
    printf '%s24\nsecond line %s24\n' "$canary" "$canary" >secret/1.token
    printf '%s24\377\n' "$canary" >secret/2.token
    cp secret/server.key secret/3.token
    printf '%s24\0\n' "$canary" >secret/4.token
    head -c 70000 /dev/zero | tr '\0' x >secret/5.token
    echo "${canary}24" >>secret/5.token
    for text in 1 2 3 4 5; do
        spy serve --listen 127.0.0.1:0 --token-file secret/$text.token --data-dir data
        status_is 1
        err_has 'error['
        err_has "secret/$text.token"
        spy bigtable ls p/i --bigtable 127.0.0.1:1 --set bigtable.token-file=secret/$text.token
        status_is 1
        err_has 'error['
        err_has "secret/$text.token"
    done
    nothing_is_seen
}

# ---- The environment ----

case_secrets_in_the_environment() {
    begin_secrets
    export SECRET_TOKEN="${canary}25" BIGTABLE_TOKEN="${canary}25" http_proxy="http://user:${canary}26@127.0.0.1:9" \
        https_proxy="http://user:${canary}26@127.0.0.1:9" GCE_METADATA_HOST="user:${canary}27@127.0.0.1:9"
    spy version -v
    status_is 0
    spy run missing.sql
    spy bigtable ls p/i --bigtable cloud
    status_is 1
    script "$(numbers g 100 20)\n$(files o made)\nINSERT INTO o SELECT id FROM g;\nSELECT 1/0;" --checkpoint-interval 50ms --result json
    keep
    serve --data-dir data
    spy bigtable create-table p/i/t --family cf --data-dir data
    status_is 0
    end_server TERM 0
    nothing_is_seen
}
