/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dummy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "model/chip.h" /* of emulators/ */
#include "model/parallel.h"
#include "params.h"
#include "text.h"

#define NS_PER_S UINT64_C(1000000000)
#define WRITE_BYTES_MAX 4096
#define READ_BYTES_MAX 65536

/* A write cycle that waits for flush(). */
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
	uint64_t free_ns; /* when the last cycle was over */
	char *image;      /* NULL: what was written is forgotten */
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

/* The transfer ends when its last bit is through. */
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
		.start_ns = clock_now_ns(dummy->clock),
		.command = tx,
		.command_len = tx_bytes,
		.reply = rx,
		.reply_len = rx_bytes,
	};
	struct chip_facts facts;

	pass_wire_time(dummy, tx_bytes + rx_bytes);
	transfer.end_ns = clock_now_ns(dummy->clock);
	chip_transfer(&dummy->chip, &transfer, &facts);
	take_facts(dummy, &facts);
	return 0;
}

/* The programmer runs cycles by itself: a host that is late makes no gap between two of them. */
static uint64_t cycle_start_ns(const struct dummy *dummy)
{
	const uint64_t now_ns = clock_now_ns(dummy->clock);

	return now_ns > dummy->free_ns ? now_ns : dummy->free_ns;
}

/* Nor may a host get ahead of them: its waits count from the end of the last cycle. */
static void wait_until_free(const struct dummy *dummy)
{
	const uint64_t now_ns = clock_now_ns(dummy->clock);

	if (now_ns < dummy->free_ns)
		clock_delay_us(
			dummy->clock, (unsigned int)((dummy->free_ns - now_ns) / NS_PER_US) + 1);
}

static int dummy_flush(struct programmer *programmer)
{
	struct dummy *dummy = self(programmer);
	const uint32_t cycle_ns = dummy->chip.part->parallel->cycle_ns;
	uint64_t start_ns = cycle_start_ns(dummy);

	for (size_t i = 0; i < dummy->held_count; i++, start_ns += cycle_ns) {
		struct chip_facts facts;

		chip_write_cycle(&dummy->chip, start_ns, start_ns + cycle_ns,
			dummy->held[i].address, dummy->held[i].value, &facts);
		take_facts(dummy, &facts);
	}
	dummy->held_count = 0;
	dummy->free_ns = start_ns;
	wait_until_free(dummy);
	return 0;
}

static int dummy_write_byte(struct programmer *programmer, uint32_t address, uint8_t value)
{
	struct dummy *dummy = self(programmer);

	if (dummy->held_count == HELD_WRITES_MAX)
		(void)dummy_flush(programmer);
	dummy->held[dummy->held_count++] = (struct held_write){address, value};
	return 0;
}

static int dummy_read_bytes(
	struct programmer *programmer, uint32_t address, uint8_t *data, size_t bytes)
{
	struct dummy *dummy = self(programmer);
	struct chip_facts facts;
	uint64_t start_ns;

	(void)dummy_flush(programmer);
	start_ns = cycle_start_ns(dummy);
	chip_read_cycles(&dummy->chip, start_ns, address, data, bytes, &facts);
	take_facts(dummy, &facts);
	dummy->free_ns = start_ns + bytes * dummy->chip.part->parallel->cycle_ns;
	wait_until_free(dummy);
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

/* The part has been given up by now: what cannot be kept is reported, and no more. */
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

static int allocate(struct dummy *dummy, const struct part *part, const char *image)
{
	dummy->memory = calloc(1, chip_memory_bytes(part));
	if (image != NULL)
		dummy->image = strdup(image);
	if (dummy->memory != NULL && (image == NULL || dummy->image != NULL))
		return 0;
	log_error(dummy->log, "dummy: out of memory for a %s.\n", part->name);
	return -ENOMEM;
}

static int begin(struct dummy *dummy, const struct dummy_options *options)
{
	const struct part *part;
	struct corner corner;
	int error = choose_part(options->emulate, dummy->log, &part);

	if (error == 0)
		error = choose_corner(options->corner, dummy->log, &corner);
	if (error == 0)
		error = allocate(dummy, part, options->image);
	if (error != 0)
		return error;
	dummy->base.buses = bus_of(part);
	dummy->base.ops = dummy->base.buses == BUS_SPI ? &spi_ops : &memory_ops;
	chip_init(&dummy->chip, part, &corner, dummy->memory);
	return load_image(dummy);
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

static int open_text(
	char *text, const struct clock *clock, const struct log *log, struct programmer **out)
{
	struct dummy_options options = {0};
	const char *freq = NULL;
	const struct param params[] = {
		{"emulate", &options.emulate},
		{"corner", &options.corner},
		{"freq", &freq},
		{"image", &options.image},
		{NULL, NULL},
	};
	int error = params_parse(text, "dummy", params, log);

	if (error == 0)
		error = choose_speed(freq, log, &options.spi_hz);
	return error == 0 ? dummy_create(&options, clock, log, out) : error;
}

static int dummy_open(
	const char *text, const struct clock *clock, const struct log *log, struct programmer **out)
{
	char *copy = strdup(text);
	int error;

	if (copy == NULL)
		return -ENOMEM;
	error = open_text(copy, clock, log, out);
	free(copy);
	return error;
}

const struct programmer_driver dummy_driver = {
	.name = "dummy",
	.usage = "dummy:emulate=CHIP   (add ,corner=typ ,freq=HZ ,image=FILE)",
	.open = dummy_open,
};
