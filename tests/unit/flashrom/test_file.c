/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../temporary_folder.h"
#include "captured_log.h"
#include "file.h"

/* A folder, and the path of a file in it. */
struct scene {
	struct folder folder;
	char file[FOLDER_FILE_BYTES];
	struct captured_log captured;
	struct log log;
};

static void set_up(struct scene *scene)
{
	folder_create(&scene->folder);
	folder_file(&scene->folder, "image", scene->file);
	scene->log = captured_log(&scene->captured);
}

static void tear_down(struct scene *scene)
{
	folder_destroy(&scene->folder);
}

FIXTURE(scene, set_up, tear_down);

static unsigned int count_entries(const struct scene *scene)
{
	DIR *listing = opendir(scene->folder.path);
	unsigned int count = 0;

	while (readdir(listing) != NULL)
		count++;
	closedir(listing);
	return count - 2;
}

static void put(struct scene *scene, const char *text)
{
	assert_int_equal(
		file_write(scene->file, (const uint8_t *)text, strlen(text), &scene->log), 0);
}

static void assert_content(struct scene *scene, const char *path, const char *text)
{
	struct file_content content;

	assert_int_equal(file_read(path, 100, &scene->log, &content), 0);
	assert_int_equal(content.bytes, strlen(text));
	assert_memory_equal(content.data, text, content.bytes);
	free(content.data);
}

static void second_write_replaces_the_file(struct scene *scene)
{
	put(scene, "long first content");
	put(scene, "second");
	assert_content(scene, scene->file, "second");
	assert_int_equal(count_entries(scene), 1);
}

static void mode_of_a_replaced_file_stays(struct scene *scene)
{
	struct stat status;

	put(scene, "first");
	assert_int_equal(chmod(scene->file, 0640), 0);
	put(scene, "second");
	assert_int_equal(stat(scene->file, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
}

static void put_link(
	struct scene *scene, const char *name, const char *target, char path[FOLDER_FILE_BYTES])
{
	folder_file(&scene->folder, name, path);
	assert_int_equal(symlink(target, path), 0);
}

static void assert_write_keeps_link(struct scene *scene, const char *link)
{
	struct stat status;

	assert_int_equal(file_check_writable(link, &scene->log), 0);
	assert_int_equal(file_write(link, (const uint8_t *)"second", 6, &scene->log), 0);
	assert_int_equal(lstat(link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_content(scene, scene->file, "second");
}

static void symbolic_link_stays_and_its_target_is_replaced(struct scene *scene)
{
	char link[FOLDER_FILE_BYTES];

	put(scene, "first");
	put_link(scene, "link", "image", link);
	assert_write_keeps_link(scene, link);
}

static void dangling_link_stays_and_its_target_is_created(struct scene *scene)
{
	char link[FOLDER_FILE_BYTES];

	put_link(scene, "whole_path", scene->file, link);
	put_link(scene, "link", "whole_path", link);
	assert_write_keeps_link(scene, link);
}

static void link_that_cannot_be_followed_is_refused(struct scene *scene)
{
	char link[FOLDER_FILE_BYTES];

	put_link(scene, "link", "none/image", link);
	assert_int_equal(file_check_writable(link, &scene->log), -ENOENT);
	put_link(scene, "loop", "loop", link);
	assert_int_equal(file_check_writable(link, &scene->log), -ELOOP);
	assert_int_equal(file_write(link, (const uint8_t *)"x", 1, &scene->log), -ELOOP);
}

/* /dev/full behaves like a full disk. */
static void device_is_written_directly_and_its_error_reported(struct scene *scene)
{
	assert_int_equal(file_write("/dev/full", (const uint8_t *)"x", 1, &scene->log), -ENOSPC);
	assert_true(logged(&scene->captured, "Cannot write /dev/full"));
	assert_int_equal(file_check_writable("/dev/null", &scene->log), 0);
}

/* The temporary file cannot be created, because a file with its name exists. */
static void failed_write_keeps_the_old_file(struct scene *scene)
{
	char name[32];

	put(scene, "old");
	snprintf(name, sizeof(name), "image.%ld.part", (long)getpid());
	folder_write(&scene->folder, name, "");
	assert_int_equal(file_write(scene->file, (const uint8_t *)"new", 3, &scene->log), -EEXIST);
	assert_content(scene, scene->file, "old");
}

static void unwritable_path_is_refused_by_the_check(struct scene *scene)
{
	char path[FOLDER_FILE_BYTES];

	folder_file(&scene->folder, "none/image", path);
	assert_int_equal(file_check_writable(path, &scene->log), -ENOENT);
	assert_int_equal(file_check_writable(scene->folder.path, &scene->log), -EISDIR);
	assert_int_equal(file_check_writable(scene->file, &scene->log), 0);
	assert_int_equal(count_entries(scene), 0);
}

static void file_beyond_the_limit_is_refused(struct scene *scene)
{
	struct file_content content = {NULL, 77};

	put(scene, "12345");
	assert_int_equal(file_read(scene->file, 4, &scene->log, &content), -EFBIG);
	assert_int_equal(content.bytes, 77);
	assert_int_equal(file_read(scene->file, 5, &scene->log, &content), 0);
	assert_int_equal(content.bytes, 5);
	free(content.data);
}

static void folder_cannot_be_read_as_a_file(struct scene *scene)
{
	struct file_content content;

	assert_int_equal(file_read(scene->folder.path, 100, &scene->log, &content), -EISDIR);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(scene, second_write_replaces_the_file),
	CASE_ON(scene, mode_of_a_replaced_file_stays),
	CASE_ON(scene, symbolic_link_stays_and_its_target_is_replaced),
	CASE_ON(scene, dangling_link_stays_and_its_target_is_created),
	CASE_ON(scene, link_that_cannot_be_followed_is_refused),
	CASE_ON(scene, device_is_written_directly_and_its_error_reported),
	CASE_ON(scene, failed_write_keeps_the_old_file),
	CASE_ON(scene, unwritable_path_is_refused_by_the_check),
	CASE_ON(scene, file_beyond_the_limit_is_refused),
	CASE_ON(scene, folder_cannot_be_read_as_a_file),
};

RUN_CASES(tests)
