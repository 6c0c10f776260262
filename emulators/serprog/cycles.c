/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "device.h"
#include "shared/units.h"

#include <errno.h>
#include <string.h>

uint64_t operations_delay_ns(const struct device_quirks *quirks, uint32_t us)
{
	uint64_t up_us = quirks->delay_up_us;
	uint64_t ran_us = us;

	if (quirks->delay_down_us > 0)
		ran_us -= ran_us % quirks->delay_down_us;
	if (up_us > 0)
		ran_us = (ran_us + up_us - 1) / up_us * up_us;
	return ran_us * NS_PER_US;
}

int operations_append(struct operations *operations, const struct serprog_request *request)
{
	if (request->size_bytes > operations->size_bytes - operations->len)
		return -ENOSPC;
	memcpy(operations->bytes + operations->len, request->bytes, request->size_bytes);
	operations->len += request->size_bytes;
	return 0;
}

/* Reads the operation at *@offset, and moves *@offset to the next one. Returns false at the end. */
static bool next_operation(
	const struct operations *operations, size_t *offset, struct serprog_request *request)
{
	static const struct serprog_limits limits = {.write_len_max = OPERATIONS_WRITE_LEN_MAX};

	if (!serprog_parse(
		    operations->bytes + *offset, operations->len - *offset, &limits, request))
		return false;
	*offset += request->size_bytes;
	return true;
}

/* The state of a run of the operation buffer. */
struct execution {
	struct chip *chip;
	struct events *events;
	const struct device_quirks *quirks;
	struct event event; /* the command so far; empty if write_len is 0 */
	uint64_t now_ns;
};

static void flush(struct execution *execution)
{
	if (execution->event.write_len > 0)
		events_append(execution->events, &execution->event);
	execution->event = (struct event){
		.kind = EVENT_CYCLE,
		.op = SERPROG_O_EXEC,
		.executed = true,
		.start_ns = execution->now_ns,
	};
}

static void write_byte(struct execution *execution, uint32_t address, uint8_t value)
{
	uint64_t cycle_ns = execution->chip->part->parallel->cycle_ns;
	struct chip_facts facts;

	chip_write_cycle(execution->chip, execution->now_ns, execution->now_ns + cycle_ns, address,
		value, &facts);
	if (facts.rule != CHIP_RULE_NONE)
		flush(execution);
	event_add_cycle(&execution->event, &facts, cycle_ns);
	execution->now_ns += cycle_ns;
	if (facts.rule != CHIP_RULE_NONE)
		flush(execution);
}

static void write_bytes(struct execution *execution, const struct serprog_request *request)
{
	for (uint32_t i = 0; i < request->write_len; i++)
		write_byte(execution, request->address + i, request->data[i]);
	if (!execution->event.chip.partial)
		flush(execution);
}

/* If the wait is cancelled, the operations after it do not reach the part. */
static int pass_delay(
	struct execution *execution, struct clock *clock, const struct serprog_request *request)
{
	execution->now_ns += operations_delay_ns(execution->quirks, request->value);
	return clock_wait_until(clock, execution->now_ns);
}

int cycles_execute(struct chip *chip, const struct operations *operations, struct clock *clock,
	uint64_t start_ns, struct events *events)
{
	struct execution execution = {
		.chip = chip,
		.events = events,
		.quirks = operations->quirks,
		.now_ns = start_ns,
	};
	struct serprog_request request;
	size_t offset = 0;
	int ret = 0;

	flush(&execution);
	while (ret == 0 && next_operation(operations, &offset, &request)) {
		if (request.op == SERPROG_O_DELAY)
			ret = pass_delay(&execution, clock, &request);
		else
			write_bytes(&execution, &request);
		if (execution.event.write_len == 0)
			execution.event.start_ns = execution.now_ns;
	}
	flush(&execution);
	return ret < 0 ? ret : clock_wait_until(clock, execution.now_ns);
}

uint64_t cycles_read(struct chip *chip, const struct serprog_request *request, uint64_t start_ns,
	uint8_t *out, struct event *event)
{
	event->kind = EVENT_CYCLE;
	event->start_ns = start_ns;
	event->read_len = request->read_len;
	event->wire_ns = (uint64_t)request->read_len * chip->part->parallel->cycle_ns;
	chip_read_cycles(chip, start_ns, request->address, out, request->read_len, &event->chip);
	return start_ns + event->wire_ns;
}
