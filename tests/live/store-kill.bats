# A run file is whole or absent, whatever kills its writer and whatever the disk says.

load wait.bash

setup() {
	WRITER=$(find "$BUILD" -name store_writer -type f -perm -u+x | head -n 1)
	[ -n "$WRITER" ] || skip "store_writer is not built"
	DIR=$(mktemp -d)
	RUN=$DIR/x.culprit
	TIMES=8
	[ "$LIVE" != all ] || TIMES=25
}

teardown() {
	if [ -n "$MOUNTED" ]; then umount "$MOUNTED"; fi
	rm -rf "$DIR"
}

# kill_writer: starts a writer of 200000 events and kills it at any time up to a little after it would be done; how long that
# takes is measured first, so that a fast machine is killed in the middle as well
kill_writer() {
	if [ -z "$WRITE_US" ]; then
		local began
		began=$(date +%s%6N)
		"$WRITER" write "$DIR/timed" 200000
		WRITE_US=$(($(date +%s%6N) - began))
		rm -f "$DIR/timed"
	fi
	"$WRITER" write "$RUN" 200000 &
	local pid=$! us=$((RANDOM * WRITE_US * 5 / 4 / 32768))
	sleep "$((us / 1000000)).$(printf %06d $((us % 1000000)))"
	kill -9 $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
}

# kill_in_the_middle: of many more events, when it has begun to write them
kill_in_the_middle() {
	"$WRITER" write "$RUN" 20000000 &
	local pid=$!
	wait_until compgen -G "$DIR/*partial*"
	kill -9 $pid
	wait $pid || true
}

# mount_small OPTIONS: an own small file system at $DIR/small
mount_small() {
	mkdir -p "$DIR/small"
	mount -t tmpfs -o "$1" tmpfs "$DIR/small" 2>/dev/null || skip "needs root to mount a tmpfs"
	MOUNTED=$DIR/small
}

@test "kill -9 at any moment leaves no run or a whole one" {
	local absent=0 new=0
	for i in $(seq "$TIMES"); do
		rm -f "$RUN"
		if [ "$i" = 1 ]; then kill_in_the_middle; else kill_writer; fi
		run "$WRITER" check "$RUN"
		case $status in
		0) [ "$output" = 200000 ]; new=$((new + 1)) ;;
		1) absent=$((absent + 1)) ;;
		*) echo "$output"; false ;;
		esac
	done
	echo "# $absent absent, $new whole" >&3
	[ $absent -gt 0 ]
}

@test "kill -9 at any moment leaves the old run or the new one" {
	local old=0 new=0
	for i in $(seq "$TIMES"); do
		"$WRITER" write "$RUN" 1000
		if [ "$i" = 1 ]; then kill_in_the_middle; else kill_writer; fi
		run "$WRITER" check "$RUN"
		[ "$status" = 0 ]
		case $output in
		1000) old=$((old + 1)) ;;
		200000) new=$((new + 1)) ;;
		*) echo "$output"; false ;;
		esac
	done
	echo "# $old old, $new new" >&3
	[ $old -gt 0 ]
}

@test "what a killed writer left behind goes with the next one" {
	kill_in_the_middle
	local left=("$DIR"/*)
	[ "${#left[@]}" = 1 ]
	[[ ${left[0]} == *partial* ]]
	"$WRITER" write "$RUN" 1000
	[ "$(ls "$DIR")" = x.culprit ]
}

@test "two writers at once both succeed, and the last one stands whole" {
	"$WRITER" write "$RUN" 50000 &
	local a=$!
	"$WRITER" write "$RUN" 60000 &
	local b=$!
	wait $a
	wait $b
	run "$WRITER" check "$RUN"
	[ "$status" = 0 ]
	[ "$output" = 50000 ] || [ "$output" = 60000 ]
	[ "$(ls "$DIR")" = x.culprit ]
}

@test "a full disk gives a sentence and leaves no file" {
	mount_small size=200k
	run "$WRITER" write "$DIR/small/x.culprit" 500000
	echo "$output"
	[ "$status" = 2 ]
	[[ $output == *"o space left on"* ]]
	[ "$(wc -l <<<"$output")" = 1 ]
	[ -z "$(ls "$DIR/small")" ]
}

@test "a directory that cannot be written gives a sentence" {
	mount_small ro,size=100k
	run "$WRITER" write "$DIR/small/x.culprit" 10
	echo "$output"
	[ "$status" = 2 ]
	[[ $output == "cannot write '$DIR/small/x.culprit': "* ]]
}

@test "a run on read-only media can be read" {
	mount_small size=5m
	"$WRITER" write "$DIR/small/x.culprit" 5000
	mount -o remount,ro "$DIR/small"
	run "$WRITER" check "$DIR/small/x.culprit"
	[ "$output" = 5000 ]
}
