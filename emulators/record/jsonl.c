/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jsonl.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/*
 * Lines are put together here and not by printf(): a slow guest formats a hundred thousand of
 * them. The longest has 20 keys of at most 20 digits and fits with room to spare.
 */
#define LINE_BYTES_MAX 2048

struct line {
	char text[LINE_BYTES_MAX];
	size_t len;
};

struct counts {
	uint64_t spi;
	uint64_t cycles;
	uint64_t serprog;
	uint64_t violations;
	uint64_t faults;
};

static void put_char(struct line *line, char c)
{
	assert(line->len < sizeof(line->text));
	line->text[line->len++] = c;
}

static void put_text(struct line *line, const char *text)
{
	size_t len = strlen(text);

	assert(line->len + len <= sizeof(line->text));
	memcpy(line->text + line->len, text, len);
	line->len += len;
}

static void put_u64(struct line *line, uint64_t value)
{
	char digits[20];
	size_t count = 0;

	do
		digits[count++] = (char)('0' + value % 10);
	while (value /= 10);
	while (count > 0)
		put_char(line, digits[--count]);
}

static void put_key(struct line *line, const char *key)
{
	put_text(line, line->len == 0 ? "{\"" : ",\"");
	put_text(line, key);
	put_text(line, "\":");
}

static void put_number(struct line *line, const char *key, uint64_t value)
{
	put_key(line, key);
	put_u64(line, value);
}

static void put_number_or_null(struct line *line, const char *key, bool known, uint64_t value)
{
	put_key(line, key);
	if (known)
		put_u64(line, value);
	else
		put_text(line, "null");
}

static void put_signed_or_null(struct line *line, const char *key, bool known, int64_t value)
{
	put_key(line, key);
	if (!known) {
		put_text(line, "null");
		return;
	}
	if (value < 0)
		put_char(line, '-');
	put_u64(line, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* The texts are names out of our own tables: nothing in them needs escaping. */
static void put_name_or_null(struct line *line, const char *key, const char *name)
{
	put_key(line, key);
	if (!name) {
		put_text(line, "null");
		return;
	}
	put_char(line, '"');
	put_text(line, name);
	put_char(line, '"');
}

static void put_bool(struct line *line, const char *key, bool value)
{
	put_key(line, key);
	put_text(line, value ? "true" : "false");
}

static void put_octet(struct line *line, const char *key, uint8_t value)
{
	static const char digits[] = "0123456789abcdef";
	char text[] = {'0', 'x', digits[value >> 4], digits[value & 15], '\0'};

	put_name_or_null(line, key, text);
}

static void put_octet_or_null(struct line *line, const char *key, bool known, uint8_t value)
{
	if (known)
		put_octet(line, key, value);
	else
		put_name_or_null(line, key, NULL);
}

static void flush(struct line *line, FILE *out)
{
	put_text(line, "}\n");
	fwrite(line->text, 1, line->len, out);
	line->len = 0;
}

static void write_start(FILE *out, const struct run_facts *facts)
{
	struct line line = {.len = 0};
	char corner[CORNER_TEXT_BYTES];

	corner_format(&facts->corner, corner);
	put_number(&line, "schema", 1);
	put_name_or_null(&line, "ev", "start");
	put_number(&line, "t_ns", facts->start_ns);
	put_name_or_null(&line, "chip", facts->part->name);
	put_name_or_null(&line, "corner", corner);
	put_name_or_null(&line, "clock", facts->clock_name);
	put_number(&line, "clock_step_ns", facts->clock_step_ns);
	put_number(&line, "clock_rate_error_ppm", facts->clock_rate_error_ppm);
	put_number(&line, "seed", facts->seed);
	put_bool(&line, "native_delay", facts->native_delay);
	put_number_or_null(
		&line, "wake_latency_ns_min", facts->wake_measured, facts->wake_latency_ns_min);
	put_number_or_null(
		&line, "wake_latency_ns_max", facts->wake_measured, facts->wake_latency_ns_max);
	put_number(&line, "size_bytes", facts->part->size_bytes);
	put_name_or_null(&line, "link", facts->link);
	put_name_or_null(&line, "faults", facts->faults);
	flush(&line, out);
}

static void write_moment(FILE *out, const struct event *event, const char *name)
{
	struct line line = {.len = 0};

	put_name_or_null(&line, "ev", name);
	put_number(&line, "t_ns", event->read_ns);
	if (event->kind == EVENT_BARRIER)
		put_number(&line, "released_ns", event->reply_ns);
	flush(&line, out);
}

/* @previous_ns is the reply before, 0 if there was none on this connection. */
static void put_times(struct line *line, const struct event *event, uint64_t previous_ns)
{
	put_number(line, "empty_ns", event->empty_ns);
	put_number(line, "read_ns", event->read_ns);
	if (event->arrived_ns > 0)
		put_number(line, "arrived_ns", event->arrived_ns);
	put_number(line, "reply_ns", event->reply_ns);
	/* Negative where a host sent it without waiting for the reply before. */
	put_signed_or_null(
		line, "gap_ns", previous_ns > 0, (int64_t)(event->read_ns - previous_ns));
}

static void write_serprog(FILE *out, const struct event *event, uint64_t previous_ns)
{
	struct line line = {.len = 0};

	put_name_or_null(&line, "ev", "serprog");
	put_octet(&line, "op", event->op);
	put_name_or_null(&line, "name", event->name);
	put_times(&line, event, previous_ns);
	put_bool(&line, "ack", event->ack);
	flush(&line, out);
}

/* What a rule and its figure said. */
static void put_verdict(struct line *line, const struct chip_facts *chip)
{
	put_number(line, "busy_left_ns", chip->busy_left_ns);
	put_number(line, "busy_until_ns", chip->busy_until_ns);
	put_name_or_null(line, "violation", chip_rule_name(chip->rule));
	put_signed_or_null(line, "margin_ns", chip->owed, chip->margin_ns);
	put_name_or_null(line, "grade", chip->owed ? grade_name(chip->grade) : NULL);
}

static void write_spi(FILE *out, const struct event *event, uint64_t previous_ns)
{
	const struct chip_facts *chip = &event->chip;
	struct line line = {.len = 0};

	put_name_or_null(&line, "ev", "spi");
	put_octet(&line, "op", chip->opcode);
	put_name_or_null(&line, "name", chip->name);
	put_number_or_null(&line, "addr", chip->has_address, chip->address);
	put_number(&line, "wlen", event->write_len);
	put_number(&line, "rlen", event->read_len);
	put_times(&line, event, previous_ns);
	put_number(&line, "wire_ns", event->wire_ns);
	put_octet(&line, "sr", chip->status);
	put_verdict(&line, chip);
	flush(&line, out);
}

static void write_cycle(FILE *out, const struct event *event, uint64_t previous_ns)
{
	const struct chip_facts *chip = &event->chip;
	bool is_read = event->read_len > 0;
	struct line line = {.len = 0};

	put_name_or_null(&line, "ev", "cycle");
	put_octet_or_null(&line, "op", !is_read, chip->opcode);
	put_name_or_null(&line, "name", chip->name);
	put_number(&line, "addr", chip->address);
	put_number(&line, "wlen", event->write_len);
	put_number(&line, "rlen", event->read_len);
	put_times(&line, event, previous_ns);
	put_number(&line, "start_ns", event->start_ns);
	put_number(&line, "wire_ns", event->wire_ns);
	put_octet_or_null(&line, "value", is_read, chip->status);
	put_verdict(&line, chip);
	flush(&line, out);
}

static void write_busy(FILE *out, const struct chip_facts *chip)
{
	struct line line = {.len = 0};

	put_name_or_null(&line, "ev", "busy");
	put_name_or_null(&line, "kind", chip_work_name(chip->work));
	put_octet(&line, "op", chip->opcode);
	put_number_or_null(&line, "addr", chip->has_address, chip->address);
	put_number(&line, "start_ns", chip->busy_until_ns - chip->work_ns);
	put_number(&line, "until_ns", chip->busy_until_ns);
	put_number(&line, "nominal_ns", chip->work_ns);
	put_name_or_null(&line, "grade", grade_name(chip->work_grade));
	flush(&line, out);
}

/* One that was asked for, and done. */
struct fault_line {
	uint64_t at_ns;
	const char *kind;
	const char *at;
	uint64_t nth;
	uint64_t held_ns;
};

static void write_fault(FILE *out, const struct fault_line *fault)
{
	struct line line = {.len = 0};

	put_name_or_null(&line, "ev", "fault");
	put_number(&line, "t_ns", fault->at_ns);
	put_name_or_null(&line, "kind", fault->kind);
	put_name_or_null(&line, "at", fault->at);
	put_number(&line, "nth", fault->nth);
	put_number_or_null(&line, "held_ns", fault->held_ns != UINT64_MAX, fault->held_ns);
	flush(&line, out);
}

static void write_fault_of_link(FILE *out, const struct event *event)
{
	struct fault_line fault = {
		.at_ns = event->read_ns,
		.kind = event->name,
		.at = event->fault_at,
		.nth = event->fault_nth,
		.held_ns = event->fault_ns,
	};

	write_fault(out, &fault);
}

/* The part's own: its work begins, and never ends. */
static void write_fault_of_part(FILE *out, const struct chip_facts *chip)
{
	struct fault_line fault = {
		.at_ns = chip->busy_until_ns - chip->work_ns,
		.kind = "stuck-wip",
		.at = "busy",
		.nth = chip->stuck_nth,
		.held_ns = UINT64_MAX,
	};

	write_fault(out, &fault);
}

static void write_power_cut(FILE *out, const struct chip_facts *chip)
{
	struct line line = {.len = 0};

	put_name_or_null(&line, "ev", "power_cut");
	put_number(&line, "t_ns", chip->lost_power_ns);
	flush(&line, out);
}

static void write_gave_up(FILE *out, const struct event *event)
{
	struct line line = {.len = 0};

	put_name_or_null(&line, "ev", "gave_up");
	put_number(&line, "t_ns", event->read_ns);
	put_name_or_null(&line, "bound", event->name);
	put_number(&line, "count", event->bound);
	flush(&line, out);
}

static void write_end(FILE *out, const struct run_end *end, const struct counts *counts)
{
	struct line line = {.len = 0};

	put_name_or_null(&line, "ev", "end");
	put_number(&line, "t_ns", end->end_ns);
	put_number(&line, "spi_transactions", counts->spi);
	put_number(&line, "cycle_transactions", counts->cycles);
	put_number(&line, "serprog_requests", counts->serprog);
	put_number(&line, "violations", counts->violations);
	put_number(&line, "faults", counts->faults);
	put_bool(&line, "clean", end->clean);
	flush(&line, out);
}

static void write_event(
	FILE *out, const struct event *event, uint64_t previous_ns, struct counts *counts)
{
	if (event->chip.lost_power)
		write_power_cut(out, &event->chip);
	switch (event->kind) {
	case EVENT_ACCEPT:
		write_moment(out, event, "accept");
		break;
	case EVENT_BARRIER:
		write_moment(out, event, "barrier");
		break;
	case EVENT_DISCONNECT:
		write_moment(out, event, "disconnect");
		break;
	case EVENT_REFUSED:
		write_moment(out, event, "refused");
		break;
	case EVENT_FAULT:
		counts->faults++;
		write_fault_of_link(out, event);
		break;
	case EVENT_GAVE_UP:
		write_gave_up(out, event);
		break;
	case EVENT_SERPROG:
		counts->serprog++;
		write_serprog(out, event, previous_ns);
		break;
	case EVENT_SPI:
		counts->spi++;
		write_spi(out, event, previous_ns);
		break;
	case EVENT_CYCLE:
		counts->cycles++;
		write_cycle(out, event, previous_ns);
		break;
	}
	counts->violations += event->chip.rule != CHIP_RULE_NONE;
	if (event->chip.work != CHIP_WORK_NONE)
		write_busy(out, &event->chip);
	if (event->chip.stuck_nth > 0) {
		counts->faults++;
		write_fault_of_part(out, &event->chip);
	}
}

/* A gap never spans two connections. What a request executed shares its gap. */
static uint64_t previous_reply_ns(const struct event *event, uint64_t before_ns)
{
	switch (event->kind) {
	case EVENT_SERPROG:
	case EVENT_SPI:
	case EVENT_CYCLE:
		return event->executed ? before_ns : event->reply_ns;
	case EVENT_REFUSED:
	case EVENT_FAULT:
		return before_ns;
	default:
		return 0;
	}
}

int jsonl_write(FILE *out, const struct run_facts *facts, const struct events *events,
	const struct run_end *end)
{
	struct counts counts = {0};
	uint64_t previous_ns = 0;

	write_start(out, facts);
	for (size_t i = 0; i < events->count; i++) {
		const struct event *event = events_at(events, i);

		write_event(out, event, previous_ns, &counts);
		previous_ns = previous_reply_ns(event, previous_ns);
	}
	write_end(out, end, &counts);
	return fflush(out) == 0 && !ferror(out) ? 0 : -EIO;
}
