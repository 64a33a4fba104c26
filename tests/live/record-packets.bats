# "culprit record --messages": packets of a network namespace of its own are captured while programs talk in it.

setup() {
	[ -x "$CULPRIT" ] || skip "culprit is not built"
	[ "$(id -u)" = 0 ] || skip "capturing packets needs root"
	DIR=$(mktemp -d)
	RUN=$DIR/x.culprit
	NS=culprit-$$-$BATS_TEST_NUMBER
	ip netns add "$NS" 2>/dev/null || { NS=; skip "no network namespaces here"; }
	ip -n "$NS" link set lo up
	HTTP=$ROOT/tests/live/record_http.py
	printf '127.0.0.1 client\n127.0.0.2 back\n127.0.0.3 front\n' >"$DIR/names"
}

teardown() {
	[ -z "$PID" ] || kill -9 "$PID" 2>/dev/null || true
	[ -z "$NS" ] || ip netns del "$NS"
	rm -rf "$DIR"
}

# inside COMMAND...: in the namespace
inside() {
	ip netns exec "$NS" "$@"
}

# record OPTIONS...: standard output is kept in $DIR/out, standard error in $DIR/err
record() {
	inside "$CULPRIT" record --messages -o "$RUN" "$@" >"$DIR/out" 2>"$DIR/err"
}

# count FILE PATTERN
count() {
	grep -c "$2" "$1" || true
}

# loss NAME: how often, as the last line of JSON in $DIR/out tells it
loss() {
	sed -n "s/.*\"losses\":.*\"$1\":\([0-9]*\).*/\1/p" "$DIR/out"
}

# wait_for_capture: until a socket for packets is open in the namespace
wait_for_capture() {
	for ((i = 0; i < 100; i++)); do
		[ "$(inside sh -c 'wc -l </proc/net/packet')" -lt 2 ] || return 0
		sleep 0.05
	done
	echo "nothing captures"
	return 1
}

@test "record until a command ends: every request is found with the call that it makes" {
	record --names "$DIR/names" --blind --json -- "$HTTP" 40
	grep -q '^40 answered$' "$DIR/err"
	"$CULPRIT" paths "$RUN" --json >"$DIR/paths"
	cat "$DIR/paths" "$DIR/out"
	grep -q '"path":"front(back)","count":40,' "$DIR/paths"
	[ "$(count "$DIR/paths" '"path"')" = 1 ]
	[ -z "$(loss packets_dropped)" ]
}

@test "record with ids that the messages carry gives the same requests" {
	record --names "$DIR/names" --json -- "$HTTP" 40 8
	"$CULPRIT" paths "$RUN" --json >"$DIR/paths"
	cat "$DIR/paths"
	grep -q '"path":"front(back)","count":40,' "$DIR/paths"
}

@test "record on one interface and with a filter leaves out the rest" {
	record -i lo --filter 'tcp port 8002' --names "$DIR/names" -- "$HTTP" 10
	"$CULPRIT" paths "$RUN" --json >"$DIR/paths"
	cat "$DIR/paths" "$DIR/out"
	grep -q '"path":"back","count":10,' "$DIR/paths"
	[ "$(count "$DIR/paths" '"path"')" = 1 ]
}

@test "record on several interfaces takes those and no others" {
	ip -n "$NS" link add va type veth peer name vb 2>/dev/null || skip "no veth here"
	ip -n "$NS" link set va up
	ip -n "$NS" link set vb up
	record -i va -i lo --filter tcp --names "$DIR/names" -- "$HTTP" 10
	"$CULPRIT" paths "$RUN" --json | grep '"path":"front(back)","count":10,'
	run record -i va -i vb --filter tcp -- "$HTTP" 10
	[ "$status" = 1 ]
	grep -q 'live packets: va,vb' "$DIR/out"
	grep -q '0 requests' "$DIR/out"
}

@test "record ends with Ctrl-C and keeps what it has" {
	ip netns exec "$NS" "$CULPRIT" record --messages --names "$DIR/names" -o "$RUN" --for 60s >"$DIR/out" 2>"$DIR/err" &
	PID=$!
	wait_for_capture
	inside "$HTTP" 20
	kill -INT $PID
	wait $PID
	PID=
	cat "$DIR/out"
	"$CULPRIT" paths "$RUN" --json | grep '"path":"front(back)","count":20,'
}

@test "record ends after the time and after the packets given" {
	local begin=$SECONDS
	run record --for 1s
	[ "$status" = 1 ]
	[ $((SECONDS - begin)) -le 5 ]
	record --packets 50 --write "$DIR/x.pcap" -- "$HTTP" 40
	"$CULPRIT" requests "$RUN" >/dev/null
	# 24 of the file, 16 and at least 54 of each packet: there are 50, not all
	python3 - "$DIR/x.pcap" <<-'END'
		import struct, sys
		data, at, nr = open(sys.argv[1], "rb").read(), 24, 0
		while at < len(data):
		    at, nr = at + 16 + struct.unpack_from("<I", data, at + 8)[0], nr + 1
		sys.exit(0 if (nr, at) == (50, len(data)) else f"{nr} packets")
	END
}

@test "a capture that record wrote gives the same run when it is read" {
	record --write "$DIR/x.pcap" --names "$DIR/names" -- "$HTTP" 30 4
	"$CULPRIT" paths "$RUN" --instances --json >"$DIR/live"
	"$CULPRIT" paths "$DIR/x.pcap" --names "$DIR/names" --instances --json >"$DIR/read"
	cmp "$DIR/live" "$DIR/read"
}

@test "record counts what it could not take when the buffer is too small" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	record --buffer 1 --json -- "$HTTP" 400 8 2000000
	tail -n 1 "$DIR/out"
	echo "# $(loss packets_dropped) packets dropped, $(loss stream_gaps) gaps" >&3
	# drops depend on the machine; whatever was dropped is told, and never more than a gap for each
	[ "$(loss stream_gaps || echo 0)" -le "$(($(loss packets_dropped) + 0))" ] || [ -z "$(loss stream_gaps)" ]
}

@test "record keeps what it has when the interface goes away" {
	ip -n "$NS" link add va type veth peer name vb 2>/dev/null || skip "no veth here"
	ip -n "$NS" link set va up
	ip netns exec "$NS" "$CULPRIT" record --messages -i va -o "$RUN" --for 20s --json >"$DIR/out" 2>"$DIR/err" &
	PID=$!
	wait_for_capture
	ip -n "$NS" link del va
	wait $PID || [ $? = 1 ]
	PID=
	[ "$(loss captures_ended_early)" = 1 ]
	"$CULPRIT" requests "$RUN" >/dev/null || [ $? = 1 ]
}

@test "record says what stands in its way, in one line" {
	tell() {
		run inside "$CULPRIT" record --messages -o "$RUN" "$@"
		echo "$output"
		[ "$status" = 2 ]
		[ "$(wc -l <<<"$output")" = 1 ]
		[ ! -e "$RUN" ]
	}
	tell -i nowhere
	[ "$output" = "culprit: there is no network interface 'nowhere'; there is: any, lo" ]
	tell --filter 'tcp prot 80'
	[[ $output == "culprit: the filter 'tcp prot 80' is not understood: "* ]]
	tell -- "$DIR/no-such-program"
	[ "$output" = "culprit: cannot run '$DIR/no-such-program': No such file or directory" ]
	tell --write "$DIR/none/x.pcap"
	[[ $output == "culprit: cannot write $DIR/none/x.pcap: No such file"* ]]
	ip -n "$NS" link set lo down
	tell -i lo
	[ "$output" = "culprit: the network interface 'lo' is down: ip link set lo up" ]
}

@test "record without the right to capture says what to do" {
	local culprit=$DIR/culprit
	command -v setpriv >/dev/null || skip "no setpriv here"
	cp "$CULPRIT" "$culprit"
	chmod 755 "$DIR" "$culprit"
	cd /
	run setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
		"$culprit" record --messages -o /dev/shm/culprit-$$.culprit
	echo "$output"
	[ "$status" = 2 ]
	[[ $output == "culprit: capturing packets needs root"* ]]
}
