# Runs in a real PostgreSQL: the same answers as from the file, whole or absent whoever is killed, mistakes told in one line.

load postgres.bash
load wait.bash

setup_file() {
	export DIR PG
	DIR=$(mktemp -d)
	chmod 755 "$DIR"
	PG=$DIR/pg
	[ -x "$CULPRIT" ] || return 0
	[ -z "$(postgres_missing)" ] || return 0
	postgres_init "$PG"
	# whoever is called guarded has to give a password
	sed -i '1i local all guarded scram-sha-256' "$PG/data/pg_hba.conf"
	postgres_start "$PG"
	make_log 300 0 >"$DIR/small.log"
	make_log 12000 7 >"$DIR/large.log"
	"$CULPRIT" analyze "$ROOT/samples/hdfs" -o "$DIR/hdfs.culprit" >/dev/null
	"$CULPRIT" analyze "$DIR/small.log" -o "$DIR/small.culprit" >/dev/null
	"$CULPRIT" analyze "$DIR/large.log" -o "$DIR/large.culprit" >/dev/null
}

teardown_file() {
	postgres_stop "$PG" TERM
	rm -rf "$DIR"
}

setup() {
	[ -x "$CULPRIT" ] || skip "culprit is not built"
	local why
	why=$(postgres_missing)
	[ -z "$why" ] || skip "$why"
	run "$CULPRIT" answer 'postgresql:///x?host=/no/such'
	[[ $output != *"built without PostgreSQL"* ]] || skip "culprit is built without PostgreSQL"
	DB=t$BATS_TEST_NUMBER
	sql postgres "CREATE DATABASE $DB"
	AT="postgresql://postgres@/$DB?host=$PG"
}

teardown() {
	[ -z "$SERVER" ] || kill "$SERVER" 2>/dev/null || true
	if [ -n "$MOUNTED" ]; then
		# what the server still means to write there must be dropped first, or it can make no database any more
		rm -f "$MOUNTED/rest"
		for _ in $(seq 60); do
			! sql postgres "DROP DATABASE IF EXISTS tiny WITH (FORCE)" "DROP TABLESPACE tiny" || break
			sleep 1
		done
		umount "$MOUNTED"
	fi
}

# sql DATABASE STATEMENT...: answers without decoration
sql() {
	local db=$1 statement
	shift
	for statement in "$@"; do
		psql -h "$PG" -U postgres -AtqX -v ON_ERROR_STOP=1 -c "$statement" "$db"
	done
}

# make_log REQUESTS SEED: three lines for each, on three nodes
make_log() {
	awk -v nr="$1" -v seed="$2" 'BEGIN {
		for (i = 0; i < nr; i++)
			for (k = 0; k < 3; k++)
				printf "2024-05-01 %02d:%02d:%02d,%03d INFO [worker-%d] shop.Cart: request_id=%08x-77aa step %d\n",
					i / 3600 % 24, i / 60 % 60, i % 60, k * 40 + (i + seed) % 7, i % 9, i * 40503 + seed, k
	}'
}

# same FILE ADDRESS QUESTION OPTION...: both give the same bytes and the same status, the name of the run aside
same() {
	local file=$1 address=$2 question=$3 status_of_file=0 status_of_pg=0
	shift 3
	"$CULPRIT" "$question" "$file" "$@" >"$DIR/of-file" 2>&1 || status_of_file=$?
	"$CULPRIT" "$question" "$address" "$@" >"$DIR/of-pg" 2>&1 || status_of_pg=$?
	[ $status_of_file -lt 2 ] || cat "$DIR/of-file"
	[ $status_of_file -lt 2 ]
	[ $status_of_file = $status_of_pg ]
	sed -i "s|'$address'|RUN|g" "$DIR/of-pg"
	sed -i "s|$file|RUN|g" "$DIR/of-file"
	cmp "$DIR/of-file" "$DIR/of-pg" || { echo "$question $*"; diff "$DIR/of-file" "$DIR/of-pg" | head -n 10; return 1; }
}

# same_everywhere FILE ADDRESS
same_everywhere() {
	local format
	same "$1" "$2" answer
	same "$1" "$2" answer --json
	same "$1" "$2" slow
	same "$1" "$2" slow --json
	same "$1" "$2" paths
	same "$1" "$2" paths --json
	same "$1" "$2" requests
	same "$1" "$2" requests --json
	same "$1" "$2" objects
	same "$1" "$2" objects --relations --json
	same "$1" "$2" objects --instances --json
	same "$1" "$2" objects --links
	[ -s "$DIR/of-pg" ]
	same "$1" "$2" requests --slowest 5
	same "$1" "$2" requests --request 1 --json
	same "$1" "$2" requests --request 1 --lines
	same "$1" "$2" requests --critical-path --request 1
	for format in otlp jaeger chrome perfetto folded dot csv; do
		same "$1" "$2" export --format "$format"
	done
	"$CULPRIT" diff "$1" "$1" --json >"$DIR/of-file" || true
	"$CULPRIT" diff "$2" "$1" --json >"$DIR/of-pg" || true
	cmp "$DIR/of-file" "$DIR/of-pg" || { echo "diff"; return 1; }
}

# refused WORDS COMMAND...: status 2 and one line that says so, never a password
refused() {
	local words=$1
	shift
	run "$@"
	echo "$output"
	[ "$status" = 2 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"$words"* ]]
	[[ $output != *secret* ]]
}

# nr_requests ADDRESS: how many the run there holds; a run that is not whole is an error
nr_requests() {
	"$CULPRIT" requests "$1" --json | grep -c '^{"id":'
}

# leftovers DATABASE: rows of runs that there are not
leftovers() {
	local table nr=0
	for table in blocks requests nodes sequences files losses; do
		nr=$((nr + $(sql "$1" "SELECT count(*) FROM culprit.$table WHERE run NOT IN (SELECT run FROM culprit.runs)")))
	done
	echo $nr
}

@test "every question on logs gives the same bytes as from the run file" {
	"$CULPRIT" export "$DIR/hdfs.culprit" --store "$AT" --run hdfs
	same_everywhere "$DIR/hdfs.culprit" "$AT#hdfs"
	same "$DIR/hdfs.culprit" "$AT" requests --json
	same "$DIR/hdfs.culprit" "$AT#hdfs" requests --level object --types
}

@test "every question on a trace gives the same bytes as from the run file" {
	local traces=$ROOT/tests/cases/traces-of-every-format-give-the-same-request
	"$CULPRIT" analyze "$traces/otlp.json" -o "$DIR/otlp.culprit" --store "$AT" --run 'a trace' >/dev/null
	same_everywhere "$DIR/otlp.culprit" "$AT#a%20trace"
}

@test "a large run is walked and looked into the same way" {
	"$CULPRIT" export "$DIR/large.culprit" --store "$AT#large"
	same "$DIR/large.culprit" "$AT#large" requests --json
	same "$DIR/large.culprit" "$AT#large" requests --request 7777
	same "$DIR/large.culprit" "$AT#large" requests --slowest 50 --json
	same "$DIR/large.culprit" "$AT#large" export --format chrome
}

@test "analyze with --store and no -o leaves no file behind" {
	mkdir "$DIR/here"
	cd "$DIR/here"
	"$CULPRIT" analyze "$DIR/small.log" --store "$AT&password=secret" >"$DIR/said"
	[ -z "$(ls -A)" ]
	cat "$DIR/said"
	if grep -q secret "$DIR/said"; then false; fi
	[ "$(nr_requests "$AT#run")" = 300 ]
}

@test "runs stand side by side, and without a name the newest is meant" {
	"$CULPRIT" export "$DIR/large.culprit" --store "$AT" --run old
	"$CULPRIT" export "$DIR/small.culprit" --store "$AT&run=new"
	[ "$(nr_requests "$AT&run=old")" = 12000 ]
	[ "$(nr_requests "$AT#new")" = 300 ]
	[ "$(nr_requests "$AT")" = 300 ]
	refused "no run 'none' at" "$CULPRIT" requests "$AT#none"
	[[ $output == *"there is: 'new', 'old'" ]]
	[ "$(sql "$DB" 'SELECT count(*) FROM culprit.runs')" = 2 ]
}

@test "a run of the same name is replaced, and deleting one deletes all of it" {
	"$CULPRIT" export "$DIR/large.culprit" --store "$AT#x"
	"$CULPRIT" export "$DIR/small.culprit" --store "$AT#x"
	[ "$(nr_requests "$AT#x")" = 300 ]
	[ "$(sql "$DB" 'SELECT count(*) FROM culprit.requests')" = 300 ]
	[ "$(leftovers "$DB")" = 0 ]
	sql "$DB" "DELETE FROM culprit.runs WHERE name = 'x'"
	[ "$(leftovers "$DB")" = 0 ]
	[ "$(sql "$DB" 'SELECT count(*) FROM culprit.blocks')" = 0 ]
	refused "there are no runs at" "$CULPRIT" requests "$AT"
}

@test "the tables say in SQL what the answers say" {
	"$CULPRIT" export "$DIR/small.culprit" --store "$AT"
	local request
	"$CULPRIT" requests "$DIR/small.culprit" --json | grep '^{"id":42,' >"$DIR/one"
	request=$(sql "$DB" "SELECT duration_ms, sequence, extract(epoch FROM started)::numeric * 1000000000 = start_ns,
		extract(epoch FROM ended)::numeric * 1000000000 = end_ns, spans, incomplete FROM culprit.requests WHERE id = 42")
	cat "$DIR/one"
	echo "$request"
	[[ $request =~ ^([0-9.]+)\|([0-9a-f]{16})\|t\|t\|[0-9]+\|f$ ]]
	grep -q "\"duration\":\"\?$(awk "BEGIN { printf \"%d\", ${BASH_REMATCH[1]} * 1000000 }")" "$DIR/one" || \
		grep -q "${BASH_REMATCH[1]}" "$DIR/one"
	grep -q "\"${BASH_REMATCH[2]}\"" "$DIR/one"
	# every sequence of a request is there, its places counted from 1 without a gap
	[ "$(sql "$DB" "SELECT count(*) FROM culprit.requests q WHERE NOT EXISTS
		(SELECT FROM culprit.sequences s WHERE s.run = q.run AND s.sequence = q.sequence AND s.position = 1)")" = 0 ]
	[ "$(sql "$DB" "SELECT count(*) FROM (SELECT FROM culprit.sequences GROUP BY run, sequence
		HAVING count(*) <> max(position)) s")" = 0 ]
	[ "$(sql "$DB" "SELECT count(*) FROM culprit.sequences WHERE point LIKE '%Cart%'")" -gt 0 ]
	# the nodes of a request and those of its row are the same, and lie within its time
	[ "$(sql "$DB" "SELECT count(*) FROM culprit.requests q JOIN culprit.nodes n ON n.run = q.run AND n.request = q.id
		WHERE NOT n.node = ANY (q.nodes) OR n.first < q.started OR n.last > q.ended")" = 0 ]
	[ "$(sql "$DB" "SELECT sum(array_length(nodes, 1)) = (SELECT count(*) FROM culprit.nodes) FROM culprit.requests")" = t ]
}

@test "bytes that are no UTF-8 are stored too" {
	printf '2024-05-01 00:00:0%d,000 INFO [w\xff] a.B: request_id=7%d-\xc3( st\x80ep\n' 1 1 2 1 3 1 >"$DIR/odd.log"
	"$CULPRIT" analyze "$DIR/odd.log" -o "$DIR/odd.culprit" --store "$AT" >/dev/null
	same "$DIR/odd.culprit" "$AT#odd" requests --json
}

@test "readers see the old run or the new one while it is replaced again and again" {
	local got old=0 new=0
	"$CULPRIT" export "$DIR/small.culprit" --store "$AT#x"
	[ "$(nr_requests "$AT#x")" = 300 ]
	old=1
	(for _ in 1 2 3 4 5; do
		"$CULPRIT" export "$DIR/large.culprit" --store "$AT#x"
		"$CULPRIT" export "$DIR/small.culprit" --store "$AT#x"
	done) 3>&- &
	local pid=$!
	while kill -0 $pid 2>/dev/null; do
		got=$(nr_requests "$AT#x")
		case $got in
		300) old=$((old + 1)) ;;
		12000) new=$((new + 1)) ;;
		*) echo "holds $got requests"; false ;;
		esac
	done
	wait $pid
	echo "# $old times small, $new times large" >&3
	[ $old -gt 0 ]
	[ "$(leftovers "$DB")" = 0 ]
}

@test "two that store under one name both succeed, and one of them stands" {
	"$CULPRIT" export "$DIR/large.culprit" --store "$AT#x" 3>&- &
	local pid=$!
	"$CULPRIT" export "$DIR/small.culprit" --store "$AT#x"
	wait $pid
	[[ $(nr_requests "$AT#x") =~ ^(300|12000)$ ]]
	[ "$(sql "$DB" 'SELECT count(*) FROM culprit.runs')" = 1 ]
	[ "$(leftovers "$DB")" = 0 ]
}

# store_large: in the background, for as long as it takes; PID is its process
store_large() {
	"$CULPRIT" export "$DIR/large.culprit" --store "$AT#x" >"$DIR/words" 2>&1 3>&- 8>&- &
	PID=$!
}

# measure: how long storing takes, in microseconds
measure() {
	local began
	began=$(date +%s%6N)
	"$CULPRIT" export "$DIR/large.culprit" --store "$AT#x"
	WHOLE_US=$(($(date +%s%6N) - began))
}

# hold: nobody can store anything from now on, until let_go; whoever tries waits
hold() {
	mkfifo "$DIR/holder"
	psql -h "$PG" -U postgres -qX "$DB" <"$DIR/holder" >/dev/null 2>&1 3>&- 4>&- &
	exec 8>"$DIR/holder"
	rm "$DIR/holder"
	echo 'BEGIN; LOCK TABLE culprit.blocks IN EXCLUSIVE MODE;' >&8
	wait_until is_held
}

is_held() {
	[ "$(sql "$DB" "SELECT count(*) FROM pg_locks WHERE relation = 'culprit.blocks'::regclass AND mode = 'ExclusiveLock' AND granted")" = 1 ]
}

let_go() {
	exec 8>&-
	wait_until is_free
}

is_free() {
	! is_held
}

# somebody_waits: to store something
somebody_waits() {
	[ "$(sql postgres "SELECT count(*) FROM pg_stat_activity WHERE datname = '$DB' AND wait_event_type = 'Lock'")" = 1 ]
}

# a_while: somewhen within the time that was measured
a_while() {
	local us=$((RANDOM * WHOLE_US / 32768))
	sleep "$((us / 1000000)).$(printf %06d $((us % 1000000)))"
}

@test "kill -9 of culprit at any moment leaves the old run or the new one" {
	local old=0 new=0
	measure
	local times=${KILLS:-6}
	[ "$LIVE" != all ] || times=${KILLS:-15}
	for i in $(seq "$times"); do
		"$CULPRIT" export "$DIR/small.culprit" --store "$AT#x"
		# one of them in the middle for sure
		[ "$i" != 1 ] || hold
		store_large
		if [ "$i" = 1 ]; then wait_until somebody_waits; else a_while; fi
		kill -9 $PID 2>/dev/null || true
		wait $PID || true
		[ "$i" != 1 ] || let_go
		case $(nr_requests "$AT#x") in
		300) old=$((old + 1)) ;;
		12000) new=$((new + 1)) ;;
		*) false ;;
		esac
	done
	echo "# $old old, $new new" >&3
	[ $old -gt 0 ]
	[ "$(leftovers "$DB")" = 0 ]
}

@test "a connection that the server cuts is told, and leaves the old run" {
	local cut=0
	measure
	"$CULPRIT" export "$DIR/small.culprit" --store "$AT#x"
	local times=3
	[ "$LIVE" != all ] || times=5
	for i in $(seq $times); do
		# one of them in the middle for sure
		[ "$i" != 1 ] || hold
		store_large
		[ "$i" != 1 ] || wait_until somebody_waits
		for _ in $(seq 300); do
			[ -n "$(jobs -r)" ] || break
			# (those alone: of conditions side by side the server may try the last one first, and end everybody who is active, itself too)
			[ "$(sql postgres "WITH meant AS MATERIALIZED (SELECT pid FROM pg_stat_activity WHERE datname = '$DB' AND state = 'active'
				AND (query LIKE 'COPY%' OR wait_event_type = 'Lock')) SELECT count(*) FROM meant WHERE pg_terminate_backend(pid)")" = 0 ] || break
		done
		[ "$i" != 1 ] || let_go
		if ! wait $PID; then
			cat "$DIR/words"
			[ "$(wc -l <"$DIR/words")" = 1 ]
			grep -q "lost the connection to '.*': nothing was stored there; try again" "$DIR/words"
			[ "$(nr_requests "$AT#x")" = 300 ]
			cut=$((cut + 1))
		else
			"$CULPRIT" export "$DIR/small.culprit" --store "$AT#x"
		fi
	done
	echo "# $cut of $times were cut" >&3
	[ $cut -gt 0 ]
}

@test "what cannot be stored after all is told all the same" {
	# the server is asked in the beginning; the rest comes to it once it has gone
	mkfifo "$DIR/slow.log"
	"$CULPRIT" analyze "$DIR/slow.log" -o "$DIR/kept.culprit" --store "$AT#x" >"$DIR/said" 2>"$DIR/words" 3>&- &
	local pid=$!
	exec 9>"$DIR/slow.log"
	cat "$DIR/small.log" >&9
	postgres_stop "$PG" TERM
	exec 9>&-
	local status=0
	wait $pid || status=$?
	postgres_start "$PG"
	cat "$DIR/words"
	[ $status = 2 ]
	[ "$(wc -l <"$DIR/words")" = 1 ]
	grep -q "no PostgreSQL answers at .*; the run is in '$DIR/kept.culprit', which 'culprit export' can store" "$DIR/words"
	grep -q '300 requests' "$DIR/said"
	"$CULPRIT" export "$DIR/kept.culprit" --store "$AT"
	[ "$(nr_requests "$AT#kept")" = 300 ]
	# from one address to another
	"$CULPRIT" export "$AT#kept" --store "$AT#copy"
	same "$DIR/kept.culprit" "$AT#copy" requests --json
}

@test "kill -9 of the server in the middle is told, and leaves the old run" {
	measure
	"$CULPRIT" export "$DIR/small.culprit" --store "$AT#x"
	for _ in 1 2 3; do
		store_large
		sleep "0.$(printf %06d $((WHOLE_US / 2 % 1000000)))"
		postgres_stop "$PG" KILL
		if wait $PID; then
			local whole=12000
		else
			cat "$DIR/words"
			[ "$(wc -l <"$DIR/words")" = 1 ]
			grep -q "^culprit: \(lost the connection to\|no PostgreSQL answers at\)" "$DIR/words"
			local whole=300
		fi
		refused "no PostgreSQL answers at" "$CULPRIT" requests "$AT#x"
		rm -f "$PG/data/postmaster.pid" "$PG"/.s.PGSQL.*
		postgres_start "$PG"
		[ "$(nr_requests "$AT#x")" = $whole ]
		"$CULPRIT" export "$DIR/small.culprit" --store "$AT#x"
	done
	[ "$(leftovers "$DB")" = 0 ]
}

@test "a full disk of the server is told, and leaves the old run" {
	[ "$(id -u)" = 0 ] || skip "needs root to mount a tmpfs"
	mkdir "$DIR/tiny"
	mount -t tmpfs -o "size=16m,uid=$(id -u postgres),mode=700" tmpfs "$DIR/tiny" 2>/dev/null || skip "cannot mount a tmpfs"
	MOUNTED=$DIR/tiny
	chmod 755 "$DIR"
	sql postgres "CREATE TABLESPACE tiny LOCATION '$DIR/tiny'"
	sql postgres "CREATE DATABASE tiny TABLESPACE tiny"
	local at="postgresql://postgres@/tiny?host=$PG#x"
	"$CULPRIT" export "$DIR/small.culprit" --store "$at"
	head -c $((($(df --output=avail "$DIR/tiny" | tail -n 1) - 1024) * 1024)) /dev/zero >"$DIR/tiny/rest"
	refused "no space left on the disk of the server" "$CULPRIT" export "$DIR/large.culprit" --store "$at"
	[ "$(nr_requests "$at")" = 300 ]
}

@test "a wrong password, or none, is told without it" {
	sql "$DB" "DROP ROLE IF EXISTS guarded" "CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'right'"
	local at="postgresql://guarded@/$DB?host=$PG"
	export HOME=$DIR
	refused "asks for a password: put it into PGPASSWORD or ~/.pgpass" "$CULPRIT" requests "$at"
	refused "refuses this user or password" env PGPASSWORD=secret "$CULPRIT" requests "$at"
	refused "refuses this user or password" "$CULPRIT" requests "postgresql://guarded:secret@/$DB?host=$PG"
	refused "refuses this user or password" "$CULPRIT" export "$DIR/small.culprit" --store "$at&password=secret"
	PGPASSWORD=right "$CULPRIT" export "$DIR/small.culprit" --store "$at"
	printf '*:*:*:guarded:right\n' >"$DIR/.pgpass"
	chmod 600 "$DIR/.pgpass"
	[ "$(nr_requests "$at")" = 300 ]
	rm "$DIR/.pgpass"
	# an answer names the run in the commands that it proposes
	"$CULPRIT" export "$DIR/hdfs.culprit" --store "postgresql://guarded:right@/$DB?host=$PG#hdfs"
	run "$CULPRIT" answer "postgresql://guarded:right@/$DB?host=$PG#hdfs"
	echo "$output"
	[[ $output == *"'postgresql://guarded@/$DB?host=$PG#hdfs'"* ]]
	[[ $output != *right@* ]]
}

@test "a user without rights is told so before any work is done" {
	sql "$DB" "DROP ROLE IF EXISTS guest" "CREATE ROLE guest LOGIN"
	local at="postgresql://guest@/$DB?host=$PG"
	refused "does not let this user do that: its owner can GRANT it" "$CULPRIT" analyze "$DIR/small.log" --store "$at"
	"$CULPRIT" export "$DIR/small.culprit" --store "$AT"
	refused "its owner can GRANT it" "$CULPRIT" requests "$at"
	sql "$DB" "GRANT USAGE ON SCHEMA culprit TO guest" "GRANT SELECT ON ALL TABLES IN SCHEMA culprit TO guest"
	[ "$(nr_requests "$at")" = 300 ]
	refused "their owner can GRANT SELECT, INSERT, UPDATE, DELETE" "$CULPRIT" export "$DIR/small.culprit" --store "$at"
	sql "$DB" "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA culprit TO guest"
	"$CULPRIT" export "$DIR/small.culprit" --store "$at"
	[ "$(leftovers "$DB")" = 0 ]
	sql "$DB" "DROP OWNED BY guest"
}

@test "an empty schema that someone else made is filled, one in use is left alone" {
	sql "$DB" "DROP ROLE IF EXISTS tenant" "CREATE ROLE tenant LOGIN" 'CREATE SCHEMA "Team ""x" AUTHORIZATION tenant'
	local at="postgresql://tenant@/$DB?host=$PG&schema=Team%20%22x"
	"$CULPRIT" export "$DIR/small.culprit" --store "$at"
	[ "$(nr_requests "$at")" = 300 ]
	[ "$(sql "$DB" 'SELECT count(*) FROM "Team ""x".requests')" = 300 ]
	refused "there are no runs at" "$CULPRIT" requests "$AT"
	sql "$DB" "CREATE SCHEMA culprit" "CREATE TABLE culprit.runs (mine text)"
	refused "holds tables of something else: name another with ?schema=NAME" "$CULPRIT" export "$DIR/small.culprit" --store "$AT"
	refused "holds tables of something else" "$CULPRIT" requests "$AT"
	sql "$DB" "DROP OWNED BY tenant CASCADE"
}

@test "what a newer culprit made is refused" {
	"$CULPRIT" export "$DIR/small.culprit" --store "$AT"
	sql "$DB" "UPDATE culprit.runs SET format = 99"
	refused "was made by a newer culprit" "$CULPRIT" requests "$AT"
	sql "$DB" "UPDATE culprit.about SET culprit_version = 99"
	refused "was made by a newer culprit" "$CULPRIT" requests "$AT"
	refused "was made by a newer culprit" "$CULPRIT" export "$DIR/small.culprit" --store "$AT"
	sql "$DB" "DELETE FROM culprit.about"
	refused "is damaged (no version)" "$CULPRIT" requests "$AT"
}

@test "a run that was damaged in the database is told" {
	"$CULPRIT" export "$DIR/small.culprit" --store "$AT"
	sql "$DB" "UPDATE culprit.blocks SET data = set_byte(data, 20, get_byte(data, 20) # 1) WHERE part = 3"
	run "$CULPRIT" paths "$AT"
	[ "$status" = 2 ]
	[[ $output == *"is damaged (a checksum differs)"* ]]
	sql "$DB" "DELETE FROM culprit.blocks WHERE part = 0"
	refused "is damaged (its catalog is missing)" "$CULPRIT" requests "$AT"
}

@test "databases that cannot be used are told" {
	refused "database \"none\" does not exist" "$CULPRIT" requests "postgresql://postgres@/none?host=$PG"
	refused "no PostgreSQL answers at" "$CULPRIT" analyze "$DIR/small.log" --store "postgresql://u:secret@localhost:1/x"
	refused "is no address of PostgreSQL" "$CULPRIT" requests "postgresql://u:secret@h/db?nonsense=1"
	sql postgres "DROP DATABASE IF EXISTS latin"
	sql postgres "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
	refused "holds text as LATIN1" "$CULPRIT" export "$DIR/small.culprit" --store "postgresql://postgres@/latin?host=$PG"
	"$CULPRIT" export "$DIR/small.culprit" --store "$AT"
	sql "$DB" "ALTER DATABASE $DB SET default_transaction_read_only = on"
	refused "can only be read" "$CULPRIT" export "$DIR/small.culprit" --store "$AT"
	[ "$(nr_requests "$AT")" = 300 ]
}

# asked PATH: what the page's server answers, or why not
asked() {
	python3 -c 'import sys, urllib.error, urllib.request
try:
    sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1]).read())
except urllib.error.HTTPError as e:
    sys.stdout.buffer.write(e.read())' "$ADDRESS$1"
}

answers_as() {
	[ "$(asked api/requests?types)" = "$1" ]
}

nobody_is_connected() {
	[ "$(sql postgres "SELECT count(*) FROM pg_stat_activity WHERE datname = '$DB'")" = 0 ]
}

@test "a run is shown on the page, anew when it is replaced, and nothing is held when nobody looks" {
	run "$CULPRIT" serve --for 1ms --listen 127.0.0.1:0
	[[ $output != *"built without the page"* ]] || skip "culprit is built without the page"
	"$CULPRIT" analyze "$DIR/small.log" --store "$AT" --run a >/dev/null
	"$CULPRIT" serve --listen 127.0.0.1:0 --for 20min "$AT#a" >"$DIR/address" 2>"$DIR/serve.err" 3>&- 4>&- &
	SERVER=$!
	wait_until test -s "$DIR/address"
	ADDRESS=$(cat "$DIR/address")
	[ "$(asked api/requests?types)" = "$("$CULPRIT" requests "$DIR/small.culprit" --types --json)" ]
	"$CULPRIT" analyze "$DIR/large.log" --store "$AT" --run a >/dev/null
	local want
	want=$("$CULPRIT" requests "$DIR/large.culprit" --types --json)
	wait_until answers_as "$want"
	[ "$(asked api/requests?types)" = "$want" ]
	[[ $(asked api/runs) == *'"generation":2'* ]]
	wait_until nobody_is_connected
	sql "$DB" "DELETE FROM culprit.runs"
	[[ $(asked api/requests?types) == *"there are no runs"* ]]
	kill "$SERVER"
	wait "$SERVER"
	SERVER=
}
