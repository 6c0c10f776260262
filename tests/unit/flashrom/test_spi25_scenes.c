/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States in which an earlier session may have left a part, with every emulated part of the 25
 * series: the job succeeds, and a state that should last is restored.
 */
#include <stdlib.h>
#include <string.h>

#include "captured_log.h"
#include "cmocka_headers.h"
#include "dummy.h"
#include "flash.h"
#include "names_of_part.h"
#include "spi25.h"

#define LOOK_NS 100 /* each reading advances the clock by it */
#define SPI_HZ 20000000
#define JOB_BYTES 65536
#define SETTLE_US 200 /* longer than any part takes to power down or suspend */

struct scene {
	uint64_t now_ns;
	struct clock clock;
	struct captured_log captured;
	struct log log;
	struct programmer *programmer;
	const struct flash_chip *chip;
	struct flash flash;
	unsigned int violations_before;
	unsigned int unheard; /* commands that a sleeping part missed and counted */
	uint8_t *image;
};

static uint64_t look(void *context)
{
	return ((struct scene *)context)->now_ns += LOOK_NS;
}

static void wait(void *context, unsigned int us)
{
	((struct scene *)context)->now_ns += us * NS_PER_US;
}

/*
 * Returns the driver's entry for a part; NULL for other series, and for parts that describe
 * themselves.
 */
static const struct flash_chip *entry(const struct dummy_part *part)
{
	const struct flash_chip *chip = NULL;

	for (const char *const *name = names_of_part(part->name); *name != NULL && chip == NULL;
		name++)
		chip = chip_by_name(chip_lists, *name);
	if (chip == NULL || chip->identify->describe != NULL)
		return NULL;
	return chip->driver == &spi25_driver || chip->driver == &sst26_driver ||
			       chip->driver == &at25df_driver
		       ? chip
		       : NULL;
}

static void fill(uint8_t *data, size_t bytes, uint8_t first)
{
	for (size_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)(first + i * 7 + i / 256);
}

static void start(struct scene *scene, const struct dummy_part *part)
{
	const struct dummy_options options = {.emulate = part->name, .spi_hz = SPI_HZ};

	memset(scene, 0, sizeof(*scene));
	scene->clock = (struct clock){.now_ns = look, .delay_us = wait, .context = scene};
	scene->log = captured_log(&scene->captured);
	scene->chip = entry(part);
	assert_int_equal(dummy_create(&options, &scene->clock, &scene->log, &scene->programmer), 0);
	wait(scene, 100000); /* until power has settled */
	scene->image = malloc(part->size_bytes);
	fill(scene->image, part->size_bytes, 1);
	dummy_content_write(scene->programmer, scene->image);
}

static void send(struct scene *scene, const uint8_t *tx, size_t tx_bytes)
{
	const struct programmer_ops *ops = scene->programmer->ops;

	assert_int_equal(ops->spi_command(scene->programmer, tx, tx_bytes, NULL, 0), 0);
}

#define SEND(scene, ...) send(scene, (uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

static uint8_t read_register(struct scene *scene, uint8_t opcode)
{
	const struct programmer_ops *ops = scene->programmer->ops;
	uint8_t value;

	assert_int_equal(ops->spi_command(scene->programmer, &opcode, 1, &value, 1), 0);
	return value;
}

/* Finds the part and writes its top, where addresses are longest. */
static void run_job(struct scene *scene)
{
	const uint32_t size_bytes = scene->chip->size_bytes;
	const struct range range = {size_bytes - JOB_BYTES, size_bytes};
	const struct selection selection = {&range, 1};

	scene->violations_before = dummy_violations(scene->programmer);
	flash_init(&scene->flash, scene->programmer, &scene->clock, &scene->log);
	assert_int_equal(flash_probe(&scene->flash, chip_lists, scene->chip->name, false), 0);
	assert_int_equal(flash_open(&scene->flash), 0);
	fill(scene->image + range.start, JOB_BYTES, 99);
	assert_int_equal(
		flash_write(&scene->flash, selection, scene->image, VERIFY_TOUCHED, false), 0);
	assert_int_equal(flash_close(&scene->flash), 0);
}

/* Returns true if the emulated part has that register, with one of those bits set. */
static bool is_shown(struct scene *scene, struct spi25_bits bits)
{
	const uint8_t value = read_register(scene, bits.opcode);

	return value != SPI25_FLOATING && (value & bits.mask) != 0;
}

static void abandon(struct scene *scene)
{
	programmer_destroy(scene->programmer);
	free(scene->image);
}

static void stop(struct scene *scene)
{
	uint8_t *found = malloc(scene->chip->size_bytes);

	dummy_content_read(scene->programmer, found);
	assert_memory_equal(found, scene->image, scene->chip->size_bytes);
	assert_int_equal(
		dummy_violations(scene->programmer), scene->violations_before + scene->unheard);
	free(found);
	abandon(scene);
}

/* Parts without a time to wake cannot sleep; B9h has another meaning for them, or none. */
static void sleeping_part_is_woken(const struct dummy_part *part)
{
	struct scene scene;

	if (entry(part)->spi25.wake_us_max == 0)
		return;
	start(&scene, part);
	SEND(&scene, 0xb9);
	wait(&scene, SETTLE_US);
	scene.unheard = 2; /* the first questions: its status and its ID */
	run_job(&scene);
	stop(&scene);
}

static void block_protection_is_put_back(const struct dummy_part *part)
{
	const uint8_t mask = entry(part)->spi25.protect_mask;
	struct scene scene;
	uint8_t status;

	if (mask == 0)
		return;
	start(&scene, part);
	SEND(&scene, 0x06);
	SEND(&scene, 0x01, mask);
	wait(&scene, 1000000);
	status = read_register(&scene, 0x05);
	run_job(&scene);
	assert_int_not_equal(status & mask, 0);
	assert_int_equal(read_register(&scene, 0x05), status);
	stop(&scene);
}

/* Begins an erase in the range that the job writes, so that the content is known afterwards. */
static void begin_erase(struct scene *scene)
{
	const struct chip_erase *erase = &scene->chip->erase[0];
	uint8_t tx[SPI25_HEADER_BYTES_MAX];
	const size_t header =
		spi25_header(scene->chip, tx, erase->opcode, scene->chip->size_bytes - JOB_BYTES);

	SEND(scene, 0x06);
	send(scene, tx, header);
}

static bool begins_open_and_narrow(const struct flash_chip *chip)
{
	return chip->driver == &spi25_driver && chip->spi25.addresses != SPI25_ADDRESS_4_MODE &&
	       chip_erase_count(chip) > 0 && chip->erase[0].block_bytes <= JOB_BYTES;
}

static void part_left_erasing_is_waited_for(const struct dummy_part *part)
{
	struct scene scene;

	if (!begins_open_and_narrow(entry(part)))
		return;
	start(&scene, part);
	begin_erase(&scene);
	assert_int_equal(read_register(&scene, 0x05) & 0x01, 0x01);
	run_job(&scene);
	assert_true(logged(&scene.captured, "busy with an earlier operation"));
	stop(&scene);
}

static void part_left_suspended_is_resumed(const struct dummy_part *part)
{
	const struct spi25_bits suspended = entry(part)->spi25.suspended;
	struct scene scene;

	if (!begins_open_and_narrow(entry(part)) || suspended.opcode == 0)
		return;
	start(&scene, part);
	begin_erase(&scene);
	wait(&scene, SETTLE_US);
	SEND(&scene, entry(part)->spi25.resume_opcode == 0x30 ? 0xb0 : 0x75);
	wait(&scene, SETTLE_US);
	if (is_shown(&scene, suspended)) {
		run_job(&scene);
		assert_true(logged(&scene.captured, "suspended operation"));
		stop(&scene);
	} else {
		abandon(&scene);
	}
}

/* Reads with four address bytes; the second byte of the third 64 KiB block shows the mode. */
static bool is_in_address_mode(struct scene *scene)
{
	static const uint8_t tx[] = {0x03, 0x00, 0x02, 0x00, 0x01};
	uint8_t value;

	assert_int_equal(
		scene->programmer->ops->spi_command(scene->programmer, tx, sizeof(tx), &value, 1),
		0);
	return value == scene->image[0x20001];
}

static void address_mode_is_left(const struct dummy_part *part)
{
	struct scene scene;

	start(&scene, part);
	run_job(&scene);
	assert_false(is_in_address_mode(&scene));
	stop(&scene);
}

/* If the register does not answer, the driver cannot know the mode. */
static void address_mode_that_was_found_is_kept(const struct dummy_part *part)
{
	struct scene scene;

	start(&scene, part);
	SEND(&scene, 0x06);
	SEND(&scene, 0xb7);
	SEND(&scene, 0x04);
	if (is_shown(&scene, entry(part)->spi25.address_mode)) {
		run_job(&scene);
		assert_true(is_in_address_mode(&scene));
		stop(&scene);
	} else {
		abandon(&scene);
	}
}

static void states_of_an_earlier_session_do_no_harm(void **state)
{
	const struct dummy_part *part = *state;

	sleeping_part_is_woken(part);
	block_protection_is_put_back(part);
	part_left_erasing_is_waited_for(part);
	part_left_suspended_is_resumed(part);
	if (entry(part)->spi25.addresses != SPI25_ADDRESS_4_MODE)
		return;
	address_mode_is_left(part);
	address_mode_that_was_found_is_kept(part);
}

#define PARTS_MAX 256

/* Makes one case for each part, so that a failure names the part. */
int main(void)
{
	static struct dummy_part parts[PARTS_MAX];
	static struct CMUnitTest tests[PARTS_MAX];
	size_t count = 0;

	for (size_t nth = 0; count < PARTS_MAX && dummy_part_at(nth, &parts[count]); nth++) {
		if (entry(&parts[count]) == NULL)
			continue;
		tests[count] = (struct CMUnitTest){
			.name = parts[count].name,
			.test_func = states_of_an_earlier_session_do_no_harm,
			.initial_state = &parts[count],
		};
		count++;
	}
	return _cmocka_run_group_tests("scenes", tests, count, NULL, NULL);
}
