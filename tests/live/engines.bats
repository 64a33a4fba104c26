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
	"$CULPRIT" analyze logs "${MODEL[@]}" --on "$1" -o there.culprit >/dev/null
	echo "here $(tables here.culprit), there $(tables there.culprit)"
	[ "$("$CULPRIT" requests here.culprit --json | wc -l)" -gt 100 ]
	[ "$(tables here.culprit)" = "$(tables there.culprit)" ]
}

model() {
	[ -d "$CACHED/hdfs-3.3.6/lib" ] || return 0
	"$CULPRIT" learn "$CACHED/hdfs-3.3.6/lib" -o hdfs.model >/dev/null 2>&1
	MODEL=(--model hdfs.model)
}

# a worker that is killed in the middle of its first map step
make_worker() {
	cat >"$DIR/worker" <<-END
		#!/bin/bash
		if [ "\$2" = map ] && mkdir "$DIR/killed" 2>/dev/null; then
			head -c 100000 | "$CULPRIT" "\$@" 2>/dev/null | head -c 5000
			kill -9 \$\$
		fi
		exec "$CULPRIT" "\$@"
	END
	chmod +x "$DIR/worker"
	export CULPRIT_WORKER=$DIR/worker
}

@test "Spark with two workers gives the tables of this machine" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	need_spark
	model
	same 'spark:local[2,4]'
}

@test "Hadoop Streaming with two maps at a time gives the tables of this machine" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	need_hadoop
	model
	same hadoop
}

@test "a worker that is killed in the middle changes nothing" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	need_spark
	make_worker
	same 'spark:local[2,4]'
	[ -d killed ]
}

@test "YARN with two nodes gives the tables of this machine from HDFS, a worker killed in the middle" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	need_hadoop
	make_worker
	rm logs/marked.log # no worker reads it, and from afar nobody else does
	"$CULPRIT" analyze logs -o here.culprit >/dev/null
	on_yarn "cd $DIR; hadoop fs -mkdir -p /user/root; hadoop fs -put logs /logs; $CULPRIT analyze hdfs://127.0.0.1:8020/logs --on hadoop -o there.culprit"
	tail -n 20 yarn.log
	[ -d killed ]
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
