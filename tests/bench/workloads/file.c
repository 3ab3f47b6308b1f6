// SPDX-License-Identifier: GPL-2.0-only
/* file: a small file's life on /tmp, which is a tmpfs in the test guest. */
#include <fcntl.h>
#include <unistd.h>

#include "bench.h"

#define FILE_PATH "/tmp/vellum-bench.file"

enum { FILE_BYTES = 1024 };

static void write_and_read_back(int file)
{
	static char data[FILE_BYTES];

	bench_check(write(file, data, sizeof(data)) == sizeof(data), "write");
	bench_check(lseek(file, 0, SEEK_SET) == 0, "lseek");
	bench_check(read(file, data, sizeof(data)) == sizeof(data), "read");
}

static void file_loop(unsigned int iterations)
{
	while (iterations--) {
		int file = open(FILE_PATH, O_RDWR | O_CREAT | O_EXCL, 0600);

		bench_check(file >= 0, "open");
		write_and_read_back(file);
		bench_check(close(file) == 0, "close");
		bench_check(unlink(FILE_PATH) == 0, "unlink");
	}
}

const struct bench bench_file = {
	.name = "file",
	.iterations = 1000,
	.loop = file_loop,
};
