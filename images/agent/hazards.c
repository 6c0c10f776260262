// SPDX-License-Identifier: GPL-2.0-or-later
#include "hazards.h"
#include "guest.h"
#include "hypercall.h"
#include "process.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define NEVER_NS UINT64_MAX
#define S_PER_DAY 86400
#define MS_PER_S 1000

static void report_loops(struct report *report, const char *event, const struct loops *loops)
{
	report_numbers(report, event,
		(const struct report_number[]){
			{"count", loops->count},
			{"turns_min", loops_turns_min(loops)},
			{NULL, 0},
		});
}

static int begin_hogs(struct hazards *hazards)
{
	int error = loops_start(
		&hazards->hogs, hazards->spec->hazards.hogs, PROCESS_CORE_OF_SUBJECT, 0);

	if (!error && hazards->hogs.count)
		report_loops(hazards->report, "hogs_running", &hazards->hogs);
	return report_failure(hazards->report, "the hogs did not start", error);
}

static int begin_crowd(struct hazards *hazards)
{
	int error = loops_start_crowd(&hazards->crowd, hazards->spec->hazards.hogs_each);

	if (!error && hazards->crowd.count)
		report_loops(hazards->report, "crowd_running", &hazards->crowd);
	return report_failure(hazards->report, "the crowd of hogs did not start", error);
}

/* Siblings with a schedule keep to it. Others run until the emulator accepts its client. */
static bool siblings_scheduled(const struct hazards *hazards)
{
	return hazards->spec->hazards.siblings_schedule.count > 0;
}

static int begin_siblings(struct hazards *hazards)
{
	struct loops *siblings = &hazards->siblings;
	int error = loops_start(siblings, hazards->spec->hazards.siblings, 1, 1);

	if (error)
		return report_failure(hazards->report, "the busy siblings did not start", error);
	hazards->siblings_run = !siblings_scheduled(hazards);
	if (hazards->siblings_run)
		report_moment(hazards->report, "siblings_running", "count", siblings->count);
	else
		loops_pause(siblings);
	return 0;
}

static int begin_memory_hog(struct hazards *hazards)
{
	int error;

	if (!hazards->spec->hazards.memory_pressure)
		return 0;
	error = memory_hog_start(&hazards->memory_hog);
	if (!error)
		report_moment(hazards->report, "memory_pressure", "reclaimed_pages",
			memory_hog_reclaimed_now());
	return report_failure(hazards->report, "the kernel did not begin to reclaim memory", error);
}

/*
 * A core that has used up its real-time share runs no real-time task, so it would stop the emulator
 * and the agent, too. With this hazard the emulator therefore runs on another core than the
 * subject, where it needs no real-time priority, and the agent moves there.
 */
static int begin_rt_throttle(struct hazards *hazards)
{
	unsigned int runtime_us = hazards->spec->hazards.rt_runtime_us;
	char text[16];
	int error;

	if (runtime_us == 0)
		return 0;
	error = process_leave_core_of_subject(hazards->emulator);
	snprintf(text, sizeof(text), "%u", runtime_us);
	if (!error)
		error = guest_write_text("/proc/sys/kernel/sched_rt_runtime_us", text);
	if (!error)
		report_moment(hazards->report, "rt_throttle", "runtime_us", runtime_us);
	return report_failure(hazards->report, "no throttling of real-time tasks", error);
}

/*
 * Sets the wall clock SPEC_LEAP_AHEAD_MS before a leap second. An inserted second comes after the
 * last second of the day; a deleted second is the last one itself. Sources: adjtimex(2); Linux
 * kernel/time/ntp.c.
 */
static int set_before_leap(bool removed)
{
	struct timespec time;

	if (clock_gettime(CLOCK_REALTIME, &time) < 0)
		return -errno;
	time.tv_sec += S_PER_DAY - time.tv_sec % S_PER_DAY;
	time.tv_sec -= SPEC_LEAP_AHEAD_MS / MS_PER_S + (removed ? 2 : 1);
	time.tv_nsec = (MS_PER_S - SPEC_LEAP_AHEAD_MS % MS_PER_S) * (long)NS_PER_MS;
	return clock_settime(CLOCK_REALTIME, &time) < 0 ? -errno : 0;
}

/* Announces the leap second, and waits until it is due `leap_after_ms` from now. */
static int begin_leap(struct hazards *hazards)
{
	const struct spec_hazards *spec = &hazards->spec->hazards;
	const bool removed = spec->leap == SPEC_LEAP_DELETE;
	/* While its maximum error is unknown, the clock never has the state of a leap second. */
	struct timex order = {
		.modes = ADJ_STATUS | ADJ_MAXERROR,
		.status = removed ? STA_DEL : STA_INS,
		.maxerror = 0,
	};
	int error;

	if (spec->leap == SPEC_LEAP_NONE)
		return 0;
	error = set_before_leap(removed);
	if (!error && adjtimex(&order) < 0)
		error = -errno;
	if (error)
		return report_failure(hazards->report, "no leap second", error);
	report_moment(hazards->report, "leap_announced", "due_ns",
		hypercall_virtual_ns() + SPEC_LEAP_AHEAD_MS * NS_PER_MS);
	process_sleep_ms(SPEC_LEAP_AHEAD_MS - spec->leap_after_ms);
	return 0;
}

int hazards_begin(
	struct hazards *hazards, const struct spec *spec, struct report *report, pid_t emulator)
{
	static int (*const begin[])(struct hazards *) = {begin_rt_throttle, begin_memory_hog,
		begin_hogs, begin_crowd, begin_siblings, begin_leap};
	int error = 0;

	*hazards = (struct hazards){
		.spec = spec,
		.report = report,
		.emulator = emulator,
		.siblings_due_ns = NEVER_NS,
		.wall_step_due_ns = NEVER_NS,
	};
	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]) && !error; i++)
		error = begin[i](hazards);
	return error;
}

static void plan_siblings(struct hazards *hazards)
{
	const struct schedule *schedule = &hazards->spec->hazards.siblings_schedule;

	hazards->siblings_origin_ns = hypercall_virtual_ns();
	hazards->siblings_due_ns = hazards->siblings_origin_ns;
	if (!schedule_open(schedule, 0))
		hazards->siblings_due_ns += schedule_next_edge_ns(schedule, 0);
}

void hazards_subject_starts(struct hazards *hazards)
{
	const struct spec_hazards *spec = &hazards->spec->hazards;

	if (siblings_scheduled(hazards) && !spec->siblings_from_accept)
		plan_siblings(hazards);
	if (spec->wall_step_s)
		hazards->wall_step_due_ns =
			hypercall_virtual_ns() + spec->wall_step_every_ms * NS_PER_MS;
}

int hazards_subject_started(struct hazards *hazards, pid_t subject)
{
	const struct spec *spec = hazards->spec;

	hazards->subject = subject;
	movement_begin(&hazards->movement, &spec->movement, hazards->report, subject);
	return stops_start(&hazards->stops, subject, spec->stops_hz);
}

/*
 * Reports the subject's rights to real-time priority. A right that cannot be read counts as
 * present, since its absence is not proven.
 */
static void report_rights(struct hazards *hazards)
{
	const pid_t subject = hazards->subject;
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, subject};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	struct rlimit limit = {0, 0};
	const bool unknown = syscall(SYS_capget, &header, data) < 0 ||
			     prlimit(subject, RLIMIT_RTPRIO, NULL, &limit) < 0;

	report_numbers(hazards->report, "subject_rights",
		(const struct report_number[]){
			{"cap_sys_nice", unknown || data[0].effective & 1u << CAP_SYS_NICE},
			{"rtprio_max", unknown ? UINT64_MAX : limit.rlim_max},
			{NULL, 0},
		});
}

void hazards_subject_accepted(struct hazards *hazards, uint64_t printed_bytes)
{
	const struct spec_hazards *spec = &hazards->spec->hazards;

	if (spec->realtime_denied)
		report_rights(hazards);
	if (!siblings_scheduled(hazards)) {
		loops_end(&hazards->siblings);
		hazards->siblings_run = false;
		report_moment(hazards->report, "siblings_stopped", "stdout_bytes", printed_bytes);
	} else if (spec->siblings_from_accept) {
		plan_siblings(hazards);
	}
	movement_accepted(&hazards->movement);
}

uint64_t hazards_due_ns(const struct hazards *hazards, uint64_t deadline_ns)
{
	const struct movement *movement = &hazards->movement;
	const uint64_t due_ns[] = {hazards->siblings_due_ns, hazards->wall_step_due_ns,
		movement->move_due_ns, movement->migrate.due_ns, movement->hotplug.due_ns};

	for (size_t i = 0; i < sizeof(due_ns) / sizeof(due_ns[0]); i++)
		if (due_ns[i] < deadline_ns)
			deadline_ns = due_ns[i];
	return deadline_ns;
}

static void switch_siblings(struct hazards *hazards, uint64_t now_ns)
{
	const struct schedule *schedule = &hazards->spec->hazards.siblings_schedule;
	uint64_t at_ns = now_ns - hazards->siblings_origin_ns;
	uint64_t edge_ns = schedule_next_edge_ns(schedule, at_ns);
	bool run = schedule_open(schedule, at_ns);

	hazards->siblings_due_ns =
		edge_ns == SCHEDULE_NEVER_NS ? NEVER_NS : hazards->siblings_origin_ns + edge_ns;
	if (run == hazards->siblings_run)
		return;
	hazards->siblings_run = run;
	if (run)
		loops_resume(&hazards->siblings);
	else
		loops_pause(&hazards->siblings);
	report_loops(
		hazards->report, run ? "siblings_running" : "siblings_stopped", &hazards->siblings);
}

static void step_wall_clock(struct hazards *hazards)
{
	const struct spec_hazards *spec = &hazards->spec->hazards;
	struct timespec now;
	int error = clock_gettime(CLOCK_REALTIME, &now);

	if (!error) {
		now.tv_sec += spec->wall_step_s;
		error = clock_settime(CLOCK_REALTIME, &now);
	}
	hazards->wall_step_due_ns += spec->wall_step_every_ms * NS_PER_MS;
	if (!error) {
		report_moment(hazards->report, "wall_clock_step", NULL, 0);
		return;
	}
	report_failure(hazards->report, "the wall clock cannot be set", -errno);
	hazards->wall_step_due_ns = NEVER_NS;
}

void hazards_run_due(struct hazards *hazards)
{
	uint64_t now_ns = hypercall_virtual_ns();

	if (now_ns >= hazards->siblings_due_ns)
		switch_siblings(hazards, now_ns);
	if (now_ns >= hazards->wall_step_due_ns)
		step_wall_clock(hazards);
	movement_run_due(&hazards->movement, now_ns);
}

void hazards_subject_ended(struct hazards *hazards)
{
	if (hazards->spec->stops_hz)
		report_moment(hazards->report, "stops", "count", stops_end(&hazards->stops));
	movement_end(&hazards->movement);
}

static void end_hogs(struct hazards *hazards, struct loops *loops, const char *event)
{
	if (loops->count)
		report_loops(hazards->report, event, loops);
	loops_end(loops);
}

void hazards_end(struct hazards *hazards)
{
	const struct spec_hazards *spec = &hazards->spec->hazards;
	struct timex look = {.modes = 0};

	loops_end(&hazards->siblings);
	end_hogs(hazards, &hazards->hogs, "hogs_stopped");
	end_hogs(hazards, &hazards->crowd, "crowd_stopped");
	if (spec->memory_pressure)
		report_moment(hazards->report, "memory_pressure_end", "reclaimed_pages",
			memory_hog_reclaimed_now());
	memory_hog_end(&hazards->memory_hog);
	if (spec->leap != SPEC_LEAP_NONE)
		report_moment(hazards->report, "leap_state", "state", (uint64_t)adjtimex(&look));
}
