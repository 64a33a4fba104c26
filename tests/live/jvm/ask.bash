# Asking many JVMs on several hosts, as agents know them: hub, agents, queries, and clients that begin when all advice is in. $DIR is the
# test's folder, $JVM the folder of this file. AGENT_PIDS has the processes of each host; TP has the sets of tracepoints that are used.

# hub: with which agents and queries meet
hub() {
	HUB=ipc://$DIR/hub
	declare -gA ASKED AGENT_PIDS BEFORE
	TRUTHS=()
	"$CULPRIT" hub --queries --name hub --listen "$HUB" --state "$DIR/state" 3>&- 2>>"$DIR/err" &
	PIDS+=($!)
}

# agents HOST...: one for each host, with the processes that are there
agents() {
	local host pid more
	for host in "$@"; do
		more=()
		for pid in ${AGENT_PIDS[$host]}; do
			more+=(--pid "$pid")
		done
		"$CULPRIT" agent --queries --hub "$HUB" --name "$host" "${more[@]}" 3>&- 2>>"$DIR/err" &
		PIDS+=($!)
	done
}

# ask NAME QUERY: one that is called figure… as a table, with clients side by side (Figure 1c of the paper on Pivot Tracing)
ask() {
	local t more=() how=(--json)
	[ "${1#figure}" = "$1" ] || how=(--pivot cl.procName)
	for t in "${TP[@]}"; do
		more+=(--tracepoints "$t")
	done
	"$CULPRIT" query --live --hub "$HUB" "${more[@]}" --for 900s "${how[@]}" "$2" >"$DIR/$1.answer" 2>"$DIR/$1.said" 3>&- &
	ASKED[$1]=$!
	PIDS+=($!)
}

# is_placed QUERIES: in all processes of all hosts
is_placed() {
	"$CULPRIT" hub --status "$HUB" --json | python3 "$JVM/hdfs_check.py" placed "$1" "$(wc -w <<<"${AGENT_PIDS[*]}")" "${TP[@]}"
}

# ask_all QUERIES: until all have advice in all JVMs
ask_all() {
	local name text
	while IFS=$'\t' read -r name text; do
		ask "$name" "$text"
	done <"$1"
	wait_until is_placed "$1" || {
		is_placed "$1"
		cat "$DIR/err"
		return 1
	}
}

# begin QUERIES: asks them, and lets clients begin
begin() {
	local name
	ask_all "$1"
	for name in dn1 dn2 dn3; do
		BEFORE[$name]=$(hdfs_metric "$name" BytesRead)
	done
	touch "$DIR/go"
}

have_ended() {
	local t
	for t in "${TRUTHS[@]}"; do
		[ -f "${t#*=}" ] || return 1
	done
}

# What DataNodes have counted since clients began.
told() {
	local name s=0
	for name in dn1 dn2 dn3; do
		s=$((s + $(hdfs_metric "$name" BytesRead) - BEFORE[$name]))
	done
	echo "$s"
}

# end_queries: they tell what is left
end_queries() {
	local name
	for name in "${!ASKED[@]}"; do
		kill -INT "${ASKED[$name]}"
	done
	for name in "${!ASKED[@]}"; do
		wait "${ASKED[$name]}" || true
	done
}

no_losses() {
	cat "$DIR"/*.said | grep -v 'is loaded yet\|places' | grep . && return 1
	return 0
}

# sums NAME COLUMN: KEY NUMBER of all seconds, by that column
sums() {
	python3 "$JVM/hdfs_check.py" sums "$DIR/$1.answer" "$2"
}
