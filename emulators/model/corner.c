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

struct kind_text {
	enum corner_kind kind;
	const char *name;
	bool takes_number;
};

static const struct kind_text kinds[] = {
	{CORNER_MIN, "min", false},
	{CORNER_TYP, "typ", false},
	{CORNER_MAX, "max", false},
	{CORNER_ZERO, "zero", false},
	{CORNER_DRAW, "draw:", true},
	{CORNER_SLOW, "slow:", true},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

static int parse_parameter(const char *digits, struct corner *corner)
{
	uint64_t number;

	if (!number_parse(digits, 10, 0, UINT64_MAX, &number))
		return -EINVAL;
	if (corner->kind == CORNER_DRAW) {
		corner->seed = number;
		return 0;
	}
	if (number < 1 || number > CORNER_FACTOR_MAX)
		return -EINVAL;
	corner->factor = (uint32_t)number;
	return 0;
}

static int parse_as(const struct kind_text *kind, const char *text, struct corner *corner)
{
	size_t len = strlen(kind->name);
	struct corner parsed = {.kind = kind->kind};

	if (strncmp(text, kind->name, len) != 0)
		return -EINVAL;
	if (kind->takes_number ? parse_parameter(text + len, &parsed) < 0 : text[len] != '\0')
		return -EINVAL;
	*corner = parsed;
	return 0;
}

int corner_parse(const char *text, struct corner *corner)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (parse_as(&kinds[i], text, corner) == 0)
			return 0;
	}
	return -EINVAL;
}

void corner_format(const struct corner *corner, char text[CORNER_TEXT_BYTES])
{
	const struct kind_text *kind = &kinds[corner->kind];
	uint64_t number = corner->kind == CORNER_DRAW ? corner->seed : corner->factor;

	assert((size_t)corner->kind < KIND_COUNT && kind->kind == corner->kind);
	if (kind->takes_number)
		snprintf(text, CORNER_TEXT_BYTES, "%s%" PRIu64, kind->name, number);
	else
		strcpy(text, kind->name);
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
