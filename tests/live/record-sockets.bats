# "culprit record --messages --sockets": programs are watched by eBPF where they send and receive.
# Everything happens in a network namespace of the test, so that ports are free; eBPF sees the whole machine, so what
# other programs say meanwhile is in the runs too, and the tests look for what they know.

load wait.bash

setup() {
	[ -x "$CULPRIT" ] || skip "culprit is not built"
	[ "$(id -u)" = 0 ] || skip "eBPF needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	DIR=$(mktemp -d)
	RUN=$DIR/x.culprit
	NS=culprit-s$$-$BATS_TEST_NUMBER
	ip netns add "$NS" 2>/dev/null || { NS=; skip "no network namespaces here"; }
	ip -n "$NS" link set lo up
	TALK=$ROOT/tests/live/record_sockets.py
	"$CULPRIT" record --messages --sockets --for 100ms -o "$DIR/try" >"$DIR/out" 2>"$DIR/err" || [ $? = 1 ] || {
		grep -q 'built without eBPF' "$DIR/err" && skip "culprit is built without eBPF"
		cat "$DIR/err"
		return 1
	}
}

teardown() {
	[ -z "$PID" ] || kill -9 "$PID" 2>/dev/null || true
	[ -z "$NS" ] || ip netns del "$NS"
	rm -rf "$DIR"
}

inside() {
	ip netns exec "$NS" "$@"
}

# record OPTIONS...: in the namespace; standard output is kept in $DIR/out, standard error in $DIR/err
record() {
	inside "$CULPRIT" record --messages --sockets -o "$RUN" --json "$@" >"$DIR/out" 2>"$DIR/err"
}

# loss NAME: how often, as the last line of JSON in $DIR/out tells it
loss() {
	sed -n "s/.*\"losses\":.*\"$1\":\([0-9]*\).*/\1/p" "$DIR/out"
}

# record_all OPTIONS...: again, where others on this machine said so much meanwhile that calls were dropped, of theirs or ours
record_all() {
	for _ in 1 2 3 4 5; do
		record "$@"
		[ -n "$(loss socket_calls_dropped)" ] || return 0
		echo "$(loss socket_calls_dropped) calls dropped"
	done
	return 1
}

# paths: of the run, one a line
paths() {
	"$CULPRIT" paths "$RUN" --json >"$DIR/paths"
	cat "$DIR/paths" "$DIR/err"
}

@test "sockets until a command ends: every request with the call that it makes, by the names of the processes" {
	record_all -- "$TALK" http 40
	grep -q '^40 answered$' "$DIR/err"
	paths
	grep -q '"path":"front:8003(back:8002)","count":40,' "$DIR/paths"
	[ "$(grep -c 'front:8003' "$DIR/paths")" = 1 ]
}

@test "sockets of eight clients at once: each call and each return is there once" {
	record_all -- "$TALK" http 160 8
	"$CULPRIT" requests "$RUN" --json >"$DIR/requests"
	grep -c . "$DIR/requests"
	# a request has its call and return, and those of the front
	[ "$(grep '"front:8003' "$DIR/requests" | grep -o '"events":[0-9]*' | awk -F: '{ n += $2 } END { print n }')" = 640 ]
}

@test "sockets: of long answers the front is enough" {
	record -- "$TALK" http 20 2 300000
	paths
	grep -q '"path":"front:8003(back:8002)","count":20,' "$DIR/paths"
}

@test "sockets of the UNIX kind, and datagrams" {
	record -- "$TALK" unix 30
	paths
	grep -q '"path":"answerer","count":30,' "$DIR/paths"
	record -- "$TALK" udp 30
	paths
	grep -q '"path":"answerer:8004","count":30,' "$DIR/paths"
}

@test "sockets of one process: what it is asked and what it asks" {
	(ip netns exec "$NS" "$TALK" pid 25 "$DIR/pid" "$DIR/begin" 2>"$DIR/said"; touch "$DIR/end") 3>&- &
	PID=$!
	wait_until test -s "$DIR/pid"
	record --pid "$(cat "$DIR/pid")" -- sh -c "touch '$DIR/begin'; until [ -e '$DIR/end' ]; do sleep 0.05; done"
	wait $PID
	PID=
	paths
	grep -q '^25 answered$' "$DIR/said"
	# nobody but the front was watched: the back is known by where it listens
	grep -q '"path":"front:8003(back:8002)","count":25,' "$DIR/paths"
	"$CULPRIT" requests "$RUN" --json | grep -v losses >"$DIR/requests"
	[ "$(grep -c . "$DIR/requests")" = 25 ]
}

@test "sockets: redis is read by its protocol" {
	command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null || skip "no redis here"
	ip netns exec "$NS" redis-server --port 8005 --save "" --appendonly no --dir "$DIR" >/dev/null 3>&- &
	PID=$!
	wait_until inside redis-cli -p 8005 ping
	record_all -- redis-benchmark -p 8005 -n 5000 -c 20 -t get -q
	"$CULPRIT" requests "$RUN" --json >"$DIR/requests"
	grep -o '"type":"[^"]*"' "$DIR/requests" | sort | uniq -c
	[ "$(grep -c '"type":"redis-server:8005: GET' "$DIR/requests")" = 5000 ]
}

is_gone() {
	! bpftool prog show id "$1"
}

@test "sockets: nothing stays in the kernel, even after kill -9" {
	command -v bpftool >/dev/null || PATH=$PATH:/usr/sbin
	command -v bpftool >/dev/null || skip "no bpftool here"
	ip netns exec "$NS" "$CULPRIT" record --messages --sockets -o "$RUN" --for 600s >"$DIR/out" 2>"$DIR/err" 3>&- &
	PID=$!
	# the numbers of the programs that the recorder holds
	ours() {
		sed -n 's/^prog_id:[[:space:]]*//p' "/proc/$PID"/fdinfo/* 2>/dev/null | sort -un
	}
	three() {
		[ "$(ours | wc -l)" -ge 3 ]
	}
	wait_until three
	local ids
	ids=$(ours)
	[ "$(wc -l <<<"$ids")" = 3 ]
	for id in $ids; do
		bpftool prog show id "$id" >/dev/null
	done
	kill -9 "$PID"
	wait "$PID" || true
	PID=
	for id in $ids; do
		# the kernel lets them go when it has the time
		wait_until is_gone "$id"
		run bpftool prog show id "$id"
		echo "$output"
		[ "$status" != 0 ]
	done
}

@test "sockets: what stands in the way is said in one line" {
	tell() {
		run "$@"
		echo "$output"
		[ "$status" = 2 ]
		[ "$(wc -l <<<"$output")" = 1 ]
		[ ! -e "$RUN" ]
	}
	tell "$CULPRIT" record --messages --sockets -i lo -o "$RUN"
	[ "$output" = "culprit: --interface is of packets; with --sockets there are none" ]
	tell "$CULPRIT" record --messages --pid 1 -o "$RUN"
	[ "$output" = "culprit: --pid needs --sockets: packets name no process" ]
	tell "$CULPRIT" record --messages --sockets --pid x -o "$RUN"
	command -v setpriv >/dev/null || skip "no setpriv here"
	cp "$CULPRIT" "$DIR/culprit"
	chmod 777 "$DIR"
	tell setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
		"$DIR/culprit" record --messages --sockets -o "$RUN"
	[[ $output == "culprit: the kernel does not let this user watch sockets"* ]]
}
