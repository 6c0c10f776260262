// SPDX-License-Identifier: GPL-2.0-or-later
#include "lines.h"

#include <inttypes.h>

void line_begin(FILE *out, unsigned int series)
{
	fprintf(out, "{\"schema\":%d,\"series\":%u", LINES_SCHEMA, series);
}

void line_number(FILE *out, const char *key, int64_t value)
{
	fprintf(out, ",\"%s\":%" PRId64, key, value);
}

/* What is no plain ASCII is taken for Latin-1: every byte has a place in JSON then. */
static void put_escaped(FILE *out, unsigned char byte)
{
	if (byte < 0x20 || byte > 0x7e || byte == '"' || byte == '\\')
		fprintf(out, "\\u%04x", byte);
	else
		fputc(byte, out);
}

void line_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":\"", key);
	for (const char *at = text; *at != '\0'; at++)
		put_escaped(out, (unsigned char)*at);
	fputc('"', out);
}

void line_numbers(FILE *out, const char *key, const int64_t *values, size_t count)
{
	fprintf(out, ",\"%s\":[", key);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRId64, i ? "," : "", values[i]);
	fputc(']', out);
}

void line_statistics(FILE *out, const struct statistics *statistics)
{
	line_number(out, "count", (int64_t)statistics->count);
	line_number(out, "mean_ns", statistics->mean_ns);
	line_number(out, "deviation_ns", statistics->deviation_ns);
	line_numbers(out, "quantiles_ns", statistics->quantile_ns, QUANTILES);
}

void line_end(FILE *out)
{
	fputs("}\n", out);
	fflush(out);
}
