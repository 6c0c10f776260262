/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the parser of a cell's spec: keys, values, hazards and movements. */
#include <limits.h>
#include <stdio.h>

#include "../run_cases.h"
#include "spec.h"

/* The smallest valid spec, in five lines. */
#define SMALLEST                                                                                   \
	"schema 1\n"                                                                               \
	"root /subject\n"                                                                          \
	"deadline_ms 5\n"                                                                          \
	"emulator --chip\n"                                                                        \
	"subject /usr/sbin/flashrom\n"
#define SMALLEST_LINES 5u

struct bench {
	char text[8192]; /* the text that the spec points into */
	struct spec spec;
};

static size_t parse(struct bench *bench, const char *text)
{
	assert_true(strlen(text) < sizeof(bench->text));
	strcpy(bench->text, text);
	return spec_parse(bench->text, &bench->spec);
}

/* Parses the smallest spec with `line` after it. */
static size_t parse_line(struct bench *bench, const char *line)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s%s\n", SMALLEST, line);
	return parse(bench, text);
}

/* Parses the smallest spec with `line` repeated `count` times after it. */
static size_t parse_lines(struct bench *bench, const char *line, size_t count)
{
	char text[sizeof(bench->text)] = SMALLEST;
	size_t used = strlen(text);

	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\n", line);
	return parse(bench, text);
}

FIXTURE(bench, NOTHING, NOTHING);

TEST_ON(bench, smallest_spec_is_accepted)
{
	assert_int_equal(parse(bench, SMALLEST), 0);
	assert_string_equal(bench->spec.root, "/subject");
	assert_int_equal(bench->spec.deadline_ms, 5);
	assert_int_equal(bench->spec.emulator.count, 1);
	assert_string_equal(bench->spec.emulator.word[0], "--chip");
	assert_int_equal(bench->spec.subject.count, 1);
	assert_string_equal(bench->spec.subject.word[0], "/usr/sbin/flashrom");
}

TEST_ON(bench, missing_keys_are_zero)
{
	memset(&bench->spec, 0xEE, sizeof(bench->spec));
	assert_int_equal(parse(bench, SMALLEST), 0);
	assert_int_equal(bench->spec.settle_ms, 0);
	assert_memory_equal(
		&bench->spec.hazards, &(struct spec_hazards){0}, sizeof(bench->spec.hazards));
	assert_int_equal(bench->spec.stops_hz, 0);
	assert_null(bench->spec.bridge_root);
	assert_null(bench->spec.bridge_makes);
	assert_int_equal(bench->spec.bridge.count, 0);
	assert_int_equal(bench->spec.images, 0);
	assert_int_equal(bench->spec.collects, 0);
}

TEST_ON(bench, every_key_is_stored)
{
	const struct spec *spec = &bench->spec;

	assert_int_equal(parse(bench, SMALLEST "settle_ms 200\n"
					       "siblings 3\n"
					       "stops_hz 10\n"
					       "hogs_each 2\n"
					       "file_bytes_max 4096\n"
					       "bridge /usr/sbin/socat\n"
					       "bridge_root /bridge\n"
					       "bridge_makes /dev/serprog\n"
					       "image /tmp/w.bin 2097152 65536 /cell/after.bin\n"
					       "collect read.bin /tmp/read.bin 4096 8192\n"),
		0);
	assert_int_equal(spec->settle_ms, 200);
	assert_int_equal(spec->hazards.siblings, 3);
	assert_int_equal(spec->stops_hz, 10);
	assert_int_equal(spec->hazards.hogs_each, 2);
	assert_int_equal(spec->file_bytes_max, 4096);
	assert_int_equal(spec->bridge.count, 1);
	assert_string_equal(spec->bridge.word[0], "/usr/sbin/socat");
	assert_string_equal(spec->bridge_root, "/bridge");
	assert_string_equal(spec->bridge_makes, "/dev/serprog");
	assert_int_equal(spec->images, 1);
	assert_string_equal(spec->image[0].path, "/tmp/w.bin");
	assert_int_equal(spec->image[0].size_bytes, 2097152);
	assert_int_equal(spec->image[0].offset_bytes, 65536);
	assert_string_equal(spec->image[0].from, "/cell/after.bin");
	assert_int_equal(spec->collects, 1);
	assert_string_equal(spec->collect[0].name, "read.bin");
	assert_string_equal(spec->collect[0].path, "/tmp/read.bin");
	assert_int_equal(spec->collect[0].offset_bytes, 4096);
	assert_int_equal(spec->collect[0].size_bytes, 8192);
}

TEST_ON(bench, number_of_the_wrong_line_is_returned)
{
	static const struct {
		const char *text;
		size_t line;
	} rows[] = {
		{"", 1},
		{"root /subject\nschema 1\n", 1}, /* the schema is not first */
		{"schema 2\n", 1},
		{"schema 10\n", 1},
		{"schema 01\n", 1},
		{"schema \n", 1},
		{"schema 1\nroot x\nmystery 1\n", 2},        /* the first of two */
		{SMALLEST "siblings 1", SMALLEST_LINES + 1}, /* without newline */
		{SMALLEST "siblings\n", SMALLEST_LINES + 1},
		{SMALLEST "siblings\nsettle_ms 1\n", SMALLEST_LINES + 1},
		{SMALLEST "\nsettle_ms 1\n", SMALLEST_LINES + 1},
		/* Keys that are missing are noticed after the last line. */
		{"schema 1\ndeadline_ms 5\nemulator /e\nsubject /s\n", 5},
		{"schema 1\nroot /r\nemulator /e\nsubject /s\n", 5},
		{"schema 1\nroot /r\ndeadline_ms 5\nsubject /s\n", 5},
		{"schema 1\nroot /r\ndeadline_ms 5\nemulator /e\n", 5},
		{SMALLEST "bridge /b\n", SMALLEST_LINES + 2},
		{SMALLEST "bridge /b\nbridge_root /r\n", SMALLEST_LINES + 3},
		{SMALLEST "bridge /b\nbridge_makes /m\n", SMALLEST_LINES + 3},
		{SMALLEST "bridge_makes /m\nbridge_root /r\nbridge /b\n", 0},
		{SMALLEST "emulator_outside 1\n", SMALLEST_LINES + 2},
		{SMALLEST "deadline_ms 0\n", SMALLEST_LINES + 2},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(parse(bench, rows[i].text), rows[i].line);
}

TEST_ON(bench, emulator_may_run_outside_of_the_agent)
{
	static const char outside[] =
		"schema 1\nroot /r\ndeadline_ms 5\nsubject /s\nemulator_outside 1\n";

	assert_int_equal(parse(bench, outside), 0);
	assert_true(bench->spec.emulator_outside);
}

TEST(command_has_one_word_per_line_and_a_final_newline)
{
	struct spec_words words;
	char text[] = "/serprog-emu\n--clock\ntsc\n";
	char cut[] = "/serprog-emu\n--clo";
	char none[] = "";

	assert_true(spec_parse_words(text, &words));
	assert_int_equal(words.count, 3);
	assert_string_equal(words.word[2], "tsc");
	assert_null(words.word[3]);
	assert_false(spec_parse_words(cut, &words));
	assert_false(spec_parse_words(none, &words));
}

TEST(command_of_too_many_words_is_refused)
{
	struct spec_words words;
	char text[2 * (SPEC_WORDS_MAX + 1) + 1] = "";

	for (size_t i = 0; i <= SPEC_WORDS_MAX; i++)
		strcat(text, "x\n");
	assert_false(spec_parse_words(text, &words));
}

TEST_ON(bench, repeated_words_keep_their_order_and_end_with_null)
{
	assert_int_equal(parse(bench, SMALLEST "subject -p\nemulator --chip\nsubject -c\n"), 0);
	assert_int_equal(bench->spec.subject.count, 3);
	assert_string_equal(bench->spec.subject.word[1], "-p");
	assert_string_equal(bench->spec.subject.word[2], "-c");
	assert_null(bench->spec.subject.word[3]);
	assert_int_equal(bench->spec.emulator.count, 2);
	assert_null(bench->spec.emulator.word[2]);
}

TEST_ON(bench, word_with_spaces_stays_one_word)
{
	assert_int_equal(parse_line(bench, "subject  two spaces "), 0);
	assert_string_equal(bench->spec.subject.word[1], " two spaces ");
}

TEST_ON(bench, empty_word_stays_a_word)
{
	assert_int_equal(parse_line(bench, "subject "), 0);
	assert_int_equal(bench->spec.subject.count, 2);
	assert_string_equal(bench->spec.subject.word[1], "");
}

TEST_ON(bench, line_beyond_the_limit_is_refused)
{
	static const struct {
		const char *line;
		size_t room; /* lines that fit after the smallest spec */
	} rows[] = {
		{"emulator -x", SPEC_WORDS_MAX - 1},
		{"subject -x", SPEC_WORDS_MAX - 1},
		{"bridge -x", SPEC_WORDS_MAX},
		{"image /i 1 0 /f", SPEC_FILES_MAX},
		{"collect n /p 0 0", SPEC_FILES_MAX},
		{"siblings_window 1 2", SCHEDULE_WINDOWS_MAX},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(parse_lines(bench, rows[i].line, rows[i].room + 1),
			SMALLEST_LINES + rows[i].room + 1);
}

TEST_ON(bench, lines_up_to_the_limit_are_stored)
{
	assert_int_equal(parse_lines(bench, "emulator -x", SPEC_WORDS_MAX - 1), 0);
	assert_int_equal(bench->spec.emulator.count, SPEC_WORDS_MAX);
	assert_null(bench->spec.emulator.word[SPEC_WORDS_MAX]);
	assert_int_equal(parse_lines(bench, "image /i 1 0 /f", SPEC_FILES_MAX), 0);
	assert_int_equal(bench->spec.images, SPEC_FILES_MAX);
	assert_int_equal(parse_lines(bench, "collect n /p 0 0", SPEC_FILES_MAX), 0);
	assert_int_equal(bench->spec.collects, SPEC_FILES_MAX);
	assert_int_equal(parse_lines(bench, "siblings_window 1 2", SCHEDULE_WINDOWS_MAX), 0);
}

TEST_ON(bench, numbers_up_to_the_largest_are_stored)
{
	static const unsigned int numbers[] = {0, 1, 4294967, 4294968, UINT_MAX};

	for (size_t i = 0; i < COUNT(numbers); i++) {
		char line[64];

		snprintf(line, sizeof(line), "settle_ms %u", numbers[i]);
		assert_int_equal(parse_line(bench, line), 0);
		assert_int_equal(bench->spec.settle_ms, numbers[i]);
	}
}

TEST_ON(bench, sizes_have_64_bits)
{
	assert_int_equal(parse_line(bench, "image /i 18446744073709551615 4294967296 /f"), 0);
	assert_true(bench->spec.image[0].size_bytes == UINT64_MAX);
	assert_true(bench->spec.image[0].offset_bytes == UINT64_C(4294967296));
}

TEST_ON(bench, every_hazard_is_stored)
{
	const struct spec_hazards *hazards = &bench->spec.hazards;

	assert_int_equal(parse(bench, SMALLEST "siblings 3\n"
					       "siblings_from accept\n"
					       "siblings_window 0 20\n"
					       "siblings_window 20 4294967295\n"
					       "siblings_period_ms 100\n"
					       "hogs 2\n"
					       "memory_pressure 1\n"
					       "realtime_denied 1\n"
					       "refused sleep eperm\n"
					       "refused poll enosys\n"
					       "few_descriptors 4\n"
					       "few_memory_mib 64\n"
					       "few_threads 1\n"
					       "uptime_ns 4294967196000000\n"
					       "tsc_mhz 2400\n"
					       "rt_runtime_us 20000\n"
					       "wall_step -7 100\n"
					       "leap delete 300\n"),
		0);
	assert_int_equal(hazards->siblings, 3);
	assert_true(hazards->siblings_from_accept);
	assert_int_equal(hazards->siblings_schedule.count, 2);
	assert_int_equal(hazards->siblings_schedule.window[0].from_ns, 0);
	assert_int_equal(hazards->siblings_schedule.window[0].to_ns, 20000000);
	assert_true(hazards->siblings_schedule.window[1].to_ns == UINT64_C(4294967295000000));
	assert_int_equal(hazards->siblings_schedule.period_ns, 100000000);
	assert_int_equal(hazards->hogs, 2);
	assert_true(hazards->memory_pressure);
	assert_true(hazards->realtime_denied);
	assert_int_equal(hazards->refused.count, 2);
	assert_int_equal(hazards->few.descriptors, 4);
	assert_int_equal(hazards->few.memory_mib, 64);
	assert_true(hazards->few.no_threads);
	assert_true(hazards->uptime_ns == UINT64_C(4294967196000000));
	assert_int_equal(hazards->tsc_mhz, 2400);
	assert_int_equal(hazards->rt_runtime_us, 20000);
	assert_int_equal(hazards->wall_step_s, -7);
	assert_int_equal(hazards->wall_step_every_ms, 100);
	assert_int_equal(hazards->leap, SPEC_LEAP_DELETE);
	assert_int_equal(hazards->leap_after_ms, 300);
}

TEST_ON(bench, other_values_of_hazards_are_stored)
{
	assert_int_equal(parse_line(bench, "siblings_from start"), 0);
	assert_false(bench->spec.hazards.siblings_from_accept);
	assert_int_equal(parse_line(bench, "wall_step 7 1"), 0);
	assert_int_equal(bench->spec.hazards.wall_step_s, 7);
	assert_int_equal(parse_line(bench, "leap insert 1100"), 0);
	assert_int_equal(bench->spec.hazards.leap, SPEC_LEAP_INSERT);
}

TEST_ON(bench, every_movement_is_stored)
{
	const struct spec_movement *movement;

	assert_int_equal(parse(bench, SMALLEST "move accept 20 3\nmigrate 50 7\nhotplug 2 9\n"
					       "anywhere 1\nrehearsal /s\nrehearsal -V\n"),
		0);
	movement = &bench->spec.movement;
	assert_true(movement->moves && movement->move_from_accept && movement->anywhere);
	assert_int_equal(movement->move_after_ms, 20);
	assert_int_equal(movement->move_to_core, 3);
	assert_int_equal(movement->migrate.hz, 50);
	assert_int_equal(movement->migrate.seed, 7);
	assert_int_equal(movement->hotplug.hz, 2);
	assert_int_equal(movement->hotplug.seed, 9);
	assert_int_equal(bench->spec.rehearsal.count, 2);
}

/* Lines that are refused after the smallest spec. The first ones have unknown keys. */
static const char *const wrong_lines[] = {"mystery 1", "Root /x", "roo /x", "roots /x", " root /x",
	"schema 1",
	/* These are no numbers, or numbers out of range. */
	"siblings ", "siblings x", "siblings 1x", "siblings 0x10", "siblings 1.5", "siblings 1 ",
	"siblings 1 2", "siblings 4294967296", "settle_ms 4294967296", "deadline_ms 4294967296",
	"siblings 18446744073709551615", "settle_ms 18446744073709551616",
	"deadline_ms 99999999999999999999", "image /i 18446744073709551616 0 /f",
	"collect n /p 0 18446744073709551616", "siblings -1",
	"siblings -18446744073709551615", /* strtoul() reads it as 1 */
	"image /i -1 0 /f", "image /i 1 -1 /f", "collect n /p -1 0", "collect n /p 0 -1",
	"file_bytes_max 0",
	/* These have too few or too many fields. */
	"image ", "image /i", "image /i 1", "image /i 1 0", "image /i 1 0 /f more",
	"image /i 1 0 /f ", "image /i 1 0  /f", "collect ", "collect n", "collect n /p",
	"collect n /p 0", "collect n /p 0 0 more", "collect n /p 0 0 ", "collect n  /p 0 0",
	/* These are no absolute paths. */
	"root ", "root subject", "root ./subject", "root  /subject", "bridge_root subject",
	"bridge_root ", "bridge_makes ./subject", "bridge_makes ",
	/* hazards */
	"siblings_from", "siblings_from ", "siblings_from end", "siblings_window 5",
	"siblings_window 5 5", "siblings_window 6 5", "siblings_window 5 6 7",
	"siblings_window -5 6", "memory_pressure 0", "memory_pressure 2", "realtime_denied yes",
	"wall_step 1", "wall_step 0 5", "wall_step 5 0", "wall_step --1 5", "wall_step +1 5",
	"wall_step 1 5 5", "leap", "leap insert", "leap skip 5", "refused sleep",
	"refused sleep eperm 1", "leap insert 1101", "leap insert 5 5",
	/* movements */
	"move", "move never 1 1", "move start 1", "migrate 0 1", "migrate 1001 1", "migrate 5",
	"hotplug x 1", "anywhere 0"};

TEST_ON(bench, invalid_line_is_refused)
{
	for (size_t i = 0; i < COUNT(wrong_lines); i++) {
		const size_t refused = parse_line(bench, wrong_lines[i]);

		if (refused != SMALLEST_LINES + 1)
			fail_msg("\"%s\" is accepted, or line %zu is refused", wrong_lines[i],
				refused);
	}
}
