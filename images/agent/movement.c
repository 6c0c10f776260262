// SPDX-License-Identifier: GPL-2.0-or-later
#include "hazards.h"
#include "guest.h"
#include "hypercall.h"
#include "process.h"
#include "shared/noise.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Draws a number by splitmix64, which accepts any seed. */
static uint64_t draw(struct movement_beat *beat)
{
	return noise_mix(beat->state += NOISE_GOLDEN);
}

static struct movement_beat begin_beat(const struct spec_draws *spec, uint64_t now_ns)
{
	struct movement_beat beat = {.due_ns = UINT64_MAX, .state = spec->seed};

	if (spec->hz > 0) {
		beat.period_ns = NS_PER_S / spec->hz;
		beat.due_ns = now_ns + beat.period_ns;
	}
	return beat;
}

/* Reports an error, unless the subject has ended or the core does not exist. */
static void report_unless_gone(struct movement *movement, const char *what, int error)
{
	if (error != -ESRCH && error != -ENOENT)
		report_failure(movement->report, what, error);
}

/* Moves a process with all of its threads. */
static int move_process(pid_t pid, unsigned int core)
{
	char path[32];
	cpu_set_t cores;
	struct dirent *entry;
	int error = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return -errno;
	CPU_ZERO(&cores);
	CPU_SET(core, &cores);
	while ((entry = readdir(tasks)) != NULL) {
		pid_t task = (pid_t)strtol(entry->d_name, NULL, 10);

		/* A thread may have ended meanwhile. */
		if (task > 0 && sched_setaffinity(task, sizeof(cores), &cores) < 0 &&
			errno != ESRCH)
			error = -errno;
	}
	closedir(tasks);
	return error;
}

static int switch_core(unsigned int core, const char *on)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", core);
	return guest_write_text(path, on);
}

static void give_core_back(struct movement *movement)
{
	if (movement->gone)
		report_unless_gone(
			movement, "a core did not come back", switch_core(movement->gone, "1"));
	movement->gone = 0;
}

static void move_to(struct movement *movement, unsigned int core)
{
	/* The kernel moves no task to an offline core. */
	if (core == movement->gone)
		give_core_back(movement);
	report_unless_gone(
		movement, "the subject cannot be moved", move_process(movement->subject, core));
	movement->core = core;
}

static void move_once(struct movement *movement)
{
	movement->move_due_ns = UINT64_MAX;
	move_to(movement, movement->spec->move_to_core);
	report_moment(movement->report, "moved", "core", movement->core);
}

/* Moves the subject to a random other core. */
static void migrate(struct movement *movement)
{
	unsigned int others = movement->cores - 1;

	if (others > 0) {
		unsigned int step = 1 + (unsigned int)(draw(&movement->migrate) % others);

		move_to(movement, (movement->core + step) % movement->cores);
	}
	movement->migrate.count++;
}

/* Takes a random core offline, but never the first; the next call brings it back online. */
static void toggle_core(struct movement *movement)
{
	unsigned int others = movement->cores - 1;

	movement->hotplug.count++;
	if (movement->gone) {
		give_core_back(movement);
		return;
	}
	if (others == 0)
		return;
	movement->gone = 1 + (unsigned int)(draw(&movement->hotplug) % others);
	report_unless_gone(
		movement, "a core cannot be taken away", switch_core(movement->gone, "0"));
}

static void plan_move(struct movement *movement, uint64_t now_ns)
{
	movement->move_due_ns = now_ns + movement->spec->move_after_ms * NS_PER_MS;
}

void movement_begin(struct movement *movement, const struct spec_movement *spec,
	struct report *report, pid_t subject)
{
	uint64_t now_ns = hypercall_virtual_ns();

	*movement = (struct movement){
		.spec = spec,
		.report = report,
		.subject = subject,
		.core = PROCESS_CORE_OF_SUBJECT,
		.move_due_ns = UINT64_MAX,
		.migrate = begin_beat(&spec->migrate, now_ns),
		.hotplug = begin_beat(&spec->hotplug, now_ns),
	};
	if (spec->migrate.hz || spec->hotplug.hz)
		movement->cores = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	if (spec->moves && !spec->move_from_accept)
		plan_move(movement, now_ns);
}

void movement_accepted(struct movement *movement)
{
	if (!movement->spec->moves || !movement->spec->move_from_accept)
		return;
	plan_move(movement, hypercall_virtual_ns());
	if (movement->spec->move_after_ms == 0)
		move_once(movement);
}

void movement_run_due(struct movement *movement, uint64_t now_ns)
{
	if (now_ns >= movement->move_due_ns)
		move_once(movement);
	if (now_ns >= movement->migrate.due_ns) {
		migrate(movement);
		movement->migrate.due_ns = now_ns + movement->migrate.period_ns;
	}
	if (now_ns >= movement->hotplug.due_ns) {
		toggle_core(movement);
		movement->hotplug.due_ns = now_ns + movement->hotplug.period_ns;
	}
}

void movement_end(struct movement *movement)
{
	give_core_back(movement);
	if (movement->migrate.period_ns)
		report_moment(movement->report, "migrations", "count", movement->migrate.count);
	if (movement->hotplug.period_ns)
		report_moment(movement->report, "hotplugs", "count", movement->hotplug.count);
}
