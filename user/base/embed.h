/* SPDX-License-Identifier: MIT */
/* embed.h - a file of the source tree as a string of the program. */
#ifndef SDW_EMBED_H
#define SDW_EMBED_H

/* `path` is from the top of the source tree; the string ends with a NUL. */
#define SDW_EMBED(name, path)                    \
	__asm__(".pushsection .rodata\n"         \
		".local " #name "\n" #name ":\n" \
		".incbin \"" path "\"\n"         \
		".byte 0\n"                      \
		".popsection\n");                \
	extern const char(name)[]

#endif
