# "culprit analyze -o" is killed at random moments: the run is whole, the old one, or absent. KILLS says how often.

setup() {
	[ -x "$CULPRIT" ] || skip "culprit is not built"
	DIR=$(mktemp -d)
	RUN=$DIR/x.culprit
	NR=${KILLS:-16}
	[ "$LIVE" != all ] || NR=${KILLS:-50}
	make_log 2000 >"$DIR/large.log"
	make_log 100 >"$DIR/small.log"
}

teardown() {
	rm -rf "$DIR"
}

# make_log REQUESTS: three lines for each
make_log() {
	awk -v nr="$1" 'BEGIN {
		for (i = 0; i < nr; i++)
			for (k = 0; k < 3; k++)
				printf "2024-05-01 %02d:%02d:%02d,%03d INFO [worker-%d] shop.Cart: request_id=%08x-77aa step %d\n",
					i / 3600 % 24, i / 60 % 60, i % 60, k * 40 + i % 7, i % 9, i * 40503, k
	}'
}

now_ms() {
	date +%s%3N
}

# requests_of RUN: how many it holds; a run that is not whole is an error
requests_of() {
	"$CULPRIT" requests "$1" --json >"$DIR/table" 2>"$DIR/said" || return
	grep -c '^{"id":' "$DIR/table"
}

# kill_analyze MS: starts it and kills it somewhen within so many milliseconds
kill_analyze() {
	"$CULPRIT" analyze "$DIR/large.log" -o "$RUN" >/dev/null 2>&1 &
	local pid=$! ms=$((RANDOM * $1 / 32768))
	sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
	kill -9 $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
}

# kill_in_the_middle: when half of its lines have come, and it waits for the others
kill_in_the_middle() {
	local half
	half=$(wc -l <"$DIR/large.log")
	rm -f "$DIR/slow.log"
	mkfifo "$DIR/slow.log"
	"$CULPRIT" analyze "$DIR/slow.log" -o "$RUN" >/dev/null 2>&1 3>&- &
	local pid=$!
	exec 9>"$DIR/slow.log"
	head -n $((half / 2)) "$DIR/large.log" >&9
	kill -9 $pid
	wait $pid 2>/dev/null || true
	exec 9>&-
}

# measure: how long the whole takes, a little more so that some are finished
measure() {
	local begin
	begin=$(now_ms)
	"$CULPRIT" analyze "$DIR/large.log" -o "$RUN" >/dev/null
	WHOLE=$((($(now_ms) - begin) * 11 / 10))
	LARGE=$(requests_of "$RUN")
	[ "$LARGE" = 2000 ]
}

@test "analyze killed at any moment leaves no run or a whole one" {
	local absent=0 whole=0
	measure
	for ((i = 0; i < NR / 2; i++)); do
		rm -f "$RUN"
		if [ $i = 0 ]; then kill_in_the_middle; else kill_analyze "$WHOLE"; fi
		if [ -e "$RUN" ]; then
			[ "$(requests_of "$RUN")" = "$LARGE" ]
			whole=$((whole + 1))
		else
			absent=$((absent + 1))
		fi
	done
	echo "# $absent absent, $whole whole" >&3
	[ $absent -gt 0 ]
}

@test "analyze killed at any moment leaves the old run or the new one" {
	local old=0 new=0 got small
	measure
	"$CULPRIT" analyze "$DIR/small.log" -o "$DIR/old.culprit" >/dev/null
	small=$(requests_of "$DIR/old.culprit")
	for ((i = 0; i < NR / 2; i++)); do
		cp "$DIR/old.culprit" "$RUN"
		if [ $i = 0 ]; then kill_in_the_middle; else kill_analyze "$WHOLE"; fi
		got=$(requests_of "$RUN")
		case $got in
		"$small") old=$((old + 1)) ;;
		"$LARGE") new=$((new + 1)) ;;
		*) echo "holds $got requests"; false ;;
		esac
	done
	echo "# $old old, $new new" >&3
	[ $old -gt 0 ]
}

@test "what a killed analyze left behind goes with the next one" {
	measure
	for ((i = 0; i < 5; i++)); do
		kill_analyze $((WHOLE * 3 / 4))
	done
	"$CULPRIT" analyze "$DIR/small.log" -o "$RUN" >/dev/null
	[ -z "$(find "$DIR" -name '*partial*' -o -name '.culprit-*')" ]
}
