# Ports of this host that nobody has.

# port_find [NR]: so many, one a line. Below those that the kernel hands out by itself, so that no connection has one of them when
# a server that was killed wants it back.
port_find() {
	python3 - "${1:-1}" <<-'END'
	import random, socket, sys
	held = []
	while len(held) < int(sys.argv[1]):
	    s = socket.socket()
	    try:
	        s.bind(("127.0.0.1", random.randrange(10000, 32000)))
	    except OSError:
	        continue
	    held.append(s)
	for s in held:
	    print(s.getsockname()[1])
	END
}
