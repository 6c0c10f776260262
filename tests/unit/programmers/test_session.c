/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells, one after the other, in a QEMU that is paused and resumed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../cases.h"
#include "programmers/session.h"

#define PATH_BYTES 256

struct fixture {
	struct session session;
	char folder[PATH_BYTES / 2];
	char path[PATH_BYTES];
};

static const char *path_of(struct fixture *fixture, const char *name)
{
	snprintf(fixture->path, sizeof(fixture->path), "%s/%s", fixture->folder, name);
	return fixture->path;
}

static void write_text(struct fixture *fixture, const char *name, const char *text)
{
	FILE *out = fopen(path_of(fixture, name), "w");

	if (!out)
		abort();
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

/* Writes the settings of a cell, whose number is in the names of its files. */
static void write_settings(struct fixture *fixture, unsigned int cell)
{
	char text[8 * PATH_BYTES];

	snprintf(text, sizeof(text),
		"cell=%u\npart=SST29EE010\ncorner=max\nseed=1\nrecords_max=100\n"
		"start_state=ready\nimage_in=%s/"
		"before\n"
		"image_offset=65536\nimage_out_sparse=%s/image-%u\nevents=%s/events-%u\n",
		cell, fixture->folder, fixture->folder, cell, fixture->folder, cell);
	write_text(fixture, "settings", text);
}

static void read_text(struct fixture *fixture, const char *name, char *text, size_t bytes)
{
	FILE *in = fopen(path_of(fixture, name), "r");

	if (!in)
		abort();
	text[fread(text, 1, bytes - 1, in)] = '\0';
	fclose(in);
}

static void set_up(struct fixture *fixture)
{
	static char settings[PATH_BYTES];

	strcpy(fixture->folder, "/tmp/rig-session-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	write_text(fixture, "before", "flash");
	write_settings(fixture, 1);
	strcpy(settings, path_of(fixture, "settings"));
	fixture->session.settings_path = settings;
}

static void tear_down(struct fixture *fixture)
{
	static const char *const names[] = {
		"settings", "before", "image-1", "image-2", "events-1", "events-2"};

	session_deinit(&fixture->session);
	for (size_t i = 0; i < COUNT(names); i++)
		unlink(path_of(fixture, names[i]));
	rmdir(fixture->folder);
}

FIXTURE(fixture, set_up, tear_down);

static void cell_finds_its_content_and_leaves_its_events(struct fixture *fixture)
{
	char events[4096], image[8192];

	assert_int_equal(session_resume(&fixture->session, 1000), 0);
	assert_int_equal(bus_read_cycle(session_bus(&fixture->session), 2000, 65536), 'f');
	assert_int_equal(session_pause(&fixture->session, 3000), 0);
	read_text(fixture, "events-1", events, sizeof(events));
	assert_non_null(strstr(events, "\"ev\":\"start\",\"t_ns\":1000,\"chip\":\"SST29EE010\""));
	assert_non_null(strstr(events, "\"clock\":\"virtual\""));
	assert_non_null(strstr(events, "\"ev\":\"cycle\""));
	assert_non_null(strstr(events, "\"ev\":\"end\",\"t_ns\":3000"));
	assert_non_null(strstr(events, "\"clean\":true"));
	read_text(fixture, "image-1", image, sizeof(image));
	assert_memory_equal(image + 8, "flash", 5);
}

static void machine_that_boots_begins_where_it_goes_on_last(struct fixture *fixture)
{
	char events[4096];

	assert_int_equal(session_resume(&fixture->session, 0), 0);
	assert_int_equal(session_pause(&fixture->session, 500), 0);
	assert_int_equal(session_resume(&fixture->session, 1000), 0);
	bus_read_cycle(session_bus(&fixture->session), 2000, 0);
	assert_int_equal(session_pause(&fixture->session, 3000), 0);
	read_text(fixture, "events-1", events, sizeof(events));
	assert_non_null(strstr(events, "\"ev\":\"start\",\"t_ns\":1000"));
}

static void cell_goes_on_after_a_pause(struct fixture *fixture)
{
	char events[4096];

	assert_int_equal(session_resume(&fixture->session, 1000), 0);
	bus_read_cycle(session_bus(&fixture->session), 2000, 0);
	assert_int_equal(session_pause(&fixture->session, 3000), 0);
	assert_int_equal(session_resume(&fixture->session, 3000), 0);
	bus_read_cycle(session_bus(&fixture->session), 4000, 0);
	assert_int_equal(session_pause(&fixture->session, 5000), 0);
	read_text(fixture, "events-1", events, sizeof(events));
	assert_non_null(strstr(events, "\"ev\":\"start\",\"t_ns\":1000"));
	assert_non_null(strstr(events, "\"cycle_transactions\":2"));
}

static void next_cell_has_a_chip_of_its_own_and_may_begin_earlier(struct fixture *fixture)
{
	struct bus *bus;
	char events[4096];

	assert_int_equal(session_resume(&fixture->session, 1000), 0);
	bus = session_bus(&fixture->session);
	bus_write_cycle(bus, 2000, 0x5555, 0xAA);
	bus_write_cycle(bus, 2001, 0x2AAA, 0x55);
	bus_write_cycle(bus, 2002, 0x5555, 0x90); /* the part stays in ID mode */
	assert_int_equal(session_pause(&fixture->session, 3000), 0);
	write_settings(fixture, 2);
	assert_int_equal(session_resume(&fixture->session, 1000), 0);
	bus = session_bus(&fixture->session);
	assert_int_equal(bus_read_cycle(bus, 1500, 0), 0xFF);
	assert_int_equal(session_pause(&fixture->session, 2000), 0);
	read_text(fixture, "events-2", events, sizeof(events));
	assert_non_null(strstr(events, "\"cycle_transactions\":1"));
	assert_non_null(strstr(events, "\"clean\":true"));
	assert_int_equal(access(path_of(fixture, "events-1"), F_OK), 0);
}

static void without_settings_there_is_no_chip(struct fixture *fixture)
{
	write_text(fixture, "settings", "");
	assert_int_equal(session_resume(&fixture->session, 1000), 0);
	assert_null(session_bus(&fixture->session));
	assert_int_equal(session_pause(&fixture->session, 2000), 0);
}

static void bad_settings_and_missing_content_are_refused(struct fixture *fixture)
{
	unlink(path_of(fixture, "before"));
	assert_int_equal(session_resume(&fixture->session, 1000), -ENOENT);
	write_text(fixture, "settings", "part=none\n");
	assert_int_equal(session_resume(&fixture->session, 1000), -EINVAL);
	unlink(path_of(fixture, "settings"));
	assert_int_equal(session_resume(&fixture->session, 1000), -ENOENT);
}

static void settings_that_are_a_folder_are_refused(struct fixture *fixture)
{
	fixture->session.settings_path = fixture->folder;
	assert_int_equal(session_resume(&fixture->session, 1000), -EISDIR);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(fixture, cell_finds_its_content_and_leaves_its_events),
	CASE_ON(fixture, machine_that_boots_begins_where_it_goes_on_last),
	CASE_ON(fixture, cell_goes_on_after_a_pause),
	CASE_ON(fixture, next_cell_has_a_chip_of_its_own_and_may_begin_earlier),
	CASE_ON(fixture, without_settings_there_is_no_chip),
	CASE_ON(fixture, bad_settings_and_missing_content_are_refused),
	CASE_ON(fixture, settings_that_are_a_folder_are_refused),
};

RUN_CASES(tests)
