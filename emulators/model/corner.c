/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "corner.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "shared/noise.h"
#include "shared/number.h"

#define DRAW_BITS 24
#define OPCODE_COUNT 256u

/* A name that ends with a colon has a number after it. */
static const char *const kinds[] = {
	[CORNER_MIN] = "min",
	[CORNER_TYP] = "typ",
	[CORNER_MAX] = "max",
	[CORNER_ZERO] = "zero",
	[CORNER_DRAW] = "draw:",
	[CORNER_SLOW] = "slow:",
};

static bool parse_number(const char *digits, struct corner *corner)
{
	uint64_t factor;

	if (corner->kind == CORNER_DRAW)
		return number_parse(digits, 10, 0, UINT64_MAX, &corner->seed);
	if (corner->kind != CORNER_SLOW)
		return *digits == '\0';
	if (!number_parse(digits, 10, 1, CORNER_FACTOR_MAX, &factor))
		return false;
	corner->factor = (uint32_t)factor;
	return true;
}

int corner_parse(const char *text, struct corner *corner)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct corner parsed = {.kind = (enum corner_kind)i};
		size_t len = strlen(kinds[i]);

		if (strncmp(text, kinds[i], len) == 0 && parse_number(text + len, &parsed)) {
			*corner = parsed;
			return 0;
		}
	}
	return -EINVAL;
}

void corner_format(const struct corner *corner, char text[CORNER_TEXT_BYTES])
{
	uint64_t number = corner->kind == CORNER_DRAW ? corner->seed : corner->factor;

	assert((size_t)corner->kind < sizeof(kinds) / sizeof(kinds[0]));
	if (corner->kind == CORNER_DRAW || corner->kind == CORNER_SLOW)
		snprintf(text, CORNER_TEXT_BYTES, "%s%" PRIu64, kinds[corner->kind], number);
	else
		strcpy(text, kinds[corner->kind]);
}

/* Returns a drawn fraction of @ns. Multiplies its high and low bits separately: no overflow. */
static uint64_t draw_ns(uint64_t seed, const struct corner_use *use, uint64_t ns)
{
	uint64_t place = (uint64_t)use->opcode << 32 | use->address;
	uint64_t bits = noise_bits(seed, place, use->count) >> (64 - DRAW_BITS);
	uint64_t rest = ns & ((UINT64_C(1) << DRAW_BITS) - 1);

	return (ns >> DRAW_BITS) * bits + (rest * bits >> DRAW_BITS);
}

/* Inverts the seed, so that this draw is independent of the draw of the busy time itself. */
uint64_t corner_moment_ns(uint64_t seed, const struct corner_use *use, uint64_t work_ns)
{
	return draw_ns(~seed, use, work_ns);
}

static struct figure draw(uint64_t seed, const struct busy_time *busy, const struct corner_use *use)
{
	return (struct figure){
		.ns = busy->typ.ns + draw_ns(seed, use, busy->max.ns - busy->typ.ns),
		.grade = grade_weaker(busy->typ.grade, busy->max.grade),
	};
}

struct figure corner_figure(
	const struct corner *corner, const struct busy_time *busy, const struct corner_use *use)
{
	switch (corner->kind) {
	case CORNER_MIN:
		return busy->min;
	case CORNER_TYP:
		return busy->typ;
	case CORNER_MAX:
		return busy->max;
	case CORNER_ZERO:
		return (struct figure){.ns = 0, .grade = GRADE_ASSUMED};
	case CORNER_DRAW:
		return draw(corner->seed, busy, use);
	case CORNER_SLOW: /* no datasheet covers a part past its limits */
		return (struct figure){.ns = busy->max.ns * corner->factor, .grade = GRADE_ASSUMED};
	}
	assert(false);
	return busy->typ;
}

/* The counts of the opcodes come first, then those of the pages, then those of each erase. */
static size_t erase_begin(const struct part *part, size_t index)
{
	size_t begin = OPCODE_COUNT + part->size_bytes / part->page_bytes;

	for (size_t i = 0; i < index; i++) {
		uint32_t block_bytes = part->erases[i].size_bytes;

		begin += (part->size_bytes + block_bytes - 1) / block_bytes;
	}
	return begin;
}

size_t uses_bytes(const struct part *part)
{
	return erase_begin(part, part->erase_count);
}

void uses_init(struct uses *uses, const struct part *part, uint8_t *counts)
{
	uses->part = part;
	uses->counts = counts;
}

static struct corner_use count(struct uses *uses, size_t index, uint8_t opcode, uint32_t address)
{
	return (struct corner_use){
		.opcode = opcode,
		.address = address,
		.count = uses->counts[index]++,
	};
}

struct corner_use uses_next_erase(struct uses *uses, uint8_t opcode, uint32_t address)
{
	const struct part_erase *erase = part_erase_find(uses->part, opcode);
	uint32_t block;

	assert(erase && address < uses->part->size_bytes);
	block = address / erase->size_bytes;
	return count(uses, erase_begin(uses->part, (size_t)(erase - uses->part->erases)) + block,
		opcode, block * erase->size_bytes);
}

struct corner_use uses_next_program(struct uses *uses, uint8_t opcode, uint32_t address)
{
	uint32_t page_bytes = uses->part->page_bytes;
	uint32_t page = address / page_bytes;

	assert(address < uses->part->size_bytes);
	return count(uses, OPCODE_COUNT + page, opcode, page * page_bytes);
}

struct corner_use uses_next(struct uses *uses, uint8_t opcode)
{
	return count(uses, opcode, opcode, 0);
}
