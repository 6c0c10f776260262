/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cases.h"
#include "captured_log.h"
#include "file.h"

/* A new, empty folder for each case, and the path of a file in it. */
struct folder {
	char path[64];
	char file[80];
	struct captured_log captured;
	struct log log;
};

static void folder_create(struct folder *folder)
{
	strcpy(folder->path, "/tmp/flashrom-file-XXXXXX");
	assert_non_null(mkdtemp(folder->path));
	sprintf(folder->file, "%s/image", folder->path);
	folder->log = captured_log(&folder->captured);
}

static void folder_destroy(struct folder *folder)
{
	DIR *listing = opendir(folder->path);
	struct dirent *entry;

	while ((entry = readdir(listing)) != NULL)
		(void)unlinkat(dirfd(listing), entry->d_name, 0);
	closedir(listing);
	rmdir(folder->path);
}

FIXTURE(folder, folder_create, folder_destroy);

static unsigned int count_entries(const struct folder *folder)
{
	DIR *listing = opendir(folder->path);
	unsigned int count = 0;

	while (readdir(listing) != NULL)
		count++;
	closedir(listing);
	return count - 2;
}

static void put(struct folder *folder, const char *text)
{
	assert_int_equal(
		file_write(folder->file, (const uint8_t *)text, strlen(text), &folder->log), 0);
}

static void assert_content(struct folder *folder, const char *path, const char *text)
{
	struct file_content content;

	assert_int_equal(file_read(path, 100, &folder->log, &content), 0);
	assert_int_equal(content.bytes, strlen(text));
	assert_memory_equal(content.data, text, content.bytes);
	free(content.data);
}

static void file_written_twice_holds_the_second_alone(struct folder *folder)
{
	put(folder, "long first content");
	put(folder, "second");
	assert_content(folder, folder->file, "second");
	assert_int_equal(count_entries(folder), 1);
}

static void mode_of_a_replaced_file_stays(struct folder *folder)
{
	struct stat status;

	put(folder, "first");
	assert_int_equal(chmod(folder->file, 0640), 0);
	put(folder, "second");
	assert_int_equal(stat(folder->file, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
}

static void put_link(struct folder *folder, const char *name, const char *target, char path[128])
{
	sprintf(path, "%s/%s", folder->path, name);
	assert_int_equal(symlink(target, path), 0);
}

static void assert_write_keeps_link(struct folder *folder, const char *link)
{
	struct stat status;

	assert_int_equal(file_check_writable(link, &folder->log), 0);
	assert_int_equal(file_write(link, (const uint8_t *)"second", 6, &folder->log), 0);
	assert_int_equal(lstat(link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_content(folder, folder->file, "second");
}

static void link_stays_and_what_it_points_to_is_replaced(struct folder *folder)
{
	char link[128];

	put(folder, "first");
	put_link(folder, "link", "image", link);
	assert_write_keeps_link(folder, link);
}

static void link_to_nothing_stays_and_its_file_is_made(struct folder *folder)
{
	char link[128];

	put_link(folder, "whole_path", folder->file, link);
	put_link(folder, "link", "whole_path", link);
	assert_write_keeps_link(folder, link);
}

static void link_that_leads_nowhere_is_known_beforehand(struct folder *folder)
{
	char link[128];

	put_link(folder, "link", "none/image", link);
	assert_int_equal(file_check_writable(link, &folder->log), -ENOENT);
	put_link(folder, "loop", "loop", link);
	assert_int_equal(file_check_writable(link, &folder->log), -ELOOP);
	assert_int_equal(file_write(link, (const uint8_t *)"x", 1, &folder->log), -ELOOP);
}

/* This device behaves as a full disk does. */
static void device_is_written_directly_and_its_error_reported(struct folder *folder)
{
	assert_int_equal(file_write("/dev/full", (const uint8_t *)"x", 1, &folder->log), -ENOSPC);
	assert_true(logged(&folder->captured, "Cannot write /dev/full"));
	assert_int_equal(file_check_writable("/dev/null", &folder->log), 0);
}

/* The temporary file cannot be created, because a file with its name exists. */
static void failed_write_keeps_the_old_file(struct folder *folder)
{
	char obstacle[128];
	FILE *file;

	put(folder, "old");
	sprintf(obstacle, "%s.%ld.part", folder->file, (long)getpid());
	file = fopen(obstacle, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(
		file_write(folder->file, (const uint8_t *)"new", 3, &folder->log), -EEXIST);
	assert_content(folder, folder->file, "old");
}

static void folder_that_is_not_there_is_known_beforehand(struct folder *folder)
{
	char path[128];

	sprintf(path, "%s/none/image", folder->path);
	assert_int_equal(file_check_writable(path, &folder->log), -ENOENT);
	assert_int_equal(file_check_writable(folder->path, &folder->log), -EISDIR);
	assert_int_equal(file_check_writable(folder->file, &folder->log), 0);
	assert_int_equal(count_entries(folder), 0);
}

static void file_beyond_the_limit_is_refused(struct folder *folder)
{
	struct file_content content = {NULL, 77};

	put(folder, "12345");
	assert_int_equal(file_read(folder->file, 4, &folder->log, &content), -EFBIG);
	assert_int_equal(content.bytes, 77);
	assert_int_equal(file_read(folder->file, 5, &folder->log, &content), 0);
	assert_int_equal(content.bytes, 5);
	free(content.data);
}

static void folder_is_no_file_to_read(struct folder *folder)
{
	struct file_content content;

	assert_int_equal(file_read(folder->path, 100, &folder->log, &content), -EISDIR);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(folder, file_written_twice_holds_the_second_alone),
	CASE_ON(folder, mode_of_a_replaced_file_stays),
	CASE_ON(folder, link_stays_and_what_it_points_to_is_replaced),
	CASE_ON(folder, link_to_nothing_stays_and_its_file_is_made),
	CASE_ON(folder, link_that_leads_nowhere_is_known_beforehand),
	CASE_ON(folder, device_is_written_directly_and_its_error_reported),
	CASE_ON(folder, failed_write_keeps_the_old_file),
	CASE_ON(folder, folder_that_is_not_there_is_known_beforehand),
	CASE_ON(folder, file_beyond_the_limit_is_refused),
	CASE_ON(folder, folder_is_no_file_to_read),
};

RUN_CASES(tests)
