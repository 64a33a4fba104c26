# "culprit analyze --follow" while a writer appends, rotates in every way, and is ended in every way.

# shellcheck disable=SC2030,SC2031  # each test is a subshell of its own

load wait.bash

setup() {
	[ -x "$CULPRIT" ] || skip "culprit is not built"
	DIR=$(mktemp -d)
	LOGS=$DIR/logs
	RUN=$DIR/x.culprit
	PID=
	mkdir "$LOGS"
}

teardown() {
	[ -z "$PID" ] || kill -9 "$PID" 2>/dev/null || true
	rm -rf "$DIR"
}

# lines FROM UNTIL: three for each request
lines() {
	awk -v from="$1" -v until="$2" 'BEGIN {
		for (i = from; i < until; i++)
			for (k = 0; k < 3; k++)
				printf "2024-05-01 %02d:%02d:%02d,%03d INFO [worker-%d] shop.Cart: request_id=%08x-77aa step %d\n",
					i / 3600 % 24, i / 60 % 60, i % 60, k * 40 + i % 7, i % 9, i * 40503, k
	}'
}

# say FROM UNTIL: what the system logs next, and what all of it is in the end
say() {
	lines "$1" "$2" | tee -a "$DIR/all.log" >>"$LOGS/app.log"
}

follow() {
	: >"$DIR/err" # what was said before is not taken for what is said now
	"$CULPRIT" analyze --follow "$LOGS" -o "$RUN" --every 200ms --json >"$DIR/out" 2>"$DIR/err" &
	PID=$!
}

# finish [SIGNAL]: its exit status
finish() {
	local status=0
	kill "-${1:-TERM}" "$PID"
	wait "$PID" || status=$?
	PID=
	return $status
}

# requests_of RUN: how many it holds; a run that is not whole is an error
requests_of() {
	"$CULPRIT" requests "$1" --json >"$DIR/table" 2>"$DIR/said" || return
	grep -c '^{"id":' "$DIR/table"
}

# until_holds N: waits for so many requests
until_holds() {
	wait_until holds "$1" || { echo "holds $(requests_of "$RUN" || echo no) requests, not $1"; cat "$DIR/err"; return 1; }
}
holds() {
	[ -e "$RUN" ] && [ "$(requests_of "$RUN" || true)" = "$1" ]
}

# until_said WORDS: on standard error
until_said() {
	wait_until grep -q "$1" "$DIR/err"
}

# lines_of RUN: the request of each line, counted over all files in their order
lines_of() {
	"$CULPRIT" requests "$1" --lines --json | sed -n 's/^{"file":"[^"]*","line":[0-9]*,\(.*\)/\1/p'
}

# complaints: what was said, but that the machine has much else to do
complaints() {
	grep -v '^culprit: the run is up to .* behind: making it takes ' "$DIR/err" || true
}

# same: the run is that of all lines in one file, and nothing was said
same() {
	mkdir -p "$DIR/one"
	cp "$DIR/all.log" "$DIR/one/app.log"
	"$CULPRIT" analyze "$DIR/one" -o "$DIR/one.culprit" >/dev/null
	lines_of "$DIR/one.culprit" >"$DIR/want"
	lines_of "$RUN" >"$DIR/got"
	[ -s "$DIR/want" ]
	cmp "$DIR/want" "$DIR/got"
	complaints
	[ -z "$(complaints)" ]
}

@test "a log that grows line by line is in the run, each line once" {
	say 0 50
	follow
	until_holds 50
	say 50 60
	lines 60 61 >"$DIR/three"
	began=$(date +%s%N)
	head -c 120 "$DIR/three" >>"$LOGS/app.log"
	until_holds 61
	held=$("$CULPRIT" requests "$RUN" --lines --json | grep -c '"file"')
	# after two rounds, 400 ms, and not before, a line without its end is taken as whole
	[ "$held" = 181 ] || { [ "$held" = 182 ] && [ $(($(date +%s%N) - began)) -ge 400000000 ]; } || { echo "holds $held lines"; "$CULPRIT" requests "$RUN" --lines --json | tail -n 3; cat "$DIR/err"; false; }
	tail -c +121 "$DIR/three" >>"$LOGS/app.log"
	cat "$DIR/three" >>"$DIR/all.log"
	say 61 70
	until_holds 70
	finish
	same
	grep -q '"requests":70\|70 requests' "$DIR/out"
}

@test "renaming, packing, copying and cutting lose no line and double none" {
	say 0 20
	follow
	for ((n = 1; n <= 4; n++)); do
		# as logrotate does, with delaycompress
		[ ! -e "$LOGS/app.log.2.gz" ] || mv "$LOGS/app.log.2.gz" "$LOGS/app.log.3.gz"
		[ ! -e "$LOGS/app.log.1" ] || { gzip "$LOGS/app.log.1"; mv "$LOGS/app.log.1.gz" "$LOGS/app.log.2.gz"; }
		mv "$LOGS/app.log" "$LOGS/app.log.1"
		# the writer has not opened the new one yet
		lines $((n * 100)) $((n * 100 + 5)) | tee -a "$DIR/all.log" >>"$LOGS/app.log.1"
		say $((n * 100 + 5)) $((n * 100 + 20))
		[ $((n % 2)) = 0 ] || until_holds $((n * 20 + 20))
	done
	for ((n = 5; n <= 7; n++)); do
		# with copytruncate
		for ((k = 9; k >= 1; k--)); do
			for end in "" .gz; do
				[ ! -e "$LOGS/app.log.$k$end" ] || mv "$LOGS/app.log.$k$end" "$LOGS/app.log.$((k + 1))$end"
			done
		done
		cp "$LOGS/app.log" "$LOGS/app.log.1"
		sleep 0.3
		: >"$LOGS/app.log"
		say $((n * 100)) $((n * 100 + 20))
		until_holds $((n * 20 + 20))
	done
	finish
	same
}

@test "a writer that never rests, and rotates all the time" {
	follow
	for ((n = 0; n < 60; n++)); do
		say $((n * 10)) $((n * 10 + 10))
		if [ $((n % 7)) = 6 ]; then
			for ((k = 20; k >= 1; k--)); do
				[ ! -e "$LOGS/app.log.$k.gz" ] || mv "$LOGS/app.log.$k.gz" "$LOGS/app.log.$((k + 1)).gz"
			done
			mv "$LOGS/app.log" "$LOGS/app.log.0"
			gzip -c "$LOGS/app.log.0" >"$LOGS/app.log.1.gz"
			rm "$LOGS/app.log.0"
		fi
		sleep 0.02
	done
	finish
	same
	[ "$(requests_of "$RUN")" = 600 ]
}

@test "a log that is deleted stays in the run, one that is cut is missed" {
	say 0 30
	follow
	until_holds 30
	mv "$LOGS/app.log" "$LOGS/app.log.1"
	say 30 40
	until_holds 40
	rm "$LOGS/app.log.1"
	say 40 50
	until_holds 50
	lines 50 60 >"$LOGS/app.log"
	until_holds 40
	finish
	grep -q '"logs_gone":1' "$DIR/out"
}

@test "SIGTERM and SIGINT leave a whole run with the last lines in it" {
	for signal in TERM INT; do
		rm -rf "$LOGS" "$RUN" "$DIR/all.log"
		mkdir "$LOGS"
		say 0 40
		# started by a shell, a background job would ignore SIGINT
		python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$CULPRIT" analyze --follow "$LOGS" -o "$RUN" --every 1min --json >"$DIR/out" 2>"$DIR/err" &
		PID=$!
		until_holds 40
		say 40 50
		lines 50 51 | head -n 1 | tr -d '\n' | tee -a "$DIR/all.log" >>"$LOGS/app.log"
		finish $signal
		same
		[ "$(requests_of "$RUN")" = 51 ]
		[ -z "$(find "$DIR" -name '*partial*')" ]
	done
}

@test "kill -9 leaves the old run or the new one" {
	say 0 10
	times=3
	[ "$LIVE" != all ] || times=8
	for ((n = 1; n <= times; n++)); do
		follow
		until_holds $((n * 10))
		say $((n * 10)) $((n * 10 + 10))
		sleep 0.$((RANDOM % 4))
		finish 9 || true
		got=$(requests_of "$RUN")
		[ "$got" = $((n * 10)) ] || [ "$got" = $((n * 10 + 10)) ]
	done
}

@test "what is not there yet is waited for, and what cannot be is said at once" {
	rm -r "$LOGS"
	follow
	until_said 'waiting for it'
	# at once, with its log: an empty folder would be told of, too
	mkdir "$LOGS.new"
	lines 0 10 >"$LOGS.new/app.log"
	mv "$LOGS.new" "$LOGS"
	until_holds 10
	finish
	grep -q 'waiting for it' "$DIR/err"
	complaints
	[ "$(complaints | wc -l)" = 1 ]
	rm -r "$LOGS"
	follow
	until_said 'waiting for it'
	got=0
	finish || got=$?
	[ $got = 2 ]
	grep -q 'nothing to read' "$DIR/err"
	mkdir "$LOGS"
	say 0 10
	run timeout 300 "$CULPRIT" analyze --follow "$LOGS" -o "$DIR/nowhere/x"
	[ "$status" = 2 ]
	run timeout 300 "$CULPRIT" analyze --follow -
	[ "$status" = 2 ]
	run timeout 300 "$CULPRIT" analyze --follow "$LOGS" --every 1ms
	[ "$status" = 2 ]
	run timeout 300 "$CULPRIT" analyze --follow "$LOGS" --no-run
	[ "$status" = 2 ]
}

@test "a disk that is full leaves the old run, and is tried again" {
	[ "$(id -u)" = 0 ] || skip "needs root to mount a small file system"
	mkdir "$DIR/small"
	mount -t tmpfs -o size=512k none "$DIR/small" 2>/dev/null || skip "cannot mount here"
	RUN=$DIR/small/x.culprit
	say 0 10
	follow
	until_holds 10 || { umount -l "$DIR/small"; false; }
	dd if=/dev/zero of="$DIR/small/fill" bs=1k 2>/dev/null || true
	say 10 20
	until_said 'the run stays as it is' || { umount -l "$DIR/small"; false; }
	sleep 1 # it is said once, however often it is tried
	held=$(requests_of "$RUN")
	said=$(grep -c 'the run stays as it is' "$DIR/err" || true)
	rm "$DIR/small/fill"
	until_holds 20 || held=
	finish
	umount -l "$DIR/small"
	[ "$held" = 10 ]
	[ "$said" = 1 ]
}

@test "more files than may be open, a file that becomes a directory, one without permission" {
	for ((i = 0; i < 1000; i++)); do
		printf '2024-05-01 10:00:00,000 INFO [main] shop.Cart: request_id=%08x-77aa done\n' $i >"$LOGS/node$i.log"
	done
	bash -c 'ulimit -n 256; exec "$@"' - "$CULPRIT" analyze --follow "$LOGS" -o "$RUN" --every 200ms --json >"$DIR/out" 2>"$DIR/err" &
	PID=$!
	until_holds 1000
	rm "$LOGS/node7.log"
	mkdir "$LOGS/node7.log"
	say 5000 5001
	cp "$LOGS/app.log" "$LOGS/node7.log/deep.log"
	sed -i 's/-77aa/-88bb/' "$LOGS/node7.log/deep.log"
	for ((i = 0; i < 20; i++)); do printf 'odd\n' >"$LOGS/odd$i"; done
	chmod 0 "$LOGS/node8.log"
	sleep 1
	finish
	# node7.log was one of those that can be kept open, or not; root may read node8.log
	got=$(requests_of "$RUN")
	[ "$got" -ge 1000 ]
	[ "$got" -le 1002 ]
	grep -q '"files_without_time":20' "$DIR/out"
}

# by_file RUN: the request of each line, file by file, with rotated files as one
by_file() {
	"$CULPRIT" requests "$1" --lines --json |
		sed -nE 's/^\{"file":"([^"]*)\.log(\.[0-9]+)?(\.gz)?","line":[0-9]+,(.*)/\1 \4/p' | sort -s -k 1,1
}

# bytes_read: by the program and its children so far
bytes_read() {
	sed -n 's/^rchar: //p' "/proc/$PID/io"
}

@test "what was read is not read again, whatever it is called by then" {
	[ -r /proc/self/io ] || skip "no /proc/PID/io"
	lines 0 20000 | tee "$DIR/all.log" >"$LOGS/app.log"
	bytes=$(stat -c %s "$LOGS/app.log")
	follow
	until_holds 20000
	mv "$LOGS/app.log" "$LOGS/app.log.1"
	say 20000 20001
	until_holds 20001
	sleep 1
	before=$(bytes_read)
	say 20001 20002
	until_holds 20002
	read=$(($(bytes_read) - before))
	echo "# $read bytes for one request more, after $bytes" >&3
	[ $((4 * read)) -lt "$bytes" ]
	finish
	same
}

@test "real logs written in pieces and rotated give what reading them at once gives" {
	real=$CULPRIT_DATA/logs/hdfs-2.0.2-alpha.tar.xz
	[ -e "$real" ] || skip "no data at CULPRIT_DATA ($CULPRIT_DATA)"
	tar -xJf "$real" -C "$DIR"
	whole=$(dirname "$(find "$DIR" -name nn.log)")
	follow
	python3 "$ROOT/tests/live/follow_writer.py" "$whole" "$LOGS"
	finish
	"$CULPRIT" analyze "$whole" -o "$DIR/one.culprit" >/dev/null
	by_file "$DIR/one.culprit" >"$DIR/want"
	by_file "$RUN" >"$DIR/got"
	nr=$(find "$LOGS" -type f | wc -l)
	echo "# $(wc -l <"$DIR/want") lines in $nr files" >&3
	[ "$nr" -gt 15 ]
	[ "$(wc -l <"$DIR/want")" -gt 1000 ]
	# the lines are those of the whole, and their requests those that the rotated files give when they are read at once
	[ "$(wc -l <"$DIR/got")" = "$(wc -l <"$DIR/want")" ]
	"$CULPRIT" analyze "$LOGS" -o "$DIR/rotated.culprit" >/dev/null
	by_file "$DIR/rotated.culprit" | cmp - "$DIR/got"
	other=$(diff "$DIR/want" "$DIR/got" | grep -c '^>' || true)
	echo "# $other of them in another request than without rotation" >&3
	[ $((other * 100)) -lt $((15 * $(wc -l <"$DIR/want"))) ]
}
