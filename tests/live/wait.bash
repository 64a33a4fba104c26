# Waiting for what a test needs to be so, on a machine that may have much else to do.

# wait_until COMMAND...: until it succeeds, for three minutes at most
wait_until() {
	local end=$((SECONDS + 180))
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "not within three minutes: $*"
			return 1
		fi
		sleep 0.05
	done
}

# wait_runs PID PROGRAM: until the process that was forked has become the program
wait_runs() {
	wait_until test "/proc/$1/exe" -ef "$2"
}

# wait_patched PID: until code of it is not that of its files any more
wait_patched() {
	wait_until is_patched "$1"
}

is_patched() {
	[ -e "/proc/$1/mem" ] && ! python3 "$ROOT/tests/live/variance_unpatched.py" "$1"
}
