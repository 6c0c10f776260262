/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests that the player of dialogues parses the words of its lines, and refuses mistyped ones. */
#include <stdio.h>

#include "../run_cases.h"
#include "dialogue.h"

/* Returns the first word of a line. take_transfer() then takes the others. */
static const char *first_of(const char *text, char line[64])
{
	strcpy(line, text);
	return strtok(line, " ");
}

TEST(words_of_a_transfer_are_taken)
{
	struct transfer transfer;
	char line[64];

	assert_true(transfer_parse(first_of("0a ff*3 r300 t7", line), &transfer));
	assert_int_equal(transfer.len, 4);
	assert_memory_equal(transfer.bytes, "\x0a\xff\xff\xff", 4);
	assert_int_equal(transfer.reply_len, 300);
	assert_int_equal(transfer.wire_ns, 7);
}

TEST(mistyped_word_of_a_transfer_is_refused)
{
	static const char *const words[] = {"0g", "poll", "100", "-1", "00*", "00*0", "00*2x",
		"00*4098", "r", "r1x", "r-1", "t", "t1us"};

	for (size_t i = 0; i < COUNT(words); i++) {
		struct transfer transfer;
		char line[64];

		assert_false(transfer_parse(first_of(words[i], line), &transfer));
		sprintf(line, "op 00 %s", words[i]);
		strtok(line, " ");
		assert_false(take_transfer(&transfer));
	}
}

TEST(time_is_relative_to_the_last_one_or_to_the_end)
{
	static const struct {
		const char *at;
		uint64_t ns;
	} rows[] = {{"+5", 105}, {"-5", 95}, {"end", 200}, {"end+5", 205}, {"end-5", 195}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t now_ns = 100;

		assert_true(take_time(rows[i].at, 200, &now_ns));
		assert_int_equal(now_ns, rows[i].ns);
	}
}

TEST(mistyped_time_or_number_is_refused)
{
	static const char *const times[] = {"", "5", "+", "+5x", "+-5", "endless", "end5", "end+"};
	uint64_t number = 100;
	char line[64];

	for (size_t i = 0; i < COUNT(times); i++)
		assert_false(take_time(times[i], 200, &number));
	assert_int_equal(number, 100);
	first_of("stick 1x", line);
	assert_false(take_number(&number));
	first_of("see 10g", line);
	assert_false(take_address(&(uint32_t){0}));
}

TEST(missing_file_argument_is_a_failure)
{
	char *words[] = {"test", "--print"};

	assert_int_equal(dialogue_main(1, words, NULL, NULL, NULL), 1);
	assert_int_equal(dialogue_main(2, words, NULL, NULL, NULL), 1);
}
