/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "../run_cases.h"
#include "record/events.h"

static struct run_facts some_facts(void)
{
	return (struct run_facts){
		.start_ns = 10,
		.part = part_find("M25P80"),
		.corner = {.kind = CORNER_TYP},
		.seed = 18446744073709551615u,
		.clock_name = "tsc",
		.clock_step_ns = 2,
	};
}

/* Returns all lines of a run with those events; the caller frees them. */
static char *lines_of(const struct run_facts *facts, const struct event *script, size_t count)
{
	const struct run_end end = {.end_ns = 99, .clean = true};
	struct events events;
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(events_init(&events, 1), 0);
	for (size_t i = 0; i < count; i++)
		events_append(&events, &script[i]);
	assert_int_equal(jsonl_write(out, facts, &events, &end), 0);
	events_deinit(&events);
	fclose(out);
	return text;
}

/* The events of a run, and all lines after the first that they become. */
struct run {
	const struct event *script;
	size_t count;
	const char *expected;
};

static void events_are_written(void **state)
{
	const struct run *run = *state;
	const struct run_facts facts = some_facts();
	char *text = lines_of(&facts, run->script, run->count);

	assert_string_equal(strchr(text, '\n') + 1, run->expected);
	free(text);
}

/* The last line of a run: its numbers of transactions, requests, violations and faults. */
#define END(spi, cycles, requests, violations, faults)                                             \
	"{\"ev\":\"end\",\"t_ns\":99,\"spi_transactions\":" #spi                                   \
	",\"cycle_transactions\":" #cycles ",\"serprog_requests\":" #requests                      \
	",\"violations\":" #violations ",\"faults\":" #faults ",\"clean\":true}\n"

TEST(start_line_without_a_wake_measurement_has_null)
{
	const struct run_facts facts = some_facts();
	char *text = lines_of(&facts, NULL, 0);

	assert_string_equal(text,
		"{\"schema\":1,\"ev\":\"start\",\"t_ns\":10,\"chip\":\"M25P80\","
		"\"corner\":\"typ\",\"clock\":\"tsc\",\"clock_step_ns\":2,"
		"\"clock_rate_error_ppm\":0,\"seed\":18446744073709551615,"
		"\"native_delay\":false,\"wake_latency_ns_min\":null,"
		"\"wake_latency_ns_max\":null,\"size_bytes\":1048576,\"link\":null,"
		"\"faults\":null}\n" END(0, 0, 0, 0, 0));
	free(text);
}

TEST(start_line_has_the_link_and_the_faults)
{
	struct run_facts facts = some_facts();
	char *text;

	facts.link = "baud=115200";
	facts.faults = "drop@5 nak@p=0.1";
	text = lines_of(&facts, NULL, 0);
	assert_non_null(
		strstr(text, "\"link\":\"baud=115200\",\"faults\":\"drop@5 nak@p=0.1\"}\n"));
	free(text);
}

/* Tests that the events of the script become these lines. */
#define WRITTEN(name, script, text)                                                                \
	TEST_ROW(events_are_written, run, name, script, COUNT(script), text)

static const struct event connection[] = {
	{.kind = EVENT_ACCEPT, .read_ns = 20},
	{.kind = EVENT_BARRIER, .read_ns = 21, .reply_ns = 25},
	{.kind = EVENT_SERPROG,
		.name = "SYNCNOP",
		.op = 0x10,
		.ack = true,
		.empty_ns = 1,
		.read_ns = 30,
		.reply_ns = 31},
	{.kind = EVENT_SERPROG,
		.name = "O_DELAY",
		.op = 0x0E,
		.empty_ns = 2,
		.read_ns = 30,
		.reply_ns = 33},
	{.kind = EVENT_DISCONNECT, .read_ns = 40},
	{.kind = EVENT_SERPROG,
		.name = "NOP",
		.op = 0x00,
		.ack = true,
		.empty_ns = 41,
		.read_ns = 50,
		.reply_ns = 51},
};

WRITTEN(requests_of_a_connection_have_gaps_and_are_counted, connection,
	"{\"ev\":\"accept\",\"t_ns\":20}\n"
	"{\"ev\":\"barrier\",\"t_ns\":21,\"released_ns\":25}\n"
	"{\"ev\":\"serprog\",\"op\":\"0x10\",\"name\":\"SYNCNOP\",\"empty_ns\":1,"
	"\"read_ns\":30,\"reply_ns\":31,\"gap_ns\":null,\"ack\":true}\n"
	"{\"ev\":\"serprog\",\"op\":\"0x0e\",\"name\":\"O_DELAY\",\"empty_ns\":2,"
	"\"read_ns\":30,\"reply_ns\":33,\"gap_ns\":-1,\"ack\":false}\n"
	"{\"ev\":\"disconnect\",\"t_ns\":40}\n"
	"{\"ev\":\"serprog\",\"op\":\"0x00\",\"name\":\"NOP\",\"empty_ns\":41,"
	"\"read_ns\":50,\"reply_ns\":51,\"gap_ns\":null,\"ack\":true}\n" END(0, 0, 3, 0, 0))

static const struct event too_early[] = {{
	.kind = EVENT_SPI,
	.write_len = 4,
	.read_len = 256,
	.empty_ns = 100,
	.read_ns = 200,
	.reply_ns = 300,
	.wire_ns = 7,
	.chip = {.name = "READ",
		.opcode = 0x03,
		.has_address = true,
		.address = 4096,
		.status = 0x03,
		.busy_left_ns = 5,
		.busy_until_ns = 205,
		.rule = CHIP_RULE_BUSY,
		.owed = true,
		.margin_ns = -5,
		.grade = GRADE_ASSUMED},
}};

WRITTEN(violation_has_rule_margin_and_grade, too_early,
	"{\"ev\":\"spi\",\"op\":\"0x03\",\"name\":\"READ\",\"addr\":4096,\"wlen\":4,"
	"\"rlen\":256,\"empty_ns\":100,\"read_ns\":200,\"reply_ns\":300,"
	"\"gap_ns\":null,\"wire_ns\":7,\"sr\":\"0x03\",\"busy_left_ns\":5,"
	"\"busy_until_ns\":205,\"violation\":\"busy\",\"margin_ns\":-5,"
	"\"grade\":\"assumed\"}\n" END(1, 0, 0, 1, 0))

static const struct event faulty[] = {
	{.kind = EVENT_SERPROG, .name = "NOP", .ack = true, .read_ns = 10, .reply_ns = 20},
	{.kind = EVENT_REFUSED, .read_ns = 21},
	{.kind = EVENT_FAULT,
		.name = "stall",
		.fault_at = "request",
		.fault_nth = 2,
		.fault_ns = 5000,
		.read_ns = 22},
	{.kind = EVENT_SERPROG, .name = "NOP", .ack = true, .read_ns = 25, .reply_ns = 30},
	{.kind = EVENT_GAVE_UP, .name = "records", .bound = 4, .read_ns = 31},
};

WRITTEN(faults_and_refusals_do_not_interrupt_a_gap, faulty,
	"{\"ev\":\"serprog\",\"op\":\"0x00\",\"name\":\"NOP\",\"empty_ns\":0,"
	"\"read_ns\":10,\"reply_ns\":20,\"gap_ns\":null,\"ack\":true}\n"
	"{\"ev\":\"refused\",\"t_ns\":21}\n"
	"{\"ev\":\"fault\",\"t_ns\":22,\"kind\":\"stall\",\"at\":\"request\","
	"\"nth\":2,\"held_ns\":5000}\n"
	"{\"ev\":\"serprog\",\"op\":\"0x00\",\"name\":\"NOP\",\"empty_ns\":0,"
	"\"read_ns\":25,\"reply_ns\":30,\"gap_ns\":5,\"ack\":true}\n"
	"{\"ev\":\"gave_up\",\"t_ns\":31,\"bound\":\"records\",\"count\":4}\n" END(0, 0, 2, 0, 1))

static const struct event stuck[] = {{
	.kind = EVENT_SPI,
	.write_len = 4,
	.chip = {.name = "SE",
		.opcode = 0x20,
		.busy_until_ns = 1200,
		.work = CHIP_WORK_ERASE,
		.work_ns = 1000,
		.stuck_nth = 3},
}};

WRITTEN(work_that_never_ends_is_a_fault_of_the_part, stuck,
	"{\"ev\":\"spi\",\"op\":\"0x20\",\"name\":\"SE\",\"addr\":null,\"wlen\":4,"
	"\"rlen\":0,\"empty_ns\":0,\"read_ns\":0,\"reply_ns\":0,\"gap_ns\":null,"
	"\"wire_ns\":0,\"sr\":\"0x00\",\"busy_left_ns\":0,\"busy_until_ns\":1200,"
	"\"violation\":null,\"margin_ns\":null,\"grade\":null}\n"
	"{\"ev\":\"busy\",\"kind\":\"erase\",\"op\":\"0x20\",\"addr\":null,"
	"\"start_ns\":200,\"until_ns\":1200,\"nominal_ns\":1000,\"grade\":\"datasheet\"}\n"
	"{\"ev\":\"fault\",\"t_ns\":200,\"kind\":\"stuck-wip\",\"at\":\"busy\","
	"\"nth\":3,\"held_ns\":null}\n" END(1, 0, 0, 0, 1))

static const struct event erase[] = {{
	.kind = EVENT_SPI,
	.write_len = 4,
	.read_ns = 200,
	.reply_ns = 201,
	.chip = {.name = "SE",
		.opcode = 0x20,
		.has_address = true,
		.address = 4096,
		.status = 0x03,
		.busy_until_ns = 1200,
		.work = CHIP_WORK_ERASE,
		.work_ns = 1000,
		.work_grade = GRADE_ASSUMED},
}};

WRITTEN(started_work_has_a_separate_line, erase,
	"{\"ev\":\"spi\",\"op\":\"0x20\",\"name\":\"SE\",\"addr\":4096,\"wlen\":4,"
	"\"rlen\":0,\"empty_ns\":0,\"read_ns\":200,\"reply_ns\":201,\"gap_ns\":null,"
	"\"wire_ns\":0,\"sr\":\"0x03\",\"busy_left_ns\":0,\"busy_until_ns\":1200,"
	"\"violation\":null,\"margin_ns\":null,\"grade\":null}\n"
	"{\"ev\":\"busy\",\"kind\":\"erase\",\"op\":\"0x20\",\"addr\":4096,"
	"\"start_ns\":200,\"until_ns\":1200,\"nominal_ns\":1000,\"grade\":\"assumed\"}"
	"\n" END(1, 0, 0, 0, 0))

static const struct event cycles[] = {
	{.kind = EVENT_SERPROG,
		.name = "O_WRITEB",
		.op = 0x0C,
		.ack = true,
		.read_ns = 10,
		.reply_ns = 20},
	{.kind = EVENT_CYCLE,
		.executed = true,
		.write_len = 4,
		.empty_ns = 21,
		.read_ns = 30,
		.reply_ns = 400,
		.start_ns = 30,
		.wire_ns = 280,
		.chip = {.name = "PROGRAM",
			.opcode = 0xA0,
			.has_address = true,
			.address = 4660,
			.busy_until_ns = 14310,
			.owed = true,
			.margin_ns = 5,
			.work = CHIP_WORK_PROGRAM,
			.work_ns = 14000}},
	{.kind = EVENT_SERPROG,
		.name = "O_EXEC",
		.op = 0x0F,
		.ack = true,
		.empty_ns = 21,
		.read_ns = 30,
		.reply_ns = 400},
	{.kind = EVENT_CYCLE,
		.read_len = 1,
		.empty_ns = 401,
		.read_ns = 410,
		.reply_ns = 480,
		.start_ns = 410,
		.wire_ns = 70,
		.chip = {.name = "STATUS",
			.has_address = true,
			.address = 4660,
			.status = 0x40,
			.busy_left_ns = 13900,
			.busy_until_ns = 14310}},
};

WRITTEN(executed_cycles_share_the_gap_of_their_request, cycles,
	"{\"ev\":\"serprog\",\"op\":\"0x0c\",\"name\":\"O_WRITEB\",\"empty_ns\":0,"
	"\"read_ns\":10,\"reply_ns\":20,\"gap_ns\":null,\"ack\":true}\n"
	"{\"ev\":\"cycle\",\"op\":\"0xa0\",\"name\":\"PROGRAM\",\"addr\":4660,"
	"\"wlen\":4,\"rlen\":0,\"empty_ns\":21,\"read_ns\":30,\"reply_ns\":400,"
	"\"gap_ns\":10,\"start_ns\":30,\"wire_ns\":280,\"value\":null,"
	"\"busy_left_ns\":0,\"busy_until_ns\":14310,\"violation\":null,"
	"\"margin_ns\":5,\"grade\":\"datasheet\"}\n"
	"{\"ev\":\"busy\",\"kind\":\"program\",\"op\":\"0xa0\",\"addr\":4660,"
	"\"start_ns\":310,\"until_ns\":14310,\"nominal_ns\":14000,"
	"\"grade\":\"datasheet\"}\n"
	"{\"ev\":\"serprog\",\"op\":\"0x0f\",\"name\":\"O_EXEC\",\"empty_ns\":21,"
	"\"read_ns\":30,\"reply_ns\":400,\"gap_ns\":10,\"ack\":true}\n"
	"{\"ev\":\"cycle\",\"op\":null,\"name\":\"STATUS\",\"addr\":4660,"
	"\"wlen\":0,\"rlen\":1,\"empty_ns\":401,\"read_ns\":410,\"reply_ns\":480,"
	"\"gap_ns\":10,\"start_ns\":410,\"wire_ns\":70,\"value\":\"0x40\","
	"\"busy_left_ns\":13900,\"busy_until_ns\":14310,\"violation\":null,"
	"\"margin_ns\":null,\"grade\":null}\n" END(0, 2, 2, 0, 0))

TEST(stamp_changes_only_the_records_of_its_request)
{
	static const struct event request = {.empty_ns = 7, .read_ns = 8, .reply_ns = 9};
	struct event event = {.kind = EVENT_CYCLE, .empty_ns = 1, .read_ns = 2, .reply_ns = 3};
	struct events events;

	assert_int_equal(events_init(&events, 1), 0);
	for (size_t i = 0; i < 3; i++)
		events_append(&events, &event);
	events_stamp(&events, 1, &request);
	assert_int_equal(events_at(&events, 0)->read_ns, 2);
	for (size_t i = 1; i < 3; i++) {
		assert_int_equal(events_at(&events, i)->empty_ns, 7);
		assert_int_equal(events_at(&events, i)->read_ns, 8);
		assert_int_equal(events_at(&events, i)->reply_ns, 9);
	}
	events_deinit(&events);
}

TEST(store_grows_past_its_first_chunk)
{
	struct events events;

	assert_int_equal(events_init(&events, 1), 0);
	for (uint64_t i = 0; i <= EVENTS_CHUNK_COUNT; i++) {
		struct event event = {.kind = EVENT_SERPROG, .read_ns = i};

		events_append(&events, &event);
	}
	assert_int_equal(events.count, EVENTS_CHUNK_COUNT + 1);
	assert_int_equal(events.lost_count, 0);
	assert_int_equal(events_at(&events, EVENTS_CHUNK_COUNT)->read_ns, EVENTS_CHUNK_COUNT);
	assert_int_equal(events_at(&events, 0)->read_ns, 0);
	events_deinit(&events);
}

/* Checks that events of one kind become lines of that name with their times. */
static void assert_lines(const char *name, const struct event *script, size_t count)
{
	const struct run_facts facts = some_facts();
	char *text = lines_of(&facts, script, count);
	const char *line = strchr(text, '\n') + 1;

	for (size_t i = 0; i < count; i++) {
		char expected[64];
		int len = snprintf(expected, sizeof(expected), "{\"ev\":\"%s\",\"t_ns\":%llu}\n",
			name, (unsigned long long)script[i].read_ns);

		assert_memory_equal(line, expected, len);
		line += len;
	}
	assert_string_equal(line, END(0, 0, 0, 0, 0));
	free(text);
}

TEST(numbers_of_every_length_are_written_in_full)
{
	struct event script[2 * 20 + 1] = {0};
	size_t count = 0;

	for (uint64_t power = 1; count < 40; power *= 10) {
		script[count++] = (struct event){.kind = EVENT_ACCEPT, .read_ns = power - 1};
		script[count++] = (struct event){.kind = EVENT_ACCEPT, .read_ns = power + 23};
	}
	script[count++] = (struct event){.kind = EVENT_ACCEPT, .read_ns = UINT64_MAX};
	assert_lines("accept", script, count);
}

/* These lines are ten times as long as the writer's buffer. */
TEST(all_lines_of_a_long_run_are_written)
{
	static struct event script[5000];

	for (size_t i = 0; i < COUNT(script); i++)
		script[i] = (struct event){.kind = EVENT_DISCONNECT, .read_ns = i};
	assert_lines("disconnect", script, COUNT(script));
}
