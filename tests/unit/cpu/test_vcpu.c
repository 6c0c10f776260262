/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../run_cases.h"
#include "cpu_plugin/vcpu.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

#define START (1000 * MS)
#define HOST_KIPS 600000u /* the speed of the host in these tests */

static const struct script no_script;

static struct vcpu_config config_of(const char *governor, uint32_t kips)
{
	return (struct vcpu_config){
		.model = governor_find(governor, (uint32_t)strlen(governor)),
		.limits = {.fixed_kips = kips,
			.min_kips = kips / 4,
			.max_kips = kips,
			.sampling_ns = 10 * MS},
		.quantum_ns = 250 * US,
		.catch_up_ns = 5 * MS,
	};
}

static struct vcpu made(const struct vcpu_config *config, const struct script *script)
{
	struct vcpu vcpu;

	vcpu_init(&vcpu, 0, config, script, START);
	vcpu_resume(&vcpu, START);
	return vcpu;
}

static struct vcpu fixed(uint32_t kips)
{
	const struct vcpu_config config = config_of("fixed", kips);

	return made(&config, &no_script);
}

/*
 * Keeps the vCPU busy up to @until_ns on a host of HOST_KIPS that wakes it on time. Returns the
 * time at which it stopped.
 */
static uint64_t busy(struct vcpu *vcpu, uint64_t now_ns, uint64_t until_ns)
{
	while (now_ns < until_ns) {
		uint64_t instructions = vcpu_quantum(vcpu);

		now_ns += speed_cost_ns(HOST_KIPS, instructions);
		now_ns = vcpu_settle(vcpu, now_ns, instructions);
		pacer_release(&vcpu->pacer, now_ns);
	}
	return now_ns;
}

TEST(busy_vcpu_runs_at_its_speed)
{
	struct vcpu slow = fixed(60000);
	struct vcpu fast = fixed(240000);

	busy(&slow, START, START + 100 * MS);
	busy(&fast, START, START + 100 * MS);
	assert_int_equal(slow.account.instructions, 60000 * 100);
	assert_int_equal(fast.account.instructions, 240000 * 100);
	assert_int_equal(slow.account.paced_ns, 100 * MS);
	assert_int_equal(slow.account.lost_ns, 0);
}

TEST(vcpu_faster_than_the_host_runs_at_its_speed_and_loses_time)
{
	struct vcpu vcpu = fixed(2 * HOST_KIPS);

	busy(&vcpu, START, START + 100 * MS);
	assert_int_equal(vcpu.account.active_ns, vcpu.account.paced_ns * 2);
	assert_in_range(vcpu.account.lost_ns, 40 * MS, 50 * MS);
}

TEST(unthrottled_vcpu_never_waits_and_is_never_late)
{
	struct vcpu vcpu = fixed(SPEED_UNTHROTTLED);
	uint64_t instructions = vcpu_quantum(&vcpu);

	assert_int_equal(vcpu_settle(&vcpu, START + 40 * MS, instructions), START + 40 * MS);
	assert_int_equal(vcpu.account.paced_ns, vcpu.account.active_ns);
	assert_int_equal(vcpu.account.lost_ns, 0);
}

TEST(short_bursts_between_idle_times_keep_the_speed)
{
	struct vcpu vcpu = fixed(60000);
	uint64_t now_ns = START;

	/* 6000 instructions take 100 us at 60 MIPS, but 10 us on this host; then 1 ms is idle. */
	for (int i = 0; i < 100; i++) {
		if (vcpu_quantum(&vcpu) == 0) {
			now_ns = vcpu_settle(&vcpu, now_ns, 0);
			pacer_release(&vcpu.pacer, now_ns);
		}
		now_ns += speed_cost_ns(HOST_KIPS, 6000);
		vcpu_idle(&vcpu, now_ns, 6000);
		now_ns += MS;
		vcpu_resume(&vcpu, now_ns);
	}
	assert_in_range(vcpu.account.active_ns, 99 * 100 * US, 100 * 100 * US);
	assert_int_equal(vcpu.account.idle_ns, 100 * MS);
}

TEST(idle_time_is_not_caught_up)
{
	struct vcpu vcpu = fixed(60000);
	uint64_t now_ns = busy(&vcpu, START, START + MS);
	uint64_t before;

	vcpu_idle(&vcpu, now_ns, 0);
	now_ns += 500 * MS;
	vcpu_resume(&vcpu, now_ns);
	before = vcpu.account.instructions;
	busy(&vcpu, now_ns, now_ns + 10 * MS);
	assert_int_equal(vcpu.account.instructions - before, 60000 * 10);
}

TEST(vcpu_that_has_not_started_is_idle)
{
	const struct vcpu_config config = config_of("fixed", 60000);
	struct vcpu vcpu;

	vcpu_init(&vcpu, 0, &config, &no_script, START);
	vcpu_look(&vcpu, START + 7 * MS);
	assert_int_equal(vcpu.account.idle_ns, 7 * MS);
	assert_int_equal(vcpu.account.active_ns, 0);
}

TEST(look_at_a_busy_vcpu_does_not_settle_it)
{
	struct vcpu vcpu = fixed(60000);

	vcpu_look(&vcpu, START + 7 * MS);
	assert_int_equal(vcpu.account.settled_ns, START);
}

TEST(command_changes_the_speed_at_the_next_quantum)
{
	struct vcpu vcpu = fixed(60000);
	const struct command faster = {.vcpu = 0, .speed_kips = 240000};

	busy(&vcpu, START, START + 100 * MS);
	vcpu_command(&vcpu, START + 100 * MS, &faster);
	busy(&vcpu, START + 100 * MS, START + 200 * MS);
	assert_in_range(vcpu.account.instructions, 300000 * 100 - 180000 / 4, 300000 * 100);
	assert_int_equal(vcpu.change_count, 1);
	assert_int_equal(vcpu.changes[0].reason, CHANGE_CONTROL);
	assert_int_equal(vcpu.changes[0].at_ns, START + 100 * MS);
	assert_int_equal(vcpu.changes[0].ramp.from_kips, 60000);
}

TEST(newly_throttled_vcpu_does_not_pay_for_earlier_work)
{
	struct vcpu vcpu = fixed(SPEED_UNTHROTTLED);
	const struct command slower = {.vcpu = 0, .speed_kips = 60000};
	uint64_t now_ns = busy(&vcpu, START, START + 100 * MS);
	uint64_t before;

	vcpu_command(&vcpu, now_ns, &slower);
	now_ns = busy(&vcpu, now_ns, now_ns + 1); /* the quantum that had already begun */
	before = vcpu.account.instructions;
	busy(&vcpu, now_ns, now_ns + 10 * MS);
	assert_int_equal(vcpu.account.instructions - before, 60000 * 10);
	assert_int_equal(vcpu.account.lost_ns, 0);
}

TEST(governor_speeds_up_the_busy_and_slows_down_the_idle)
{
	const struct vcpu_config config = config_of("ondemand", 240000);
	struct vcpu vcpu = made(&config, &no_script);
	uint64_t now_ns;

	assert_int_equal(vcpu.speed_kips, 60000);
	now_ns = busy(&vcpu, START, START + 11 * MS);
	assert_int_equal(vcpu.speed_kips, 240000);
	vcpu_idle(&vcpu, now_ns, 0);
	vcpu_resume(&vcpu, now_ns + 30 * MS);
	assert_int_equal(vcpu.speed_kips, 60000);
	assert_int_equal(vcpu.changes[0].at_ns, START + 10 * MS);
	assert_int_equal(vcpu.changes[0].reason, CHANGE_GOVERNOR);
}

TEST(latency_and_ramp_delay_the_decision_of_the_governor)
{
	struct vcpu_config config = config_of("ondemand", 240000);
	struct vcpu vcpu;

	config.latency_ns = 2 * MS;
	config.ramp_ns = 4 * MS;
	vcpu = made(&config, &no_script);
	busy(&vcpu, START, START + 12 * MS);
	assert_int_equal(vcpu.speed_kips, 60000);
	busy(&vcpu, START + 12 * MS, START + 14 * MS);
	assert_in_range(vcpu.speed_kips, 140000, 160000);
	busy(&vcpu, START + 14 * MS, START + 17 * MS);
	assert_int_equal(vcpu.speed_kips, 240000);
}

TEST(commanded_vcpu_leaves_its_governor_until_auto)
{
	const struct vcpu_config config = config_of("ondemand", 240000);
	const struct command hold = {.vcpu = 0, .speed_kips = 100000};
	const struct command back = {.vcpu = 0, .back_to_governor = true};
	struct vcpu vcpu = made(&config, &no_script);
	uint64_t now_ns = START;

	vcpu_command(&vcpu, now_ns, &hold);
	now_ns = busy(&vcpu, now_ns, START + 50 * MS);
	assert_int_equal(vcpu.speed_kips, 100000);
	vcpu_command(&vcpu, now_ns, &back);
	busy(&vcpu, now_ns, now_ns + MS);
	assert_int_equal(vcpu.speed_kips, 240000);
}

TEST(script_steps_happen_when_they_are_due)
{
	const struct vcpu_config config = config_of("fixed", 60000);
	struct script script;
	struct vcpu vcpu;
	size_t line;

	assert_int_equal(script_parse("10 0 120\n10 1 5\n20 * 240", &script, &line), 0);
	vcpu = made(&config, &script);
	busy(&vcpu, START, START + 30 * MS);
	assert_in_range(vcpu.account.instructions, 4150000, 4200000);
	assert_int_equal(vcpu.change_count, 2);
	assert_int_equal(vcpu.changes[1].at_ns, START + 20 * MS);
	assert_int_equal(vcpu.changes[1].reason, CHANGE_SCRIPT);
	script_deinit(&script);
}

TEST(changes_that_do_not_fit_are_counted)
{
	struct vcpu vcpu = fixed(60000);
	const struct command same = {.vcpu = 0, .speed_kips = 60000};

	for (int i = 0; i < VCPU_CHANGES_KEPT + 3; i++)
		vcpu_command(&vcpu, START, &same);
	assert_int_equal(vcpu.change_count, VCPU_CHANGES_KEPT);
	assert_int_equal(vcpu.changes_dropped, 3);
}

TEST(quantum_follows_the_speed_within_its_limits)
{
	struct vcpu slow = fixed(1);
	struct vcpu usual = fixed(60000);
	struct vcpu fast = fixed(UINT32_MAX);

	assert_int_equal(vcpu_quantum(&slow), 1);
	assert_int_equal(vcpu_quantum(&usual), 15000);
	assert_int_equal(vcpu_quantum(&fast), VCPU_QUANTUM_INSTRUCTIONS_MAX);
}
