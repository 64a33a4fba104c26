# A PostgreSQL of one's own: its data and its socket in a directory that the test gives, no port, ended by its process id.

# postgres_bin: where the programs of Debian's PostgreSQL are
postgres_bin() {
	local dir
	for dir in /usr/lib/postgresql/*/bin; do
		[ ! -x "$dir/postgres" ] || { echo "$dir"; return; }
	done
	return 1
}

# as_postgres COMMAND...: takes the place of the shell, which is to be one of its own; PostgreSQL refuses to run as root
as_postgres() {
	if [ "$(id -u)" = 0 ]; then
		exec setpriv --reuid=postgres --regid=postgres --init-groups "$@"
	fi
	exec "$@"
}

# postgres_missing: what keeps it from running here, or nothing
postgres_missing() {
	postgres_bin >/dev/null || { echo "needs PostgreSQL (tools/setup live)"; return; }
	[ "$(id -u)" != 0 ] || command -v setpriv >/dev/null || echo "needs setpriv"
}

# postgres_init DIR [OPTION...]: a fresh cluster there; whoever comes through the socket is let in as postgres
postgres_init() {
	local dir=$1
	shift
	if [ "$(id -u)" = 0 ]; then
		install -d -o postgres -g postgres -m 755 "$dir"
	else
		mkdir -p "$dir"
	fi
	(as_postgres "$(postgres_bin)/initdb" -A trust -U postgres -E UTF8 --locale=C --no-sync -D "$dir/data" "$@") \
		>"$dir.initdb" 2>&1 || { cat "$dir.initdb"; return 1; }
}

# postgres_start DIR [OPTION...]: begins to serve; its process is in $dir.id
postgres_start() {
	local dir=$1
	shift
	(as_postgres "$(postgres_bin)/postgres" -D "$dir/data" -c listen_addresses= -c "unix_socket_directories=$dir" -c fsync=off \
		-c shared_buffers=16MB "$@") >"$dir.out" 2>&1 </dev/null 3>&- 4>&- &
	echo $! >"$dir.id"
	for _ in $(seq 1800); do
		! psql -h "$dir" -U postgres -Atqc 'SELECT 1' postgres >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	tail -n 5 "$dir.out"
	return 1
}

# postgres_stop DIR SIGNAL: TERM ends it in order, KILL as a power cut would, with all its processes
postgres_stop() {
	local pid children="" child
	[ -s "$1.id" ] || return 0
	pid=$(cat "$1.id")
	rm -f "$1.id"
	[ "$2" != KILL ] || children=$(grep -lsx "PPid:.$pid" /proc/[0-9]*/status | cut -d / -f 3)
	for child in $pid $children; do
		kill -s "$2" "$child" 2>/dev/null || true
	done
	for _ in $(seq 100); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	kill -s KILL "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
}
