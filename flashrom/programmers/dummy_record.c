/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dummy_record.h"

#include <errno.h>
#include <string.h>

#define STEP_READINGS 1000

static bool is_on(const struct dummy_record *record)
{
	return record->file.stream != NULL;
}

/* Returns the smallest step of the clock that was seen, or 1 if there was none. */
static uint64_t measure_step_ns(const struct clock *clock)
{
	uint64_t before_ns = clock_now_ns(clock);
	uint64_t step_ns = UINT64_MAX;

	for (int i = 0; i < STEP_READINGS; i++) {
		const uint64_t now_ns = clock_now_ns(clock);

		if (now_ns > before_ns && now_ns - before_ns < step_ns)
			step_ns = now_ns - before_ns;
		before_ns = now_ns;
	}
	return step_ns == UINT64_MAX ? 1 : step_ns;
}

static int report_events(const struct log *log, const char *path, int error)
{
	log_error(log, "dummy: events=%s cannot be written: %s.\n", path, strerror(-error));
	return error;
}

int dummy_record_begin(struct dummy_record *record, const char *path, const struct run_facts *facts,
	const struct clock *clock, const struct log *log)
{
	int error;

	memset(record, 0, sizeof(*record));
	if (path == NULL)
		return 0;
	error = outfile_open(&record->file, path);
	if (error == 0)
		error = events_init(&record->events, 1);
	if (error != 0) {
		outfile_deinit(&record->file);
		return report_events(log, path, error);
	}
	record->facts = *facts;
	record->facts.clock_name = "monotonic";
	record->facts.clock_step_ns = measure_step_ns(clock);
	record->facts.start_ns = clock_now_ns(clock);
	return 0;
}

static void flush_command(struct dummy_record *record)
{
	if (record->command.write_len > 0)
		events_append(&record->events, &record->command);
	record->command.write_len = 0;
}

void dummy_record_end(struct dummy_record *record, const struct clock *clock, const struct log *log)
{
	const struct run_end end = {
		.end_ns = clock_now_ns(clock),
		.clean = record->events.lost_count == 0,
	};
	int error;

	if (!is_on(record))
		return;
	flush_command(record);
	error = jsonl_write(record->file.stream, &record->facts, &record->events, &end);
	if (error == 0)
		error = outfile_commit(&record->file);
	if (error != 0)
		(void)report_events(log, record->file.path, error);
	outfile_deinit(&record->file);
	events_deinit(&record->events);
}

void dummy_record_transfer(struct dummy_record *record, const struct chip_transfer *transfer,
	const struct chip_facts *facts, uint64_t reply_ns)
{
	const struct event event = {
		.kind = EVENT_SPI,
		.write_len = (uint32_t)transfer->command_len,
		.read_len = (uint32_t)transfer->reply_len,
		.empty_ns = transfer->start_ns,
		.read_ns = transfer->start_ns,
		.reply_ns = reply_ns,
		.wire_ns = transfer->end_ns - transfer->start_ns,
		.chip = *facts,
	};

	if (is_on(record))
		events_append(&record->events, &event);
}

static void begin_command(struct dummy_record *record, uint64_t start_ns)
{
	record->command = (struct event){
		.kind = EVENT_CYCLE,
		.empty_ns = start_ns,
		.read_ns = start_ns,
		.start_ns = start_ns,
	};
}

/* A cycle that breaks a rule becomes a separate event. */
void dummy_record_write_cycle(struct dummy_record *record, uint64_t start_ns, uint64_t end_ns,
	const struct chip_facts *facts)
{
	const bool broken = facts->rule != CHIP_RULE_NONE;

	if (!is_on(record))
		return;
	if (broken)
		flush_command(record);
	if (record->command.write_len == 0)
		begin_command(record, start_ns);
	event_add_cycle(&record->command, facts, end_ns - start_ns);
	record->command.reply_ns = end_ns;
	if (broken || !facts->partial)
		flush_command(record);
}

void dummy_record_read_cycles(struct dummy_record *record, uint64_t start_ns, uint64_t end_ns,
	uint32_t bytes, const struct chip_facts *facts)
{
	const struct event event = {
		.kind = EVENT_CYCLE,
		.read_len = bytes,
		.empty_ns = start_ns,
		.read_ns = start_ns,
		.start_ns = start_ns,
		.reply_ns = end_ns,
		.wire_ns = end_ns - start_ns,
		.chip = *facts,
	};

	if (!is_on(record))
		return;
	flush_command(record);
	events_append(&record->events, &event);
}

void dummy_record_fault(
	struct dummy_record *record, uint64_t at_ns, const struct fault *fault, uint64_t nth)
{
	const struct event event = {
		.kind = EVENT_FAULT,
		.name = fault_kind_name(fault->kind),
		.read_ns = at_ns,
		.fault_at = fault_at_name(fault->at),
		.fault_nth = nth,
		.fault_ns = fault->hold_ns,
	};

	if (is_on(record))
		events_append(&record->events, &event);
}
