// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "movement.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* splitmix64: every seed will do, and equal seeds give equal draws. */
static uint64_t draw(struct movement_beat *beat)
{
	uint64_t z = beat->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static struct movement_beat begin_beat(unsigned int hz, uint64_t seed, uint64_t now_ns)
{
	struct movement_beat beat = {.due_ns = MOVEMENT_NEVER_NS, .state = seed};

	if (hz > 0) {
		beat.period_ns = NS_PER_S / hz;
		beat.due_ns = now_ns + beat.period_ns;
	}
	return beat;
}

static void failed(struct movement *movement, const char *what, int error)
{
	if (error && error != -ESRCH && error != -ENOENT)
		report_error(movement->report, what, strerror(-error));
}

static void move_to(struct movement *movement, unsigned int core)
{
	failed(movement, "the subject cannot be moved", process_move(movement->subject, core));
	movement->core = core;
}

static void move_once(struct movement *movement)
{
	movement->move_due_ns = MOVEMENT_NEVER_NS;
	move_to(movement, movement->spec->move_to_core);
	report_moment(movement->report, "moved", "core", movement->core);
}

/* Never to where it is. */
static void migrate(struct movement *movement)
{
	unsigned int others = movement->cores - 1;

	if (others > 0) {
		unsigned int step = 1 + (unsigned int)(draw(&movement->migrate) % others);

		move_to(movement, (movement->core + step) % movement->cores);
	}
	movement->migrate.count++;
}

static int switch_core(unsigned int core, bool on)
{
	char path[64];
	int file, error;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", core);
	file = open(path, O_WRONLY | O_CLOEXEC);
	error = file < 0 || write(file, on ? "1" : "0", 1) != 1 ? -errno : 0;
	close(file);
	return error;
}

static void give_core_back(struct movement *movement)
{
	if (movement->gone)
		failed(movement, "a core did not come back", switch_core(movement->gone, true));
	movement->gone = 0;
}

/* In turn: one goes, and comes back. The first one stays. */
static void plug(struct movement *movement)
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
	failed(movement, "a core cannot be taken away", switch_core(movement->gone, false));
}

void movement_begin(struct movement *movement, const struct spec_movement *spec,
	struct report *report, pid_t subject, uint64_t now_ns)
{
	*movement = (struct movement){
		.spec = spec,
		.report = report,
		.subject = subject,
		.cores = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN),
		.core = PROCESS_CORE_OF_SUBJECT,
		.move_due_ns = MOVEMENT_NEVER_NS,
		.migrate = begin_beat(spec->migrate_hz, spec->migrate_seed, now_ns),
		.hotplug = begin_beat(spec->hotplug_hz, spec->hotplug_seed, now_ns),
	};
	if (spec->moves && !spec->move_from_accept)
		movement->move_due_ns = now_ns + spec->move_after_ms * NS_PER_MS;
}

void movement_accepted(struct movement *movement, uint64_t now_ns)
{
	if (!movement->spec->moves || !movement->spec->move_from_accept)
		return;
	movement->move_due_ns = now_ns + movement->spec->move_after_ms * NS_PER_MS;
	if (movement->spec->move_after_ms == 0)
		move_once(movement);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t movement_due_ns(const struct movement *movement)
{
	return earlier(
		movement->move_due_ns, earlier(movement->migrate.due_ns, movement->hotplug.due_ns));
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
		plug(movement);
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
