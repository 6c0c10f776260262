/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which files the preloaded g_file_get_contents() shares, and which it leaves to GLib. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../cases.h"
#include "fake_glib.h"

struct fixture {
	char dir[32];
	char name[64];
	int fd; /* the writer's */
	char *contents;
	size_t length;
};

static void set_up(struct fixture *fixture)
{
	strcpy(fixture->dir, "/tmp/test_shared_files.XXXXXX");
	assert_non_null(mkdtemp(fixture->dir));
	fixture->fd = -1;
	fake_glib_take_name();
}

static void tear_down(struct fixture *fixture)
{
	if (fixture->fd >= 0) {
		close(fixture->fd);
		unlink(fixture->name);
	}
	rmdir(fixture->dir);
}

FIXTURE(fixture, set_up, tear_down);

static void make_file(struct fixture *fixture, const char *name, const char *text)
{
	snprintf(fixture->name, sizeof(fixture->name), "%s/%s", fixture->dir, name);
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

static void file_with_the_suffix_refill_shows_later_writes(struct fixture *fixture)
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

static void file_of_another_name_is_left_to_glib(struct fixture *fixture)
{
	static const char *const names[] = {"cell", "cell.refill2", "cell-refill", "refill"};

	for (size_t i = 0; i < COUNT(names); i++) {
		make_file(fixture, names[i], "text");
		assert_left_to_glib(fixture);
		close(fixture->fd);
		fixture->fd = -1;
		unlink(fixture->name);
	}
}

static void file_that_cannot_be_shared_is_left_to_glib(struct fixture *fixture)
{
	snprintf(fixture->name, sizeof(fixture->name), "%s/missing.refill", fixture->dir);
	assert_left_to_glib(fixture);
	make_file(fixture, "empty.refill", "");
	assert_left_to_glib(fixture);
}

/* A caller that does not ask for the length expects a NUL at the end. */
static void file_is_left_to_glib_if_the_caller_asks_for_no_length(struct fixture *fixture)
{
	make_file(fixture, "cell.refill", "text");
	assert_int_equal(g_file_get_contents(fixture->name, &fixture->contents, NULL, NULL),
		FAKE_GLIB_RETURNS);
	assert_string_equal(fake_glib_take_name(), fixture->name);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(fixture, file_with_the_suffix_refill_shows_later_writes),
	CASE_ON(fixture, file_of_another_name_is_left_to_glib),
	CASE_ON(fixture, file_that_cannot_be_shared_is_left_to_glib),
	CASE_ON(fixture, file_is_left_to_glib_if_the_caller_asks_for_no_length),
};

RUN_CASES(tests)
