/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events that the dummy programmer writes, and the faults that it makes on request. */
#include <errno.h>
#include <unistd.h>

#include "../temporary_folder.h"
#include "captured_log.h"
#include "programmers.h"

#define LOOK_NS 100 /* each reading of the clock advances it by this */
#define START_NS UINT64_C(5000000000)

struct scene {
	uint64_t now_ns;
	struct clock clock;
	struct captured_log captured;
	struct log log;
	struct programmer *programmer;
	struct folder folder;
	char events[FOLDER_FILE_BYTES];
	char text[65536]; /* the content of the events file at the end */
};

static uint64_t look(void *context)
{
	return ((struct scene *)context)->now_ns += LOOK_NS;
}

static void wait(void *context, unsigned int us)
{
	((struct scene *)context)->now_ns += us * NS_PER_US;
}

static void set_up(struct scene *scene)
{
	scene->clock = (struct clock){.now_ns = look, .delay_us = wait, .context = scene};
	scene->log = captured_log(&scene->captured);
	folder_create(&scene->folder);
	folder_file(&scene->folder, "events", scene->events);
}

static void tear_down(struct scene *scene)
{
	if (scene->programmer != NULL)
		programmer_destroy(scene->programmer);
	folder_destroy(&scene->folder);
}

FIXTURE(scene, set_up, tear_down);

static int start(struct scene *scene, const char *part, const char *fault)
{
	const struct dummy_options options = {
		.emulate = part,
		.events = scene->events,
		.fault = fault,
		.seed = 7,
	};

	scene->now_ns = START_NS;
	return dummy_create(&options, &scene->clock, &scene->log, &scene->programmer);
}

/* Destroys the programmer, and reads its events. */
static void finish(struct scene *scene)
{
	programmer_destroy(scene->programmer);
	scene->programmer = NULL;
	folder_read(&scene->folder, "events", scene->text, sizeof(scene->text));
}

static int spi(struct scene *scene, const char *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	return scene->programmer->ops->spi_command(
		scene->programmer, (const uint8_t *)tx, tx_bytes, rx, rx_bytes);
}

static uint8_t status(struct scene *scene)
{
	uint8_t value = 0;

	assert_int_equal(spi(scene, "\x05", 1, &value, 1), 0);
	return value;
}

/* Fails the test unless `part` is exactly once in the events. */
static void assert_event(const struct scene *scene, const char *part)
{
	const char *found = strstr(scene->text, part);

	assert_non_null(found);
	assert_null(strstr(found + 1, part));
}

/* Produces the events of a page program, and of a read that comes too early. */
static void read_too_early(struct scene *scene)
{
	uint8_t read;

	assert_int_equal(start(scene, "W25Q128JV", NULL), 0);
	assert_int_equal(spi(scene, "\x06", 1, NULL, 0), 0);
	assert_int_equal(spi(scene, "\x02\x00\x00\x00\x42", 5, NULL, 0), 0);
	assert_int_equal(spi(scene, "\x03\x00\x00\x00", 4, &read, 1), 0);
	finish(scene);
}

static void events_are_those_of_the_serprog_emulator(struct scene *scene)
{
	read_too_early(scene);
	assert_event(scene, "{\"schema\":1,\"ev\":\"start\",\"t_ns\":5000");
	assert_event(scene, "\"clock\":\"monotonic\",\"clock_step_ns\":100,");
	assert_event(scene, "\"seed\":7,");
	assert_event(scene, "\"ev\":\"busy\",\"kind\":\"program\",\"op\":\"0x02\"");
	assert_event(scene, "\"violation\":\"busy\",\"margin_ns\":-");
	assert_event(scene, "\"spi_transactions\":3,\"cycle_transactions\":0,"
			    "\"serprog_requests\":0,\"violations\":1,\"faults\":0,"
			    "\"clean\":true}\n");
}

static void same_commands_leave_the_same_events(struct scene *scene)
{
	static char once[sizeof(scene->text)];

	read_too_early(scene);
	strcpy(once, scene->text);
	read_too_early(scene);
	assert_string_equal(scene->text, once);
}

static void cycles_of_a_command_are_one_event(struct scene *scene)
{
	const struct programmer_ops *ops;
	uint8_t value;

	assert_int_equal(start(scene, "SST39SF040", NULL), 0);
	ops = scene->programmer->ops;
	assert_int_equal(ops->write_byte(scene->programmer, 0x5555, 0xAA), 0);
	assert_int_equal(ops->write_byte(scene->programmer, 0x2AAA, 0x55), 0);
	assert_int_equal(ops->write_byte(scene->programmer, 0x5555, 0xA0), 0);
	assert_int_equal(ops->write_byte(scene->programmer, 0x1234, 0x5A), 0);
	assert_int_equal(ops->read_bytes(scene->programmer, 0x1234, &value, 1), 0);
	finish(scene);
	assert_event(scene, "\"ev\":\"cycle\",\"op\":\"0xa0\",\"name\":\"PROGRAM\","
			    "\"addr\":4660,\"wlen\":4,\"rlen\":0,");
	assert_event(scene, "\"cycle_transactions\":2,");
	assert_event(scene, "\"kind\":\"program\"");
}

static void corrupt_fault_changes_one_byte_of_a_reply(struct scene *scene)
{
	uint8_t id[3];

	assert_int_equal(start(scene, "W25Q128JV", "corrupt@2"), 0);
	assert_int_equal(spi(scene, "\x9f", 1, id, 3), 0);
	assert_int_equal(id[0], 0xEF);
	assert_int_not_equal(id[1], 0x40);
	assert_int_equal(id[2], 0x18);
	finish(scene);
	assert_event(scene, "\"kind\":\"corrupt\",\"at\":\"reply-byte\",\"nth\":2,");
}

static void refused_command_fails_and_does_not_reach_the_part(struct scene *scene)
{
	assert_int_equal(start(scene, "W25Q128JV", "nak@2"), 0);
	assert_int_equal(status(scene), 0);
	assert_int_equal(spi(scene, "\x06", 1, NULL, 0), -EIO);
	assert_int_equal(status(scene), 0);
	assert_true(logged(&scene->captured, "refused"));
	finish(scene);
	assert_event(scene, "\"spi_transactions\":2,");
}

/* A stall comes before the command, a delay after it. */
static void stall_and_delay_take_time_and_are_recorded(struct scene *scene)
{
	assert_int_equal(start(scene, "W25Q128JV", "stall:1000@1+delay:500@2"), 0);
	(void)status(scene);
	(void)status(scene);
	finish(scene);
	assert_event(scene, "\"kind\":\"stall\",\"at\":\"request\",\"nth\":1,"
			    "\"held_ns\":1000000}");
	assert_event(scene, "\"kind\":\"delay\",\"at\":\"request\",\"nth\":2,"
			    "\"held_ns\":500000}");
	assert_true(scene->now_ns >= START_NS + 1500000);
}

static void part_stays_busy_from_the_chosen_operation_on(struct scene *scene)
{
	assert_int_equal(start(scene, "W25Q128JV", "stuck-wip@1"), 0);
	assert_int_equal(spi(scene, "\x06", 1, NULL, 0), 0);
	assert_int_equal(spi(scene, "\x02\x00\x00\x00\x42", 5, NULL, 0), 0);
	scene->now_ns += UINT64_C(3600000000000);
	assert_int_equal(status(scene) & 0x01, 0x01);
	finish(scene);
	assert_event(scene, "\"kind\":\"stuck-wip\",\"at\":\"busy\",\"nth\":1,");
	assert_event(scene, "\"violations\":0,\"faults\":1,");
}

static void unsupported_faults_are_refused(struct scene *scene)
{
	static const char *const bad[] = {"drop@1", "duplicate@1", "hang-up@1", "stall@1",
		"corrupt@in:1", "nonsense", "corrupt@1+nonsense",
		"nak@1+nak@1+nak@1+nak@1+nak@1+nak@1+nak@1+nak@1+nak@1"};

	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(start(scene, "W25Q128JV", bad[i]), -EINVAL);
	assert_true(logged(&scene->captured, "fault=nonsense"));
	assert_int_equal(access(scene->events, F_OK), -1);
}

static void events_file_that_cannot_be_created_is_refused(struct scene *scene)
{
	strcpy(scene->events, "/nowhere/at/all");
	assert_int_equal(start(scene, "W25Q128JV", NULL), -ENOENT);
	assert_true(logged(&scene->captured, "events=/nowhere/at/all"));
}

static void parameters_reach_the_programmer(struct scene *scene)
{
	char text[FOLDER_FILE_BYTES + 80];

	snprintf(text, sizeof(text),
		"dummy:emulate=M25P80,events=%s,fault=nak@p=0.5+stuck-wip@9,seed=12",
		scene->events);
	assert_int_equal(programmer_open(text, &scene->clock, &scene->log, &scene->programmer), 0);
	finish(scene);
	assert_event(scene, "\"seed\":12,");
	assert_event(scene, "\"faults\":\"nak@p=0.5 stuck-wip@9\"}");
	assert_int_equal(programmer_open("dummy:emulate=M25P80,seed=x", &scene->clock, &scene->log,
				 &scene->programmer),
		-EINVAL);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(scene, events_are_those_of_the_serprog_emulator),
	CASE_ON(scene, same_commands_leave_the_same_events),
	CASE_ON(scene, cycles_of_a_command_are_one_event),
	CASE_ON(scene, corrupt_fault_changes_one_byte_of_a_reply),
	CASE_ON(scene, refused_command_fails_and_does_not_reach_the_part),
	CASE_ON(scene, stall_and_delay_take_time_and_are_recorded),
	CASE_ON(scene, part_stays_busy_from_the_chosen_operation_on),
	CASE_ON(scene, unsupported_faults_are_refused),
	CASE_ON(scene, events_file_that_cannot_be_created_is_refused),
	CASE_ON(scene, parameters_reach_the_programmer),
};

RUN_CASES(tests)
