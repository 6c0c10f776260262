// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>

#include "../cases.h"
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

#define LEAST "-p serprog:ip=127.0.0.1:4242 -c M25P80"

static void programmer_and_chip_alone_are_a_probe(struct bench *bench)
{
	assert_int_equal(parse(bench, LEAST), 0);
	assert_string_equal(bench->options.programmer, "serprog");
	assert_string_equal(bench->options.parameters, "ip=127.0.0.1:4242");
	assert_string_equal(bench->options.chip, "M25P80");
	assert_int_equal(bench->options.job, JOB_PROBE);
	assert_int_equal(bench->options.noise.rate_hz, 0);
	assert_int_equal(bench->options.noise.threads, 0);
	assert_int_equal(bench->options.asks, 0);
}

static void programmer_without_parameters_has_none(struct bench *bench)
{
	assert_int_equal(parse(bench, "-p dummy -c M25P80"), 0);
	assert_string_equal(bench->options.programmer, "dummy");
	assert_null(bench->options.parameters);
}

static void job_about_a_region_is_taken_in_the_words_of_flashrom(struct bench *bench)
{
	assert_int_equal(parse(bench, LEAST " -l /tmp/layout -i rig -N -w /tmp/w.bin"), 0);
	assert_int_equal(bench->options.job, JOB_WRITE);
	assert_string_equal(bench->options.image_path, "/tmp/w.bin");
	assert_string_equal(bench->options.layout_path, "/tmp/layout");
	assert_string_equal(bench->options.region, "rig");
	assert_int_equal(parse(bench, LEAST " -r /tmp/r.bin"), 0);
	assert_int_equal(bench->options.job, JOB_READ);
	assert_int_equal(parse(bench, LEAST " -v /tmp/r.bin"), 0);
	assert_int_equal(bench->options.job, JOB_VERIFY);
	assert_int_equal(parse(bench, LEAST " -E"), 0);
	assert_int_equal(bench->options.job, JOB_ERASE);
}

static void signals_are_alarms_that_interrupt_unless_told_otherwise(struct bench *bench)
{
	assert_int_equal(parse(bench, LEAST " --signals 20"), 0);
	assert_int_equal(bench->options.noise.rate_hz, 20);
	assert_int_equal(bench->options.noise.signal, SIGALRM);
	assert_false(bench->options.noise.restart);
	assert_int_equal(parse(bench, LEAST " --signals 1000,usr1,restart"), 0);
	assert_int_equal(bench->options.noise.rate_hz, 1000);
	assert_int_equal(bench->options.noise.signal, SIGUSR1);
	assert_true(bench->options.noise.restart);
	assert_int_equal(parse(bench, LEAST " --signals 1,chld"), 0);
	assert_int_equal(bench->options.noise.signal, SIGCHLD);
}

static void longest_delay_that_can_be_asked_for_is_taken(struct bench *bench)
{
	assert_int_equal(parse(bench, LEAST " --delay 0x48a60 --ask 0,1,18446744073709551615"), 0);
	assert_int_equal(bench->options.delay_address, 0x48a60);
	assert_int_equal(bench->options.asks, 3);
	assert_true(bench->options.ask[0] == 0);
	assert_true(bench->options.ask[1] == 1);
	assert_true(bench->options.ask[2] == UINT64_MAX);
}

static void programmer_alone_is_a_probe_among_all_chips(struct bench *bench)
{
	assert_int_equal(parse(bench, "-p dummy"), 0);
	assert_null(bench->options.chip);
}

static void what_makes_no_sense_is_refused(struct bench *bench)
{
	static const char *const wrong[] = {
		"-c M25P80",
		LEAST " word",
		LEAST " -x",
		LEAST " -E -r /tmp/r.bin",
		LEAST " -l /tmp/layout",
		LEAST " -i rig",
		LEAST " --signals",
		LEAST " --signals 1001",
		LEAST " --signals -1",
		LEAST " --signals 20,hup",
		LEAST " --signals 20,",
		LEAST " --threads 9",
		LEAST " --threads x",
		LEAST " --ask 1",
		LEAST " --delay 1",
		LEAST " --delay 1 --ask 18446744073709551616",
		LEAST " --delay 1 --ask 1,,2",
		LEAST " --delay 1x --ask 1",
		LEAST " --delay 1 --ask 1 --argument 6",
	};

	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(parse(bench, wrong[i]), -EINVAL);
}

static void delays_across_a_full_second_need_no_others(struct bench *bench)
{
	assert_int_equal(parse(bench, LEAST " --delay 0x48a60 --across 99"), 0);
	assert_true(bench->options.across == 99);
	assert_int_equal(bench->options.asks, 0);
}

static void more_asks_than_there_is_room_for_are_refused(struct bench *bench)
{
	char words[512] = LEAST " --delay 1 --ask 1";

	for (unsigned int i = 1; i < ASKS_MAX; i++)
		strcat(words, ",1");
	assert_int_equal(parse(bench, words), 0);
	assert_int_equal(bench->options.asks, ASKS_MAX);
	strcat(words, ",1");
	assert_int_equal(parse(bench, words), -EINVAL);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(bench, programmer_and_chip_alone_are_a_probe),
	CASE_ON(bench, programmer_alone_is_a_probe_among_all_chips),
	CASE_ON(bench, programmer_without_parameters_has_none),
	CASE_ON(bench, job_about_a_region_is_taken_in_the_words_of_flashrom),
	CASE_ON(bench, signals_are_alarms_that_interrupt_unless_told_otherwise),
	CASE_ON(bench, longest_delay_that_can_be_asked_for_is_taken),
	CASE_ON(bench, what_makes_no_sense_is_refused),
	CASE_ON(bench, delays_across_a_full_second_need_no_others),
	CASE_ON(bench, more_asks_than_there_is_room_for_are_refused),
};

RUN_CASES(tests)
