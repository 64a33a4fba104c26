# How threads wait, seen by eBPF, against what the program measures itself with its own clocks.

setup() {
	PROGRAM=$(find "$BUILD" -name sched_program -type f -perm -u+x | head -n 1)
	WATCH=$(find "$BUILD" -name sched_watch -type f -perm -u+x | head -n 1)
	[ -n "$PROGRAM" ] || skip "sched_program is not built"
	[ -n "$WATCH" ] || skip "sched_watch is not built"
	[ "$(id -u)" = 0 ] || skip "eBPF needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	DIR=$(mktemp -d)
}

teardown() {
	rm -rf "$DIR"
}

@test "every wait of a known length is told, of its kind, within a tenth" {
	"$WATCH" "$PROGRAM" >"$DIR/out" 2>"$DIR/err" || {
		grep -q 'built without eBPF' "$DIR/err" && skip "culprit is built without eBPF"
		cat "$DIR/err"
		return 1
	}
	cat "$DIR/out"
	grep -q '^dropped 0 late 0 ' "$DIR/out"
	# the program cannot tell when it was woken from when it ran again
	awk '/^dropped/ { next }
		$1 == "told" { seen[$2, $3] = $4; next }
		$2 == "begin" { begin[$1] = $3; next }
		{ own[$1, $2] = $3 }
		END {
			for (k in own) {
				split(k, at, SUBSEP)
				n++
				cpu = at[2] == "cpu" ? 0 : seen[at[1], "cpu"]
				if (seen[k] > 1.1 * (own[k] + begin[at[1]]) + 8e6 || seen[k] + cpu < 0.9 * own[k]) {
					print "thread " at[1] " waited " own[k] " ns for " at[2] ", told " seen[k]
					bad = 1
				}
			}
			exit bad || n != 8
		}' "$DIR/out"
}

@test "who watches may be killed: nothing stays attached, the program runs on" {
	"$PROGRAM" >"$DIR/own" &
	local pid=$!
	"$WATCH" -p $pid >"$DIR/out" 2>&1 &
	local watch=$!
	sleep 0.5
	kill -9 $watch
	wait $pid
	[ "$(grep -vc ' begin ' "$DIR/own")" = 8 ]
}
