/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the parser of layout files, and the functions that use their regions. The first byte of an
 * input chooses the chip's size and the included regions; the other bytes are the file.
 */
#include "fakes.h"
#include "layout.h"

static void check_regions(const struct layout *layout)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct layout_region *region = &layout->regions[i];

		FUZZ_CHECK(region->name[0] != '\0' && strpbrk(region->name, " \t\r\n#") == NULL);
		FUZZ_CHECK(region->range.start < region->range.end);
		FUZZ_CHECK(layout_find(layout, region->name) == region);
	}
}

static void check_ranges(const struct layout *layout, uint32_t size_bytes, const struct log *log)
{
	struct range *ranges;
	size_t count;

	if (layout_ranges(layout, size_bytes, log, &ranges, &count) != 0)
		return;
	FUZZ_CHECK(count <= layout->count);
	for (size_t i = 0; i < count; i++) {
		FUZZ_CHECK(ranges[i].start < ranges[i].end && ranges[i].end <= size_bytes);
		FUZZ_CHECK(i == 0 || ranges[i - 1].end < ranges[i].start);
	}
	free(ranges);
}

static void use(struct layout *layout, uint8_t choice, const struct log *log)
{
	check_regions(layout);
	for (size_t i = 0; i < layout->count; i++)
		layout->regions[i].included = choice & 1 << i % 4;
	check_ranges(layout, UINT32_C(1) << (12 + (choice >> 4)), log);
	(void)layout_name_nearest(layout, "boot");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {.data = data, .left = size};
	const uint8_t choice = fuzz_u8(&input);
	const struct log log = fake_log();
	struct layout layout = {0};
	FILE *file;

	/* fmemopen() may refuse an empty buffer. */
	if (input.left == 0)
		return 0;
	file = fmemopen((void *)(uintptr_t)input.data, input.left, "r");
	FUZZ_CHECK(file != NULL);
	if (layout_parse(file, "fuzz", &log, &layout) == 0)
		use(&layout, choice, &log);
	FUZZ_CHECK(fclose(file) == 0);
	layout_deinit(&layout);
	return 0;
}
