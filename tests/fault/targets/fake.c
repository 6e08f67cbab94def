// SPDX-License-Identifier: MIT
/*
 * A program that says it is CPython. SIZE: of _PyRuntime; COOKIE: what it begins with; VERSION: what
 * Py_Version says. The other words of _PyRuntime are addresses in it, and numbers.
 */
#include <time.h>

char _PyRuntime[SIZE] = COOKIE;
const unsigned long Py_Version = VERSION;
static volatile unsigned long count;

__attribute__((noinline)) void native_work(void)
{
	for (int i = 0; i < 1000; i++)
		count++;
}

int main(void)
{
	unsigned long *words = (unsigned long *)(void *)_PyRuntime;

	for (unsigned long i = 2; i < SIZE / 8; i++)
		words[i] = i % 3 ? (unsigned long)&words[i / 2] : i * 0x9e3779b97f4a7c15ul;
	while (clock() < CLOCKS_PER_SEC)
		native_work();
	return 0;
}
