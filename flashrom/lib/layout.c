/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "internal.h"

int flashrom_layout_new(struct flashrom_layout **layout)
{
	struct flashrom_layout *created = calloc(1, sizeof(*created));

	if (created == NULL)
		return 1;
	*layout = created;
	return 0;
}

void flashrom_layout_release(struct flashrom_layout *layout)
{
	if (layout != NULL)
		layout_deinit(&layout->base);
	free(layout);
}

int flashrom_layout_add_region(
	struct flashrom_layout *layout, size_t start, size_t end, const char *name)
{
	struct range range;

	if (end < start || end >= UINT32_MAX)
		return 1;
	range = (struct range){(uint32_t)start, (uint32_t)end + 1};
	return layout_add(&layout->base, name, range) == 0 ? 0 : 1;
}

static int set_included(struct flashrom_layout *layout, const char *name, bool included)
{
	struct layout_region *region = layout_find(&layout->base, name);

	if (region == NULL)
		return 1;
	region->included = included;
	return 0;
}

int flashrom_layout_include_region(struct flashrom_layout *layout, const char *name)
{
	return set_included(layout, name, true);
}

int flashrom_layout_exclude_region(struct flashrom_layout *layout, const char *name)
{
	return set_included(layout, name, false);
}

int flashrom_layout_get_region_range(
	struct flashrom_layout *layout, const char *name, unsigned int *start, unsigned int *len)
{
	const struct layout_region *region = layout_find(&layout->base, name);

	if (region == NULL)
		return 1;
	*start = region->range.start;
	*len = range_bytes(region->range);
	return 0;
}

void flashrom_layout_set(struct flashrom_flashctx *flashctx, const struct flashrom_layout *layout)
{
	flashctx->layout = layout;
}

/* The values that flashrom returns if it was built without the parser. */
enum unsupported {
	IFD_UNSUPPORTED = 6,
	FMAP_UNSUPPORTED = 3,
};

int flashrom_layout_read_from_ifd(struct flashrom_layout **layout,
	struct flashrom_flashctx *flashctx, const void *dump, size_t len)
{
	(void)layout;
	(void)flashctx;
	(void)dump;
	(void)len;
	log_error(&caller_log, "Layouts from an Intel flash descriptor are not supported here.\n");
	return IFD_UNSUPPORTED;
}

static int report_no_fmap(void)
{
	log_error(&caller_log, "Layouts from an fmap are not supported here.\n");
	return FMAP_UNSUPPORTED;
}

int flashrom_layout_read_fmap_from_rom(struct flashrom_layout **layout,
	struct flashrom_flashctx *flashctx, size_t offset, size_t length)
{
	(void)layout;
	(void)flashctx;
	(void)offset;
	(void)length;
	return report_no_fmap();
}

int flashrom_layout_read_fmap_from_buffer(struct flashrom_layout **layout,
	struct flashrom_flashctx *flashctx, const uint8_t *buffer, size_t len)
{
	(void)layout;
	(void)flashctx;
	(void)buffer;
	(void)len;
	return report_no_fmap();
}
