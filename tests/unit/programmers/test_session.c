/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells, one after the other, in a QEMU that is paused and resumed. */
#include <errno.h>
#include <unistd.h>

#include "../run_cases.h"
#include "../temporary_folder.h"
#include "programmers/session.h"

struct fixture {
	struct session session;
	struct folder folder;
	char settings[FOLDER_FILE_BYTES];
};

/* Writes the settings of a cell, whose number is in the names of its files. */
static void write_settings(struct fixture *fixture, unsigned int cell)
{
	const char *path = fixture->folder.path;
	char text[512];

	snprintf(text, sizeof(text),
		"cell=%u\npart=SST29EE010\ncorner=max\nseed=1\nrecords_max=100\n"
		"start_state=ready\nimage_in=%s/before\n"
		"image_offset=65536\nimage_out_sparse=%s/image-%u\nevents=%s/events-%u\n",
		cell, path, path, cell, path, cell);
	folder_write(&fixture->folder, "settings", text);
}

static void set_up(struct fixture *fixture)
{
	folder_create(&fixture->folder);
	folder_file(&fixture->folder, "settings", fixture->settings);
	folder_write(&fixture->folder, "before", "flash");
	write_settings(fixture, 1);
	fixture->session.front = &nicintel_front;
	fixture->session.settings_path = fixture->settings;
}

static void tear_down(struct fixture *fixture)
{
	session_deinit(&fixture->session);
	folder_destroy(&fixture->folder);
}

FIXTURE(fixture, set_up, tear_down);

TEST_ON(fixture, cell_loads_its_content_and_writes_its_events)
{
	char events[4096], image[8192];

	assert_int_equal(session_resume(&fixture->session, 1000), 0);
	assert_int_equal(bus_read_cycle(session_bus(&fixture->session), 2000, 65536), 'f');
	assert_int_equal(session_pause(&fixture->session, 3000), 0);
	folder_read(&fixture->folder, "events-1", events, sizeof(events));
	assert_non_null(strstr(events, "\"ev\":\"start\",\"t_ns\":1000,\"chip\":\"SST29EE010\""));
	assert_non_null(strstr(events, "\"clock\":\"virtual\""));
	assert_non_null(strstr(events, "\"ev\":\"cycle\""));
	assert_non_null(strstr(events, "\"ev\":\"end\",\"t_ns\":3000"));
	assert_non_null(strstr(events, "\"clean\":true"));
	folder_read(&fixture->folder, "image-1", image, sizeof(image));
	assert_memory_equal(image + 8, "flash", 5);
}

TEST_ON(fixture, cell_starts_at_the_last_resume_before_the_first_access)
{
	char events[4096];

	assert_int_equal(session_resume(&fixture->session, 0), 0);
	assert_int_equal(session_pause(&fixture->session, 500), 0);
	assert_int_equal(session_resume(&fixture->session, 1000), 0);
	bus_read_cycle(session_bus(&fixture->session), 2000, 0);
	assert_int_equal(session_pause(&fixture->session, 3000), 0);
	folder_read(&fixture->folder, "events-1", events, sizeof(events));
	assert_non_null(strstr(events, "\"ev\":\"start\",\"t_ns\":1000"));
}

TEST_ON(fixture, cell_continues_after_a_pause)
{
	char events[4096];

	assert_int_equal(session_resume(&fixture->session, 1000), 0);
	bus_read_cycle(session_bus(&fixture->session), 2000, 0);
	assert_int_equal(session_pause(&fixture->session, 3000), 0);
	assert_int_equal(session_resume(&fixture->session, 3000), 0);
	bus_read_cycle(session_bus(&fixture->session), 4000, 0);
	assert_int_equal(session_pause(&fixture->session, 5000), 0);
	folder_read(&fixture->folder, "events-1", events, sizeof(events));
	assert_non_null(strstr(events, "\"ev\":\"start\",\"t_ns\":1000"));
	assert_non_null(strstr(events, "\"cycle_transactions\":2"));
}

TEST_ON(fixture, next_cell_gets_a_new_chip_and_may_start_earlier)
{
	struct bus *bus;
	char events[4096], first[4096];

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
	folder_read(&fixture->folder, "events-2", events, sizeof(events));
	assert_non_null(strstr(events, "\"cycle_transactions\":1"));
	assert_non_null(strstr(events, "\"clean\":true"));
	folder_read(&fixture->folder, "events-1", first, sizeof(first));
	assert_non_null(strstr(first, "\"cycle_transactions\":1"));
}

TEST_ON(fixture, without_settings_there_is_no_chip)
{
	folder_write(&fixture->folder, "settings", "");
	assert_int_equal(session_resume(&fixture->session, 1000), 0);
	assert_null(session_bus(&fixture->session));
	assert_int_equal(session_pause(&fixture->session, 2000), 0);
}

TEST_ON(fixture, bad_settings_and_missing_content_are_refused)
{
	char content[FOLDER_FILE_BYTES];

	folder_file(&fixture->folder, "before", content);
	unlink(content);
	assert_int_equal(session_resume(&fixture->session, 1000), -ENOENT);
	folder_write(&fixture->folder, "settings", "part=none\n");
	assert_int_equal(session_resume(&fixture->session, 1000), -EINVAL);
	unlink(fixture->settings);
	assert_int_equal(session_resume(&fixture->session, 1000), -ENOENT);
}

TEST_ON(fixture, part_of_a_bus_that_the_programmer_does_not_have_is_refused)
{
	fixture->session.front = &ich9_front;
	assert_int_equal(session_resume(&fixture->session, 1000), -EINVAL);
	assert_null(session_bus(&fixture->session));
}

TEST_ON(fixture, settings_that_are_a_folder_are_refused)
{
	fixture->session.settings_path = fixture->folder.path;
	assert_int_equal(session_resume(&fixture->session, 1000), -EISDIR);
}
