/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/*
 * This file formats lines without printf() and writes many at once, because a slow guest may have
 * to format a hundred thousand. The longest line is `start`: its texts of a link and of faults have
 * 1 KiB together.
 */
#define LINE_BYTES_MAX 2048
#define TEXT_BYTES (UINT32_C(1) << 14)

struct text {
	FILE *out;
	size_t len;
	size_t begin; /* the beginning of the current line */
	char bytes[TEXT_BYTES];
};

struct counts {
	uint64_t of[EVENT_GAVE_UP + 1]; /* by enum event_kind */
	uint64_t violations;
};

static inline void put_bytes(struct text *text, const char *bytes, size_t len)
{
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
}

/* Puts a string literal; the compiler knows its length. */
#define PUT(text, literal) put_bytes(text, literal, sizeof(literal) - 1)

/* end_line() replaces the first comma of a line by its opening brace. */
#define PUT_KEY(text, key) PUT(text, ",\"" key "\":")

static void put_string(struct text *text, const char *string)
{
	size_t len = strlen(string);

	assert(text->len - text->begin + len < LINE_BYTES_MAX);
	put_bytes(text, string, len);
}

static void put_u64(struct text *text, uint64_t value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char digits[20];
	char *first = digits + sizeof(digits);

	for (; value >= 100; value /= 100) {
		first -= 2;
		memcpy(first, pairs + 2 * (value % 100), 2);
	}
	if (value >= 10) {
		first -= 2;
		memcpy(first, pairs + 2 * value, 2);
	} else {
		*--first = (char)('0' + value);
	}
	put_bytes(text, first, (size_t)(digits + sizeof(digits) - first));
}

static void put_value_or_null(struct text *text, bool known, uint64_t value)
{
	if (known)
		put_u64(text, value);
	else
		PUT(text, "null");
}

static void put_signed_value_or_null(struct text *text, bool known, int64_t value)
{
	if (known && value < 0) {
		PUT(text, "-");
		put_u64(text, 0 - (uint64_t)value);
	} else {
		put_value_or_null(text, known, (uint64_t)value);
	}
}

/* No text needs escaping: it is a name from a table, or a link or faults as in struct run_facts. */
static void put_string_or_null(struct text *text, const char *string)
{
	if (!string) {
		PUT(text, "null");
		return;
	}
	PUT(text, "\"");
	put_string(text, string);
	PUT(text, "\"");
}

static void put_octet_value_or_null(struct text *text, bool known, uint8_t value)
{
	static const char digits[] = "0123456789abcdef";
	const char quoted[] = {'"', '0', 'x', digits[value >> 4], digits[value & 15], '"'};

	if (known)
		put_bytes(text, quoted, sizeof(quoted));
	else
		PUT(text, "null");
}

#define put_number(text, key, value) (PUT_KEY(text, key), put_u64(text, value))
#define put_number_or_null(text, key, known, value)                                                \
	(PUT_KEY(text, key), put_value_or_null(text, known, value))
#define put_signed_or_null(text, key, known, value)                                                \
	(PUT_KEY(text, key), put_signed_value_or_null(text, known, value))
#define put_name_or_null(text, key, name) (PUT_KEY(text, key), put_string_or_null(text, name))
#define put_bool(text, key, value)                                                                 \
	(PUT_KEY(text, key), put_string(text, (value) ? "true" : "false"))
#define put_octet(text, key, value) (PUT_KEY(text, key), put_octet_value_or_null(text, true, value))
#define put_octet_or_null(text, key, known, value)                                                 \
	(PUT_KEY(text, key), put_octet_value_or_null(text, known, value))

static void write_out(struct text *text)
{
	fwrite(text->bytes, 1, text->len, text->out);
	text->len = 0;
	text->begin = 0;
}

static void end_line(struct text *text)
{
	PUT(text, "}\n");
	text->bytes[text->begin] = '{';
	text->begin = text->len;
	if (text->len > TEXT_BYTES - LINE_BYTES_MAX)
		write_out(text);
}

static void write_start(struct text *text, const struct run_facts *facts)
{
	char corner[CORNER_TEXT_BYTES];

	corner_format(&facts->corner, corner);
	put_number(text, "schema", 1);
	put_name_or_null(text, "ev", "start");
	put_number(text, "t_ns", facts->start_ns);
	put_name_or_null(text, "chip", facts->part->name);
	put_name_or_null(text, "corner", corner);
	put_name_or_null(text, "clock", facts->clock_name);
	put_number(text, "clock_step_ns", facts->clock_step_ns);
	put_number(text, "clock_rate_error_ppm", facts->clock_rate_error_ppm);
	put_number(text, "seed", facts->seed);
	put_bool(text, "native_delay", facts->native_delay);
	put_number_or_null(
		text, "wake_latency_ns_min", facts->wake_measured, facts->wake_latency_ns_min);
	put_number_or_null(
		text, "wake_latency_ns_max", facts->wake_measured, facts->wake_latency_ns_max);
	put_number(text, "size_bytes", facts->part->size_bytes);
	put_name_or_null(text, "link", facts->link);
	put_name_or_null(text, "faults", facts->faults);
	end_line(text);
}

/* @previous_ns is the time of the previous reply, 0 if this connection had none. */
static void put_times(struct text *text, const struct event *event, uint64_t previous_ns)
{
	put_number(text, "empty_ns", event->empty_ns);
	put_number(text, "read_ns", event->read_ns);
	if (event->arrived_ns > 0)
		put_number(text, "arrived_ns", event->arrived_ns);
	put_number(text, "reply_ns", event->reply_ns);
	/* The gap is negative if the client did not wait for the previous reply. */
	put_signed_or_null(
		text, "gap_ns", previous_ns > 0, (int64_t)(event->read_ns - previous_ns));
}

static void put_serprog(struct text *text, const struct event *event, uint64_t previous_ns)
{
	put_octet(text, "op", event->op);
	put_name_or_null(text, "name", event->name);
	put_times(text, event, previous_ns);
	put_bool(text, "ack", event->ack);
}

/* Puts the busy time, the broken rule if any, and the margin of a settled wait with its grade. */
static void put_verdict(struct text *text, const struct chip_facts *chip)
{
	put_number(text, "busy_left_ns", chip->busy_left_ns);
	put_number(text, "busy_until_ns", chip->busy_until_ns);
	put_name_or_null(text, "violation", chip_rule_name(chip->rule));
	put_signed_or_null(text, "margin_ns", chip->owed, chip->margin_ns);
	put_name_or_null(text, "grade", chip->owed ? grade_name(chip->grade) : NULL);
}

static void put_spi(struct text *text, const struct event *event, uint64_t previous_ns)
{
	const struct chip_facts *chip = &event->chip;

	put_octet(text, "op", chip->opcode);
	put_name_or_null(text, "name", chip->name);
	put_number_or_null(text, "addr", chip->has_address, chip->address);
	put_number(text, "wlen", event->write_len);
	put_number(text, "rlen", event->read_len);
	put_times(text, event, previous_ns);
	put_number(text, "wire_ns", event->wire_ns);
	put_octet(text, "sr", chip->status);
	put_verdict(text, chip);
}

static void put_cycle(struct text *text, const struct event *event, uint64_t previous_ns)
{
	const struct chip_facts *chip = &event->chip;
	bool is_read = event->read_len > 0;

	put_octet_or_null(text, "op", !is_read, chip->opcode);
	put_name_or_null(text, "name", chip->name);
	put_number(text, "addr", chip->address);
	put_number(text, "wlen", event->write_len);
	put_number(text, "rlen", event->read_len);
	put_times(text, event, previous_ns);
	put_number(text, "start_ns", event->start_ns);
	put_number(text, "wire_ns", event->wire_ns);
	put_octet_or_null(text, "value", is_read, chip->status);
	put_verdict(text, chip);
}

static void write_busy(struct text *text, const struct chip_facts *chip)
{
	put_name_or_null(text, "ev", "busy");
	put_name_or_null(text, "kind", chip_work_name(chip->work));
	put_octet(text, "op", chip->opcode);
	put_number_or_null(text, "addr", chip->has_address, chip->address);
	put_number(text, "start_ns", chip->busy_until_ns - chip->work_ns);
	put_number(text, "until_ns", chip->busy_until_ns);
	put_number(text, "nominal_ns", chip->work_ns);
	put_name_or_null(text, "grade", grade_name(chip->work_grade));
	end_line(text);
}

static void write_power_cut(struct text *text, const struct chip_facts *chip)
{
	put_name_or_null(text, "ev", "power_cut");
	put_number(text, "t_ns", chip->lost_power_ns);
	end_line(text);
}

static void write_end(struct text *text, const struct run_end *end, const struct counts *counts)
{
	put_name_or_null(text, "ev", "end");
	put_number(text, "t_ns", end->end_ns);
	put_number(text, "spi_transactions", counts->of[EVENT_SPI]);
	put_number(text, "cycle_transactions", counts->of[EVENT_CYCLE]);
	put_number(text, "serprog_requests", counts->of[EVENT_SERPROG]);
	put_number(text, "violations", counts->violations);
	put_number(text, "faults", counts->of[EVENT_FAULT]);
	put_bool(text, "clean", end->clean);
	end_line(text);
}

/* Puts the time of an event that is no request, and what else it has. */
static void put_moment(struct text *text, const struct event *event)
{
	put_number(text, "t_ns", event->read_ns);
	switch (event->kind) {
	case EVENT_BARRIER:
		put_number(text, "released_ns", event->reply_ns);
		break;
	case EVENT_FAULT:
		put_name_or_null(text, "kind", event->name);
		put_name_or_null(text, "at", event->fault_at);
		put_number(text, "nth", event->fault_nth);
		put_number_or_null(text, "held_ns", event->fault_ns != UINT64_MAX, event->fault_ns);
		break;
	case EVENT_STARTS:
		put_name_or_null(text, "state", event->name);
		break;
	case EVENT_GAVE_UP:
		put_name_or_null(text, "bound", event->name);
		put_number(text, "count", event->bound);
		break;
	default:
		break;
	}
}

/* Writes the event without the lines that its chip adds. */
static void write_event(
	struct text *text, const struct event *event, uint64_t previous_ns, struct counts *counts)
{
	static const char *const names[] = {
		[EVENT_ACCEPT] = "accept",
		[EVENT_BARRIER] = "barrier",
		[EVENT_SERPROG] = "serprog",
		[EVENT_SPI] = "spi",
		[EVENT_CYCLE] = "cycle",
		[EVENT_DISCONNECT] = "disconnect",
		[EVENT_REFUSED] = "refused",
		[EVENT_STARTS] = "starts",
		[EVENT_FAULT] = "fault",
		[EVENT_GAVE_UP] = "gave_up",
	};

	counts->of[event->kind]++;
	put_name_or_null(text, "ev", names[event->kind]);
	if (event->kind == EVENT_SERPROG)
		put_serprog(text, event, previous_ns);
	else if (event->kind == EVENT_SPI)
		put_spi(text, event, previous_ns);
	else if (event->kind == EVENT_CYCLE)
		put_cycle(text, event, previous_ns);
	else
		put_moment(text, event);
	end_line(text);
}

static void write_lines(
	struct text *text, const struct event *event, uint64_t previous_ns, struct counts *counts)
{
	const struct chip_facts *chip = &event->chip;
	/* The part has this fault, not the link: its work begins and never ends. */
	const struct event stuck = {
		.kind = EVENT_FAULT,
		.read_ns = chip->busy_until_ns - chip->work_ns,
		.name = "stuck-wip",
		.fault_at = "busy",
		.fault_nth = chip->stuck_nth,
		.fault_ns = UINT64_MAX,
	};

	if (chip->lost_power)
		write_power_cut(text, chip);
	write_event(text, event, previous_ns, counts);
	counts->violations += chip->rule != CHIP_RULE_NONE;
	if (chip->work != CHIP_WORK_NONE)
		write_busy(text, chip);
	if (chip->stuck_nth > 0)
		write_event(text, &stuck, 0, counts);
}

/*
 * Returns the reply time from which the next gap is measured, or 0 if there is none. A gap never
 * spans two connections. Events that a request executed have the same gap as the request.
 */
static uint64_t previous_reply_ns(const struct event *event, uint64_t before_ns)
{
	switch (event->kind) {
	case EVENT_SERPROG:
	case EVENT_SPI:
	case EVENT_CYCLE:
		return event->executed ? before_ns : event->reply_ns;
	case EVENT_REFUSED:
	case EVENT_FAULT:
	case EVENT_STARTS:
		return before_ns;
	default:
		return 0;
	}
}

int jsonl_write(FILE *out, const struct run_facts *facts, const struct events *events,
	const struct run_end *end)
{
	struct text text;
	struct counts counts = {0};
	uint64_t previous_ns = 0;

	text.out = out;
	text.len = 0;
	text.begin = 0;
	write_start(&text, facts);
	for (size_t i = 0; i < events->count; i++) {
		const struct event *event = events_at(events, i);

		write_lines(&text, event, previous_ns, &counts);
		previous_ns = previous_reply_ns(event, previous_ns);
	}
	write_end(&text, end, &counts);
	write_out(&text);
	return fflush(out) == 0 && !ferror(out) ? 0 : -EIO;
}
