// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>

#include "../run_cases.h"
#include "options.h"

#define WORDS_MAX 32

struct bench {
	char text[1024]; /* the text that the options point into */
	char *word[WORDS_MAX + 1];
	struct options options;
};

/* Parses words that single spaces separate. */
static int parse(struct bench *bench, const char *words)
{
	char *rest = bench->text;
	int count = 0;

	assert_true(strlen(words) < sizeof(bench->text));
	strcpy(bench->text, words);
	bench->word[count++] = (char *)(uintptr_t)"library-client";
	while (count < WORDS_MAX && rest) {
		char *space = strchr(rest, ' ');

		if (space)
			*space = '\0';
		bench->word[count++] = rest;
		rest = space ? space + 1 : NULL;
	}
	bench->word[count] = NULL;
	return options_parse(count, bench->word, &bench->options);
}

FIXTURE(bench, NOTHING, NOTHING);

#define MINIMUM "-p serprog:ip=127.0.0.1:4242 -c M25P80"

TEST_ON(bench, programmer_and_chip_alone_are_a_probe)
{
	assert_int_equal(parse(bench, MINIMUM), 0);
	assert_string_equal(bench->options.programmer, "serprog");
	assert_string_equal(bench->options.parameters, "ip=127.0.0.1:4242");
	assert_string_equal(bench->options.chip, "M25P80");
	assert_int_equal(bench->options.job, JOB_PROBE);
	assert_int_equal(bench->options.noise.rate_hz, 0);
	assert_int_equal(bench->options.noise.threads, 0);
	assert_int_equal(bench->options.asks, 0);
}

TEST_ON(bench, jobs_and_regions_have_the_options_of_flashrom)
{
	assert_int_equal(parse(bench, MINIMUM " -l /tmp/layout -i rig -N -w /tmp/w.bin"), 0);
	assert_int_equal(bench->options.job, JOB_WRITE);
	assert_string_equal(bench->options.image_path, "/tmp/w.bin");
	assert_string_equal(bench->options.layout_path, "/tmp/layout");
	assert_string_equal(bench->options.region, "rig");
	assert_int_equal(parse(bench, MINIMUM " -r /tmp/r.bin"), 0);
	assert_int_equal(bench->options.job, JOB_READ);
	assert_int_equal(parse(bench, MINIMUM " -v /tmp/r.bin"), 0);
	assert_int_equal(bench->options.job, JOB_VERIFY);
	assert_int_equal(parse(bench, MINIMUM " -E"), 0);
	assert_int_equal(bench->options.job, JOB_ERASE);
}

TEST_ON(bench, signals_are_sigalrm_without_restart_by_default)
{
	assert_int_equal(parse(bench, MINIMUM " --signals 20"), 0);
	assert_int_equal(bench->options.noise.rate_hz, 20);
	assert_int_equal(bench->options.noise.signal, SIGALRM);
	assert_false(bench->options.noise.restart);
	assert_int_equal(parse(bench, MINIMUM " --signals 1000,usr1,restart"), 0);
	assert_int_equal(bench->options.noise.rate_hz, 1000);
	assert_int_equal(bench->options.noise.signal, SIGUSR1);
	assert_true(bench->options.noise.restart);
	assert_int_equal(parse(bench, MINIMUM " --signals 1,chld"), 0);
	assert_int_equal(bench->options.noise.signal, SIGCHLD);
}

TEST_ON(bench, delays_of_64_bits_are_accepted)
{
	assert_int_equal(
		parse(bench, MINIMUM " --delay 0x48a60 --ask 0,1,18446744073709551615"), 0);
	assert_int_equal(bench->options.delay_address, 0x48a60);
	assert_int_equal(bench->options.asks, 3);
	assert_true(bench->options.ask[0] == 0);
	assert_true(bench->options.ask[1] == 1);
	assert_true(bench->options.ask[2] == UINT64_MAX);
}

TEST_ON(bench, parameters_and_chip_may_be_missing)
{
	assert_int_equal(parse(bench, "-p dummy"), 0);
	assert_string_equal(bench->options.programmer, "dummy");
	assert_null(bench->options.parameters);
	assert_null(bench->options.chip);
}

TEST_ON(bench, invalid_line_is_refused)
{
	static const char *const wrong[] = {
		"-c M25P80",
		MINIMUM " word",
		MINIMUM " -x",
		MINIMUM " -E -r /tmp/r.bin",
		MINIMUM " -l /tmp/layout",
		MINIMUM " -i rig",
		MINIMUM " --signals",
		MINIMUM " --signals 1001",
		MINIMUM " --signals -1",
		MINIMUM " --signals 20,hup",
		MINIMUM " --signals 20,",
		MINIMUM " --threads 9",
		MINIMUM " --threads x",
		MINIMUM " --ask 1",
		MINIMUM " --delay 1",
		MINIMUM " --delay 1 --ask 18446744073709551616",
		MINIMUM " --delay 1 --ask 1,,2",
		MINIMUM " --delay 1x --ask 1",
		MINIMUM " --delay 1 --ask 1 --argument 6",
	};

	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(parse(bench, wrong[i]), -EINVAL);
}

TEST_ON(bench, across_needs_no_ask)
{
	assert_int_equal(parse(bench, MINIMUM " --delay 0x48a60 --across 99"), 0);
	assert_true(bench->options.across == 99);
	assert_int_equal(bench->options.asks, 0);
}

TEST_ON(bench, more_delays_than_asks_max_are_refused)
{
	char words[512] = MINIMUM " --delay 1 --ask 1";

	for (unsigned int i = 1; i < ASKS_MAX; i++)
		strcat(words, ",1");
	assert_int_equal(parse(bench, words), 0);
	assert_int_equal(bench->options.asks, ASKS_MAX);
	strcat(words, ",1");
	assert_int_equal(parse(bench, words), -EINVAL);
}
