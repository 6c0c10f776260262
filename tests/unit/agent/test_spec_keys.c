/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of a spec: those it must have, those it may have, and the field of each. */
#include "spec_bench.h"

static void least_that_a_cell_needs_is_taken(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse(&bench, LEAST), 0);
	assert_string_equal(bench.spec.root, "/subject");
	assert_int_equal(bench.spec.deadline_ms, 5);
	assert_int_equal(bench.spec.emulator.count, 1);
	assert_string_equal(bench.spec.emulator.word[0], "--chip");
	assert_int_equal(bench.spec.subject.count, 1);
	assert_string_equal(bench.spec.subject.word[0], "/usr/sbin/flashrom");
}

static void keys_left_out_are_zero(void **state)
{
	struct bench bench;

	(void)state;
	memset(&bench.spec, 0xEE, sizeof(bench.spec));
	assert_int_equal(parse(&bench, LEAST), 0);
	assert_int_equal(bench.spec.settle_ms, 0);
	assert_memory_equal(
		&bench.spec.hazards, &(struct spec_hazards){0}, sizeof(bench.spec.hazards));
	assert_int_equal(bench.spec.stops_hz, 0);
	assert_null(bench.spec.bridge_root);
	assert_null(bench.spec.bridge_makes);
	assert_int_equal(bench.spec.bridge.count, 0);
	assert_int_equal(bench.spec.images, 0);
	assert_int_equal(bench.spec.collects, 0);
}

static void every_key_goes_to_its_place(void **state)
{
	struct bench bench;
	const struct spec *spec = &bench.spec;

	(void)state;
	assert_int_equal(parse(&bench, LEAST "settle_ms 200\n"
					     "siblings 3\n"
					     "stops_hz 10\n"
					     "bridge /usr/sbin/socat\n"
					     "bridge_root /bridge\n"
					     "bridge_makes /dev/serprog\n"
					     "image /tmp/w.bin 2097152 65536 /cell/after.bin\n"
					     "collect read.bin /tmp/read.bin 4096 8192\n"),
		0);
	assert_int_equal(spec->settle_ms, 200);
	assert_int_equal(spec->hazards.siblings, 3);
	assert_int_equal(spec->stops_hz, 10);
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

static void unknown_key_is_refused(void **state)
{
	static const char *const lines[] = {
		"mystery 1", "Root /x", "roo /x", "roots /x", " root /x"};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_int_equal(parse_line(&bench, lines[i]), LEAST_LINES + 1);
}

static void first_of_two_wrong_lines_is_named(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse(&bench, "schema 1\nroot x\nmystery 1\n"), 2);
}

static void schema_that_is_not_first_is_refused(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse(&bench, "root /subject\nschema 1\n"), 1);
}

static void schema_given_twice_is_refused(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse_line(&bench, "schema 1"), LEAST_LINES + 1);
}

static void another_schema_is_refused(void **state)
{
	static const char *const texts[] = {
		"schema 2\n", "schema 10\n", "schema 01\n", "schema \n"};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		assert_int_equal(parse(&bench, texts[i]), 1);
}

static void text_that_is_empty_lacks_line_one(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse(&bench, ""), 1);
}

static void last_line_without_newline_is_refused(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse(&bench, LEAST "siblings 1"), LEAST_LINES + 1);
}

static void line_without_a_value_is_refused(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse(&bench, LEAST "siblings\n"), LEAST_LINES + 1);
	assert_int_equal(parse(&bench, LEAST "siblings\nsettle_ms 1\n"), LEAST_LINES + 1);
	assert_int_equal(parse(&bench, LEAST "\nsettle_ms 1\n"), LEAST_LINES + 1);
}

static void bridge_needs_its_root_and_what_it_makes(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse(&bench, LEAST "bridge /b\n"), LEAST_LINES + 2);
	assert_int_equal(parse(&bench, LEAST "bridge /b\nbridge_root /r\n"), LEAST_LINES + 3);
	assert_int_equal(parse(&bench, LEAST "bridge /b\nbridge_makes /m\n"), LEAST_LINES + 3);
	assert_int_equal(parse(&bench, LEAST "bridge_makes /m\nbridge_root /r\nbridge /b\n"), 0);
}

static void cell_that_lacks_a_needed_key_is_refused_after_its_last_line(void **state)
{
	static const char *const texts[] = {
		"schema 1\ndeadline_ms 5\nemulator /e\nsubject /s\n",
		"schema 1\nroot /r\nemulator /e\nsubject /s\n",
		"schema 1\nroot /r\ndeadline_ms 5\nsubject /s\n",
		"schema 1\nroot /r\ndeadline_ms 5\nemulator /e\n",
	};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		assert_int_equal(parse(&bench, texts[i]), 5);
}

static void emulator_is_the_agents_own_or_outside(void **state)
{
	static const char outside[] =
		"schema 1\nroot /r\ndeadline_ms 5\nsubject /s\nemulator_outside 1\n";
	struct bench bench;

	(void)state;
	assert_int_equal(parse(&bench, outside), 0);
	assert_true(bench.spec.emulator_outside);
	assert_int_equal(parse(&bench, LEAST "emulator_outside 1\n"), LEAST_LINES + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(least_that_a_cell_needs_is_taken),
		cmocka_unit_test(keys_left_out_are_zero),
		cmocka_unit_test(every_key_goes_to_its_place),
		cmocka_unit_test(unknown_key_is_refused),
		cmocka_unit_test(first_of_two_wrong_lines_is_named),
		cmocka_unit_test(schema_that_is_not_first_is_refused),
		cmocka_unit_test(schema_given_twice_is_refused),
		cmocka_unit_test(another_schema_is_refused),
		cmocka_unit_test(text_that_is_empty_lacks_line_one),
		cmocka_unit_test(last_line_without_newline_is_refused),
		cmocka_unit_test(line_without_a_value_is_refused),
		cmocka_unit_test(bridge_needs_its_root_and_what_it_makes),
		cmocka_unit_test(cell_that_lacks_a_needed_key_is_refused_after_its_last_line),
		cmocka_unit_test(emulator_is_the_agents_own_or_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
