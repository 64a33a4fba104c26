# "culprit record --messages": packets of a network namespace of its own are captured while programs talk in it.
# shellcheck disable=SC2030,SC2031  # each test is a process of its own

load wait.bash

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

# record_aside OPTIONS...: goes on beside the test, as process $PID, and returns when everything is attached
record_aside() {
	ip netns exec "$NS" "$CULPRIT" record --messages -o "$RUN" "$@" -- \
		sh -c "touch '$DIR/ready'; exec sleep 600" >"$DIR/out" 2>"$DIR/err" &
	PID=$!
	wait_until test -e "$DIR/ready"
}

# packets_of FILE: how many a capture file holds
packets_of() {
	python3 - "$1" <<-'END'
		import struct, sys
		data, at, nr = open(sys.argv[1], "rb").read(), 24, 0
		while at < len(data):
		    at, nr = at + 16 + struct.unpack_from("<I", data, at + 8)[0], nr + 1
		print(nr if at == len(data) else "cut short")
	END
}

# packets_on_lo: how many it has carried so far
packets_on_lo() {
	inside sed -n 's/^ *lo: *[0-9]* *\([0-9]*\) .*/\1/p' /proc/net/dev
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

@test "record of eight clients at once finds every request of theirs" {
	record --names "$DIR/names" --json -- "$HTTP" 80 8
	"$CULPRIT" paths "$RUN" --json >"$DIR/paths"
	cat "$DIR/paths"
	# whichever call is given to whom: the client has asked 80 times, and the front 80 times
	[ "$(sed -n 's/^{"path":"front[("].*"count":\([0-9]*\),"mean.*/\1/p' "$DIR/paths" | awk '{ n += $1 } END { print n }')" = 80 ]
	"$CULPRIT" requests "$RUN" --json | grep -o '"events":[0-9]*' | awk -F: '{ n += $2 } END { print n }' | grep -x 320
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
	record_aside --names "$DIR/names"
	inside "$HTTP" 20
	kill -INT $PID
	wait $PID
	PID=
	cat "$DIR/out"
	"$CULPRIT" paths "$RUN" --json | grep '"path":"front(back)","count":20,'
}

@test "record ends after the time and after the packets given" {
	run timeout -s KILL 300 ip netns exec "$NS" "$CULPRIT" record --messages -o "$RUN" --for 1s
	[ "$status" = 1 ]
	record --packets 50 --write "$DIR/x.pcap" -- "$HTTP" 40
	"$CULPRIT" requests "$RUN" >/dev/null
	[ "$(packets_of "$DIR/x.pcap")" = 50 ]
}

@test "a capture that record wrote gives the same run when it is read" {
	record --write "$DIR/x.pcap" --names "$DIR/names" -- "$HTTP" 30 4
	"$CULPRIT" paths "$RUN" --instances --json >"$DIR/live"
	"$CULPRIT" paths "$DIR/x.pcap" --names "$DIR/names" --instances --json >"$DIR/read"
	cmp "$DIR/live" "$DIR/read"
}

@test "record counts what came while it could not take it" {
	local before sent taken dropped
	record_aside --buffer 1 --write "$DIR/x.pcap" --json
	before=$(packets_on_lo)
	kill -STOP $PID
	inside "$HTTP" 40 4 100000
	kill -CONT $PID
	kill -INT $PID
	wait $PID || [ $? = 1 ]
	PID=
	sent=$(($(packets_on_lo) - before))
	taken=$(packets_of "$DIR/x.pcap")
	dropped=$(loss packets_dropped)
	echo "# $sent packets sent, $taken taken, $dropped dropped" >&3
	[ "$dropped" -gt 0 ]
	[ "$taken" -gt 0 ]
	[ "$taken" -lt "$sent" ]
	[ $((taken + dropped)) = "$sent" ]
	"$CULPRIT" requests "$RUN" >/dev/null
}

@test "record keeps what it has when the interface goes away" {
	ip -n "$NS" link add va type veth peer name vb 2>/dev/null || skip "no veth here"
	ip -n "$NS" link set va up
	run record -i va --json -- sh -c 'ip link del va; exec sleep 600'
	[ "$status" = 1 ]
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
	local program=$DIR/culprit
	command -v setpriv >/dev/null || skip "no setpriv here"
	cp "$CULPRIT" "$program"
	chmod 755 "$DIR" "$program"
	cd /
	run setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
		"$program" record --messages -o /dev/shm/culprit-$$.culprit
	echo "$output"
	[ "$status" = 2 ]
	[[ $output == "culprit: capturing packets needs root"* ]]
}
