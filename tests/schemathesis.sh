#!/usr/bin/env bash
# Sends generated input, valid and invalid, to all calls of the OpenAPI document, as an administrator and to the real
# program. There must be no 5xx and no closed connection, and responses must conform to the document.
#
#   tests/schemathesis.sh            on SQLite
#   HEXFORGE_DATABASE_URL=postgres://… tests/schemathesis.sh
#
# HEXFORGE_SCHEMATHESIS_SECONDS    duration in seconds (60)
# HEXFORGE_PROGRAM                 path of the program (by default target/debug/hexforge, which is built first)
# Further arguments go to `schemathesis run`. The exit status is 77 if schemathesis cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${HEXFORGE_SCHEMATHESIS_SECONDS:-60}"
version="4.32.5"
tools="$PWD/target/tools/schemathesis-$version"
if [ ! -x "$tools/bin/schemathesis" ]; then
    python3 -m venv "$tools"
    if ! "$tools/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"; then
        echo "schemathesis could not be installed"
        exit 77
    fi
fi
program="${HEXFORGE_PROGRAM:-${CARGO_TARGET_DIR:-$PWD/target}/debug/hexforge}"
[ -n "${HEXFORGE_PROGRAM:-}" ] || cargo build --quiet --package hexforge-server --bin hexforge

place="$(mktemp -d)"
server=""
# Stops the server and removes its files.
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    rm -rf "$place"
}
trap end EXIT

export HEXFORGE_DATA_DIR="$place/data" HEXFORGE_LISTEN=127.0.0.1:0 HEXFORGE_SSH_LISTEN=off HEXFORGE_LOG=warn
export HEXFORGE_ROOT_PASSWORD=correct-horse HEXFORGE_ROOT_TOKEN=root-token-for-schemathesis HEXFORGE_HOOK_TIMEOUT=1
"$program" >"$place/out" 2>"$place/log" &
server=$!
for _ in $(seq 100); do
    grep -q 'listening on' "$place/out" && break
    sleep 0.1
done
address="$(sed -n 's/.*(listening on \(.*\)).*/\1/p' "$place/out")"
api="http://$address/api/v3"

# Objects with small ids.
call() { curl -sS -o "$place/answer" -H "PRIVATE-TOKEN: $HEXFORGE_ROOT_TOKEN" "$api/$1" "${@:2}"; }
call groups -d name=crew -d path=crew
call projects -d name=ship
mkdir "$place/tree"
printf 'test:\n  script: make\n' >"$place/tree/.gitlab-ci.yml"
git -C "$place/tree" init -q -b master
git -C "$place/tree" add .
git -C "$place/tree" -c user.name=Ada -c user.email=ada@example.com commit -qm Begin
git -C "$place/tree" tag v1
git -C "$place/tree" push -q "http://root:correct-horse@$address/root/ship.git" master v1
call projects/1/issues -d title=Leak -d labels=bug
call projects/1/issues/1/notes -d body=Water
call projects/1/milestones -d title=Sea
call projects/1/hooks -d url=http://hooks.invalid/
call hooks -d url=http://hooks.invalid/
call projects/1/variables -d key=KEY -d value=value
call projects/1/triggers -d x=y
# The caller has a larger id, because users with small ids will be blocked and removed.
for n in $(seq 25); do
    call users -d "username=user$n" -d "name=User $n" -d "email=user$n@example.com" -d password=correct-horse
done
call users -d username=tester -d name=Tester -d email=tester@example.com -d password=correct-horse -d admin=true
token="$("$program" token create --user tester)"

# Calls that remove the objects of all other calls run last.
last=(delete_groups_id delete_projects_id delete_users_id put_users_uid_block post_projects_id_archive)
failed=0
# schemathesis writes files into its working directory.
cd "$place"
run() {
    "$tools/bin/schemathesis" run "$api/openapi.json" --no-color --workers 1 --phases examples,coverage,fuzzing \
        --checks "$checks" --continue-on-failure --warnings off \
        --suppress-health-check all --generation-database none --request-timeout 60 -H "PRIVATE-TOKEN: $token" "$@" || failed=$?
}
# The body is empty if there was nothing to remove (see docs/dialects.md), which OpenAPI cannot describe.
empty=delete_projects_id_hooks_hook_id
checks=not_a_server_error,content_type_conformance,response_schema_conformance
# This call removes the token of the caller.
revoke=delete_user_tokens_id
run --max-time "$seconds" "${last[@]/#/--exclude-operation-id=}" --exclude-operation-id="$empty" \
    --exclude-operation-id="$revoke" "$@"
run --max-time 10 "${last[@]/#/--include-operation-id=}" "$@"
checks=not_a_server_error
run --max-time 5 --include-operation-id="$empty" "$@"
run --max-time 5 --include-operation-id="$revoke" "$@"
token="$("$program" token create --user tester)"
status="$(curl -s -o "$place/answer" -w '%{http_code}' -H "PRIVATE-TOKEN: $token" "$api/user")"
if [ "$status" != 200 ]; then
    echo "after the run, the server answers with status $status"
    failed=1
fi
if grep -q ' ERROR .*hexforge' "$place/log"; then
    echo "the server logged errors:"
    grep ' ERROR .*hexforge' "$place/log" | head -20
    failed=1
fi
exit "$failed"
