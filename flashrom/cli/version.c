/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/utsname.h>

#include "cli.h"
#ifdef CONFIG_PAST_MISTAKE
#include "past_mistake.h"
#endif

/* The same default as in udelay.c, which exports only its function. */
#ifndef CONFIG_DELAY_MINIMUM_SLEEP_US
#define CONFIG_DELAY_MINIMUM_SLEEP_US 100
#endif

#define TEST_BUILD "TEST BUILD, never to be used on a chip that matters: "

#ifdef CONFIG_PAST_MISTAKE
static void test_build_print(const struct log *log)
{
	log_info(log, TEST_BUILD "%s.\n", past_mistake);
}
#elif defined(CONFIG_DELAY_TEST_PERCENT)
static void test_build_print(const struct log *log)
{
	log_info(log, TEST_BUILD "every delay lasts %d %% of what it should.\n",
		CONFIG_DELAY_TEST_PERCENT);
}
#else
static void test_build_print(const struct log *log)
{
	(void)log;
}
#endif

void version_print(const struct log *log)
{
	struct utsname system;

	if (uname(&system) != 0)
		system = (struct utsname){.sysname = "an unknown system"};
	log_info(log, "flashrom %s, delay_minimum_sleep_us %llu (rig bundled) on %s %s (%s)\n",
		FLASHROM_VERSION, (unsigned long long)CONFIG_DELAY_MINIMUM_SLEEP_US, system.sysname,
		system.release, system.machine);
	test_build_print(log);
}
