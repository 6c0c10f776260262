/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "corner.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "noise.h"
#include "text/number.h"

/* How fine a draw is: maxima of 400 s fit a product with this many bits. */
#define DRAW_BITS 24

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

static char *put_number(char *out, uint64_t number)
{
	if (number >= 10)
		out = put_number(out, number / 10);
	*out = (char)('0' + number % 10);
	return out + 1;
}

void corner_format(const struct corner *corner, char text[CORNER_TEXT_BYTES])
{
	const struct kind_text *kind = &kinds[corner->kind];
	char *end = text + strlen(kind->name);

	assert((size_t)corner->kind < KIND_COUNT && kind->kind == corner->kind);
	strcpy(text, kind->name);
	if (kind->takes_number)
		end = put_number(end, kind->kind == CORNER_DRAW ? corner->seed : corner->factor);
	*end = '\0';
}

static uint64_t draw_bits(uint64_t seed, const struct corner_use *use)
{
	uint64_t place = (uint64_t)use->opcode << 32 | use->address;

	return noise_bits(seed, place, use->count) >> (64 - DRAW_BITS);
}

static struct figure draw(uint64_t seed, const struct busy_time *busy, const struct corner_use *use)
{
	uint64_t room_ns = busy->max.ns - busy->typ.ns;

	assert(room_ns <= UINT64_MAX >> DRAW_BITS);
	return (struct figure){
		.ns = busy->typ.ns + (room_ns * draw_bits(seed, use) >> DRAW_BITS),
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
	case CORNER_SLOW: /* nobody's datasheet speaks of a part past its limits */
		return (struct figure){.ns = busy->max.ns * corner->factor, .grade = GRADE_ASSUMED};
	}
	assert(false);
	return busy->typ;
}
