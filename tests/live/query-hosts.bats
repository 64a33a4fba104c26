# Requests over three hosts, each a network namespace with an agent of its own: what the last one is told of a request is
# what the first one packed for it. The chain (chain.c) carries its truth in its bytes and counts for itself.

load wait.bash

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
	declare -gA CHAINS AGENTS TEXTS
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
	wait_until "$CULPRIT" hub --status "$HUB"
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
	wait_runs "$!" "$CHAIN"
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
	"$CULPRIT" query --live --hub "$HUB" --tracepoints "$DIR/chain.tp" --for 1200s --json "$2" \
		>"$DIR/$1.answer" 2>"$DIR/$1.said" 3>&- &
	TEXTS[$1]=$2
	PIDS+=($!)
}

# Until so many places run advice, of all agents.
placed() {
	wait_until has_places "$1" || { echo "$(places) places instead of $1"; cat "$DIR/err"; return 1; }
}
places() {
	"$CULPRIT" hub --status "$HUB" --json | sed -n 's/.*"tracepoints":\([0-9]*\).*/\1/p' | awk '{ s += $1 } END { print s + 0 }'
}
has_places() { [ "$(places)" = "$1" ]; }

# sum NAME KEY: of column n, of rows whose host is KEY
sum() {
	sed -n "s/.*\"host\":\"$2\".*\"n\":\([0-9]*\).*/\1/p" "$DIR/$1.answer" | awk '{ s += $1 } END { print s + 0 }'
}

# loss NAME LOSS: of that query, as the hub has it
loss() {
	"$CULPRIT" hub --status "$HUB" --json | grep -F "\"text\":\"${TEXTS[$1]}\"" |
		sed -n "s/.*\"losses\":.*\"$2\":\([0-9]*\).*/\1/p" | awk '{ s = $1 } END { print s + 0 }'
}

# told NAME HOST...: rows of these hosts, and those that were left out as another host was late (on a busy machine some are)
told() {
	local nr host
	nr=$(loss "$1" bags_late)
	for host in "${@:2}"; do
		nr=$((nr + $(sum "$1" "$host")))
	done
	echo "$nr"
}

is_told() { [ "$(told "${@:2}")" = "$1" ]; }

# until_told NUMBER NAME HOST...
until_told() {
	! wait_until is_told "$@" || return 0
	echo "${*:2}: $(told "${@:2}") instead of $1, $(loss "$2" bags_late) of them late"
	tail -n 3 "$DIR/$2.answer" "$DIR/$2.said" "$DIR/err"
	"$CULPRIT" hub --status "$HUB" --json | grep '"role":"agent"\|between\|nobody'
	return 1
}

# chain BY MORE...: all three, asked by a client that waits
chain() {
	on back serve 10.79.0.3:7003 --by "$1"
	on middle serve 10.79.0.2:7002 --to 10.79.0.3:7003 --by "$1"
	on client ask 10.79.0.2:7002 --wait "${@:2}"
	agents "${HOSTS[@]}"
	ask right 'From s In Server.serve Join c In First(Client.begin) On c -> s Where s.id = c.id GroupBy s.host Select s.host As host, COUNT As n'
	ask wrong 'From s In Server.serve Join c In First(Client.begin) On c -> s Where s.id != c.id GroupBy s.host Select s.host As host, COUNT As n'
	ask all 'From s In Server.serve GroupBy s.host Select s.host As host, COUNT As n'
}

# Requests begin when all agents have all queries: all three programs have both functions.
begin() {
	placed $((3 * (5 + ${1:-0})))
	kill -USR1 "${CHAINS[client]}"
}

# served HOST: ends it well; what it has served is in $served
served() {
	kill -TERM "${CHAINS[$1]}"
	wait "${CHAINS[$1]}"
	served=$(sed -n 's/^served //p' "$DIR/$1.out")
}

# exact BY MORE...: 900 requests, each right at both servers or told as late, and none wrong
exact() {
	chain "$@"
	begin
	wait "${CHAINS[client]}"
	grep -q '^asked 900 answered 900 wrong 0' "$DIR/client.out"
	until_told 1800 all middle back
	until_told 1800 right middle back
	echo "$(sum right middle) and $(sum right back) right, $(loss right bags_late) late"
	[ "$(sum wrong middle)$(sum wrong back)" = 00 ]
	[ "$(sum right middle)" -gt 0 ]
	[ "$(sum right back)" -gt 0 ]
	[ "$(sum right middle)" -le 900 ]
	[ "$(loss right bags_foreign)$(loss right bags_mixed)" = 00 ]
	served middle
	[ "$served" = 900 ]
	served back
	[ "$served" = 900 ]
}

@test "each request is told at each host with what its client packed on another one" {
	exact threads --threads 3 --requests 300 --rate 600
}

@test "in a loop of events, and in pieces of odd sizes, too" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	exact loop --threads 3 --requests 300 --rate 600 --cut
}

has_both() { [ "$(sum both back)" -gt 0 ] && [ "$(told both back)" -ge 300 ]; }

@test "what a host in the middle packs of what came from another one is told at the last" {
	chain threads --threads 3 --requests 100 --rate 300
	ask both 'From s In Server.serve Join m In First(Server.serve) On m -> s Join c In First(Client.begin) On c -> m Where s.id = c.id And m.id = c.id And m.host != s.host GroupBy s.host, m.host Select s.host As host, m.host As via, COUNT As n'
	begin 3
	wait "${CHAINS[client]}"
	until_told 300 all back
	wait_until has_both
	echo "$(sum both back), $(loss both bags_late) late"
	[ "$(sum both back)" -gt 0 ]
	[ "$(told both back)" -ge 300 ]
	grep -q '"via":"middle"' "$DIR/both.answer"
	[ "$(sum both middle)$(loss both tuples_lost)$(loss both rows_incomplete)" = 000 ]
}

more_right() { [ "$(sum right back)" -gt "$1" ]; }
more_late() { [ "$(loss right bags_late)" -gt "$1" ]; }
all_told() { [ "$(sum all back)" = "$served" ] && [ "$(sum right back)" -gt 0 ] && [ "$(told right back)" -ge "$served" ]; }

@test "an agent in the middle that is killed makes rows late, which is counted, and none wrong" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	chain threads --threads 3 --seconds 600 --rate 300
	begin
	wait_until more_right 300
	kill -9 "${AGENTS[middle]}"
	wait_until more_late 100
	kill -TERM "${CHAINS[client]}"
	wait "${CHAINS[client]}"
	served back
	# what the agent of the last one saw there is right, or late
	wait_until all_told
	echo "$(sum right back) right, $(loss right bags_late) late, $(loss right bags_foreign) foreign of $served; asked $(sum all back)"
	[ "$(sum wrong middle)$(sum wrong back)" = 00 ]
	[ "$(sum right back)" -gt 300 ]
	[ "$(loss right bags_late)" -gt 100 ]
	[ "$(told right back)" -ge "$served" ]
}

unknown_or_late() { [ "$(($(loss right bags_foreign) + $(loss right bags_late)))" -ge "$1" ]; }

@test "requests of a host without an agent begin with nothing, which is counted" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	HOSTS=(middle back)
	chain threads --threads 3 --requests 100 --rate 300
	HOSTS=(client middle back)
	placed 10
	kill -USR1 "${CHAINS[client]}"
	wait "${CHAINS[client]}"
	until_told 300 all back
	wait_until unknown_or_late 300
	echo "$(loss right bags_foreign) foreign, $(loss right bags_late) late"
	[ "$(loss right bags_foreign)" -gt 0 ]
	[ "$(($(loss right bags_foreign) + $(loss right bags_late)))" -ge 300 ]
	[ "$(sum right back)$(sum right middle)$(sum wrong back)$(sum wrong middle)" = 0000 ]
}
