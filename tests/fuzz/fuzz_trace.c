// SPDX-License-Identifier: MIT
/*
 * fuzz_trace.c - the stream of a trace that anybody may have written, read back and reported.
 *
 * Input: the stream file. The metadata is that of the writer, whose UUID the first packet names:
 * what is wrong with metadata is libbabeltrace2's and tried in a child process.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "checking_sink.h"
#include "fuzz/input.h"
#include "sink/ctf.h"
#include "sink/ctf_format.h"
#include "view/reader_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char folder[] = "/dev/shm/sidewinder-fuzz-XXXXXX", problem[256] = "";
	int directory, file;

	if (!mkdtemp(folder))
		abort();
	directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	file = openat(directory, SDW_CTF_STREAM, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (directory < 0 || file < 0 || write(file, data, size) != (ssize_t)size)
		abort();
	close(file);
	if (sdw_reader_check_stream(directory, folder, problem, sizeof(problem)) == 0)
		fuzz_assert(!*problem);
	unlinkat(directory, SDW_CTF_STREAM, 0);
	close(directory);
	rmdir(folder);
	return 0;
}
