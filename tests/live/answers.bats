# What becomes of the answers of live queries: a real hub, two agents that tell x, y and z once a second (1, 2 and 3), and
# everything that takes answers.

load ports.bash
load wait.bash

QUERY='Q9: From e In DB.Executed GroupBy e.host, e.procName Select e.host, e.procName, COUNT, SUM(e.took) As took'

setup_file() {
	export CULPRIT=${CULPRIT:-$BUILD/culprit} AGENT=$BUILD/tests/unit/live_agent dir hub port
	[ -x "$AGENT" ] || return 0
	dir=$(mktemp -d)
	hub="ipc://$dir/hub"
	port=$(port_find)
	"$CULPRIT" hub --queries --listen "$hub" --state "$dir/state" --metrics "127.0.0.1:$port" --for 1200s >"$dir/hub.log" 2>&1 3>&- 4>&- &
	echo $! >"$dir/began"
	for name in h1 h2; do
		"$AGENT" "$hub" $name 1200 >/dev/null 2>&1 3>&- 4>&- &
		echo $! >>"$dir/began"
	done
	wait_until both_there
}

teardown_file() {
	[ -e "${dir:-/nonexistent}" ] || return 0
	xargs kill <"$dir/began" 2>/dev/null || true
	rm -rf "$dir"
}

both_there() {
	[ "$("$CULPRIT" hub --status "$hub" --json | grep -c '"h[12]"')" -ge 2 ]
}

setup() {
	[ -x "$AGENT" ] || skip "built without ZeroMQ"
	began= taker=
}

teardown() {
	local pid
	for pid in $began $taker; do
		kill "$pid" 2>/dev/null || true
	done
}

# ask OPTION...: in the background; what it answers is in $dir/lines, what it says in $dir/said
ask() {
	"$CULPRIT" query --live --hub "$hub" --for 1200s "$@" >"$dir/lines" 2>"$dir/said" 3>&- 4>&- &
	began=$!
}

# answer: takes it back, with what was not told yet
answer() {
	kill -INT "$began"
	wait "$began" || { echo "ended with $?"; cat "$dir/said" "$dir/lines"; return 1; }
	began=
}

# told NR PATTERN...: so many seconds, with a line of each
told() {
	local pattern
	for pattern in "${@:2}"; do
		[ "$(grep "$pattern" "$dir/lines" | grep -o '"time":[0-9]*' | sort -u | wc -l)" -ge "$1" ] || return 1
	done
}

# reports HOST: how many the hub has of it
reports() {
	"$CULPRIT" hub --status "$hub" --json | sed -n "s/.*\"peer\":\"$1\".*\"reports\":\([0-9]*\),.*/\1/p"
}

# has_reports HOST NR: more than that
has_reports() {
	[ "$(reports "$1")" -gt "$2" ]
}

@test "JSON lines tell each second, and a run keeps them for other questions" {
	ask --json --output "$dir/run.culprit" --otlp "$dir/otlp.json" "$QUERY"
	wait_until told 3 '"h1","e.procName":"z"' '"h2","e.procName":"z"'
	answer
	# how many seconds of each host, which follow one another; where the machine has much to do one of them begins or ends later
	read -r h1 h2 < <(python3 - "$dir/lines" <<-'END'
	import json, sys
	rows = [json.loads(line) for line in open(sys.argv[1])]
	rows = {(r["time"], r["e.host"], r["e.procName"]): (r["COUNT"], r["took"]) for r in rows if "time" in r}
	seconds = {(time, host) for time, host, _ in rows}
	assert rows == {(*second, name): (1, n) for second in seconds for name, n in (("x", 1), ("y", 2), ("z", 3))}, rows
	for h in "h1", "h2":
	    times = sorted(time for time, host in seconds if host == h)
	    assert times == list(range(times[0], times[-1] + 1, 10**9)), times
	print(*(sum(host == h for _, host in seconds) for h in ("h1", "h2")))
	END
	)
	[ "$h1" -ge 2 ]
	[ "$h2" -ge 2 ]
	# shellcheck disable=SC2016  # the language's own quotes
	run "$CULPRIT" query "$dir/run.culprit" --json 'From r In Q9 GroupBy r.`e.procName` Select r.`e.procName`, COUNT, SUM(r.took)'
	[ "$status" -eq 0 ]
	[[ "$output" == *"\"x\",\"COUNT\":$((h1 + h2)),\"SUM(r.took)\":$((h1 + h2))"* ]]
	tail -n 1 "$dir/otlp.json" | grep -q '"name":"took","sum":{"aggregationTemporality":2'
	tail -n 1 "$dir/otlp.json" | grep -q "\"asInt\":\"$((3 * h1))\""
}

@test "a histogram is buckets in JSON lines, in a run and in metrics" {
	ask --json --output "$dir/spread.culprit" --otlp "$dir/spread.json" 'H: From e In DB.Executed Select COUNT As n, HISTOGRAM(e.took) As h'
	wait_until told 2 '"n":[1-9]'
	answer
	# all of x is from 1 to 2, all of y and z from 2 to 4
	n=$(python3 - "$dir/lines" "$dir/spread.json" <<-'END'
	import json, sys
	rows = [json.loads(line) for line in open(sys.argv[1])]
	rows = {r["time"]: r for r in rows if "time" in r}.values()
	assert all([b["count"] for b in r["h"]] == [r["n"] // 3, 2 * (r["n"] // 3)] for r in rows), rows
	metrics = json.loads(open(sys.argv[2]).readlines()[-1])["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
	point = next(m for m in metrics if m["name"] == "h")["histogram"]["dataPoints"][0]
	n = int(point["count"])
	assert point["explicitBounds"] == [1, 2, 4] and point["bucketCounts"] == ["0", str(n // 3), str(n // 3 * 2), "0"], point
	assert point["sum"] == 2 * n, point
	print(sum(r["n"] for r in rows))
	END
	)
	[ "$n" -ge 6 ]
	# shellcheck disable=SC2016  # the language's own quotes
	run "$CULPRIT" query "$dir/spread.culprit" --json 'From r In H Select SUM(r.n) As n, SUM(r.`h.1`) As low, SUM(r.`h.2`) As high'
	[[ "$output" == *"\"n\":$n,\"low\":$((n / 3)),\"high\":$((n / 3 * 2))"* ]]
}

has_answer_or_ended() {
	told 1 '"e.procName"' || ! kill -0 "$began" 2>/dev/null
}

@test "metrics are posted as protobuf" {
	command -v python3 >/dev/null || skip "no python3"
	python3 - "$dir" 3>&- <<-'END' &
		import http.server, sys
		class Taker(http.server.BaseHTTPRequestHandler):
		    def do_POST(self):
		        body = self.rfile.read(int(self.headers['content-length']))
		        open(sys.argv[1] + '/posted', 'wb').write(body)
		        open(sys.argv[1] + '/type', 'w').write(self.path + ' ' + self.headers['content-type'])
		        self.send_response(200); self.end_headers()
		    def log_message(self, *a): pass
		s = http.server.HTTPServer(('127.0.0.1', 0), Taker)
		open(sys.argv[1] + '/port', 'w').write(str(s.server_port))
		s.serve_forever()
	END
	taker=$!
	wait_until test -s "$dir/port"
	ask --json --otlp "http://127.0.0.1:$(cat "$dir/port")/v1/metrics" "$QUERY"
	wait_until has_answer_or_ended
	! grep -q "without libcurl" "$dir/said" || skip "built without libcurl"
	answer
	[ "$(cat "$dir/type")" = "/v1/metrics application/x-protobuf" ]
	grep -qa 'e.procName' "$dir/posted"
}

@test "a table stands in the end where there is no terminal, and a pivot table adds up" {
	was1=$(reports h1)
	was2=$(reports h2)
	ask --pivot e.procName --show took "$QUERY"
	wait_until has_reports h1 "$was1"
	wait_until has_reports h2 "$was2"
	answer
	run cat "$dir/lines"
	echo "$output"
	[[ "${lines[1]}" == *"e.host"*"z"*"y"*"x"*"all"* ]]
	h1=$(echo "${lines[2]}" | grep -o '[0-9][0-9]*' | tail -n 1)
	h2=$(echo "${lines[3]}" | grep -o '[0-9][0-9]*' | tail -n 1)
	all=$(echo "${lines[4]}" | grep -o '[0-9][0-9]*' | tail -n 1)
	[ "$h1" -gt 0 ]
	[ "$all" -eq $((h1 + h2)) ]
}

@test "what a query would cost is measured first" {
	run "$CULPRIT" query --live --explain --measure --json --hub "$hub" "$QUERY"
	[ "$status" -eq 0 ]
	[[ "$output" == *'"operations":["OBSERVE host, procName, took","EMIT host, procName, COUNT, SUM(took)"]'*'"per_second":'* ]]
}

@test "what is wrong is told before any host hears of it" {
	run "$CULPRIT" query --live --hub "$hub" --for 3s 'From e In DB.Exacuted Select COUNT'
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean 'DB.Executed'"* || "$output" == *"DB.Executed"* ]]
	run "$CULPRIT" query --live --hub "$hub" --for 3s --pivot nothing "$QUERY"
	[ "$status" -eq 2 ]
	[[ "$output" == *"is no such column"* ]]
}

metrics_have_h2() {
	python3 -c "import urllib.request as u; print(u.urlopen('http://127.0.0.1:$port/metrics').read().decode())" >"$dir/metrics" 2>/dev/null
	grep -q '^culprit_query_took_total{query="[0-9]*",e_host="h2",e_procName="z"} [0-9]*$' "$dir/metrics"
}

@test "the hub tells Prometheus what its queries answer and how its agents are" {
	command -v python3 >/dev/null || skip "no python3"
	grep -q "without HTTP" "$dir/hub.log" && skip "built without the page"
	ask "$QUERY"
	wait_until metrics_have_h2
	grep -q '^culprit_query_took_total{query="[0-9]*",e_host="h2",e_procName="z"} [0-9]*$' "$dir/metrics"
	grep -q '^culprit_peer_up{kind="agent",name="h1",host="h1"} 1$' "$dir/metrics"
	[ "$(grep -c '^# TYPE culprit_query_took_total counter$' "$dir/metrics")" -eq 1 ]
	answer
}
