# Real engines with two workers give the same tables as the run on this machine, by hash.
load engines.bash

setup() {
	[ -x "$CULPRIT" ] || skip "culprit is not built"
	DIR=$(mktemp -d)
	mkdir "$DIR/logs"
	for node in nn dn1 dn2 dn3; do
		gzip -dc "$ROOT/samples/hdfs/$node.log.gz" >"$DIR/logs/$node.log"
	done
	# one that stays packed, one that no engine may read
	gzip "$DIR/logs/dn3.log"
	printf '\xef\xbb\xbf2026-11-15 09:16:00,000 INFO  [main] a.B: with a mark in front\n' >"$DIR/logs/marked.log"
	cd "$DIR" || exit 1
	# so few lines are looked at together that there is work for several reducers
	export CULPRIT_WINDOW=1000
}

teardown() {
	rm -rf "$DIR"
}

# tables RUN: the hash of all that it answers
tables() {
	for question in "requests --json" "requests --lines --json" "answer --json"; do
		# shellcheck disable=SC2086 # a question is several words
		"$CULPRIT" $question "$1" | sed "s/$1/RUN/"
	done | sha256sum
}

# same ENGINE: the run on it, and the one here
same() {
	"$CULPRIT" analyze logs "${MODEL[@]}" -o here.culprit >/dev/null
	"$CULPRIT" analyze logs "${MODEL[@]}" --on "$1" --reducers 2 -o there.culprit >/dev/null
	echo "here $(tables here.culprit), there $(tables there.culprit)"
	[ "$("$CULPRIT" requests here.culprit --json | wc -l)" -gt 100 ]
	[ "$(tables here.culprit)" = "$(tables there.culprit)" ]
}

model() {
	[ -d "$CACHED/hdfs-3.3.6/lib" ] || return 0
	"$CULPRIT" learn "$CACHED/hdfs-3.3.6/lib" -o hdfs.model >/dev/null 2>&1
	MODEL=(--model hdfs.model)
}

# make_worker [kill]: reducers wait until there are two of them at a time; with kill, instead, the first map and the first reduce
# step are killed in the middle
make_worker() {
	cat >"$DIR/worker" <<-END
		#!/bin/bash
		if [ "$1" = kill ] && [[ "\$2" = map || "\$2" = reduce ]] && mkdir "$DIR/killed-\$2" 2>/dev/null; then
			head -c 100000 | "$CULPRIT" "\$@" 2>/dev/null | head -c 5000
			kill -9 \$\$
		fi
		if [ "$1" != kill ] && [ "\$2" = reduce ]; then
			mkdir -p "$DIR/reducers" && : >"$DIR/reducers/\$\$"
			for ((i = 0; i < 600; i++)); do
				nr=\$(ls "$DIR/reducers" | wc -l)
				[ "\$nr" -lt 2 ] || break
				sleep 0.1
			done
			[ "\$nr" -ge 2 ] || : >"$DIR/alone"
		fi
		exec "$CULPRIT" "\$@"
	END
	chmod +x "$DIR/worker"
	export CULPRIT_WORKER=$DIR/worker
}

# two reducers began, each before the other was over
side_by_side() {
	[ "$(find reducers -type f | wc -l)" = 2 ]
	[ ! -e alone ]
}

@test "Spark with two workers, for reducing too, gives the tables of this machine" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	need_spark
	model
	make_worker
	same 'spark:local[2,4]'
	side_by_side
}

@test "Hadoop Streaming with two maps and two reducers at a time gives the tables of this machine" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	need_hadoop
	model
	make_worker
	same hadoop
	side_by_side
}

@test "a map step and a reducer that are killed in the middle change nothing" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	need_spark
	make_worker kill
	same 'spark:local[2,4]'
	[ -d killed-map ]
	[ -d killed-reduce ]
}

@test "YARN with two nodes gives the tables of this machine from HDFS, a map step and a reducer killed in the middle" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	need_hadoop
	make_worker kill
	rm logs/marked.log # no worker reads it, and from afar nobody else does
	"$CULPRIT" analyze logs -o here.culprit >/dev/null
	on_yarn "cd $DIR; hadoop fs -mkdir -p /user/root; hadoop fs -put logs /logs; $CULPRIT analyze hdfs://127.0.0.1:8020/logs --on hadoop --reducers 2 -o there.culprit"
	tail -n 20 yarn.log
	[ -d killed-map ]
	[ -d killed-reduce ]
	[ "$(tables here.culprit)" = "$(tables there.culprit)" ]
}

@test "workers that fail for good end the run with one sentence and without a file" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	need_spark
	export CULPRIT_WORKER=$DIR/nowhere
	run "$CULPRIT" analyze logs --on 'spark:local[2]' -o there.culprit
	echo "$output"
	[ "$status" = 2 ]
	[ "$output" = "culprit: Spark: a worker cannot run '$DIR/nowhere': No such file or directory" ]
	[ ! -e there.culprit ]
	[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'culprit-??????' -newer "$DIR/logs" 2>/dev/null)" ]
}
