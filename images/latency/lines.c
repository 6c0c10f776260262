// SPDX-License-Identifier: GPL-2.0-or-later
#include "lines.h"

void line_begin(struct json_line *line, FILE *out, unsigned int series)
{
	json_begin(line, out);
	json_unsigned(line, "schema", LINES_SCHEMA);
	json_unsigned(line, "series", series);
}

void line_statistics(struct json_line *line, const struct statistics *statistics)
{
	json_signed(line, "count", (int64_t)statistics->count);
	json_signed(line, "mean_ns", statistics->mean_ns);
	json_signed(line, "deviation_ns", statistics->deviation_ns);
	json_list_signed(line, "quantiles_ns", statistics->quantile_ns, QUANTILES);
}

void line_end(struct json_line *line)
{
	json_end(line);
	fflush(line->out);
}
