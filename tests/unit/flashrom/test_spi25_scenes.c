/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States in which an earlier session may have left a part, for every emulated part of the 25
 * series. The job succeeds, and a state that should last is restored.
 */
#include "names_of_part.h"
#include "part_bench.h"
#include "spi25.h"

#define JOB_BYTES 65536
#define SETTLE_US 200 /* longer than any part takes to power down or suspend */

struct scene {
	struct part_bench bench;
	const struct flash_chip *chip;
	unsigned int violations_before;
	unsigned int unheard; /* commands that a sleeping part ignores and counts */
};

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

static void start(struct scene *scene, const struct dummy_part *part)
{
	memset(scene, 0, sizeof(*scene));
	scene->chip = entry(part);
	part_bench_start(&scene->bench, part->name, NULL);
	part_bench_pass_us(&scene->bench, 100000); /* until power has settled */
}

#define SEND(scene, ...) PART_BENCH_SEND(&(scene)->bench, __VA_ARGS__)

static void wait_us(struct scene *scene, unsigned int us)
{
	part_bench_pass_us(&scene->bench, us);
}

static uint8_t read_register(struct scene *scene, uint8_t opcode)
{
	return part_bench_ask(&scene->bench, opcode);
}

/* Finds the part and writes its top, where addresses are longest. */
static void run_job(struct scene *scene)
{
	const uint32_t size_bytes = scene->chip->size_bytes;
	const struct range range = {size_bytes - JOB_BYTES, size_bytes};
	const struct selection selection = {&range, 1};
	struct flash *flash = &scene->bench.flash;

	scene->violations_before = dummy_violations(scene->bench.part);
	flash_init(flash, scene->bench.part, &scene->bench.clock, &scene->bench.log);
	assert_int_equal(flash_probe(flash, chip_lists, scene->chip->name, false), 0);
	assert_int_equal(flash_open(flash), 0);
	part_bench_noise(scene->bench.image + range.start, JOB_BYTES, 99);
	assert_int_equal(
		flash_write(flash, selection, scene->bench.image, NULL, VERIFY_TOUCHED, false), 0);
	assert_int_equal(flash_close(flash), 0);
}

/* Returns true if the emulated part has that register, with one of those bits set. */
static bool has_bits(struct scene *scene, struct spi25_bits bits)
{
	const uint8_t value = read_register(scene, bits.opcode);

	return value != SPI25_FLOATING && (value & bits.mask) != 0;
}

/* Stops without a check of the violations, because the scene itself made some. */
static void stop_unchecked(struct scene *scene)
{
	scene->bench.goes_unheard = true;
	part_bench_stop(&scene->bench);
}

static void stop(struct scene *scene)
{
	part_bench_assert_holds_image(&scene->bench);
	assert_int_equal(
		dummy_violations(scene->bench.part), scene->violations_before + scene->unheard);
	stop_unchecked(scene);
}

/* Parts without a time to wake cannot sleep; B9h has another meaning for them, or none. */
static void sleeping_part_is_woken(const struct dummy_part *part)
{
	struct scene scene;

	if (entry(part)->spi25.wake_us_max == 0)
		return;
	start(&scene, part);
	SEND(&scene, 0xb9);
	wait_us(&scene, SETTLE_US);
	scene.unheard = 2; /* the first questions: its status and its ID */
	run_job(&scene);
	stop(&scene);
}

static void block_protection_is_restored(const struct dummy_part *part)
{
	const uint8_t mask = entry(part)->spi25.protect_mask;
	struct scene scene;
	uint8_t status;

	if (mask == 0)
		return;
	start(&scene, part);
	SEND(&scene, 0x06);
	SEND(&scene, 0x01, mask);
	wait_us(&scene, 1000000);
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
	part_bench_send(&scene->bench, tx, header);
}

static bool begins_unprotected_with_small_erase(const struct flash_chip *chip)
{
	return chip->driver == &spi25_driver && chip->spi25.addresses != SPI25_ADDRESS_4_MODE &&
	       chip_erase_count(chip) > 0 && chip->erase[0].block_bytes <= JOB_BYTES;
}

static void part_left_erasing_is_waited_for(const struct dummy_part *part)
{
	struct scene scene;

	if (!begins_unprotected_with_small_erase(entry(part)))
		return;
	start(&scene, part);
	begin_erase(&scene);
	assert_int_equal(read_register(&scene, 0x05) & 0x01, 0x01);
	run_job(&scene);
	assert_true(logged(&scene.bench.captured, "busy with an earlier operation"));
	stop(&scene);
}

static void part_left_suspended_is_resumed(const struct dummy_part *part)
{
	const struct spi25_bits suspended = entry(part)->spi25.suspended;
	struct scene scene;

	if (!begins_unprotected_with_small_erase(entry(part)) || suspended.opcode == 0)
		return;
	start(&scene, part);
	begin_erase(&scene);
	wait_us(&scene, SETTLE_US);
	SEND(&scene, entry(part)->spi25.resume_opcode == 0x30 ? 0xb0 : 0x75);
	wait_us(&scene, SETTLE_US);
	if (has_bits(&scene, suspended)) {
		run_job(&scene);
		assert_true(logged(&scene.bench.captured, "suspended operation"));
		stop(&scene);
	} else {
		stop_unchecked(&scene);
	}
}

/* Reads with four address bytes; the second byte of the third 64 KiB block shows the mode. */
static bool is_in_address_mode(struct scene *scene)
{
	static const uint8_t tx[] = {0x03, 0x00, 0x02, 0x00, 0x01};
	struct programmer *part = scene->bench.part;
	uint8_t value;

	assert_int_equal(part->ops->spi_command(part, tx, sizeof(tx), &value, 1), 0);
	return value == scene->bench.image[0x20001];
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
	if (has_bits(&scene, entry(part)->spi25.address_mode)) {
		run_job(&scene);
		assert_true(is_in_address_mode(&scene));
		stop(&scene);
	} else {
		stop_unchecked(&scene);
	}
}

static void states_of_an_earlier_session_do_no_harm(void **state)
{
	const struct dummy_part *part = *state;

	sleeping_part_is_woken(part);
	block_protection_is_restored(part);
	part_left_erasing_is_waited_for(part);
	part_left_suspended_is_resumed(part);
	if (entry(part)->spi25.addresses != SPI25_ADDRESS_4_MODE)
		return;
	address_mode_is_left(part);
	address_mode_that_was_found_is_kept(part);
}

static bool is_25_series(const struct dummy_part *part)
{
	return entry(part) != NULL;
}

int main(void)
{
	return part_bench_run_each(
		states_of_an_earlier_session_do_no_harm, is_25_series, 50, NULL, NULL);
}
