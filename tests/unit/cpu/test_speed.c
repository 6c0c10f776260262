/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../run_cases.h"
#include "cpu_plugin/vcpu.h"

#define MS UINT64_C(1000000)

static uint32_t parsed(const char *text)
{
	uint32_t kips = 0;
	const char *end;

	assert_int_equal(speed_parse(text, &end, &kips), 0);
	assert_string_equal(end, "");
	return kips;
}

TEST(speed_has_up_to_three_decimals)
{
	assert_int_equal(parsed("0"), SPEED_UNTHROTTLED);
	assert_int_equal(parsed("60"), 60000);
	assert_int_equal(parsed("0.001"), 1);
	assert_int_equal(parsed("2.5"), 2500);
	assert_int_equal(parsed("100000"), SPEED_KIPS_MAX);
}

TEST(invalid_speed_is_refused)
{
	static const char *const texts[] = {
		"", "-1", ".5", "1.", "x", "100000.001", "100001", "99999999999999999999"};
	uint32_t kips = 7;
	const char *end;

	for (size_t i = 0; i < COUNT(texts); i++)
		assert_int_equal(speed_parse(texts[i], &end, &kips), -EINVAL);
	assert_int_equal(kips, 7);
}

TEST(fourth_decimal_is_left_for_the_caller)
{
	uint32_t kips;
	const char *end;

	assert_int_equal(speed_parse("1.2345", &end, &kips), 0);
	assert_string_equal(end, "5");
}

TEST(cost_is_rounded_up_and_never_zero)
{
	assert_int_equal(speed_cost_ns(60000, 60000), MS);
	assert_int_equal(speed_cost_ns(240000, 60000), MS / 4);
	assert_int_equal(speed_cost_ns(SPEED_KIPS_MAX, 1), 1);
	assert_int_equal(speed_cost_ns(1, UINT64_C(1) << 32), (UINT64_C(1) << 32) * MS);
}

TEST(quantum_has_at_least_one_instruction)
{
	assert_int_equal(speed_instructions(60000, MS), 60000);
	assert_int_equal(speed_instructions(1, MS - 1), 1);
	assert_int_equal(speed_instructions(1, 0), 1);
}

TEST(ramp_waits_then_moves_then_stays)
{
	static const struct {
		uint32_t to_kips;
		uint64_t latency_ns, ramp_ns, at_ns;
		uint32_t kips;
	} rows[] = {
		{300, 50, 200, 1000, 100},
		{300, 50, 200, 1050, 100},
		{300, 50, 200, 1150, 200},
		{300, 50, 200, 1249, 299},
		{300, 50, 200, 1250, 300},
		{300, 50, 200, UINT64_MAX, 300},
		{300, 0, 0, 1000, 300}, /* a step */
		{SPEED_UNTHROTTLED, 10, 200, 1009, 100},
		{SPEED_UNTHROTTLED, 10, 200, 1010, SPEED_UNTHROTTLED}, /* a step, too */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ramp ramp;

		ramp_hold(&ramp, 100);
		ramp_start(&ramp, 1000, rows[i].to_kips, rows[i].latency_ns, rows[i].ramp_ns);
		if (ramp_speed_kips(&ramp, rows[i].at_ns) != rows[i].kips)
			fail_msg("row %zu: wrong speed", i);
	}
}

TEST(reversed_ramp_starts_at_the_present_speed)
{
	struct ramp ramp;

	ramp_hold(&ramp, 100);
	ramp_start(&ramp, 0, 300, 0, 200);
	ramp_start(&ramp, 100, 100, 0, 200);
	assert_int_equal(ramp_speed_kips(&ramp, 100), 200);
	assert_int_equal(ramp_speed_kips(&ramp, 200), 150);
	assert_int_equal(ramp_speed_kips(&ramp, 300), 100);
}
