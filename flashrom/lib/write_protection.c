/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "internal.h"

struct flashrom_wp_cfg {
	enum flashrom_wp_mode mode;
	size_t start;
	size_t len;
};

enum flashrom_wp_result flashrom_wp_cfg_new(struct flashrom_wp_cfg **cfg)
{
	struct flashrom_wp_cfg *created = calloc(1, sizeof(*created));

	if (created == NULL)
		return FLASHROM_WP_ERR_OTHER;
	*cfg = created;
	return FLASHROM_WP_OK;
}

void flashrom_wp_cfg_release(struct flashrom_wp_cfg *cfg)
{
	free(cfg);
}

void flashrom_wp_set_mode(struct flashrom_wp_cfg *cfg, enum flashrom_wp_mode mode)
{
	cfg->mode = mode;
}

enum flashrom_wp_mode flashrom_wp_get_mode(const struct flashrom_wp_cfg *cfg)
{
	return cfg->mode;
}

void flashrom_wp_set_range(struct flashrom_wp_cfg *cfg, size_t start, size_t len)
{
	cfg->start = start;
	cfg->len = len;
}

void flashrom_wp_get_range(size_t *start, size_t *len, const struct flashrom_wp_cfg *cfg)
{
	*start = cfg->start;
	*len = cfg->len;
}

static enum flashrom_wp_result report_unsupported(const struct flashrom_flashctx *context)
{
	log_error(&caller_log, "Write protection of \"%s\" is not supported here.\n",
		context->flash.chip->name);
	return FLASHROM_WP_ERR_CHIP_UNSUPPORTED;
}

enum flashrom_wp_result flashrom_wp_read_cfg(
	struct flashrom_wp_cfg *cfg, struct flashrom_flashctx *flashctx)
{
	(void)cfg;
	return report_unsupported(flashctx);
}

enum flashrom_wp_result flashrom_wp_write_cfg(
	struct flashrom_flashctx *flashctx, const struct flashrom_wp_cfg *cfg)
{
	(void)cfg;
	return report_unsupported(flashctx);
}

enum flashrom_wp_result flashrom_wp_get_available_ranges(
	struct flashrom_wp_ranges **ranges, struct flashrom_flashctx *flashctx)
{
	(void)ranges;
	return report_unsupported(flashctx);
}

size_t flashrom_wp_ranges_get_count(const struct flashrom_wp_ranges *ranges)
{
	(void)ranges;
	return 0;
}

enum flashrom_wp_result flashrom_wp_ranges_get_range(
	size_t *start, size_t *len, const struct flashrom_wp_ranges *ranges, unsigned int index)
{
	(void)start;
	(void)len;
	(void)ranges;
	(void)index;
	return FLASHROM_WP_ERR_OTHER;
}

void flashrom_wp_ranges_release(struct flashrom_wp_ranges *ranges)
{
	(void)ranges;
}
