// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../run_cases.h"
#include "guest.h"
#include "hypercall.h"

uint64_t hypercall_virtual_ns(void)
{
	return 0;
}

struct bench {
	char path[32];
};

static void bench_create(struct bench *bench)
{
	strcpy(bench->path, "/tmp/agent-guest-XXXXXX");
	close(mkstemp(bench->path));
}

static void bench_destroy(struct bench *bench)
{
	unlink(bench->path);
}

FIXTURE(bench, bench_create, bench_destroy);

TEST_ON(bench, written_text_can_be_read)
{
	char *text;

	assert_int_equal(guest_write_text(bench->path, "two\nlines"), 0);
	text = guest_read_text(bench->path);
	assert_string_equal(text, "two\nlines");
	free(text);
}

TEST_ON(bench, empty_file_is_an_error)
{
	errno = 0;
	assert_null(guest_read_text(bench->path));
	assert_int_equal(errno, ENODATA);
}

TEST(missing_file_is_not_created)
{
	assert_int_equal(guest_write_text("/nowhere/at/all", "1"), -ENOENT);
}

/* The limit applies to the child only: its write() takes 4 of the 8 bytes and sets no errno. */
TEST_ON(bench, partial_write_is_an_error)
{
	const struct rlimit few = {4, 4};
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		setrlimit(RLIMIT_FSIZE, &few);
		errno = 0;
		_exit(guest_write_text(bench->path, "12345678") == -EIO ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
