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

# no_guardian PID: until nobody who patches it is left, but for dead ones that wait for their parent
no_guardian() {
	wait_until has_no_guardian "$1"
}

has_no_guardian() {
	local f
	while read -r f; do
		if ! grep -qs "^State:.Z" "$f" && tr '\0' ' ' <"${f%status}cmdline" | grep -qw -- "$1"; then
			return 1
		fi
	done < <(grep -ls "^Name:.culprit-guard" /proc/[0-9]*/status)
}

# has_answered PID ASKED: the agent in the machine has woven what this process ordered. (Another one that had its number, and was
# killed, may have left the same behind.)
WAIT_BEGAN=$(date +%s)
has_answered() {
	[ -n "$(find "/proc/$1/root/tmp" -maxdepth 1 -name ".culprit-$2-*" -newermt "@$WAIT_BEGAN" -exec grep -ls '^done' {} + 2>/dev/null)" ]
}
