/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every part of emulators/ that our flashrom has, modelled on its datasheet, with the driver,
 * written independently: whole jobs at each corner, on a clock that advances only by waits and
 * readings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "captured_log.h"
#include "cmocka_headers.h"
#include "dummy.h"
#include "flash.h"
#include "names_of_part.h"

#define LOOK_NS 100 /* each reading advances the clock by it */
#define SPI_HZ 20000000
#define STRETCH_BYTES 65536
#define NOISE_BYTES 65521 /* a prime, so that no two blocks are equal */

struct scene {
	uint64_t now_ns;
	struct clock clock;
	struct captured_log captured;
	struct log log;
	struct programmer *programmer;
	struct flash flash;
	struct range ranges[2];
	struct selection selection;
};

/*
 * Contents of a part, in memory that all cases share: megabytes of it are slow to get. Between
 * cases `before` and `image` are equal.
 */
static uint8_t *before, *image, *held;

static uint64_t look(void *context)
{
	return ((struct scene *)context)->now_ns += LOOK_NS;
}

static void wait(void *context, unsigned int us)
{
	((struct scene *)context)->now_ns += us * NS_PER_US;
}

static void fill_noise(uint8_t *data, size_t bytes, uint32_t seed)
{
	size_t done = 0;

	for (; done < bytes && done < NOISE_BYTES; done++) {
		seed = seed * 1103515245 + 12345;
		data[done] = (uint8_t)(seed >> 16);
	}
	for (size_t more; done < bytes; done += more) {
		more = bytes - done < NOISE_BYTES ? bytes - done : NOISE_BYTES;
		memcpy(data + done, data, more);
	}
}

/* Returns the name of the part in the driver's table. */
static const char *driver_name(const struct dummy_part *part)
{
	for (const char *const *name = names_of_part(part->name); *name != NULL; name++) {
		if (chip_by_name(chip_lists, *name) != NULL)
			return *name;
	}
	return NULL;
}

/*
 * Both ends of the part: one page less than whole blocks, and addresses beyond 16 MiB if it has
 * them.
 */
static void choose_ranges(struct scene *scene, const struct dummy_part *part)
{
	const uint32_t size_bytes = part->size_bytes;
	const uint32_t most = size_bytes / 4 < STRETCH_BYTES ? size_bytes / 4 : STRETCH_BYTES;

	scene->ranges[0] = (struct range){part->page_bytes, most};
	scene->ranges[1] = (struct range){size_bytes - most, size_bytes};
	scene->selection = (struct selection){scene->ranges, 2};
}

static void start(struct scene *scene, const struct dummy_part *part, const char *corner)
{
	const struct dummy_options options = {
		.emulate = part->name, .corner = corner, .spi_hz = SPI_HZ};
	const char *name = driver_name(part);

	memset(scene, 0, sizeof(*scene));
	scene->clock = (struct clock){.now_ns = look, .delay_us = wait, .context = scene};
	scene->log = captured_log(&scene->captured);
	scene->log.level_max = LOG_INFO;
	assert_non_null(name);
	assert_int_equal(dummy_create(&options, &scene->clock, &scene->log, &scene->programmer), 0);
	dummy_content_write(scene->programmer, before);
	choose_ranges(scene, part);
	flash_init(&scene->flash, scene->programmer, &scene->clock, &scene->log);
	assert_int_equal(flash_probe(&scene->flash, chip_lists, name, false), 0);
	assert_int_equal(scene->flash.chip->size_bytes, part->size_bytes);
	assert_int_equal(flash_open(&scene->flash), 0);
}

/* Compares megabytes with memcmp() first: assert_memory_equal() goes byte by byte. */
static void assert_same(const uint8_t *found, const uint8_t *expected, size_t bytes)
{
	if (memcmp(found, expected, bytes) != 0)
		assert_memory_equal(found, expected, bytes);
}

static void assert_content(struct scene *scene, const uint8_t *expected)
{
	const uint32_t size_bytes = scene->flash.chip->size_bytes;

	dummy_content_read(scene->programmer, held);
	assert_same(held, expected, size_bytes);
}

static void stop(struct scene *scene)
{
	assert_int_equal(flash_close(&scene->flash), 0);
	assert_int_equal(dummy_violations(scene->programmer), 0);
	programmer_destroy(scene->programmer);
	for (size_t i = 0; i < scene->selection.count; i++) {
		const struct range range = scene->ranges[i];

		memcpy(image + range.start, before + range.start, range_bytes(range));
	}
}

static void fill_ranges(struct scene *scene, uint32_t seed)
{
	for (size_t i = 0; i < scene->selection.count; i++) {
		const struct range range = scene->ranges[i];

		if (seed == 0)
			memset(image + range.start, 0xff, range_bytes(range));
		else
			fill_noise(image + range.start, range_bytes(range), seed);
	}
}

static void read_back(struct scene *scene)
{
	assert_int_equal(flash_read(&scene->flash, scene->selection, held), 0);
	for (size_t i = 0; i < scene->selection.count; i++) {
		const struct range range = scene->ranges[i];

		assert_same(held + range.start, image + range.start, range_bytes(range));
	}
}

static void every_job(const struct dummy_part *part, const char *corner)
{
	struct scene scene;

	start(&scene, part, corner);
	read_back(&scene);
	fill_ranges(&scene, 2);
	assert_int_equal(
		flash_write(&scene.flash, scene.selection, image, VERIFY_TOUCHED, false), 0);
	assert_content(&scene, image);
	read_back(&scene);
	fill_ranges(&scene, 0);
	assert_int_equal(flash_erase(&scene.flash, scene.selection, VERIFY_TOUCHED, false), 0);
	assert_int_equal(flash_verify(&scene.flash, scene.selection, image), 0);
	assert_content(&scene, image);
	stop(&scene);
}

static void jobs_at_every_corner_break_no_rule(void **state)
{
	const struct dummy_part *part = *state;
	static const char *const corners[] = {"min", "typ", "max"};

	for (size_t i = 0; i < sizeof(corners) / sizeof(corners[0]); i++)
		every_job(part, corners[i]);
}

static void *room(uint32_t size_bytes)
{
	void *made = malloc(size_bytes);

	if (made == NULL)
		exit(EXIT_FAILURE);
	return made;
}

static int set_up(void **state)
{
	uint32_t most = 0;
	struct dummy_part part;

	(void)state;
	for (size_t i = 0; dummy_part_at(i, &part); i++)
		most = part.size_bytes > most ? part.size_bytes : most;
	before = room(most);
	image = room(most);
	held = room(most);
	fill_noise(before, most, 1);
	memcpy(image, before, most);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(before);
	free(image);
	free(held);
	return 0;
}

#define PARTS_MAX 256
#define PARTS_DRIVEN_MIN 80 /* so that no part is lost to a changed name */

/* Makes one case for each part, so that a failure names the part. */
int main(void)
{
	static struct dummy_part parts[PARTS_MAX];
	static struct CMUnitTest tests[PARTS_MAX];
	size_t count = 0;

	for (size_t i = 0; count < PARTS_MAX && dummy_part_at(i, &parts[count]); i++) {
		if (driver_name(&parts[count]) == NULL)
			continue;
		tests[count] = (struct CMUnitTest){
			.name = parts[count].name,
			.test_func = jobs_at_every_corner_break_no_rule,
			.initial_state = &parts[count],
		};
		count++;
	}
	if (count < PARTS_DRIVEN_MIN) {
		fprintf(stderr, "only %zu parts have a driver\n", count);
		return EXIT_FAILURE;
	}
	return _cmocka_run_group_tests("parts", tests, count, set_up, tear_down);
}
