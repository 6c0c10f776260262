// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "readings.h"

static void state_of_timers_is_kept_in_the_words_of_old_kernels_and_new_ones(void **state)
{
	static const char *const lines[] = {
		"cpu: 0\n",
		"  .resolution: 1 nsecs\n",
		"  .hres_active    : 1\n",
		"  .nohz_mode      : 2\n",
		"  .nohz           : 1\n",
		"  .highres        : 1\n",
		"Clock Event Device: lapic-deadline\n",
		" event_handler:  hrtimer_interrupt\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_true(facts_keeps(lines[i]));
}

static void single_timers_are_not_kept(void **state)
{
	static const char *const lines[] = {
		" #0: <000000002b86fb01>, tick_nohz_handler, S:01\n",
		" # expires at 973672000000-973672000000 nsecs [in 3256655 to 3256655 nsecs]\n",
		"  .base:       00000000f0939724\n",
		"active timers:\n",
		"\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_false(facts_keeps(lines[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(state_of_timers_is_kept_in_the_words_of_old_kernels_and_new_ones),
		cmocka_unit_test(single_timers_are_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
