/* Calls a function from code that it has made itself, and looks there at the return address, as
 * what compiles just in time does. */
#include <string.h>
#include <sys/mman.h>

#include "guest.h"

static uint8_t *made;

WATCHED static int pack_order(int n)
{
	uint8_t *back = __builtin_extract_return_addr(__builtin_return_address(0));

	for (volatile int i = 0, k = n % 5 ? 1000 : 20000; i < k; i++)
		;
	if (back < made || back >= made + 4096)
		wrong("return address");
	return n + 1;
}

WATCHED static int process_order(int n)
{
	int (*call)(int) = (int (*)(int))(uintptr_t)made, r;

	for (volatile int i = 0; i < 100; i++)
		;
	r = call(n);

	__asm__ volatile("");
	return r;
}

int main(int argc, char **argv)
{
	int64_t until = until_of(argc, argv);
	uint64_t to = (uint64_t)(uintptr_t)pack_order;
	/* sub $8, %rsp; movabs $…, %rax; call *%rax; add $8, %rsp; ret */
	uint8_t code[] = { 0x48, 0x83, 0xec, 8,    0x48, 0xb8, 0,    0,    0, 0,   0,
			   0,    0,    0,    0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3 };

	memcpy(code + 6, &to, sizeof(to));
	made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	memcpy(made, code, sizeof(code));
	for (int n = 0; now_ns() < until; n++)
		if (process_order(n) != n + 1)
			wrong("order");
	puts("right");
	return 0;
}
