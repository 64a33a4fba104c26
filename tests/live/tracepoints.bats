#!/usr/bin/env bats
# Tracepoints of a server of Debian, whose binary nobody changed: they are there, and queries of them count exactly.

bats_require_minimum_version 1.5.0
load postgres.bash
load wait.bash

setup() {
	local missing
	[ "$(uname -m)" = x86_64 ] || skip "functions are watched on x86-64 only"
	missing=$(postgres_missing)
	[ -z "$missing" ] || skip "$missing"
	DIR=$(mktemp -d /tmp/culprit-tracepoints.XXXXXX)
	chmod 755 "$DIR"
	ASKING=
}

teardown() {
	[ -z "${ASKING:-}" ] || kill "$ASKING" 2>/dev/null || true
	[ -z "${DIR:-}" ] || postgres_stop "$DIR/pg" TERM
	[ -z "${DIR:-}" ] || rm -rf "$DIR"
}

# serve: a server with a table
serve() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[ "$(id -u)" = 0 ] || skip "needs root"
	postgres_init "$DIR/pg"
	postgres_start "$DIR/pg"
	psql -h "$DIR/pg" -U postgres -Atqc 'CREATE TABLE kept(v int)' postgres
}

# ask QUERY: from now on, until asked ends
ask() {
	"$CULPRIT" query --live --pid "$(cat "$DIR/pg.id")" --tracepoints postgresql --json "$1" >"$DIR/told" 2>"$DIR/said" 3>&- 4>&- &
	ASKING=$!
	if ! wait_patched "$(cat "$DIR/pg.id")" || ! kill -0 "$ASKING"; then
		cat "$DIR/said"
		return 1
	fi
}

# asked_end: what was asked has been told
asked_end() {
	kill -INT "$ASKING"
	wait "$ASKING" || true
	ASKING=
}

# told COLUMN VALUE NUMBER SUM: that is the sum of NUMBER in all rows whose COLUMN begins with VALUE; later rows of a second replace
# earlier ones
told() {
	python3 - "$DIR/told" "$@" <<-'END'
	import json, sys
	path, column, value, number, want = sys.argv[1:]
	rows = [json.loads(line) for line in open(path) if line.endswith("\n")]
	rows = {(r["time"], r[column]): r[number] for r in rows if str(r.get(column, "")).startswith(value)}
	print(sum(rows.values()))
	sys.exit(sum(rows.values()) != int(want))
	END
}

# load SCRIPT CLIENTS TIMES
load_with() {
	echo "$1" >"$DIR/script.sql"
	pgbench -h "$DIR/pg" -U postgres -n -f "$DIR/script.sql" -c "$2" -t "$3" postgres >"$DIR/bench" 2>&1
}

@test "the places of the set for PostgreSQL are in the server" {
	run "$CULPRIT" tracepoints postgresql --check --program "$(postgres_bin)/postgres"
	[ "$status" = 0 ]
	[[ "$output" != *" no"* ]]
}

@test "statements of a server are counted, each once" {
	serve
	ask 'From q In DB.Query GroupBy q.text Select q.text, COUNT As n'
	load_with 'SELECT 4711;' 3 700
	load_with 'SELECT 4712;' 1 50
	wait_until told q.text 'SELECT 4712' n 50
	asked_end
	told q.text 'SELECT 4711' n 2100
	told q.text 'SELECT 4712' n 50
}

@test "rows that are inserted belong to the statement that inserts them" {
	serve
	ask 'From i In DB.Insert Join q In MostRecent(DB.Query) On q -> i GroupBy q.text Select q.text, COUNT As n'
	load_with 'INSERT INTO kept SELECT generate_series(1, 10);' 2 100
	load_with 'INSERT INTO kept VALUES (1);' 2 300
	wait_until told q.text 'INSERT INTO kept VALUES' n 600
	asked_end
	told q.text 'INSERT INTO kept SELECT' n 2000
	told q.text 'INSERT INTO kept VALUES' n 600
}

@test "a process is tried out" {
	serve
	(load_with 'with x as (SELECT 4711) TABLE x;' 1 20000) 3>&- 4>&- &
	LOAD=$!
	run "$CULPRIT" tracepoints postgresql --test --pid "$(cat "$DIR/pg.id")" --for 3s --json
	[ "$status" = 0 ]
	[[ "$output" == *'"example":"text with x as (SELECT 4711) TABLE x;"'* ]]
	wait "$LOAD"
}
