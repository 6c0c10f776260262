/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "../run_cases.h"
#include "guest.h"
#include "hazards.h"
#include "hypercall.h"

#define CORES 2
#define HZ 10

/* The cores of a guest, all of them online when a case begins. */
static bool is_offline[CORES];
static unsigned int placed_on;

uint64_t hypercall_virtual_ns(void)
{
	return 0;
}

int guest_write_text(const char *path, const char *text)
{
	unsigned int core;

	assert_int_equal(sscanf(path, "/sys/devices/system/cpu/cpu%u/online", &core), 1);
	assert_in_range(core, 1, CORES - 1);
	is_offline[core] = strcmp(text, "0") == 0;
	return 0;
}

/* The kernel's own answer to a mask that has only offline cores. Source: sched_setaffinity(2). */
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *cores)
{
	(void)pid;
	(void)size;
	for (unsigned int core = 0; core < CORES; core++) {
		if (CPU_ISSET(core, cores) && !is_offline[core]) {
			placed_on = core;
			return 0;
		}
	}
	errno = EINVAL;
	return -1;
}

int report_failure(struct report *report, const char *what, int error)
{
	(void)report;
	if (error)
		fail_msg("%s: %s", what, strerror(-error));
	return error;
}

void report_moment(struct report *report, const char *event, const char *key, uint64_t value)
{
	(void)report;
	(void)event;
	(void)key;
	(void)value;
}

/* Takes the only core that can go offline there. */
static void begin_with_offline_core(struct movement *movement, const struct spec_movement *spec)
{
	memset(is_offline, 0, sizeof(is_offline));
	placed_on = 0;
	movement_begin(movement, spec, NULL, getpid());
	movement->cores = CORES;
	movement_run_due(movement, movement->hotplug.due_ns);
	assert_true(is_offline[1]);
}

TEST(move_to_offline_core_brings_it_back)
{
	const struct spec_movement spec = {
		.moves = true, .move_from_accept = true, .move_to_core = 1, .hotplug = {.hz = HZ}};
	struct movement movement;

	begin_with_offline_core(&movement, &spec);
	movement_accepted(&movement);
	assert_int_equal(placed_on, 1);
	movement_end(&movement);
	assert_false(is_offline[1]);
}

TEST(migration_to_offline_core_brings_it_back)
{
	const struct spec_movement spec = {.migrate = {.hz = HZ / 2}, .hotplug = {.hz = HZ}};
	struct movement movement;

	begin_with_offline_core(&movement, &spec);
	movement.hotplug.due_ns = UINT64_MAX;
	movement_run_due(&movement, movement.migrate.due_ns);
	assert_int_equal(placed_on, 1);
	movement_end(&movement);
	assert_false(is_offline[1]);
}
