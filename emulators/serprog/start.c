/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "start.h"

/* A record also where nothing is under way: whoever judges the client has to know how it began. */
static void begin(struct start *start, struct chip *chip, uint64_t now_ns, struct events *events)
{
	struct event event = {
		.kind = EVENT_STARTS,
		.name = start_state_name(start->state),
		.read_ns = now_ns,
	};

	chip_start_in(chip, start->state, now_ns, &event.chip);
	start->has_begun = true;
	events_append(events, &event);
}

static bool is_due(const struct start *start, enum start_moment moment)
{
	return !start->has_begun && start->state != START_READY &&
	       start_state_moment(start->state) == moment;
}

void start_at_connect(
	struct start *start, struct chip *chip, struct clock *clock, struct events *events)
{
	if (is_due(start, START_AT_CONNECT))
		begin(start, chip, clock_now_ns(clock), events);
}

void start_at_request(struct start *start, struct chip *chip, const struct serprog_request *request,
	uint64_t now_ns, struct events *events)
{
	const bool turns_on = request->op == SERPROG_S_PIN_STATE && request->value != 0;

	if (turns_on && is_due(start, START_AT_PINS))
		begin(start, chip, now_ns, events);
	if (request->op == SERPROG_O_SPIOP && is_due(start, START_AT_COMMAND))
		begin(start, chip, now_ns, events);
}
