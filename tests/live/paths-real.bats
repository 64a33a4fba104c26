# A real system, nginx, an application server, PostgreSQL and Redis, each in a network namespace: what culprit infers from
# its packets, blindly, is held against the trace ids that stand in them.

setup() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[ -x "$CULPRIT" ] || skip "culprit is not built"
	TAG=culprit-real-$$-$BATS_TEST_NUMBER
	DIR=$(mktemp -d)
	chmod 711 "$DIR"
	. "$ROOT/tests/live/real/system.bash"
	local why
	why=$(system_missing)
	[ -z "$why" ] || skip "$why"
}

teardown() {
	[ -z "$TAG" ] || system_down
	[ -z "$DIR" ] || rm -rf "$DIR"
}

# score NAME METHOD: sets CALLS and REQUESTS, the shares that are right, and SURE, that of calls 0.9 sure and more
score() {
	local nr_calls nr_requests unknown from=$DIR/$1.culprit
	local blind=(--blind --names "$DIR/names" --method "$2")
	[ "$2" = joint ] && blind=() || from=$DIR/$1.pcap
	"$CULPRIT" paths "$from" "${blind[@]}" --instances --json >"$DIR/instances"
	read -r nr_calls CALLS nr_requests REQUESTS unknown SURE < <(
		python3 "$REAL/score.py" "$DIR/$1.pcap" "$DIR/names" "$DIR/instances"
	)
	echo "# $1 $2: $nr_calls calls, $CALLS right; $nr_requests requests, $REQUESTS right; of sure calls $SURE" >&3
	[ "$unknown" = 0 ]
}

# at_least VALUE FLOOR
at_least() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }' || { echo "$1 is less than $2"; return 1; }
}

@test "calls find their requests at concurrency 1, 8 and 64, better than by nesting" {
	local nesting
	system_up 0
	capture alone 1 600
	score alone joint
	at_least "$CALLS" 0.99
	at_least "$REQUESTS" 0.98
	capture eight 8 1500
	score eight nesting
	nesting=$CALLS
	score eight joint
	at_least "$CALLS" 0.7
	at_least "$REQUESTS" 0.4
	at_least "$SURE" 0.9
	at_least "$CALLS" "$nesting"
	capture many 64 2000
	score many nesting
	nesting=$CALLS
	score many joint
	at_least "$CALLS" 0.15
	at_least "$SURE" 0.85
	at_least "$CALLS" "$nesting"
}

# first_hop WHAT...: of the differences between two runs, the first hop: node, milliseconds more
first_hop() {
	"$CULPRIT" diff "$1" "$2" --json >"$DIR/diff"
	python3 - "$DIR/diff" <<-'END_PY'
	import json, sys
	rows = [json.loads(line) for line in open(sys.argv[1])]
	first = [row for row in rows if row.get("what") in ("hop", "mix")][0]
	print(first["what"], first["node"], round(first["delta"] / 1e6))
	END_PY
}

@test "200 ms more on the way to the database are named by diff, with their size" {
	local what node more late
	system_up 0
	capture before 8 800
	system_up 200
	capture after 8 800
	system_shop_down
	late=$(tail -n 1 "$DIR/proxy.out") # a busy machine is later than it should be
	read -r what node more < <(first_hop "$DIR/before.culprit" "$DIR/after.culprit")
	echo "# $what $node $more ms, late by $late ms" >&3
	cat "$DIR/diff" "$DIR/proxy.out"
	[ "$what $node" = "hop postgres" ]
	[ "$late" -ge 200 ]
	[ $((more * 100)) -ge $((late * 95)) ]
	[ $((more * 100)) -le $((late * 105)) ]
}

@test "no change of the system is told as no slow hop" {
	local what node more
	system_up 0
	capture before 8 800
	capture after 8 800
	read -r what node more < <(first_hop "$DIR/before.culprit" "$DIR/after.culprit")
	echo "# $what $node $more ms" >&3
	[ "$more" -le 10 ]
}
