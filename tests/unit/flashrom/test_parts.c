/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole jobs of our drivers with every part of emulators/ that they know, at each corner, on a
 * clock that advances only by waits and readings. Drivers and parts were made from the datasheets
 * independently.
 */
#include <stdlib.h>

#include "names_of_part.h"
#include "part_bench.h"

#define STRETCH_BYTES 65536

struct scene {
	struct part_bench bench;
	struct range ranges[2];
	struct selection selection;
};

/*
 * Contents of a part, in memory that all cases share, because megabytes are slow to fill. Between
 * cases `before` and `image` are equal.
 */
static uint8_t *before, *image, *read_content;

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
 * Chooses both ends of the part. The first range begins after the first page, so that it is not
 * made of whole blocks. The last range is beyond 16 MiB if the part is larger.
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
	const char *name = driver_name(part);

	assert_non_null(name);
	part_bench_open(&scene->bench, part->name, corner);
	dummy_content_write(scene->bench.part, before);
	choose_ranges(scene, part);
	part_bench_find(&scene->bench, name);
}

static void assert_content(struct scene *scene, const uint8_t *expected)
{
	dummy_content_read(scene->bench.part, read_content);
	part_bench_assert_same(read_content, expected, scene->bench.size_bytes);
}

static void stop(struct scene *scene)
{
	part_bench_stop(&scene->bench);
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
			part_bench_noise(image + range.start, range_bytes(range), seed);
	}
}

static void read_back(struct scene *scene)
{
	assert_int_equal(flash_read(&scene->bench.flash, scene->selection, read_content), 0);
	for (size_t i = 0; i < scene->selection.count; i++) {
		const struct range range = scene->ranges[i];

		part_bench_assert_same(
			read_content + range.start, image + range.start, range_bytes(range));
	}
}

static void run_jobs(const struct dummy_part *part, const char *corner)
{
	struct scene scene;

	start(&scene, part, corner);
	read_back(&scene);
	fill_ranges(&scene, 2);
	assert_int_equal(flash_write(&scene.bench.flash, scene.selection, image, NULL,
				 VERIFY_TOUCHED, false),
		0);
	assert_content(&scene, image);
	read_back(&scene);
	fill_ranges(&scene, 0);
	assert_int_equal(
		flash_erase(&scene.bench.flash, scene.selection, VERIFY_TOUCHED, false), 0);
	assert_int_equal(flash_verify(&scene.bench.flash, scene.selection, image), 0);
	assert_content(&scene, image);
	stop(&scene);
}

static void jobs_at_every_corner_break_no_rule(void **state)
{
	const struct dummy_part *part = *state;
	static const char *const corners[] = {"min", "typ", "max"};

	for (size_t i = 0; i < COUNT(corners); i++)
		run_jobs(part, corners[i]);
}

static void *allocate(uint32_t size_bytes)
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
	before = allocate(most);
	image = allocate(most);
	read_content = allocate(most);
	part_bench_noise(before, most, 1);
	memcpy(image, before, most);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(before);
	free(image);
	free(read_content);
	return 0;
}

static bool has_driver(const struct dummy_part *part)
{
	return driver_name(part) != NULL;
}

int main(void)
{
	return part_bench_run_each(
		jobs_at_every_corner_break_no_rule, has_driver, 80, set_up, tear_down);
}
