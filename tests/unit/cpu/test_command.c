/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "../run_cases.h"
#include "cpu_plugin/vcpu.h"

#define MS UINT64_C(1000000)

static struct command parsed(const char *text)
{
	struct command command;

	assert_int_equal(command_parse(text, &command), 0);
	return command;
}

TEST(command_names_a_vcpu_and_a_speed)
{
	const struct command command = parsed("1 240.5");

	assert_int_equal(command.vcpu, 1);
	assert_int_equal(command.speed_kips, 240500);
	assert_false(command.back_to_governor);
	assert_false(command.has_ramp);
}

TEST(command_may_have_a_ramp)
{
	const struct command command = parsed("  0\t60   2000 ");

	assert_true(command.has_ramp);
	assert_int_equal(command.ramp_ns, 2 * MS);
	assert_true(parsed("0 60 0").has_ramp);
}

TEST(star_stands_for_every_vcpu)
{
	const struct command all = parsed("* auto");
	const struct command one = parsed("3 0");

	assert_true(all.back_to_governor);
	assert_true(command_is_for(&all, 0) && command_is_for(&all, 7));
	assert_true(command_is_for(&one, 3));
	assert_false(command_is_for(&one, 2));
}

TEST(invalid_command_is_refused_and_writes_no_output)
{
	static const char *const texts[] = {"", "1", "1 ", "1 fast", "1 60x", "x 60", "-1 60",
		"1024 60", "*1 60", "1 automatic", "1 60 -5", "1 60 1.5", "1 60 5 5",
		"1 60 100000001", "1 60\n"};
	struct command command = {.vcpu = 42};

	for (size_t i = 0; i < COUNT(texts); i++)
		assert_int_equal(command_parse(texts[i], &command), -EINVAL);
	assert_int_equal(command.vcpu, 42);
}

TEST(script_yields_its_steps_in_order_of_time)
{
	struct script script;
	size_t line;

	assert_int_equal(
		script_parse("# slow, then fast\n0 * 60\n\n250 1 240 1000 # up\n250 0 auto",
			&script, &line),
		0);
	assert_int_equal(script.count, 3);
	assert_int_equal(script.steps[0].command.vcpu, COMMAND_VCPU_ALL);
	assert_int_equal(script.steps[1].at_ns, 250 * MS);
	assert_int_equal(script.steps[1].command.ramp_ns, MS);
	assert_true(script.steps[2].command.back_to_governor);
	script_deinit(&script);
}

TEST(empty_script_has_no_steps)
{
	struct script script;
	size_t line;

	assert_int_equal(script_parse("", &script, &line), 0);
	assert_int_equal(script.count, 0);
	script_deinit(&script);
}

TEST(long_script_keeps_every_step)
{
	char text[8192] = "";
	struct script script;
	size_t line;

	for (int i = 0; i < 300; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d 0 %d\n", i, i + 1);
	assert_int_equal(script_parse(text, &script, &line), 0);
	assert_int_equal(script.count, 300);
	for (uint32_t i = 0; i < 300; i++)
		assert_int_equal(script.steps[i].command.speed_kips, (i + 1) * 1000);
	script_deinit(&script);
}

TEST(bad_line_of_a_script_is_reported)
{
	struct script script;
	char too_long[200];
	size_t line;

	assert_int_equal(script_parse("0 0 60\n5 0\n", &script, &line), -EINVAL);
	assert_int_equal(line, 2);
	assert_int_equal(script_parse("5 0 60\n4 0 60", &script, &line), -EINVAL);
	assert_int_equal(line, 2);
	memset(too_long, ' ', sizeof(too_long));
	too_long[sizeof(too_long) - 1] = '\0';
	assert_int_equal(script_parse(too_long, &script, &line), -EINVAL);
	assert_int_equal(line, 1);
}
