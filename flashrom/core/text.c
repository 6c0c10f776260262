/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "range.h"
#include "text.h"

#define NAME_BYTES_MAX 64

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Returns the Levenshtein distance, by one row of its table; SIZE_MAX if `b` exceeds the row. */
static size_t edit_distance(const char *a, const char *b, size_t b_length)
{
	size_t row[NAME_BYTES_MAX + 1];

	if (b_length > NAME_BYTES_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 0; a[i] != '\0'; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < b_length; j++) {
			const size_t replace = diagonal + !same_letter(a[i], b[j]);

			diagonal = row[j + 1];
			row[j + 1] = min_size(replace, min_size(row[j], row[j + 1]) + 1);
		}
	}
	return row[b_length];
}

static void offer_part(struct nearest *nearest, const char *name, const char *part, size_t length)
{
	const size_t distance = edit_distance(nearest->wanted, part, length);

	if (nearest->name != NULL && distance >= nearest->distance)
		return;
	nearest->name = name;
	nearest->distance = distance;
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	const char *part = name;

	offer_part(nearest, name, name, strlen(name));
	for (const char *slash = strchr(part, '/'); slash != NULL; slash = strchr(part, '/')) {
		offer_part(nearest, name, part, (size_t)(slash - part));
		part = slash + 1;
	}
	offer_part(nearest, name, part, strlen(part));
}

const char *nearest_found(const struct nearest *nearest)
{
	const size_t tolerated = strlen(nearest->wanted) / 3 + 1;

	return nearest->name != NULL && nearest->distance <= tolerated ? nearest->name : NULL;
}

bool text_to_u32(const char *text, int base, uint32_t *out)
{
	unsigned long long value;
	char *end;

	if (!isxdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	value = strtoull(text, &end, base);
	if (errno != 0 || *end != '\0' || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

bool text_to_hz(const char *text, uint32_t *hz)
{
	char digits[16] = "";
	size_t length = strlen(text);
	uint32_t unit = 1;
	uint32_t count;

	if (length > 0 && length < sizeof(digits)) {
		unit = strchr("kK", text[length - 1]) ? 1000 : unit;
		unit = strchr("mM", text[length - 1]) ? 1000000 : unit;
		memcpy(digits, text, unit == 1 ? length : length - 1);
	}
	if (!text_to_u32(digits, 10, &count) || count == 0 || count > UINT32_MAX / unit)
		return false;
	*hz = count * unit;
	return true;
}
