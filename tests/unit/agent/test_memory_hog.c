/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "../run_cases.h"
#include "hazards.h"
#include "process.h"

/* The hog itself needs a guest; this test never starts it. */
void process_sleep_ms(unsigned int ms)
{
	(void)ms;
	fail();
}

void process_become_ordinary(unsigned int core)
{
	(void)core;
	fail();
}

static uint64_t reclaimed(const char *text)
{
	FILE *vmstat = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	uint64_t pages;

	assert_non_null(vmstat);
	pages = memory_hog_reclaimed(vmstat);
	fclose(vmstat);
	return pages;
}

TEST(pages_reclaimed_by_kswapd_and_directly_are_added_up)
{
	static const struct {
		const char *vmstat;
		uint64_t pages;
	} rows[] = {
		{"nr_free_pages 9\npgsteal_kswapd 40\npgsteal_direct 2\n", 42},
		/* Counters with similar names do not count. */
		{"pgsteal_khugepaged 7\npgsteal_anon 40\npgsteal_kswapd 3\n", 3},
		{"pgsteal_direct 18446744073709551615\n", UINT64_MAX},
		{"\n", 0},
		{"nr_free_pages 9\n", 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (reclaimed(rows[i].vmstat) != rows[i].pages)
			fail_msg("wrong sum of \"%s\"", rows[i].vmstat);
}

TEST(end_of_a_hog_that_was_never_started_does_nothing)
{
	pid_t hog = 0;

	memory_hog_end(&hog);
	assert_int_equal(hog, 0);
}
