#!/usr/bin/env bats
# culprit variance on servers of Debian, whose binaries nobody changed, with a cause that is planted.

bats_require_minimum_version 1.5.0
load ports.bash
load postgres.bash
load wait.bash

setup_file() {
	[ "$LIVE" = all ] || return 0
	export SHIM="$BUILD/tests/variance/slow_fsync.so"
}

setup() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[ "$(uname -m)" = x86_64 ] || skip "functions are watched on x86-64 only"
	[ "$(id -u)" = 0 ] || skip "needs root"
	DIR=$(mktemp -d /tmp/culprit-variance.XXXXXX)
	chmod 755 "$DIR"
	cp "$SHIM" "$DIR/slow.so" 2>/dev/null || true
	chmod 644 "$DIR/slow.so" 2>/dev/null || true
	LOAD=
	SERVER=
	OTHER=
}

teardown() {
	# shellcheck disable=SC2086  # there may be several
	[ -z "${LOAD:-}" ] || kill $LOAD 2>/dev/null || true
	for pid in ${SERVER:-} ${OTHER:-}; do
		kill "$pid" 2>/dev/null || true
		for _ in $(seq 100); do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.1
		done
	done
	[ -z "${DIR:-}" ] || rm -rf "$DIR"
}

# postgres SLOW_ONE_IN: a server whose disk hesitates so often; 0: never
postgres() {
	local missing
	missing=$(postgres_missing)
	[ -z "$missing" ] || skip "$missing"
	postgres_init "$DIR/pg" >/dev/null
	(as_postgres env LD_PRELOAD="$DIR/slow.so" SLOW_ONE_IN="$1" SLOW_US=20000 "$(postgres_bin)/postgres" -D "$DIR/pg/data" -c listen_addresses= \
		-c "unix_socket_directories=$DIR/pg" -c fsync=on -c wal_sync_method=fdatasync >"$DIR/log" 2>&1 3>&- 4>&-) &
	wait_until psql -h "$DIR/pg" -U postgres -Atqc 'SELECT 1' postgres
	SERVER=$(head -1 "$DIR/pg/data/postmaster.pid")
}

# postgres_is_well: nothing bad in its log, but that it let nobody in before it was ready
postgres_is_well() {
	! grep -E 'PANIC|FATAL|signal 11|terminated by' "$DIR/log" | grep -v 'FATAL:  the database system is starting up'
}

# first_factors N: the names of the first factors, and the paths that lead to them
first_factors() {
	python3 - "$DIR/factors.json" "$1" <<-'END'
	import json, sys
	rows = [json.loads(x) for x in open(sys.argv[1]) if '"factor"' in x]
	rows = [r for r in rows if "factor" in r and len(r["factor"]) == 1]
	rows.sort(key=lambda r: -r["share"])
	for r in rows[: int(sys.argv[2])]:
	    print(r["factor"][0], r["path"])
	END
}

variance() {
	timeout -s KILL 120 "$CULPRIT" variance -p "$SERVER" --json --no-run "$@" >"$DIR/factors.json" 2>"$DIR/said" || { cat "$DIR/said"; return 1; }
	kill -0 "$SERVER"
}

# stop_load: what made the server busy
stop_load() {
	# shellcheck disable=SC2086  # there may be several
	kill $LOAD 2>/dev/null || true
	LOAD=
}

# rate COMMAND...: how much it says that the server does a second
rate() {
	"$@" 2>&1 3>&- 4>&- | tr '\r' '\n' | grep -a 'per second' | grep -oE '[0-9.]+' | head -1
}

# as_fast_as WATCHED OTHER COMMAND...: the server that was watched is as fast as its twin that never was, by the medians of nine turns
# of each, one after the other, so that both have the same machine; the command is given the address of the one, then of the other
as_fast_as() {
	local watched=$1 other=$2
	shift 2
	for _ in 1 2 3 4 5 6 7 8 9; do
		echo "$(rate "$@" "$watched") $(rate "$@" "$other")"
	done >"$DIR/rates"
	python3 - "$DIR/rates" <<-'END'
	import statistics, sys
	was, never = (statistics.median(map(float, rates)) for rates in zip(*map(str.split, open(sys.argv[1]))))
	print(f"{was:.0f} a second of the one that was watched, {never:.0f} of its twin")
	sys.exit(was < 0.9 * never)
	END
}

@test "PostgreSQL whose disk hesitates: the flush of the log is told" {
	postgres 5
	pgbench -h "$DIR/pg" -U postgres -i -s 10 -q postgres >/dev/null 2>&1
	timeout -s KILL 120 pgbench -h "$DIR/pg" -U postgres -N -c 4 -T 40 postgres >"$DIR/bench" 2>&1 3>&- 4>&- &
	LOAD=$!
	sleep 1
	variance --for 25s
	first_factors 1
	first_factors 1 | grep -q XLogFlush
	psql -h "$DIR/pg" -U postgres -Atqc 'SELECT 1' postgres
	postgres_is_well
}

@test "PostgreSQL with one row that all change: the wait for its lock is told" {
	postgres 0
	psql -h "$DIR/pg" -U postgres -qc 'CREATE TABLE hot (id int PRIMARY KEY, n int); INSERT INTO hot VALUES (1, 0)' postgres
	printf '%s\n' '\set ms random(1, 8)' 'BEGIN;' 'UPDATE hot SET n = n + 1 WHERE id = 1;' 'SELECT pg_sleep(:ms / 1000.0);' 'COMMIT;' >"$DIR/hot.sql"
	timeout -s KILL 120 pgbench -h "$DIR/pg" -U postgres -n -f "$DIR/hot.sql" -c 6 -T 40 postgres >"$DIR/bench" 2>&1 3>&- 4>&- &
	LOAD=$!
	sleep 1
	variance --for 25s
	first_factors 2
	first_factors 1 | grep -qE 'LockAcquire|ProcSleep|LockTuple|WaitLatch'
	postgres_is_well
}

@test "MariaDB whose disk hesitates: the commit is told" {
	command -v mariadbd >/dev/null && command -v sysbench >/dev/null || skip "needs MariaDB and sysbench (tools/setup live)"
	install -d -o mysql -g mysql "$DIR/my"
	mariadb-install-db --no-defaults --user=mysql --datadir="$DIR/my/data" --auth-root-authentication-method=normal --skip-test-db >/dev/null 2>&1
	(LD_PRELOAD="$DIR/slow.so" SLOW_ONE_IN=5 SLOW_US=20000 exec setpriv --reuid=mysql --regid=mysql --init-groups "$(command -v mariadbd)" --no-defaults \
		--datadir="$DIR/my/data" --socket="$DIR/my/s" --pid-file="$DIR/my/pid" --skip-networking >"$DIR/log" 2>&1 3>&- 4>&-) &
	wait_until mariadb -uroot -S "$DIR/my/s" -e 'SELECT 1'
	SERVER=$(cat "$DIR/my/pid")
	mariadb -uroot -S "$DIR/my/s" -e 'CREATE DATABASE sbtest'
	sysbench oltp_write_only --mysql-socket="$DIR/my/s" --mysql-user=root --tables=1 --table-size=10000 prepare >/dev/null
	timeout -s KILL 120 sysbench oltp_write_only --mysql-socket="$DIR/my/s" --mysql-user=root --tables=1 --table-size=10000 --threads=4 --time=45 run >"$DIR/bench" 2>&1 3>&- 4>&- &
	LOAD=$!
	sleep 2
	variance --for 30s
	first_factors 3
	first_factors 1 | grep -qE 'commit|Commit|log_write|flush'
	mariadb -uroot -S "$DIR/my/s" -e 'SELECT 1' >/dev/null
}

@test "Redis where somebody asks for all keys: the command is told" {
	command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null || skip "needs Redis (tools/setup live)"
	redis-server --port 0 --unixsocket "$DIR/s" --save '' --dir "$DIR" >"$DIR/log" 2>&1 3>&- 4>&- &
	SERVER=$!
	redis-server --port 0 --unixsocket "$DIR/twin" --save '' --dir "$DIR" >/dev/null 2>&1 3>&- 4>&- &
	OTHER=$!
	for socket in "$DIR/s" "$DIR/twin"; do
		wait_until redis-cli -s "$socket" PING
		redis-benchmark -s "$socket" -n 100000 -r 100000 -t set -P 16 >/dev/null 2>&1
	done
	(while sleep 0.1; do redis-cli -s "$DIR/s" KEYS 'a*'; done) >/dev/null 2>&1 3>&- 4>&- &
	LOAD=$!
	redis-benchmark -s "$DIR/s" -n 100000000 -r 100000 -t get,set -c 10 >/dev/null 2>&1 3>&- 4>&- &
	LOAD="$LOAD $!"
	sleep 0.5
	variance --for 20s
	stop_load
	first_factors 2
	first_factors 1 | grep -q keysCommand
	as_fast_as "$DIR/s" "$DIR/twin" redis-benchmark -n 30000 -t get -s
	run ! grep -iE 'crash|assert|signal 11' "$DIR/log"
}

# nginx_with NAME PORT FAR_PORT: in the background
nginx_with() {
	cat >"$DIR/$1.conf" <<-END
	user nobody nogroup;
	worker_processes 1;
	daemon off;
	pid $DIR/$1.pid;
	error_log $DIR/$1.log;
	events { worker_connections 256; }
	http {
		access_log off;
		client_body_temp_path $DIR/tmp; proxy_temp_path $DIR/tmp; fastcgi_temp_path $DIR/tmp; uwsgi_temp_path $DIR/tmp; scgi_temp_path $DIR/tmp;
		server {
			listen 127.0.0.1:$2;
			root $DIR/www;
			location /far { proxy_pass http://127.0.0.1:$3; }
		}
	}
	END
	"$(command -v nginx)" -c "$DIR/$1.conf" >"$DIR/$1.out" 2>&1 3>&- 4>&- &
}

# answers PORT: somebody listens there
answers() {
	(exec 9<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

@test "nginx in front of a server that is slow now and then: requests wait" {
	command -v nginx >/dev/null && command -v ab >/dev/null || skip "needs nginx and ab (tools/setup live)"
	mkdir "$DIR/www" "$DIR/tmp"
	head -c 20000 /dev/zero | base64 >"$DIR/www/index.html"
	chown nobody "$DIR/tmp"
	read -r near twin far < <(port_find 3 | xargs)
	python3 "$ROOT/tests/live/variance_slow_server.py" "$far" >/dev/null 2>&1 3>&- 4>&- &
	LOAD=$!
	nginx_with near "$near" "$far"
	SERVER=$!
	nginx_with twin "$twin" "$far"
	OTHER=$!
	for port in "$near" "$twin" "$far"; do
		wait_until answers "$port"
	done
	ab -q -t 60 -n 1000000 -c 4 "http://127.0.0.1:$near/far" >/dev/null 2>&1 3>&- 4>&- &
	LOAD="$LOAD $!"
	sleep 0.5
	variance --for 20s
	stop_load
	first_factors 2
	first_factors 1 | grep -qE '^wait:(queue|io) '
	as_fast_as "http://127.0.0.1:$near/" "http://127.0.0.1:$twin/" ab -q -n 2000 -c 4
	run ! grep -E 'signal|exited on|alert|emerg' "$DIR/near.log"
}

# apache_with NAME PORT: in the background
apache_with() {
	local modules=/usr/lib/apache2/modules
	cat >"$DIR/$1.conf" <<-END
	ServerName localhost
	Listen 127.0.0.1:$2
	ServerRoot $DIR
	PidFile $DIR/$1.pid
	ErrorLog $DIR/$1.log
	User nobody
	Group nogroup
	LoadModule mpm_prefork_module $modules/mod_mpm_prefork.so
	LoadModule authz_core_module $modules/mod_authz_core.so
	LoadModule cgi_module $modules/mod_cgi.so
	LoadModule alias_module $modules/mod_alias.so
	LoadModule mime_module $modules/mod_mime.so
	LoadModule dir_module $modules/mod_dir.so
	TypesConfig /etc/mime.types
	StartServers 4
	DocumentRoot $DIR/www
	ScriptAlias /cgi/ $DIR/www/cgi/
	END
	# when it ends it ends all of its group
	setsid apache2 -f "$DIR/$1.conf" -DFOREGROUND >"$DIR/$1.out" 2>&1 3>&- 4>&- &
	wait_until answers "$2"
	wait_until test -s "$DIR/$1.pid"
}

@test "Apache with a program that sleeps now and then: where it waits for it is told" {
	command -v apache2 >/dev/null && command -v ab >/dev/null || skip "needs Apache and ab (tools/setup live)"
	[ -e /usr/lib/apache2/modules/mod_cgi.so ] || skip "needs mod_cgi"
	mkdir -p "$DIR/www/cgi"
	head -c 20000 /dev/zero | base64 >"$DIR/www/index.html"
	# shellcheck disable=SC2016  # for the script that is written
	printf '%s\n' '#!/bin/sh' "printf 'Content-Type: text/plain\\r\\n\\r\\nhello\\n'" 'read -r n </proc/sys/kernel/random/uuid' \
		'case $n in 0*|1*) sleep 0.1;; esac' >"$DIR/www/cgi/a.sh"
	chmod 755 "$DIR/www/cgi/a.sh"
	read -r near twin < <(port_find 2 | xargs)
	apache_with near "$near"
	SERVER=$(cat "$DIR/near.pid")
	apache_with twin "$twin"
	OTHER=$(cat "$DIR/twin.pid")
	ab -q -t 60 -n 1000000 -c 4 "http://127.0.0.1:$near/cgi/a.sh" >/dev/null 2>&1 3>&- 4>&- &
	LOAD=$!
	sleep 0.5
	variance --for 25s
	stop_load
	first_factors 2
	# in what reads from the program's pipe
	first_factors 1 | grep -qE 'mod_cgi|ap_scan_script|ap_pass_brigade|content_length'
	as_fast_as "http://127.0.0.1:$near/" "http://127.0.0.1:$twin/" ab -q -n 1000 -c 4
	run ! grep -E 'Segmentation|exit signal' "$DIR/near.log"
}
