/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../run_cases.h"
#include "cpu_plugin/options.h"

#define US UINT64_C(1000)

static struct options parsed(const char *arguments[], int count)
{
	char error[OPTIONS_ERROR_BYTES] = "";
	struct options options;

	assert_int_equal(options_parse(count, (char *const *)arguments, &options, error), 0);
	assert_string_equal(error, "");
	return options;
}

#define PARSED(...)                                                                                \
	parsed((const char *[]){__VA_ARGS__},                                                      \
		(int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)))

static void assert_refused(const char *first, const char *second, const char *says)
{
	const char *arguments[] = {first, second};
	char error[OPTIONS_ERROR_BYTES] = "";
	struct options options;

	assert_int_equal(
		options_parse(second ? 2 : 1, (char *const *)arguments, &options, error), -EINVAL);
	assert_non_null(strstr(error, says));
}

TEST(without_arguments_nothing_is_throttled)
{
	struct options options = parsed(NULL, 0);
	struct vcpu_config config;
	char error[OPTIONS_ERROR_BYTES];

	options_vcpu(&options, 5, &config);
	assert_string_equal(governor_name(config.model), "fixed");
	assert_int_equal(config.limits.fixed_kips, SPEED_UNTHROTTLED);
	assert_int_equal(config.quantum_ns, 250 * US);
	assert_int_equal(options_check_vcpu(&options, 5, error), 0);
	assert_null(options.trace);
}

TEST(last_value_of_a_list_applies_to_all_further_vcpus)
{
	struct options options = PARSED("mips=60:240", "governor=fixed:performance");
	struct vcpu_config config;

	options_vcpu(&options, 0, &config);
	assert_int_equal(config.limits.fixed_kips, 60000);
	assert_string_equal(governor_name(config.model), "fixed");
	for (unsigned int i = 1; i < 100; i += 49) {
		options_vcpu(&options, i, &config);
		assert_int_equal(config.limits.fixed_kips, 240000);
		assert_string_equal(governor_name(config.model), "performance");
	}
}

TEST(highest_speed_of_a_governor_is_mips_by_default)
{
	struct options without = PARSED("mips=100", "min_mips=25", "governor=ondemand");
	struct options with = PARSED("mips=100", "min_mips=25", "max_mips=80");
	struct vcpu_config config;

	options_vcpu(&without, 0, &config);
	assert_int_equal(config.limits.max_kips, 100000);
	options_vcpu(&with, 0, &config);
	assert_int_equal(config.limits.max_kips, 80000);
	assert_int_equal(config.limits.min_kips, 25000);
}

TEST(times_have_the_units_of_their_names)
{
	struct options options = PARSED("sampling_us=4000", "latency_us=50", "ramp_us=300",
		"quantum_us=100", "catch_up_us=0", "spin_us=20", "window_ms=10");
	struct vcpu_config config;

	options_vcpu(&options, 0, &config);
	assert_int_equal(config.limits.sampling_ns, 4000 * US);
	assert_int_equal(config.latency_ns, 50 * US);
	assert_int_equal(config.ramp_ns, 300 * US);
	assert_int_equal(config.quantum_ns, 100 * US);
	assert_int_equal(config.catch_up_ns, 0);
	assert_int_equal(options.spin_us, 20);
	assert_int_equal(options.window_ms, 10);
}

TEST(paths_are_stored_unchanged)
{
	struct options options = PARSED("trace=a=b", "control=/run/x", "script=:");

	assert_string_equal(options.trace, "a=b");
	assert_string_equal(options.control, "/run/x");
	assert_string_equal(options.script, ":");
}

TEST(bad_argument_is_named_with_its_remedy)
{
	assert_refused("speed=3", NULL, "speed=3: no such argument");
	assert_refused("mips", NULL, "mips: no such argument");
	assert_refused("mips=60:", NULL, "mips=60:: speeds in MIPS");
	assert_refused("mips=60,5", NULL, "speeds in MIPS");
	assert_refused("mips=1.0001", NULL, "speeds in MIPS");
	assert_refused("governor=fixed:turbo", NULL, "schedutil");
	assert_refused("quantum_us=0", NULL, "a number from 1 to 10000");
	assert_refused("quantum_us=10001", NULL, "a number from 1 to 10000");
	assert_refused("window_ms=5x", NULL, "a number");
	assert_refused("trace=", NULL, "a path");
	assert_refused("mips=1", "mips=2", "given twice");
}

TEST(list_of_more_than_64_values_is_refused)
{
	char text[] =
		"mips=1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:"
		"1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1";

	assert_refused(text, NULL, "speeds in MIPS");
	text[strlen(text) - 2] = '\0';
	parsed((const char *[]){text}, 1);
}

TEST(governor_without_limits_is_named_with_its_vcpu)
{
	struct options options = PARSED("mips=100", "governor=fixed:ondemand");
	char error[OPTIONS_ERROR_BYTES];

	assert_int_equal(options_check_vcpu(&options, 0, error), 0);
	assert_int_equal(options_check_vcpu(&options, 1, error), -EINVAL);
	assert_string_equal(error, "vCPU 1: governor ondemand needs min_mips above 0");
}
