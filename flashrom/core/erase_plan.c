/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "erase_plan.h"

#define COST_IMPOSSIBLE UINT64_MAX

/* Flags of a page. classify_pages() sets them once; the planner counts pages by them. */
#define PAGE_DIFFERS (1u << 0)
#define PAGE_NEEDS_ERASE (1u << 1) /* programming alone is not enough */
#define PAGE_NOT_BLANK (1u << 2)   /* has to be programmed again after an erase */

struct planner {
	const struct flash_chip *chip;
	struct range range;
	uint8_t *pages;
	struct erase_plan plan;
};

static bool gains_bits(const uint8_t *current, const uint8_t *target, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if ((target[i] & ~current[i]) != 0)
			return true;
	}
	return false;
}

static bool is_blank(const uint8_t *data, size_t bytes)
{
	return data[0] == 0xff && memcmp(data, data + 1, bytes - 1) == 0;
}

/* Returns true if a unit that is not blank has to change. */
static bool changes_data(
	const uint8_t *current, const uint8_t *target, size_t bytes, size_t unit_bytes)
{
	for (size_t at = 0; at < bytes; at += unit_bytes) {
		if (memcmp(current + at, target + at, unit_bytes) != 0 &&
			!is_blank(current + at, unit_bytes))
			return true;
	}
	return false;
}

static bool needs_erase(
	const struct flash_chip *chip, const uint8_t *current, const uint8_t *target)
{
	if (chip->blank_only)
		return changes_data(current, target, chip->page_bytes, chip_unit_bytes(chip));
	return gains_bits(current, target, chip->page_bytes);
}

static uint8_t page_state(
	const struct flash_chip *chip, const uint8_t *current, const uint8_t *target)
{
	const size_t bytes = chip->page_bytes;
	uint8_t state = is_blank(target, bytes) ? 0 : PAGE_NOT_BLANK;

	if (memcmp(current, target, bytes) == 0)
		return state;
	state |= PAGE_DIFFERS;
	if (needs_erase(chip, current, target))
		state |= PAGE_NEEDS_ERASE;
	return state;
}

static void classify_pages(struct planner *planner, const uint8_t *current, const uint8_t *target)
{
	const uint32_t page_bytes = planner->chip->page_bytes;

	for (uint32_t at = planner->range.start; at < planner->range.end; at += page_bytes)
		planner->pages[at / page_bytes] =
			page_state(planner->chip, current + at, target + at);
}

/* Returns the number of pages in a block that have one of `flags`. */
static uint64_t count_pages(const struct planner *planner, struct range block, uint8_t flags)
{
	const uint32_t page_bytes = planner->chip->page_bytes;
	uint64_t count = 0;

	for (uint32_t at = block.start; at < block.end; at += page_bytes)
		count += (planner->pages[at / page_bytes] & flags) != 0;
	return count;
}

static uint64_t programming_us(const struct planner *planner, struct range block, uint8_t flags)
{
	return count_pages(planner, block, flags) * chip_page_us_typ(planner->chip);
}

/* The smallest blocks lie inside or outside the range; larger ones may lie across its ends. */
static bool is_outside(const struct planner *planner, struct range block)
{
	return block.end <= planner->range.start || block.start >= planner->range.end;
}

static bool is_inside(const struct planner *planner, struct range block)
{
	return block.start >= planner->range.start && block.end <= planner->range.end;
}

static void append_step(struct planner *planner, const struct chip_erase *erase, struct range block)
{
	planner->plan.steps[planner->plan.count++] = (struct erase_step){erase, block};
}

static uint64_t plan_blocks(struct planner *planner, size_t level, struct range stretch);

/* Returns the cost without this erase: by erases of smaller blocks, or by programming only. */
static uint64_t plan_parts(struct planner *planner, size_t level, struct range block)
{
	if (level > 0)
		return plan_blocks(planner, level - 1, block);
	if (!planner->chip->overwrites && count_pages(planner, block, PAGE_NEEDS_ERASE) > 0)
		return COST_IMPOSSIBLE;
	return programming_us(planner, block, PAGE_DIFFERS);
}

/* Appends the cheapest way to deal with one block and returns its cost. */
static uint64_t plan_block(struct planner *planner, size_t level, struct range block)
{
	const struct chip_erase *erase = &planner->chip->erase[level];
	const size_t mark = planner->plan.count;
	uint64_t parts_us, whole_us;

	if (is_outside(planner, block))
		return 0;
	parts_us = plan_parts(planner, level, block);
	if (parts_us == 0 || !is_inside(planner, block))
		return parts_us;
	whole_us = erase->busy.typ_us + programming_us(planner, block, PAGE_NOT_BLANK);
	if (parts_us < whole_us)
		return parts_us;
	planner->plan.count = mark;
	append_step(planner, erase, block);
	return whole_us;
}

static uint64_t plan_blocks(struct planner *planner, size_t level, struct range stretch)
{
	uint64_t cost_us = 0;

	for (uint32_t at = stretch.start; at < stretch.end;) {
		const struct range block = chip_erase_block(&planner->chip->erase[level], at);

		cost_us += plan_block(planner, level, block);
		at = block.end;
	}
	return cost_us;
}

/* A part without erase commands is only programmed. */
static uint64_t plan_chip(struct planner *planner)
{
	const struct range chip = {0, planner->chip->size_bytes};
	const size_t levels = chip_erase_count(planner->chip);

	if (levels == 0)
		return programming_us(planner, chip, PAGE_DIFFERS);
	return plan_blocks(planner, levels - 1, chip);
}

int erase_plan_create(const struct flash_chip *chip, struct range range, const uint8_t *current,
	const uint8_t *target, struct erase_plan *out)
{
	const uint32_t pages = range_bytes(range) / chip->page_bytes;
	struct planner planner = {.chip = chip, .range = range};

	assert(range.start % chip->page_bytes == 0 && range.end % chip->page_bytes == 0);
	planner.pages = calloc(chip->size_bytes / chip->page_bytes, 1);
	planner.plan.steps = calloc(pages + 1, sizeof(*planner.plan.steps));
	if (planner.pages == NULL || planner.plan.steps == NULL) {
		free(planner.pages);
		free(planner.plan.steps);
		return -ENOMEM;
	}
	classify_pages(&planner, current, target);
	planner.plan.typ_us = plan_chip(&planner);
	free(planner.pages);
	*out = planner.plan;
	return 0;
}

void erase_plan_destroy(struct erase_plan *plan)
{
	free(plan->steps);
	plan->steps = NULL;
	plan->count = 0;
}
