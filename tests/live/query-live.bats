#!/usr/bin/env bats
# Queries of running programs: a program that counts itself, PostgreSQL, an agent that is killed.
load postgres.bash
load wait.bash

setup() {
	sample=$BUILD/tests/unit/weave_sample
	dir=$BATS_TEST_TMPDIR
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" 2>/dev/null || true
	cat >"$dir/shop.tp" <<-'TP'
		tracepoint Shop.begin at function weave_sample!shop_begin entry begins a request
			export client = arg0:text
		tracepoint Shop.read at function weave_sample!shop_read entry
			export bytes = arg1
	TP
}

teardown() {
	[ -z "${pid:-}" ] || kill -9 "$pid" 2>/dev/null || true
	[ ! -d "${pg:-/nowhere}" ] || postgres_stop "$pg" KILL
}

sample_start() {
	[ -x "$sample" ] || skip "needs weave_sample"
	mkfifo "$dir/in"
	"$sample" "$@" <"$dir/in" >"$dir/out" 3>&- &
	pid=$!
	exec 9>"$dir/in"
	wait_until grep -q ready "$dir/out"
}

# as_said: what was told so far is what the program wrote of itself
as_said() {
	python3 - "$dir/out" "$dir/told" <<-'PY'
		import json, sys
		truth = {f[0]: (int(f[1]), int(f[2])) for f in map(str.split, open(sys.argv[1])) if len(f) == 4 and f[0] not in ("tables",)}
		seconds = {}
		for line in open(sys.argv[2]):
		    row = json.loads(line) if line.endswith("\n") else {}
		    if "time" in row:
		        seconds[row["time"], row["b.client"]] = row["n"], row["bytes"]
		told = {}
		for (_, client), (n, b) in seconds.items():
		    was = told.get(client, (0, 0))
		    told[client] = was[0] + n, was[1] + b
		assert len(truth) == 5 and told == truth, (told, truth)
	PY
}

@test "a program that waits for bytes goes on waiting, however often it is asked" {
	local guest=$BUILD/tests/variance/guest-waiting rounds=5
	[ "$LIVE" != all ] || rounds=100
	echo "tracepoint Order at function guest-waiting!process_order entry" >"$dir/order.tp"
	"$guest" 600 >"$dir/out" 2>&1 3>&- &
	pid=$!
	for _ in $(seq "$rounds"); do
		"$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/order.tp" --for 200ms --json 'From o In Order Select COUNT' >"$dir/told" 2>"$dir/said" 3>&- ||
			{ cat "$dir/said" "$dir/out"; false; }
		kill -0 "$pid" || { cat "$dir/said" "$dir/out"; false; }
	done
	! grep wrong "$dir/out"
}

@test "a query tells what the program says of itself, second after second" {
	sample_start 2 3000
	"$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/shop.tp" --for 1200s --json \
		'From r In Shop.read Join b In First(Shop.begin) On b -> r GroupBy b.client Select b.client, COUNT As n, SUM(r.bytes) As bytes' \
		>"$dir/told" 2>"$dir/said" 3>&- 9>&- &
	query=$!
	wait_patched "$pid"
	kill -USR1 "$pid"
	wait_until grep -q written "$dir/out"
	wait_until as_said
	exec 9>&-
	wait "$query"
	as_said
}

# the bytes of all reads of each client, and of each thread up to each write: weave_sample draws them from seeds
cat_truth() {
	cat <<-'PY'
		import collections, ctypes, json, math, sys
		libc = ctypes.CDLL(None)
		CLIENTS = "Hget", "Hscan", "FSread4m", "MRsort10g", "x"
		def drawn(threads, requests):
		    for thread in range(threads):
		        seed = ctypes.c_uint(thread + 1)
		        for number in range(requests):
		            client = libc.rand_r(ctypes.byref(seed)) % 5
		            yield thread, number, CLIENTS[client], libc.rand_r(ctypes.byref(seed)) % 1000
		def percentile(values, percent):
		    return sorted(values)[max(math.ceil(percent / 100 * len(values)), 1) - 1]
		rows = [json.loads(line) for line in open(sys.argv[1]) if line.endswith("\n")]
		lines = {}
		for row in rows:
		    if "time" in row:
		        lines.setdefault((row["time"], row.get("b.client")), []).append(row)
	PY
}

# spread_as_drawn: histograms of all seconds, added up
spread_as_drawn() {
	python3 - "$dir/told" <<-PY
		$(cat_truth)
		truth = collections.Counter()
		for _, number, client, bytes in drawn(2, 3000):
		    for value in [bytes] * (1 + (number % 16 == 0)) + [7] * (number % 512 == 0):
		        truth[client, 2 ** int(math.log2(value)) if value else 0] += 1
		told = collections.Counter()
		for (_, client), again in lines.items():
		    for bucket in again[-1]["h"]:
		        told[client, bucket["from"]] += bucket["count"]
		assert told == truth, (told, truth)
	PY
}

@test "a histogram of what is joined has every value, by who asked for it" {
	sample_start 2 3000
	"$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/shop.tp" --for 1200s --json \
		'From r In Shop.read Join b In First(Shop.begin) On b -> r GroupBy b.client Select b.client, HISTOGRAM(r.bytes) As h, PERCENTILE(r.bytes, 99) As p' \
		>"$dir/told" 2>"$dir/said" 3>&- 9>&- &
	query=$!
	wait_patched "$pid"
	kill -USR1 "$pid"
	wait_until grep -q written "$dir/out"
	wait_until spread_as_drawn
	exec 9>&-
	wait "$query"
	spread_as_drawn
}

# ranked_as_drawn: each write's percentile of all reads of its thread so far
ranked_as_drawn() {
	python3 - "$dir/told" <<-PY
		$(cat_truth)
		truth, reads = collections.Counter(), {}
		for thread, number, client, bytes in drawn(2, 200):
		    seen = reads.setdefault(thread, [])
		    seen += [bytes] * (1 + (number % 16 == 0))
		    truth[number, len(seen), percentile(seen, 90)] += 1
		told = collections.Counter((r["w.number"], r["s.n"], r["s.p"]) for r in rows if "time" in r)
		assert told == truth, (told - truth, truth - told)
	PY
}

@test "a percentile of what happened before is joined, in the bag and beyond it" {
	# nothing begins a request: all of a thread is one
	sed -i 's/ begins a request//' "$dir/shop.tp"
	echo "tracepoint Shop.write at function weave_sample!shop_write entry export number = arg5" >>"$dir/shop.tp"
	sample_start 2 200
	"$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/shop.tp" --for 1200s --json \
		'From w In Shop.write Join s In (From r In Shop.read Select PERCENTILE(r.bytes, 90) As p, COUNT As n) On s -> w Select w.number, s.n, s.p' \
		>"$dir/told" 2>"$dir/said" 3>&- 9>&- &
	query=$!
	wait_patched "$pid"
	kill -USR1 "$pid"
	wait_until grep -q written "$dir/out"
	wait_until ranked_as_drawn
	exec 9>&-
	wait "$query"
	ranked_as_drawn
}

@test "PostgreSQL: what each statement writes ahead" {
	missing=$(postgres_missing)
	[ -z "$missing" ] || skip "$missing"
	pg=$dir/pg
	postgres_init "$pg"
	postgres_start "$pg"
	psql -h "$pg" -U postgres -qc 'CREATE TABLE t (a int)' postgres
	"$CULPRIT" query --live --pid "$(cat "$pg.id")" --tracepoints postgresql --for 1200s --json \
		'From e In DB.Insert Join q In First(DB.Query) On q -> e GroupBy q.text Select q.text, COUNT As n' \
		>"$dir/told" 2>"$dir/said" 3>&- &
	query=$!
	wait_patched "$(cat "$pg.id")"
	psql -h "$pg" -U postgres -qc 'INSERT INTO t SELECT generate_series(1, 1234)' postgres
	psql -h "$pg" -U postgres -qc 'INSERT INTO t VALUES (1), (2)' postgres
	wait_until grep -q 'INSERT INTO t VALUES' "$dir/told"
	kill -INT "$query"
	wait "$query"
	cat "$dir/told" "$dir/said"
	# a statement may take longer than until the end of a second
	python3 - "$dir/told" <<-'PY'
		import collections, json, sys
		seconds = {(r["time"], r["q.text"]): r["n"] for r in map(json.loads, open(sys.argv[1])) if "time" in r}
		told = collections.Counter()
		for (_, text), n in seconds.items():
		    told[text] += n
		assert told["INSERT INTO t SELECT generate_series(1, 1234)"] == 1234 and told["INSERT INTO t VALUES (1), (2)"] == 2, told
	PY
	[ "$(psql -h "$pg" -U postgres -Atqc 'SELECT count(*) FROM t' postgres)" = 1236 ]
}

@test "who asks is killed: the program goes on as it was" {
	sample_start 2 2000 forever
	kill -USR1 "$pid"
	"$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/shop.tp" 'From r In Shop.read Select COUNT' >/dev/null 2>&1 3>&- 9>&- &
	query=$!
	wait_patched "$pid"
	kill -9 "$query"
	no_guardian "$pid"
	"$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/shop.tp" --for 1200s --json 'From r In Shop.read Select COUNT As n' >"$dir/told" 2>"$dir/said" 3>&- 9>&- &
	query=$!
	wait_until grep -q '"n":[1-9]' "$dir/told" || { cat "$dir/said"; false; }
	kill -INT "$query"
	wait "$query"
	kill -USR2 "$pid"
	exec 9>&-
	wait "$pid"
	pid=
	grep -q written "$dir/out"
}
