# Requests over three hosts, each a network namespace with an agent of its own: what the last one is told of a request is
# what the first one packed for it. The chain (chain.c) carries its truth in its bytes and counts for itself.

HOSTS=(client middle back)

setup() {
	CHAIN=$(find "$BUILD" -name chain -type f -perm -u+x | head -n 1)
	[ -n "$CHAIN" ] || skip "chain is not built"
	[ "$(id -u)" = 0 ] || skip "entering a process needs root"
	"$CULPRIT" hub --help 2>&1 | grep -q queries || skip "culprit is built without the bus"
	DIR=$(mktemp -d)
	TAG=culprit-h$$-$BATS_TEST_NUMBER
	HUB=ipc://$DIR/hub
	PIDS=()
	declare -gA CHAINS AGENTS
	ip netns add "$TAG-sw" 2>/dev/null || skip "no network namespaces here"
	ip -n "$TAG-sw" link add br0 type bridge
	ip -n "$TAG-sw" link set br0 up
	local nr=0 name
	for name in "${HOSTS[@]}"; do
		nr=$((nr + 1))
		ip netns add "$TAG-$name"
		ip -n "$TAG-$name" link add eth0 type veth peer name "to-$name" netns "$TAG-sw"
		ip -n "$TAG-sw" link set "to-$name" master br0 up
		ip -n "$TAG-$name" addr add "10.79.0.$nr/24" dev eth0
		ip -n "$TAG-$name" link set lo up
		ip -n "$TAG-$name" link set eth0 up
	done
	cat >"$DIR/chain.tp" <<-'EOF'
		tracepoint Client.begin
			at function chain!request_begin entry
			begins a request
			export id = arg0
		tracepoint Server.serve
			at function chain!request_serve entry
			export id = arg0
	EOF
	"$CULPRIT" hub --queries --name hub --listen "$HUB" --state "$DIR/state" 3>&- 2>>"$DIR/err" &
	PIDS+=($!)
}

teardown() {
	local pid name
	for pid in "${PIDS[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
	done
	for name in "${HOSTS[@]}" sw; do
		ip netns del "$TAG-$name" 2>/dev/null || true
	done
	rm -rf "$DIR"
}

# on HOST ARGUMENTS...: one of the chain, there
on() {
	ip netns exec "$TAG-$1" "$CHAIN" "${@:2}" >"$DIR/$1.out" 2>>"$DIR/err" 3>&- &
	CHAINS[$1]=$!
	PIDS+=($!)
}

# agents HOST...
agents() {
	local name
	for name in "$@"; do
		ip netns exec "$TAG-$name" "$CULPRIT" agent --queries --hub "$HUB" --name "$name" --pid "${CHAINS[$name]}" \
			3>&- 2>>"$DIR/err" &
		AGENTS[$name]=$!
		PIDS+=($!)
	done
}

# ask NAME QUERY: in the background; the answer is in $DIR/NAME.answer
ask() {
	"$CULPRIT" query --live --hub "$HUB" --tracepoints "$DIR/chain.tp" --for 120s --json "$2" \
		>"$DIR/$1.answer" 2>"$DIR/$1.said" 3>&- &
	QUERIES[$1]=$!
	PIDS+=($!)
}

# Until so many places run advice, of all agents.
placed() {
	local nr
	for _ in $(seq 200); do
		nr=$("$CULPRIT" hub --status "$HUB" --json | sed -n 's/.*"tracepoints":\([0-9]*\).*/\1/p' | awk '{ s += $1 } END { print s + 0 }')
		[ "$nr" = "$1" ] && return
		sleep 0.1
	done
	echo "$nr places instead of $1"
	cat "$DIR/err"
	return 1
}

# sum NAME KEY: of column n, of rows whose host is KEY
sum() {
	sed -n "s/.*\"host\":\"$2\".*\"n\":\([0-9]*\).*/\1/p" "$DIR/$1.answer" | awk '{ s += $1 } END { print s + 0 }'
}

# loss NAME LOSS: as told last
loss() {
	sed -n "s/.*\"losses\":.*\"$2\":\([0-9]*\).*/\1/p" "$DIR/$1.answer" | awk '{ s = $1 } END { print s + 0 }'
}

# until_sum NAME HOST NUMBER
until_sum() {
	for _ in $(seq 150); do
		[ "$(sum "$1" "$2")" = "$3" ] && return
		sleep 0.1
	done
	echo "$1 on $2: $(sum "$1" "$2") instead of $3"
	tail -n 3 "$DIR/$1.answer" "$DIR/$1.said" "$DIR/err"
	"$CULPRIT" hub --status "$HUB" --json | grep '"agent"\|between\|nobody'
	return 1
}

# chain BY MORE...: all three, asked by a client that waits
chain() {
	on back serve 10.79.0.3:7003 --by "$1"
	on middle serve 10.79.0.2:7002 --to 10.79.0.3:7003 --by "$1"
	on client ask 10.79.0.2:7002 --wait "${@:2}"
	declare -gA QUERIES
	agents "${HOSTS[@]}"
	ask right 'From s In Server.serve Join c In First(Client.begin) On c -> s Where s.id = c.id GroupBy s.host Select s.host As host, COUNT As n'
	ask wrong 'From s In Server.serve Join c In First(Client.begin) On c -> s Where s.id != c.id GroupBy s.host Select s.host As host, COUNT As n'
	ask all 'From s In Server.serve GroupBy s.host Select s.host As host, COUNT As n'
	# all three have both functions: begin for two queries, serve for three
	placed 15
	kill -USR1 "${CHAINS[client]}"
}

served() {
	kill -TERM "${CHAINS[$1]}"
	wait "${CHAINS[$1]}"
	sed -n 's/^served //p' "$DIR/$1.out"
}

@test "each request is told at each host with what its client packed on another one" {
	chain threads --threads 3 --requests 300 --rate 600
	wait "${CHAINS[client]}"
	grep -q '^asked 900 answered 900 wrong 0' "$DIR/client.out"
	until_sum all middle 900
	until_sum all back 900
	until_sum right middle 900
	until_sum right back 900
	[ "$(sum wrong middle)$(sum wrong back)" = 00 ]
	[ "$(served middle)" = 900 ]
	[ "$(served back)" = 900 ]
	[ "$(loss right bags_late)$(loss right bags_foreign)" = 00 ]
}
