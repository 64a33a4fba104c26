# "culprit agent" and "culprit hub" with a real rsyslogd between them, on loopback.

load ports.bash
load wait.bash

# shellcheck disable=SC2030,SC2031  # each test is a subshell of its own

setup() {
	[ -x "$CULPRIT" ] || skip "culprit is not built"
	PATH=$PATH:/usr/sbin:/sbin
	command -v rsyslogd >/dev/null || skip "rsyslogd is not installed: tools/setup test"
	DIR=$(mktemp -d)
	LOG=$DIR/logs/app.log
	mkdir "$DIR/logs"
	touch "$LOG"
	PORT=$(port_find)
	AGENT='' HUB='' WRITER=''
	if "$CULPRIT" hub --listen "127.0.0.1:$PORT" -o "$DIR/probe.culprit" --for 100ms 2>&1 | grep -q "without RELP"; then
		skip "culprit was built without RELP"
	fi
}

teardown() {
	local pid
	for pid in $WRITER $AGENT $HUB; do
		kill -9 "$pid" 2>/dev/null || true
	done
	rm -rf "$DIR"
}

agent() {
	"$CULPRIT" agent --logs --to "127.0.0.1:$PORT" --state "$DIR/state" --epoch 200ms "$@" >>"$DIR/agent.out" 2>&1 3>&- &
	AGENT=$!
}

hub() {
	"$CULPRIT" hub --listen "127.0.0.1:$PORT" -o "$DIR/x.culprit" --state "$DIR/hub" --every 500ms "$@" \
		>>"$DIR/hub.out" 2>&1 3>&- &
	HUB=$!
}

writer() {
	python3 "$ROOT/tests/live/agent_writer.py" "$LOG" "$1" "$2" 3>&- &
	WRITER=$!
}

# the rsyslogd of this agent, if it runs
sender() {
	local pid
	pid=$(cat "$DIR/state/rsyslog/pid" 2>/dev/null) || return 1
	grep -qsx "PPid:.$AGENT" "/proc/$pid/status" && echo "$pid"
}

count() {
	python3 "$ROOT/tests/live/agent_count.py" "$DIR/hub" "$1"
}

# wait_for NR: until all lines are there once
wait_for() {
	wait_until count "$1" || { count "$1"; cat "$DIR/agent.out" "$DIR/hub.out"; return 1; }
}

# kill_at_random SECONDS
kill_at_random() {
	local end=$((SECONDS + $1)) pid
	while [ $SECONDS -lt $end ]; do
		sleep "0.$((RANDOM % 9))"
		case $((RANDOM % 3)) in
		0) kill -9 "$AGENT"; wait "$AGENT" 2>/dev/null || true; agent "$DIR/logs" ;;
		1) kill -9 "$HUB"; wait "$HUB" 2>/dev/null || true; hub ;;
		2) ! pid=$(sender) || kill -9 "$pid" || true ;;
		esac
	done
}

# users that place orders, each order in three lines
shop() {
	awk 'BEGIN {
		for (i = 0; i < 600; i++) {
			did[0] = sprintf("user_%d places ord_%d", i / 20, i)
			did[1] = sprintf("packing ord_%d for user_%d", i, i / 20)
			did[2] = sprintf("sent ord_%d", i)
			for (k = 0; k < 3; k++)
				printf "2026-11-16 08:%02d:%02d,%03d INFO [w-%d] shop.Cart: %s\n", i / 60, i % 60, k * 100, i % 4, did[k]
		}
	}'
}

is_live() {
	"$CULPRIT" objects "$DIR/x.culprit" --json 2>/dev/null | grep -v losses >"$DIR/live"
	cmp "$DIR/live" "$DIR/read"
}

@test "the run of a hub has the objects that the logs have" {
	hub
	agent "$DIR/logs"
	shop | while IFS= read -r line; do
		printf '%s\n' "$line"
	done >>"$LOG"
	"$CULPRIT" objects "$LOG" --json | grep -v losses >"$DIR/read"
	wait_until is_live || true # what differs is shown below
	kill "$AGENT" && wait "$AGENT"
	kill "$HUB" && wait "$HUB"
	grep -q '1800 lines' "$DIR/hub.out"
	diff "$DIR/live" "$DIR/read"
	grep -q '"from":\["user.*"to":\["ord' "$DIR/read"
}

@test "kill -9 of agent, rsyslogd and hub loses no line and reads none twice" {
	hub
	agent "$DIR/logs"
	writer 6000 2000
	kill_at_random 3
	wait "$WRITER"
	wait_for 6000
}

@test "kill -9 of agent, rsyslogd and hub, twenty thousand lines in ten rounds" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	for round in 1 2 3 4 5 6 7 8 9 10; do
		rm -rf "$DIR/state" "$DIR/hub" "$DIR/logs"
		mkdir "$DIR/logs"
		touch "$LOG"
		hub
		agent "$DIR/logs"
		writer 20000 2000
		kill_at_random 10
		wait "$WRITER"
		wait_for 20000
		kill "$AGENT" && wait "$AGENT"
		kill "$HUB" && wait "$HUB"
		echo "round $round"
	done
}

@test "a binary file named like a log is left out and counted" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	hub
	head -c 100000 /dev/urandom >"$DIR/logs/noise.log"
	writer 100 1000
	agent --for 3s "$DIR/logs"
	wait "$AGENT"
	wait_for 100
	grep -q '1 file named like a log that holds no text' "$DIR/agent.out"
}

@test "what is written while the hub is away arrives when it is back" {
	agent "$DIR/logs"
	writer 4000 4000
	wait "$WRITER"
	wait_until sender
	kill "$AGENT" && wait "$AGENT"
	agent "$DIR/logs"
	hub
	wait_for 4000
}

# a certificate NAME that ca.pem signed
certify() {
	openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null
	openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -out "$1.pem" -days 2 2>/dev/null
}

@test "over TLS only agents with a certificate are heard" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	command -v openssl >/dev/null || skip "openssl is not installed"
	cd "$DIR"
	openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=ca -days 2 2>/dev/null
	certify hub
	certify web
	hub --tls-ca ca.pem --tls-cert hub.pem --tls-key hub.key
	writer 100 1000
	agent --for 2s "$DIR/logs"
	wait "$AGENT" "$WRITER"
	run count 100
	[ "$status" != 0 ]
	agent --tls-ca ca.pem --tls-cert web.pem --tls-key web.key "$DIR/logs"
	wait_for 100
}

@test "an agent that is given no files finds the logs that processes write" {
	[ -r "/proc/$$/fd" ] || skip "no /proc"
	hub
	sh -c 'exec 5>>"$1"; printf "2026-11-16 08:00:00,000 INFO [w] shop.Cart: order ord_0 of user_0 done\n" >&5; exec sleep 1000' sh "$LOG" 3>&- &
	WRITER=$!
	agent --no-programs
	wait_for 1
}
