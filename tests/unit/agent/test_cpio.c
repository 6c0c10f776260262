/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cpio.h"

#define ARCHIVE_BYTES 1024u

/* An archive that the test builds, and an empty folder, the current one, to unpack it into. */
struct bench {
	uint8_t archive[ARCHIVE_BYTES];
	size_t bytes;
	char folder[32];
};

static int bench_create(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	if (!bench)
		return -1;
	strcpy(bench->folder, "/tmp/cpio-test-XXXXXX");
	*state = bench;
	return mkdtemp(bench->folder) && chdir(bench->folder) == 0 ? 0 : -1;
}

static int bench_destroy(void **state)
{
	struct bench *bench = *state;

	unlink("f/file");
	unlink("f/link");
	rmdir("f");
	unlink("file");
	if (chdir("/") < 0)
		return -1;
	rmdir(bench->folder);
	free(bench);
	return 0;
}

static void pad(struct bench *bench)
{
	bench->bytes = (bench->bytes + 3) / 4 * 4;
}

static void add(struct bench *bench, const char *name, unsigned int mode, const char *content)
{
	uint8_t *at = bench->archive + bench->bytes;
	int header = snprintf((char *)at, ARCHIVE_BYTES - bench->bytes,
		"070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s", 1u, mode, 0u, 0u,
		1u, 0u, (unsigned int)strlen(content), 0u, 0u, 0u, 0u,
		(unsigned int)strlen(name) + 1, 0u, name);

	bench->bytes += (size_t)header + 1;
	pad(bench);
	memcpy(bench->archive + bench->bytes, content, strlen(content));
	bench->bytes += strlen(content);
	pad(bench);
}

static void add_end(struct bench *bench)
{
	add(bench, "TRAILER!!!", 0, "");
}

static void assert_file(const char *path, const char *content, mode_t mode)
{
	char found[64] = "";
	struct stat status;
	int file = open(path, O_RDONLY);

	assert_true(file >= 0);
	assert_int_equal(read(file, found, sizeof(found) - 1), strlen(content));
	assert_string_equal(found, content);
	assert_int_equal(fstat(file, &status), 0);
	assert_int_equal(status.st_mode & 07777, mode);
	close(file);
}

static void folders_files_and_links_are_made(void **state)
{
	struct bench *bench = *state;
	char target[16] = "";

	add(bench, "f", S_IFDIR | 0755, "");
	add(bench, "f/file", S_IFREG | 0755, "12345");
	add(bench, "f/link", S_IFLNK | 0777, "file");
	add_end(bench);
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, bench->folder), 0);
	assert_file("f/file", "12345", 0755);
	assert_int_equal(readlink("f/link", target, sizeof(target) - 1), 4);
	assert_string_equal(target, "file");
}

static void folder_that_is_there_is_kept(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(mkdir("f", 0755), 0);
	add(bench, "f", S_IFDIR | 0755, "");
	add(bench, "f/file", S_IFREG | 0600, "");
	add_end(bench);
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, bench->folder), 0);
	assert_file("f/file", "", 0600);
}

static void what_follows_the_trailer_is_left_alone(void **state)
{
	struct bench *bench = *state;

	add_end(bench);
	add(bench, "file", S_IFREG | 0600, "x");
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, bench->folder), 0);
	assert_int_equal(access("file", F_OK), -1);
}

static void archive_that_is_cut_short_is_refused_at_every_length(void **state)
{
	struct bench *bench = *state;

	add(bench, "file", S_IFREG | 0600, "12345");
	add_end(bench);
	for (size_t bytes = 0; bytes < bench->bytes; bytes++)
		assert_int_equal(cpio_unpack(bench->archive, bytes, bench->folder), -EBADMSG);
}

static void digit_that_is_none_is_refused(void **state)
{
	struct bench *bench = *state;

	add(bench, "file", S_IFREG | 0600, "12345");
	add_end(bench);
	bench->archive[6 + 6 * 8] = 'G';
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, bench->folder), -EBADMSG);
}

static void device_is_refused(void **state)
{
	struct bench *bench = *state;

	add(bench, "file", S_IFCHR | 0600, "");
	add_end(bench);
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, bench->folder), -EBADMSG);
}

static void missing_folder_is_told(void **state)
{
	struct bench *bench = *state;

	add_end(bench);
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, "missing"), -ENOENT);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, bench_create, bench_destroy)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(folders_files_and_links_are_made),
		CASE(folder_that_is_there_is_kept),
		CASE(what_follows_the_trailer_is_left_alone),
		CASE(archive_that_is_cut_short_is_refused_at_every_length),
		CASE(digit_that_is_none_is_refused),
		CASE(device_is_refused),
		CASE(missing_folder_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
