// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "hazards.h"
#include "hypercall.h"
#include "process.h"
#include "wall_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NEVER_NS UINT64_MAX
#define NS_PER_MS UINT64_C(1000000)

static int failed(struct hazards *hazards, const char *what, int error)
{
	if (error)
		report_error(hazards->report, what, strerror(-error));
	return error;
}

static void report_loops(struct report *report, const char *event, const struct loops *loops)
{
	report_numbers(report, event,
		(const struct report_number[]){
			{"count", loops->count},
			{"turns_min", loops_turns_min(loops)},
			{NULL, 0},
		});
}

/* Plain siblings run until the emulator accepts; those with a schedule keep to it. */
static bool siblings_scheduled(const struct hazards *hazards)
{
	return hazards->spec->siblings_schedule.count > 0;
}

static int begin_siblings(struct hazards *hazards)
{
	struct loops *siblings = &hazards->siblings;
	int error = loops_start(siblings, hazards->spec->siblings, 1, 1);

	if (error)
		return failed(hazards, "the busy siblings did not start", error);
	hazards->siblings_run = true;
	if (siblings_scheduled(hazards)) {
		loops_pause(siblings);
		hazards->siblings_run = false;
		return 0;
	}
	report_moment(hazards->report, "siblings_running", "count", siblings->count);
	return 0;
}

static int begin_hogs(struct hazards *hazards)
{
	int error = loops_start(&hazards->hogs, hazards->spec->hogs, PROCESS_CORE_OF_SUBJECT, 0);

	if (error)
		return failed(hazards, "the hogs did not start", error);
	if (hazards->hogs.count)
		report_loops(hazards->report, "hogs_running", &hazards->hogs);
	return 0;
}

/* N on each core. */
static int begin_crowd(struct hazards *hazards)
{
	unsigned int each = hazards->spec->hogs_each;
	unsigned int cores = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	int error;

	if (each == 0)
		return 0;
	error = loops_start_crowd(&hazards->crowd, each, cores);
	if (error)
		return failed(hazards, "the crowd of hogs did not start", error);
	report_loops(hazards->report, "crowd_running", &hazards->crowd);
	return 0;
}

static int begin_memory_hog(struct hazards *hazards)
{
	int error;

	if (!hazards->spec->memory_pressure)
		return 0;
	error = memory_hog_start(&hazards->memory_hog);
	if (error)
		return failed(hazards, "the kernel did not begin to reclaim memory", error);
	report_moment(
		hazards->report, "memory_pressure", "reclaimed_pages", memory_hog_reclaimed_now());
	return 0;
}

static int write_rt_runtime(unsigned int runtime_us)
{
	int file = open("/proc/sys/kernel/sched_rt_runtime_us", O_WRONLY | O_CLOEXEC);
	int error = file < 0 || dprintf(file, "%u", runtime_us) < 0 ? -errno : 0;

	close(file);
	return error;
}

/*
 * A core that has used up its real-time share runs none of it any more, the emulator's and ours
 * as little as the subject's. So both of us leave the subject's core, and the emulator, alone on
 * its own, needs no real-time priority there.
 */
static int begin_rt_throttle(struct hazards *hazards, pid_t emulator)
{
	unsigned int runtime_us = hazards->spec->rt_runtime_us;
	int error;

	if (runtime_us == 0)
		return 0;
	error = process_leave_core_of_subject(emulator);
	if (!error)
		error = write_rt_runtime(runtime_us);
	if (error)
		return failed(hazards, "no throttling of real-time tasks", error);
	report_moment(hazards->report, "rt_throttle", "runtime_us", runtime_us);
	return 0;
}

/* The second is announced here, and taken `leap_after_ms` after the subject starts. */
static int begin_leap(struct hazards *hazards)
{
	const struct spec_hazards *spec = hazards->spec;
	int error;

	if (spec->leap == SPEC_LEAP_NONE)
		return 0;
	error = wall_clock_announce_leap(spec->leap == SPEC_LEAP_DELETE);
	if (error)
		return failed(hazards, "no leap second", error);
	report_moment(hazards->report, "leap_announced", "due_ns",
		hypercall_virtual_ns() + WALL_CLOCK_LEAP_AHEAD_MS * NS_PER_MS);
	process_sleep_ms(WALL_CLOCK_LEAP_AHEAD_MS - spec->leap_after_ms);
	return 0;
}

int hazards_begin(struct hazards *hazards, const struct spec_hazards *spec, struct report *report,
	pid_t emulator)
{
	int error;

	*hazards = (struct hazards){
		.spec = spec,
		.report = report,
		.siblings_due_ns = NEVER_NS,
		.wall_step_due_ns = NEVER_NS,
	};
	error = begin_rt_throttle(hazards, emulator);
	if (!error)
		error = begin_memory_hog(hazards);
	if (!error)
		error = begin_hogs(hazards);
	if (!error)
		error = begin_crowd(hazards);
	if (!error)
		error = begin_siblings(hazards);
	if (!error)
		error = begin_leap(hazards);
	return error;
}

static void plan_siblings(struct hazards *hazards, uint64_t origin_ns)
{
	const struct schedule *schedule = &hazards->spec->siblings_schedule;

	hazards->siblings_origin_ns = origin_ns;
	if (schedule_open(schedule, 0))
		hazards->siblings_due_ns = origin_ns;
	else
		hazards->siblings_due_ns = origin_ns + schedule_next_edge_ns(schedule, 0);
}

void hazards_subject_starts(struct hazards *hazards, uint64_t now_ns)
{
	const struct spec_hazards *spec = hazards->spec;

	if (siblings_scheduled(hazards) && !spec->siblings_from_accept)
		plan_siblings(hazards, now_ns);
	if (spec->wall_step_s)
		hazards->wall_step_due_ns = now_ns + spec->wall_step_every_ms * NS_PER_MS;
}

static void report_rights(struct hazards *hazards, pid_t subject)
{
	struct process_rights rights = process_rights(subject);

	report_numbers(hazards->report, "subject_rights",
		(const struct report_number[]){
			{"cap_sys_nice", rights.cap_sys_nice},
			{"rtprio_max", rights.rtprio_max},
			{NULL, 0},
		});
}

void hazards_subject_accepted(
	struct hazards *hazards, pid_t subject, uint64_t now_ns, uint64_t printed_bytes)
{
	if (hazards->spec->realtime_denied)
		report_rights(hazards, subject);
	if (siblings_scheduled(hazards)) {
		if (hazards->spec->siblings_from_accept)
			plan_siblings(hazards, now_ns);
		return;
	}
	loops_end(&hazards->siblings);
	hazards->siblings_run = false;
	report_moment(hazards->report, "siblings_stopped", "stdout_bytes", printed_bytes);
}

uint64_t hazards_due_ns(const struct hazards *hazards)
{
	return hazards->siblings_due_ns < hazards->wall_step_due_ns ? hazards->siblings_due_ns
								    : hazards->wall_step_due_ns;
}

static void switch_siblings(struct hazards *hazards, uint64_t now_ns)
{
	const struct schedule *schedule = &hazards->spec->siblings_schedule;
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
	const struct spec_hazards *spec = hazards->spec;
	int error = wall_clock_step(spec->wall_step_s);

	hazards->wall_step_due_ns += spec->wall_step_every_ms * NS_PER_MS;
	if (failed(hazards, "the wall clock cannot be set", error))
		hazards->wall_step_due_ns = NEVER_NS;
	else
		report_moment(hazards->report, "wall_clock_step", NULL, 0);
}

void hazards_run_due(struct hazards *hazards, uint64_t now_ns)
{
	if (now_ns >= hazards->siblings_due_ns)
		switch_siblings(hazards, now_ns);
	if (now_ns >= hazards->wall_step_due_ns)
		step_wall_clock(hazards);
}

static void end_hogs(struct hazards *hazards, struct loops *loops, const char *event)
{
	if (!loops->count)
		return;
	report_loops(hazards->report, event, loops);
	loops_end(loops);
}

void hazards_end(struct hazards *hazards)
{
	const struct spec_hazards *spec = hazards->spec;

	loops_end(&hazards->siblings);
	end_hogs(hazards, &hazards->hogs, "hogs_stopped");
	end_hogs(hazards, &hazards->crowd, "crowd_stopped");
	if (spec->memory_pressure)
		report_moment(hazards->report, "memory_pressure_end", "reclaimed_pages",
			memory_hog_reclaimed_now());
	memory_hog_end(&hazards->memory_hog);
	if (spec->leap != SPEC_LEAP_NONE)
		report_moment(hazards->report, "leap_state", "state", (uint64_t)wall_clock_state());
}
