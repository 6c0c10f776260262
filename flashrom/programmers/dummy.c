/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "programmers.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dummy_record.h"
#include "file.h"
#include "link/fault.h" /* from emulators/ */
#include "model/chip.h"
#include "model/parallel.h"
#include "text.h"

#define WRITE_BYTES_MAX 4096
#define READ_BYTES_MAX 65536

/* A write cycle that is held back until flush(). */
struct held_write {
	uint32_t address;
	uint8_t value;
};

#define HELD_WRITES_MAX 1024

struct dummy {
	struct programmer base; /* first: see self() */
	struct chip chip;
	const struct clock *clock;
	const struct log *log;
	uint32_t spi_hz;
	struct held_write held[HELD_WRITES_MAX];
	size_t held_count;
	uint64_t free_ns; /* the end of the last cycle */
	char *image;      /* NULL: the content is not saved */
	struct faults faults;
	struct dummy_record record;
	void *memory;
	unsigned int commands;
	unsigned int violations;
};

static struct dummy *self(struct programmer *programmer)
{
	return (struct dummy *)programmer;
}

bool dummy_part_at(size_t nth, struct dummy_part *out)
{
	const struct part *part = &part_table[nth];

	if (nth >= part_table_count)
		return false;
	*out = (struct dummy_part){
		.name = part->name,
		.size_bytes = part->size_bytes,
		.page_bytes = part->page_bytes,
	};
	return true;
}

void dummy_content_write(struct programmer *programmer, const uint8_t *data)
{
	struct chip *chip = &self(programmer)->chip;

	array_load(&chip->array, 0, data, chip->part->size_bytes);
}

void dummy_content_read(struct programmer *programmer, uint8_t *data)
{
	struct dummy *dummy = self(programmer);

	chip_settle(&dummy->chip, clock_now_ns(dummy->clock));
	array_read(&dummy->chip.array, 0, data, dummy->chip.part->size_bytes);
}

unsigned int dummy_violations(const struct programmer *programmer)
{
	return ((const struct dummy *)programmer)->violations;
}

static void report_violation(const struct dummy *dummy, const struct chip_facts *facts)
{
	if (facts->owed && facts->margin_ns < 0)
		log_warning(dummy->log,
			"dummy: %s (%02x) came %" PRId64 " ns too early and is ignored (%s).\n",
			facts->name, facts->opcode, -facts->margin_ns, chip_rule_name(facts->rule));
	else
		log_warning(dummy->log, "dummy: %s (%02x) is ignored (%s).\n", facts->name,
			facts->opcode, chip_rule_name(facts->rule));
}

static void take_facts(struct dummy *dummy, const struct chip_facts *facts)
{
	dummy->commands++;
	if (facts->rule == CHIP_RULE_NONE)
		return;
	dummy->violations++;
	report_violation(dummy, facts);
}

static const struct fault *hit(struct dummy *dummy, enum fault_kind kind)
{
	const struct fault *fault = faults_hit(&dummy->faults, kind, FAULT_AT_REQUEST);

	if (fault != NULL)
		dummy_record_fault(&dummy->record, clock_now_ns(dummy->clock), fault,
			dummy->faults.seen[FAULT_AT_REQUEST]);
	return fault;
}

static void hold(const struct dummy *dummy, const struct fault *fault)
{
	if (fault != NULL)
		clock_delay_us(dummy->clock, (unsigned int)(fault->hold_ns / NS_PER_US));
}

/* Applies the faults of a request, before it reaches the part. Returns -EIO if it never does. */
static int take_request(struct dummy *dummy)
{
	faults_count(&dummy->faults, FAULT_AT_REQUEST);
	hold(dummy, hit(dummy, FAULT_STALL));
	if (hit(dummy, FAULT_NAK) == NULL)
		return 0;
	log_error(dummy->log, "dummy: a command is refused, as fault= asks for.\n");
	return -EIO;
}

static void report_fault(void *context, const struct fault *fault, uint64_t nth)
{
	struct dummy *dummy = (struct dummy *)context;

	dummy_record_fault(&dummy->record, clock_now_ns(dummy->clock), fault, nth);
}

/* `corrupt` is the only fault of bytes that makes_sense() accepts, so each byte yields one byte. */
static void give_reply(struct dummy *dummy, uint8_t *reply, size_t bytes)
{
	hold(dummy, hit(dummy, FAULT_DELAY));
	if (!faults_touch(&dummy->faults, FAULT_AT_REPLY_BYTE))
		return;
	for (size_t i = 0; i < bytes; i++) {
		const uint8_t byte = reply[i];
		uint8_t out[2];

		(void)faults_pass(
			&dummy->faults, FAULT_AT_REPLY_BYTE, &byte, 1, out, report_fault, dummy);
		reply[i] = out[0];
	}
}

/* Waits for the bits' time on the wire, plus 1 us at most. */
static void pass_wire_time(const struct dummy *dummy, size_t bytes)
{
	const uint64_t bits_ns = (uint64_t)bytes * 8 * NS_PER_S;

	if (dummy->spi_hz > 0)
		clock_delay_us(
			dummy->clock, (unsigned int)(bits_ns / dummy->spi_hz / NS_PER_US) + 1);
}

static int dummy_spi_command(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
	uint8_t *rx, size_t rx_bytes)
{
	struct dummy *dummy = self(programmer);
	struct chip_transfer transfer = {
		.command = tx,
		.command_len = tx_bytes,
		.reply = rx,
		.reply_len = rx_bytes,
	};
	struct chip_facts facts;
	const int error = take_request(dummy);

	if (error != 0)
		return error;
	transfer.start_ns = clock_now_ns(dummy->clock);
	pass_wire_time(dummy, tx_bytes + rx_bytes);
	transfer.end_ns = clock_now_ns(dummy->clock);
	chip_transfer(&dummy->chip, &transfer, &facts);
	take_facts(dummy, &facts);
	give_reply(dummy, rx, rx_bytes);
	dummy_record_transfer(&dummy->record, &transfer, &facts, clock_now_ns(dummy->clock));
	return 0;
}

/* Returns now, or the end of the last cycle if that is later: cycles never overlap. */
static uint64_t cycle_start_ns(const struct dummy *dummy)
{
	const uint64_t now_ns = clock_now_ns(dummy->clock);

	return now_ns > dummy->free_ns ? now_ns : dummy->free_ns;
}

/* Waits until the last cycle has ended, since later waits of flashrom count from there. */
static void wait_until_free(const struct dummy *dummy)
{
	const uint64_t now_ns = clock_now_ns(dummy->clock);

	if (now_ns < dummy->free_ns)
		clock_delay_us(
			dummy->clock, (unsigned int)((dummy->free_ns - now_ns) / NS_PER_US) + 1);
}

static void run_held_writes(struct dummy *dummy)
{
	const uint32_t cycle_ns = dummy->chip.part->parallel->cycle_ns;
	uint64_t start_ns = cycle_start_ns(dummy);

	for (size_t i = 0; i < dummy->held_count; i++, start_ns += cycle_ns) {
		struct chip_facts facts;

		chip_write_cycle(&dummy->chip, start_ns, start_ns + cycle_ns,
			dummy->held[i].address, dummy->held[i].value, &facts);
		take_facts(dummy, &facts);
		dummy_record_write_cycle(&dummy->record, start_ns, start_ns + cycle_ns, &facts);
	}
	dummy->free_ns = start_ns;
	wait_until_free(dummy);
}

static int dummy_flush(struct programmer *programmer)
{
	struct dummy *dummy = self(programmer);
	const int error = dummy->held_count > 0 ? take_request(dummy) : 0;

	if (error == 0)
		run_held_writes(dummy);
	dummy->held_count = 0;
	return error;
}

static int dummy_write_byte(struct programmer *programmer, uint32_t address, uint8_t value)
{
	struct dummy *dummy = self(programmer);

	if (dummy->held_count == HELD_WRITES_MAX) {
		const int error = dummy_flush(programmer);

		if (error != 0)
			return error;
	}
	dummy->held[dummy->held_count++] = (struct held_write){address, value};
	return 0;
}

static int dummy_read_bytes(
	struct programmer *programmer, uint32_t address, uint8_t *data, size_t bytes)
{
	struct dummy *dummy = self(programmer);
	struct chip_facts facts;
	uint64_t start_ns;
	int error = dummy_flush(programmer);

	if (error == 0)
		error = take_request(dummy);
	if (error != 0)
		return error;
	start_ns = cycle_start_ns(dummy);
	chip_read_cycles(&dummy->chip, start_ns, address, data, bytes, &facts);
	take_facts(dummy, &facts);
	dummy->free_ns = start_ns + bytes * dummy->chip.part->parallel->cycle_ns;
	dummy_record_read_cycles(&dummy->record, start_ns, dummy->free_ns, (uint32_t)bytes, &facts);
	wait_until_free(dummy);
	give_reply(dummy, data, bytes);
	return 0;
}

static int load_image(struct dummy *dummy)
{
	const uint32_t size_bytes = dummy->chip.part->size_bytes;
	struct file_content content;
	int error;

	if (dummy->image == NULL || access(dummy->image, F_OK) != 0)
		return 0;
	error = file_read(dummy->image, size_bytes, dummy->log, &content);
	if (error != 0)
		return error;
	if (content.bytes == size_bytes)
		array_load(&dummy->chip.array, 0, content.data, content.bytes);
	else
		log_error(dummy->log,
			"dummy: image=%s has %zu bytes, %s %" PRIu32 ". Remove the file to begin "
			"with an erased part.\n",
			dummy->image, content.bytes, dummy->chip.part->name, size_bytes);
	free(content.data);
	return content.bytes == size_bytes ? 0 : -EINVAL;
}

/* A failure is only reported, because destroy() returns no error. */
static void save_image(struct dummy *dummy)
{
	const uint32_t size_bytes = dummy->chip.part->size_bytes;
	uint8_t *data;

	if (dummy->image == NULL)
		return;
	data = malloc(size_bytes);
	if (data == NULL) {
		log_error(dummy->log, "dummy: out of memory, image=%s is not written.\n",
			dummy->image);
		return;
	}
	dummy_content_read(&dummy->base, data);
	(void)file_write(dummy->image, data, size_bytes, dummy->log);
	free(data);
}

static void free_dummy(struct dummy *dummy)
{
	free(dummy->memory);
	free(dummy->image);
	free(dummy);
}

static void dummy_destroy(struct programmer *programmer)
{
	struct dummy *dummy = self(programmer);

	log_debug(dummy->log, "dummy: %u commands, %u of them not obeyed.\n", dummy->commands,
		dummy->violations);
	save_image(dummy);
	dummy_record_end(&dummy->record, dummy->clock, dummy->log);
	free_dummy(dummy);
}

static const struct programmer_ops spi_ops = {
	.spi_command = dummy_spi_command,
	.destroy = dummy_destroy,
};

static const struct programmer_ops memory_ops = {
	.read_bytes = dummy_read_bytes,
	.write_byte = dummy_write_byte,
	.flush = dummy_flush,
	.destroy = dummy_destroy,
};

static uint8_t bus_of(const struct part *part)
{
	static const uint8_t buses[] = {
		[PARALLEL_BUS_PARALLEL] = BUS_PARALLEL,
		[PARALLEL_BUS_LPC] = BUS_LPC,
		[PARALLEL_BUS_FWH] = BUS_FWH,
	};

	return part->spi != NULL ? BUS_SPI : buses[part->parallel->bus];
}

static int choose_part(const char *name, const struct log *log, const struct part **part)
{
	if (name == NULL) {
		log_error(log, "dummy: which part? Give emulate=CHIP, for example "
			       "emulate=W25Q128JV.\n");
		return -EINVAL;
	}
	*part = part_find(name);
	if (*part != NULL)
		return 0;
	log_error(log, "dummy: there is no part emulate=%s. Did you mean \"%s\"?\n", name,
		part_nearest(name)->name);
	return -EINVAL;
}

static int choose_corner(const char *text, const struct log *log, struct corner *corner)
{
	*corner = (struct corner){.kind = CORNER_TYP};
	if (text == NULL || corner_parse(text, corner) == 0)
		return 0;
	log_error(log,
		"dummy: corner=%s is none of min, typ, max, zero, draw:SEED and slow:FACTOR.\n",
		text);
	return -EINVAL;
}

/* Returns false for faults that need a byte stream, or last longer than clock_delay_us() can. */
static bool makes_sense(const struct fault *fault)
{
	switch (fault->kind) {
	case FAULT_CORRUPT:
		return fault->at == FAULT_AT_REPLY_BYTE;
	case FAULT_DELAY:
	case FAULT_STALL:
		return fault->hold_ns / NS_PER_US <= UINT_MAX;
	case FAULT_NAK:
	case FAULT_STUCK_WIP:
		return true;
	case FAULT_DROP:
	case FAULT_DUPLICATE:
	case FAULT_HANG_UP:
		return false;
	}
	return false;
}

static int add_fault(struct faults *faults, const char *text, const struct log *log)
{
	if (faults_add(faults, text) == 0 && makes_sense(&faults->fault[faults->count - 1]))
		return 0;
	log_error(log,
		"dummy: fault=%s is none of corrupt@WHEN, nak@WHEN, delay:US@WHEN, stall:US@WHEN "
		"and stuck-wip@N, or is one too many. WHEN is a number or p=PROBABILITY.\n",
		text);
	return -EINVAL;
}

static int choose_faults(const struct dummy_options *options, struct dummy *dummy)
{
	char *copy = options->fault != NULL ? strdup(options->fault) : NULL;
	char *rest = NULL;
	int error = 0;

	faults_init(&dummy->faults, options->seed);
	if (options->fault == NULL)
		return 0;
	if (copy == NULL)
		return -ENOMEM;
	for (char *text = strtok_r(copy, "+", &rest); text != NULL && error == 0;
		text = strtok_r(NULL, "+", &rest))
		error = add_fault(&dummy->faults, text, dummy->log);
	free(copy);
	return error;
}

static int begin_record(
	struct dummy *dummy, const struct dummy_options *options, const struct corner *corner)
{
	const struct run_facts facts = {
		.part = dummy->chip.part,
		.corner = *corner,
		.seed = options->seed,
		.faults = dummy->faults.count > 0 ? dummy->faults.text : NULL,
	};

	return dummy_record_begin(
		&dummy->record, options->events, &facts, dummy->clock, dummy->log);
}

static int allocate(struct dummy *dummy, const struct part *part, const char *image)
{
	dummy->memory = calloc(1, chip_memory_bytes(part));
	if (image != NULL)
		dummy->image = strdup(image);
	return dummy->memory != NULL && (image == NULL || dummy->image != NULL) ? 0 : -ENOMEM;
}

static int begin(struct dummy *dummy, const struct dummy_options *options)
{
	const struct part *part;
	struct corner corner;
	int error = choose_part(options->emulate, dummy->log, &part);

	if (error == 0)
		error = choose_corner(options->corner, dummy->log, &corner);
	if (error == 0)
		error = choose_faults(options, dummy);
	if (error == 0)
		error = allocate(dummy, part, options->image);
	if (error != 0)
		return error;
	dummy->base.buses = bus_of(part);
	dummy->base.ops = dummy->base.buses == BUS_SPI ? &spi_ops : &memory_ops;
	chip_init(&dummy->chip, part, &corner, dummy->memory);
	chip_stick_from(&dummy->chip, faults_stuck_from(&dummy->faults));
	error = load_image(dummy);
	return error == 0 ? begin_record(dummy, options, &corner) : error;
}

int dummy_create(const struct dummy_options *options, const struct clock *clock,
	const struct log *log, struct programmer **out)
{
	struct dummy *dummy = calloc(1, sizeof(*dummy));
	int error;

	if (dummy == NULL)
		return -ENOMEM;
	dummy->base = (struct programmer){
		.name = "dummy",
		.write_bytes_max = WRITE_BYTES_MAX,
		.read_bytes_max = READ_BYTES_MAX,
	};
	dummy->clock = clock;
	dummy->log = log;
	dummy->spi_hz = options->spi_hz;
	error = begin(dummy, options);
	if (error != 0) {
		free_dummy(dummy);
		return error;
	}
	*out = &dummy->base;
	return 0;
}

static int choose_speed(const char *text, const struct log *log, uint32_t *hz)
{
	if (text == NULL || text_to_hz(text, hz))
		return 0;
	log_error(
		log, "dummy: freq=%s is no frequency. Write it in Hz, like 2000000 or 2M.\n", text);
	return -EINVAL;
}

static int choose_seed(const char *text, const struct log *log, uint64_t *seed)
{
	uint32_t value = 0;

	if (text != NULL && !text_to_u32(text, 10, &value)) {
		log_error(log, "dummy: seed=%s is no number from 0 to 4294967295.\n", text);
		return -EINVAL;
	}
	*seed = value;
	return 0;
}

static int dummy_open(
	char *text, const struct clock *clock, const struct log *log, struct programmer **out)
{
	struct dummy_options options = {0};
	const char *freq = NULL;
	const char *seed = NULL;
	const struct param params[] = {
		{"emulate", &options.emulate},
		{"corner", &options.corner},
		{"freq", &freq},
		{"image", &options.image},
		{"events", &options.events},
		{"fault", &options.fault},
		{"seed", &seed},
		{NULL, NULL},
	};
	int error = params_parse(text, "dummy", params, log);

	if (error == 0)
		error = choose_speed(freq, log, &options.spi_hz);
	if (error == 0)
		error = choose_seed(seed, log, &options.seed);
	return error == 0 ? dummy_create(&options, clock, log, out) : error;
}

const struct programmer_driver dummy_driver = {
	.name = "dummy",
	.usage = "dummy:emulate=CHIP   (add ,corner=typ ,freq=HZ ,image=FILE ,events=FILE "
		 ",fault=KIND@WHEN ,seed=N)",
	.open = dummy_open,
};
