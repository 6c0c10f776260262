/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/utsname.h>

#include "cli.h"

/* The delay layer is not asked, since it has no more to it than its one function. */
#ifndef CONFIG_DELAY_MINIMUM_SLEEP_US
#define CONFIG_DELAY_MINIMUM_SLEEP_US 100
#endif

#ifdef CONFIG_DELAY_TEST_CUT_PERCENT
#define TEST_CUT_PERCENT CONFIG_DELAY_TEST_CUT_PERCENT
#else
#define TEST_CUT_PERCENT 100
#endif

void version_print(const struct log *log)
{
	struct utsname system;

	if (uname(&system) != 0)
		system = (struct utsname){.sysname = "an unknown system"};
	log_info(log, "flashrom %s, delay_minimum_sleep_us %llu (rig bundled) on %s %s (%s)\n",
		FLASHROM_VERSION, (unsigned long long)CONFIG_DELAY_MINIMUM_SLEEP_US, system.sysname,
		system.release, system.machine);
	if (TEST_CUT_PERCENT != 100)
		log_info(log,
			"TEST BUILD: every delay is cut to %d %%. Never use it on a chip that "
			"matters.\n",
			TEST_CUT_PERCENT);
}
