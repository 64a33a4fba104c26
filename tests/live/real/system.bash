# A real system in network namespaces of its own: a bridge in one, and around it a client, nginx, an application server,
# PostgreSQL behind a proxy that can delay, and Redis. Everything is started here by its binary, with its data in $DIR, and
# ended by its process id. Nothing of the machine outside is touched: where a namespace goes, its links go with it.

REAL=$ROOT/tests/live/real
# shellcheck source=tests/live/postgres.bash
. "$ROOT/tests/live/postgres.bash"
declare -gA PIDS=()

# system_missing: what keeps it from running here, or nothing
system_missing() {
	local name
	[ "$(id -u)" = 0 ] || { echo "needs root for network namespaces"; return; }
	for name in ip nginx redis-server python3 setpriv; do
		command -v "$name" >/dev/null || { echo "needs $name (tools/setup live)"; return; }
	done
	postgres_bin >/dev/null || { echo "needs PostgreSQL (tools/setup live)"; return; }
	if ! ip netns add "$TAG-probe" 2>/dev/null; then
		echo "this kernel makes no network namespaces"
		return
	fi
	ip -n "$TAG-probe" link add br0 type bridge 2>/dev/null &&
		ip -n "$TAG-probe" link add v0 type veth peer name v1 2>/dev/null || echo "this kernel has no bridge or no veth"
	ip netns del "$TAG-probe"
}

# in_ns NAME COMMAND...: in the namespace of that part; never bats' own descriptors, or bats would wait for it
in_ns() {
	local name=$1
	shift
	exec ip netns exec "$TAG-$name" "$@" 3>&- 4>&-
}

# start PART NAMESPACE COMMAND...: in the background; its words go to $DIR/PART.out
start() {
	local part=$1
	shift
	(in_ns "$@") >"$DIR/$part.out" 2>&1 </dev/null &
	PIDS[$part]=$!
}

# stop PART SIGNAL: ends it by its id and waits for it
stop() {
	local pid=${PIDS[$1]:-}
	[ -n "$pid" ] || return 0
	unset "PIDS[$1]"
	kill -s "$2" "$pid" 2>/dev/null || true
	for _ in $(seq 600); do # what is recorded is analysed before it ends
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	kill -s KILL "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
}

# wait_port NAMESPACE ADDRESS PORT: until somebody listens there
wait_port() {
	for _ in $(seq 150); do
		if (in_ns "$1" bash -c "exec 9<>/dev/tcp/$2/$3") 2>/dev/null; then
			return 0
		fi
		sleep 0.1
	done
	echo "nobody listens on $2:$3"
	tail -n 5 "$DIR"/*.out
	return 1
}

net_up() {
	local name number=0
	ip netns add "$TAG-sw"
	ip -n "$TAG-sw" link add br0 type bridge
	ip -n "$TAG-sw" link set br0 up promisc on
	for name in web app db cache client; do
		number=$((number + 1))
		ip netns add "$TAG-$name"
		ip -n "$TAG-$name" link add eth0 type veth peer name "to-$name" netns "$TAG-sw"
		ip -n "$TAG-sw" link set "to-$name" master br0 up
		ip -n "$TAG-$name" addr add "10.77.0.$number/24" dev eth0
		ip -n "$TAG-$name" link set lo up
		ip -n "$TAG-$name" link set eth0 up
	done
}

postgres_up() {
	local bin
	bin=$(postgres_bin)
	install -d -o postgres "$DIR/pg" "$DIR/run"
	setpriv --reuid=postgres --regid=postgres --init-groups "$bin/initdb" -A trust -U postgres --no-sync -D "$DIR/pg" \
		>"$DIR/initdb.out" 2>&1
	start postgres db setpriv --reuid=postgres --regid=postgres --init-groups "$bin/postgres" -D "$DIR/pg" \
		-c listen_addresses=127.0.0.1 -c port=5433 -c "unix_socket_directories=$DIR/run" -c fsync=off \
		-c shared_buffers=16MB -c autovacuum=off
	wait_port db 127.0.0.1 5433
	(in_ns db psql -q -h 127.0.0.1 -p 5433 -U postgres -c \
		"CREATE TABLE item AS SELECT id, 'item ' || id AS name FROM generate_series(0, 999) id; CREATE INDEX ON item (id)")
}

# system_up MILLISECONDS: everything, the way to PostgreSQL so much longer
system_up() {
	system_shop_down
	if [ -z "${PIDS[redis]:-}" ]; then
		printf '%s\n' '10.77.0.1 nginx' '10.77.0.2 shop' '10.77.0.3 postgres' '10.77.0.4 redis' \
			'10.77.0.5 client' >"$DIR/names"
		net_up
		postgres_up
		start redis cache redis-server --bind 10.77.0.4 --port 6379 --protected-mode no --save '' --appendonly no --dir "$DIR"
		wait_port cache 10.77.0.4 6379
	fi
	start proxy db python3 "$REAL/delay.py" 10.77.0.3 5432 127.0.0.1:5433 "$1"
	wait_port db 10.77.0.3 5432
	start shop app python3 "$REAL/shop.py" 10.77.0.2 8000 10.77.0.4:6379 10.77.0.3:5432
	wait_port app 10.77.0.2 8000
	sed "s|DIR|$DIR|" "$REAL/shop.conf" >"$DIR/nginx.conf"
	start nginx web nginx -c "$DIR/nginx.conf" -e "$DIR/nginx.log"
	wait_port web 10.77.0.1 80
}

system_shop_down() {
	stop nginx TERM
	stop shop TERM
	stop proxy TERM
}

system_down() {
	local part name pid
	system_shop_down
	stop redis TERM
	stop postgres INT
	for part in "${!PIDS[@]}"; do
		stop "$part" TERM
	done
	for name in client web app db cache sw; do
		for pid in $(ip netns pids "$TAG-$name" 2>/dev/null); do
			kill -s KILL "$pid" # left by a part that could not be ended, in a namespace that is ours
		done
		ip netns del "$TAG-$name" 2>/dev/null || true
	done
}

# capture NAME CONCURRENCY REQUESTS: records the messages on the bridge, blindly, while the load runs. The run is in
# $DIR/NAME.culprit, the packets are in $DIR/NAME.pcap, where the truth is.
capture() {
	local answered
	start record sw "$CULPRIT" record --messages --interface br0 --blind --names "$DIR/names" \
		--write "$DIR/$1.pcap" -o "$DIR/$1.culprit"
	wait_capture
	SEED=$((${SEED:-0} + 1))
	answered=$(in_ns client timeout 120 python3 "$REAL/load.py" 10.77.0.1:80 "$2" "$3" 60 "$SEED")
	sleep 1
	stop record INT
	[ "$answered" = "$3" ] || { echo "$answered of $3 requests were answered"; return 1; }
	[ -s "$DIR/$1.culprit" ] || { echo "no run:"; cat "$DIR/record.out"; return 1; }
}

wait_capture() {
	for _ in $(seq 100); do
		[ "$(in_ns sw sh -c 'wc -l </proc/net/packet')" -lt 2 ] || return 0
		sleep 0.1
	done
	echo "nothing captures"
	cat "$DIR/record.out"
	return 1
}
