/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../cases.h"
#include "clock.h"
#include "readings.h"

/* A clock such as `jiffies`, which stands still for more readings than the audit takes at once. */
#define STEP_NS (4 * NS_PER_MS)
#define READINGS_PER_STEP 50000

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	static int64_t readings;

	(void)clock;
	*time = clock_timespec(readings++ / READINGS_PER_STEP * STEP_NS);
	return 0;
}

static void step_of_a_coarse_clock_is_found(void)
{
	const struct series series = {.kind = SERIES_AUDIT};
	struct json_line line;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	json_begin(&line, out);
	assert_int_equal(audit_write(&series, &line), 0);
	json_end(&line);
	fclose(out);
	assert_non_null(strstr(text, "\"clock_step_ns\":4000000}"));
	free(text);
}

static const struct CMUnitTest tests[] = {
	CASE(step_of_a_coarse_clock_is_found),
};

RUN_CASES(tests)
