/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which files the preloaded g_file_get_contents() shares, and which it leaves to GLib. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../run_cases.h"
#include "../temporary_folder.h"
#include "fake_glib.h"

struct fixture {
	struct folder folder;
	char name[FOLDER_FILE_BYTES];
	int fd; /* the writer's */
	char *contents;
	size_t length;
};

static void set_up(struct fixture *fixture)
{
	folder_create(&fixture->folder);
	fixture->fd = -1;
	fake_glib_take_name();
}

static void tear_down(struct fixture *fixture)
{
	if (fixture->fd >= 0)
		close(fixture->fd);
	folder_destroy(&fixture->folder);
}

FIXTURE(fixture, set_up, tear_down);

static void make_file(struct fixture *fixture, const char *name, const char *text)
{
	folder_file(&fixture->folder, name, fixture->name);
	fixture->fd = open(fixture->name, O_CREAT | O_RDWR | O_EXCL, 0600);
	assert_true(fixture->fd >= 0);
	assert_int_equal(write(fixture->fd, text, strlen(text)), strlen(text));
}

static int get_contents(struct fixture *fixture)
{
	return g_file_get_contents(fixture->name, &fixture->contents, &fixture->length, NULL);
}

static void assert_left_to_glib(struct fixture *fixture)
{
	assert_int_equal(get_contents(fixture), FAKE_GLIB_RETURNS);
	assert_string_equal(fake_glib_take_name(), fixture->name);
	assert_string_equal(fixture->contents, FAKE_GLIB_TEXT);
	assert_int_equal(fixture->length, strlen(FAKE_GLIB_TEXT));
}

TEST_ON(fixture, file_with_the_suffix_refill_shows_later_writes)
{
	make_file(fixture, "cell.refill", "first");
	assert_int_equal(get_contents(fixture), 1);
	assert_null(fake_glib_take_name());
	assert_int_equal(fixture->length, 5);
	assert_memory_equal(fixture->contents, "first", 5);
	assert_int_equal(pwrite(fixture->fd, "other", 5, 0), 5);
	assert_memory_equal(fixture->contents, "other", 5);
	munmap(fixture->contents, fixture->length);
}

TEST_ON(fixture, file_of_another_name_is_left_to_glib)
{
	static const char *const names[] = {"cell", "cell.refill2", "cell-refill", "refill"};

	for (size_t i = 0; i < COUNT(names); i++) {
		make_file(fixture, names[i], "text");
		assert_left_to_glib(fixture);
		close(fixture->fd);
		fixture->fd = -1;
	}
}

TEST_ON(fixture, file_that_cannot_be_shared_is_left_to_glib)
{
	folder_file(&fixture->folder, "missing.refill", fixture->name);
	assert_left_to_glib(fixture);
	make_file(fixture, "empty.refill", "");
	assert_left_to_glib(fixture);
}

/* A caller that does not ask for the length expects a NUL at the end. */
TEST_ON(fixture, file_is_left_to_glib_if_the_caller_asks_for_no_length)
{
	make_file(fixture, "cell.refill", "text");
	assert_int_equal(g_file_get_contents(fixture->name, &fixture->contents, NULL, NULL),
		FAKE_GLIB_RETURNS);
	assert_string_equal(fake_glib_take_name(), fixture->name);
}
