/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vcpu.h"

#include <stdbool.h>
#include <string.h>

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t excess(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void pacer_restart(struct pacer *pacer, uint64_t now_ns)
{
	pacer->due_ns = now_ns;
	pacer->wanted_ns = now_ns;
	pacer->released_ns = now_ns;
	pacer->ahead_ns = 0;
}

void pacer_init(struct pacer *pacer, uint64_t now_ns, uint64_t catch_up_ns, uint64_t grace_ns)
{
	memset(pacer, 0, sizeof(*pacer));
	pacer->catch_up_ns = catch_up_ns;
	pacer->grace_ns = grace_ns;
	pacer_restart(pacer, now_ns);
}

/* Moves the due time to at most @limit_ns before @now_ns, and counts the delay beyond as lost. */
static void limit_delay(struct pacer *pacer, uint64_t now_ns, uint64_t limit_ns)
{
	uint64_t late_ns = excess(now_ns, pacer->due_ns);
	uint64_t lost_ns = excess(late_ns, limit_ns);

	pacer->late_ns_max = larger(pacer->late_ns_max, late_ns);
	pacer->lost_ns += lost_ns;
	pacer->due_ns += lost_ns;
}

/*
 * Returns the time from which the limit of 5/4 of the speed counts. Every sleep ends a little late,
 * so the next sleep may be shorter by that delay, but by the grace at most.
 */
static uint64_t paced_from(const struct pacer *pacer)
{
	uint64_t overslept_ns = excess(pacer->released_ns, pacer->wanted_ns);

	return pacer->released_ns - smaller(overslept_ns, pacer->grace_ns);
}

uint64_t pacer_advance(struct pacer *pacer, uint64_t now_ns, uint64_t cost_ns)
{
	uint64_t soonest_ns = paced_from(pacer) + cost_ns - cost_ns / 5;

	pacer->due_ns += cost_ns;
	limit_delay(pacer, now_ns, pacer->catch_up_ns);
	pacer->wanted_ns = larger(now_ns, larger(pacer->due_ns, soonest_ns));
	return pacer->wanted_ns;
}

void pacer_release(struct pacer *pacer, uint64_t now_ns)
{
	pacer->released_ns = now_ns;
}

void pacer_idle(struct pacer *pacer, uint64_t now_ns, uint64_t cost_ns)
{
	pacer->due_ns += cost_ns;
	limit_delay(pacer, now_ns, pacer->grace_ns);
	pacer->ahead_ns = (int64_t)(pacer->due_ns - now_ns);
}

void pacer_resume(struct pacer *pacer, uint64_t now_ns)
{
	int64_t ahead_ns = pacer->ahead_ns;

	pacer_restart(pacer, now_ns);
	pacer->due_ns += (uint64_t)ahead_ns;
}

uint64_t pacer_take_late_ns(struct pacer *pacer)
{
	uint64_t late_ns = pacer->late_ns_max;

	pacer->late_ns_max = 0;
	return late_ns;
}
