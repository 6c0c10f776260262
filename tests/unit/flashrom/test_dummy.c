/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that the dummy programmer writes, and faults that it makes on request. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "captured_log.h"
#include "cmocka_headers.h"
#include "dummy.h"

#define LOOK_NS 100 /* each reading advances the clock by it */
#define START_NS UINT64_C(5000000000)

struct scene {
	uint64_t now_ns;
	struct clock clock;
	struct captured_log captured;
	struct log log;
	struct programmer *programmer;
	char dir[32];
	char events[64];
};

static uint64_t look(void *context)
{
	return ((struct scene *)context)->now_ns += LOOK_NS;
}

static void wait(void *context, unsigned int us)
{
	((struct scene *)context)->now_ns += us * NS_PER_US;
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->clock = (struct clock){.now_ns = look, .delay_us = wait, .context = scene};
	scene->log = captured_log(&scene->captured);
	strcpy(scene->dir, "/tmp/test_dummy.XXXXXX");
	assert_non_null(mkdtemp(scene->dir));
	snprintf(scene->events, sizeof(scene->events), "%s/events", scene->dir);
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	if (scene->programmer != NULL)
		programmer_destroy(scene->programmer);
	unlink(scene->events);
	rmdir(scene->dir);
	free(scene);
	return 0;
}

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

/* Ends the programmer; returns the text of its events file, which the caller frees. */
static char *finish(struct scene *scene)
{
	char *text = calloc(1, 65536);
	FILE *file;

	programmer_destroy(scene->programmer);
	scene->programmer = NULL;
	file = fopen(scene->events, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
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

static size_t count_of(const char *text, const char *needle)
{
	size_t count = 0;

	while ((text = strstr(text, needle)) != NULL) {
		count++;
		text += strlen(needle);
	}
	return count;
}

/* Returns the events of a page program, and of a read that comes too early. */
static char *events_of_an_early_read(struct scene *scene)
{
	uint8_t read;

	assert_int_equal(start(scene, "W25Q128JV", NULL), 0);
	assert_int_equal(spi(scene, "\x06", 1, NULL, 0), 0);
	assert_int_equal(spi(scene, "\x02\x00\x00\x00\x42", 5, NULL, 0), 0);
	assert_int_equal(spi(scene, "\x03\x00\x00\x00", 4, &read, 1), 0);
	return finish(scene);
}

static void events_are_those_of_the_serprog_emulator(void **state)
{
	char *events = events_of_an_early_read(*state);

	assert_int_equal(count_of(events, "{\"schema\":1,\"ev\":\"start\",\"t_ns\":5000"), 1);
	assert_int_equal(count_of(events, "\"clock\":\"monotonic\",\"clock_step_ns\":100,"), 1);
	assert_int_equal(count_of(events, "\"seed\":7,"), 1);
	assert_int_equal(
		count_of(events, "\"ev\":\"busy\",\"kind\":\"program\",\"op\":\"0x02\""), 1);
	assert_int_equal(count_of(events, "\"violation\":\"busy\",\"margin_ns\":-"), 1);
	assert_int_equal(count_of(events, "\"spi_transactions\":3,\"cycle_transactions\":0,"
					  "\"serprog_requests\":0,\"violations\":1,\"faults\":0,"
					  "\"clean\":true}\n"),
		1);
	free(events);
}

static void same_commands_leave_the_same_events(void **state)
{
	char *once = events_of_an_early_read(*state);
	char *again = events_of_an_early_read(*state);

	assert_string_equal(once, again);
	free(once);
	free(again);
}

static void cycles_of_a_command_are_one_line(void **state)
{
	struct scene *scene = *state;
	const struct programmer_ops *ops;
	uint8_t value;
	char *events;

	assert_int_equal(start(scene, "SST39SF040", NULL), 0);
	ops = scene->programmer->ops;
	assert_int_equal(ops->write_byte(scene->programmer, 0x5555, 0xAA), 0);
	assert_int_equal(ops->write_byte(scene->programmer, 0x2AAA, 0x55), 0);
	assert_int_equal(ops->write_byte(scene->programmer, 0x5555, 0xA0), 0);
	assert_int_equal(ops->write_byte(scene->programmer, 0x1234, 0x5A), 0);
	assert_int_equal(ops->read_bytes(scene->programmer, 0x1234, &value, 1), 0);
	events = finish(scene);
	assert_int_equal(count_of(events, "\"ev\":\"cycle\",\"op\":\"0xa0\",\"name\":\"PROGRAM\","
					  "\"addr\":4660,\"wlen\":4,\"rlen\":0,"),
		1);
	assert_int_equal(count_of(events, "\"cycle_transactions\":2,"), 1);
	assert_int_equal(count_of(events, "\"kind\":\"program\""), 1);
	free(events);
}

static void corrupted_reply_is_not_what_the_part_said(void **state)
{
	struct scene *scene = *state;
	uint8_t id[3];
	char *events;

	assert_int_equal(start(scene, "W25Q128JV", "corrupt@2"), 0);
	assert_int_equal(spi(scene, "\x9f", 1, id, 3), 0);
	assert_int_equal(id[0], 0xEF);
	assert_int_not_equal(id[1], 0x40);
	assert_int_equal(id[2], 0x18);
	events = finish(scene);
	assert_int_equal(
		count_of(events, "\"kind\":\"corrupt\",\"at\":\"reply-byte\",\"nth\":2,"), 1);
	free(events);
}

static void refused_command_fails_and_does_not_reach_the_part(void **state)
{
	struct scene *scene = *state;
	char *events;

	assert_int_equal(start(scene, "W25Q128JV", "nak@2"), 0);
	assert_int_equal(status(scene), 0);
	assert_int_equal(spi(scene, "\x06", 1, NULL, 0), -EIO);
	assert_int_equal(status(scene), 0);
	assert_true(logged(&scene->captured, "refused"));
	events = finish(scene);
	assert_int_equal(count_of(events, "\"spi_transactions\":2,"), 1);
	free(events);
}

/* A stalled command reaches the part late; a delayed reply leaves the command in time. */
static void stall_and_delay_stand_before_and_behind_the_part(void **state)
{
	struct scene *scene = *state;
	char *events;

	assert_int_equal(start(scene, "W25Q128JV", "stall:1000@1+delay:500@2"), 0);
	(void)status(scene);
	(void)status(scene);
	events = finish(scene);
	assert_int_equal(count_of(events, "\"kind\":\"stall\",\"at\":\"request\",\"nth\":1,"
					  "\"held_ns\":1000000}"),
		1);
	assert_int_equal(count_of(events, "\"kind\":\"delay\",\"at\":\"request\",\"nth\":2,"
					  "\"held_ns\":500000}"),
		1);
	assert_true(scene->now_ns >= START_NS + 1500000);
	free(events);
}

static void part_is_stuck_from_the_work_that_was_named(void **state)
{
	struct scene *scene = *state;
	char *events;

	assert_int_equal(start(scene, "W25Q128JV", "stuck-wip@1"), 0);
	assert_int_equal(spi(scene, "\x06", 1, NULL, 0), 0);
	assert_int_equal(spi(scene, "\x02\x00\x00\x00\x42", 5, NULL, 0), 0);
	scene->now_ns += UINT64_C(3600000000000);
	assert_int_equal(status(scene) & 0x01, 0x01);
	events = finish(scene);
	assert_int_equal(count_of(events, "\"kind\":\"stuck-wip\",\"at\":\"busy\",\"nth\":1,"), 1);
	assert_int_equal(count_of(events, "\"violations\":0,\"faults\":1,"), 1);
	free(events);
}

static void faults_that_need_a_stream_are_refused(void **state)
{
	static const char *const bad[] = {"drop@1", "duplicate@1", "hang-up@1", "stall@1",
		"corrupt@in:1", "nonsense", "corrupt@1+nonsense",
		"nak@1+nak@1+nak@1+nak@1+nak@1+nak@1+nak@1+nak@1+nak@1"};
	struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(start(scene, "W25Q128JV", bad[i]), -EINVAL);
	assert_true(logged(&scene->captured, "fault=nonsense"));
	assert_int_equal(access(scene->events, F_OK), -1);
}

static void events_where_no_file_can_be_are_refused_before_any_command(void **state)
{
	struct scene *scene = *state;

	strcpy(scene->events, "/nowhere/at/all");
	assert_int_equal(start(scene, "W25Q128JV", NULL), -ENOENT);
	assert_true(logged(&scene->captured, "events=/nowhere/at/all"));
}

static void parameters_reach_the_programmer(void **state)
{
	struct scene *scene = *state;
	char text[160];
	char *events;

	snprintf(text, sizeof(text), "emulate=M25P80,events=%s,fault=nak@p=0.5+stuck-wip@9,seed=12",
		scene->events);
	assert_int_equal(
		dummy_driver.open(text, &scene->clock, &scene->log, &scene->programmer), 0);
	events = finish(scene);
	assert_int_equal(count_of(events, "\"seed\":12,"), 1);
	assert_int_equal(count_of(events, "\"faults\":\"nak@p=0.5 stuck-wip@9\"}"), 1);
	free(events);
	assert_int_equal(dummy_driver.open("emulate=M25P80,seed=x", &scene->clock, &scene->log,
				 &scene->programmer),
		-EINVAL);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(events_are_those_of_the_serprog_emulator),
		WITH(same_commands_leave_the_same_events),
		WITH(cycles_of_a_command_are_one_line),
		WITH(corrupted_reply_is_not_what_the_part_said),
		WITH(refused_command_fails_and_does_not_reach_the_part),
		WITH(stall_and_delay_stand_before_and_behind_the_part),
		WITH(part_is_stuck_from_the_work_that_was_named),
		WITH(faults_that_need_a_stream_are_refused),
		WITH(events_where_no_file_can_be_are_refused_before_any_command),
		WITH(parameters_reach_the_programmer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
