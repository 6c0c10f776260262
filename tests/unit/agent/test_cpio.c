/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../run_cases.h"
#include "../temporary_folder.h"
#include "guest.h"

#define ARCHIVE_BYTES 1024u

/* An archive that a case builds, and the empty folder to unpack it, which is the current one. */
struct bench {
	uint8_t archive[ARCHIVE_BYTES];
	size_t bytes;
	struct folder folder;
};

static void bench_create(struct bench *bench)
{
	folder_create(&bench->folder);
	assert_int_equal(chdir(bench->folder.path), 0);
}

static void bench_destroy(struct bench *bench)
{
	assert_int_equal(chdir("/"), 0);
	folder_destroy(&bench->folder);
}

FIXTURE(bench, bench_create, bench_destroy);

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

TEST_ON(bench, folders_files_and_links_are_unpacked)
{
	char target[16] = "";

	add(bench, "f", S_IFDIR | 0755, "");
	add(bench, "f/file", S_IFREG | 0755, "12345");
	add(bench, "f/link", S_IFLNK | 0777, "file");
	add_end(bench);
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, bench->folder.path), 0);
	assert_file("f/file", "12345", 0755);
	assert_int_equal(readlink("f/link", target, sizeof(target) - 1), 4);
	assert_string_equal(target, "file");
}

TEST_ON(bench, existing_folder_is_kept)
{
	assert_int_equal(mkdir("f", 0755), 0);
	add(bench, "f", S_IFDIR | 0755, "");
	add(bench, "f/file", S_IFREG | 0600, "");
	add_end(bench);
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, bench->folder.path), 0);
	assert_file("f/file", "", 0600);
}

TEST_ON(bench, files_after_the_trailer_are_ignored)
{
	add_end(bench);
	add(bench, "file", S_IFREG | 0600, "x");
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, bench->folder.path), 0);
	assert_int_equal(access("file", F_OK), -1);
}

TEST_ON(bench, truncated_archive_is_refused_at_every_length)
{
	add(bench, "file", S_IFREG | 0600, "12345");
	add_end(bench);
	for (size_t bytes = 0; bytes < bench->bytes; bytes++)
		assert_int_equal(cpio_unpack(bench->archive, bytes, bench->folder.path), -EBADMSG);
}

TEST_ON(bench, header_with_an_invalid_digit_is_refused)
{
	add(bench, "file", S_IFREG | 0600, "12345");
	add_end(bench);
	bench->archive[6 + 6 * 8] = 'G';
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, bench->folder.path), -EBADMSG);
}

TEST_ON(bench, device_is_refused)
{
	add(bench, "file", S_IFCHR | 0600, "");
	add_end(bench);
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, bench->folder.path), -EBADMSG);
}

TEST_ON(bench, missing_folder_is_an_error)
{
	add_end(bench);
	assert_int_equal(cpio_unpack(bench->archive, bench->bytes, "missing"), -ENOENT);
}
