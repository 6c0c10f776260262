/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Corner cases of libflashrom's interface. tests/protocol has whole sessions. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "../cases.h"
#include "libflashrom.h"
#include "libflashrom_rig.h"

#define CHIP "M25P80"
#define CHIP_BYTES (1u << 20)
#define PARAMETERS "emulate=" CHIP ",corner=zero"

/* A session with a chip inside this process that takes no time. */
struct session {
	struct flashrom_programmer *programmer;
	struct flashrom_flashctx *flash;
	struct flashrom_layout *layout;
	uint8_t image[CHIP_BYTES];
};

static void session_begin(struct session *session)
{
	memset(session->image, 0x5a, CHIP_BYTES);
	assert_int_equal(flashrom_init(0), 0);
	assert_int_equal(flashrom_programmer_init(&session->programmer, "dummy", PARAMETERS), 0);
	assert_int_equal(flashrom_flash_probe(&session->flash, session->programmer, NULL), 0);
	assert_int_equal(flashrom_layout_new(&session->layout), 0);
}

static void session_end(struct session *session)
{
	flashrom_flash_release(session->flash);
	flashrom_layout_release(session->layout);
	flashrom_programmer_shutdown(session->programmer);
	flashrom_shutdown();
}

FIXTURE(session, session_begin, session_end);

static uint8_t first_byte(struct session *session)
{
	uint8_t first;
	uint8_t *content = malloc(CHIP_BYTES);

	assert_non_null(content);
	flashrom_layout_set(session->flash, NULL);
	assert_int_equal(flashrom_image_read(session->flash, content, CHIP_BYTES), 0);
	first = content[0];
	free(content);
	return first;
}

static void write_without_an_included_region_changes_nothing(struct session *session)
{
	assert_int_equal(flashrom_layout_add_region(session->layout, 0, 0xfff, "a"), 0);
	flashrom_layout_set(session->flash, session->layout);
	assert_int_equal(flashrom_image_write(session->flash, session->image, CHIP_BYTES, NULL), 0);
	assert_int_equal(first_byte(session), 0xff);
}

static void excluded_region_is_not_written(struct session *session)
{
	struct flashrom_layout *layout = session->layout;

	assert_int_equal(flashrom_layout_add_region(layout, 0, 0xfff, "a"), 0);
	assert_int_equal(flashrom_layout_add_region(layout, 0x1000, 0x1fff, "b"), 0);
	assert_int_equal(flashrom_layout_include_region(layout, "a"), 0);
	assert_int_equal(flashrom_layout_include_region(layout, "b"), 0);
	assert_int_equal(flashrom_layout_exclude_region(layout, "a"), 0);
	assert_int_equal(flashrom_layout_exclude_region(layout, "none"), 1);
	flashrom_layout_set(session->flash, layout);
	assert_int_equal(flashrom_image_write(session->flash, session->image, CHIP_BYTES, NULL), 0);
	assert_int_equal(first_byte(session), 0xff);
}

static void invalid_region_is_refused(struct session *session)
{
	assert_int_equal(flashrom_layout_add_region(session->layout, 1, 0, "a"), 1);
	assert_int_equal(flashrom_layout_add_region(session->layout, 0, SIZE_MAX, "a"), 1);
	assert_int_equal(flashrom_layout_add_region(session->layout, 0, UINT32_MAX, "a"), 1);
	assert_int_equal(flashrom_layout_add_region(session->layout, 7, 7, "a"), 0);
}

static void region_beyond_the_chip_fails_before_anything_is_written(struct session *session)
{
	assert_int_equal(flashrom_layout_add_region(session->layout, 0, CHIP_BYTES, "a"), 0);
	assert_int_equal(flashrom_layout_include_region(session->layout, "a"), 0);
	flashrom_layout_set(session->flash, session->layout);
	assert_int_equal(flashrom_image_write(session->flash, session->image, CHIP_BYTES, NULL), 1);
	assert_int_equal(first_byte(session), 0xff);
}

/* The chip is blank, but the reference says that it holds the image. */
static void reference_replaces_the_read_of_the_chip(struct session *session)
{
	assert_int_equal(
		flashrom_image_write(session->flash, session->image, CHIP_BYTES, session->image),
		0);
	assert_int_equal(first_byte(session), 0xff);
}

static void unknown_flag_stays_off(struct session *session)
{
	const enum flashrom_flag none = (enum flashrom_flag)77;

	flashrom_flag_set(session->flash, none, true);
	assert_false(flashrom_flag_get(session->flash, none));
	flashrom_flag_set(session->flash, FLASHROM_FLAG_SKIP_UNWRITABLE_REGIONS, true);
	assert_true(flashrom_flag_get(session->flash, FLASHROM_FLAG_SKIP_UNWRITABLE_REGIONS));
}

static void several_programmers_work_at_a_time(struct session *session)
{
	struct flashrom_programmer *second;
	struct flashrom_flashctx *flash;

	assert_int_equal(
		flashrom_programmer_init(&second, "dummy", "emulate=EN25QH64,corner=zero"), 0);
	assert_int_equal(flashrom_flash_probe(&flash, second, NULL), 0);
	assert_int_equal(flashrom_flash_getsize(flash), 8u << 20);
	assert_int_equal(flashrom_flash_getsize(session->flash), CHIP_BYTES);
	flashrom_flash_release(flash);
	flashrom_programmer_shutdown(second);
}

static void null_can_be_released(void)
{
	flashrom_flash_release(NULL);
	flashrom_layout_release(NULL);
	flashrom_wp_cfg_release(NULL);
	flashrom_wp_ranges_release(NULL);
	assert_int_equal(flashrom_programmer_shutdown(NULL), 0);
	assert_int_equal(flashrom_data_free(NULL), 0);
}

/* The number of messages of each level that the callback of the first interface got. */
static unsigned int format_counts[FLASHROM_MSG_SPEW + 1];

static int see_format(enum flashrom_log_level level, const char *format, va_list args)
{
	(void)args;
	assert_string_equal(format, "%s");
	format_counts[level]++;
	return 0;
}

static void see_text(enum flashrom_log_level level, const char *message, void *user_data)
{
	unsigned int *counts = user_data;

	assert_true(strlen(message) > 0);
	counts[level]++;
}

static void open_unknown_programmer(void)
{
	struct flashrom_programmer *programmer = NULL;

	assert_int_equal(flashrom_programmer_init(&programmer, "none", NULL), 1);
	assert_null(programmer);
}

static void messages_go_to_the_callback_that_was_set_last(void)
{
	unsigned int counts[FLASHROM_MSG_SPEW + 1] = {0};

	memset(format_counts, 0, sizeof(format_counts));
	flashrom_set_log_callback_v2(see_text, counts);
	flashrom_set_log_callback(see_format);
	open_unknown_programmer();
	assert_true(format_counts[FLASHROM_MSG_ERROR] > 0);
	assert_int_equal(counts[FLASHROM_MSG_ERROR], 0);
	flashrom_set_log_callback_v2(see_text, counts);
	open_unknown_programmer();
	assert_int_equal(counts[FLASHROM_MSG_ERROR], format_counts[FLASHROM_MSG_ERROR]);
	flashrom_set_log_callback(NULL);
	open_unknown_programmer();
	assert_int_equal(counts[FLASHROM_MSG_ERROR], format_counts[FLASHROM_MSG_ERROR]);
}

static void messages_beyond_the_level_are_suppressed(struct session *session)
{
	unsigned int counts[FLASHROM_MSG_SPEW + 1] = {0};

	flashrom_set_log_callback_v2(see_text, counts);
	flashrom_set_log_level(FLASHROM_MSG_WARN);
	assert_int_equal(flashrom_image_verify(session->flash, session->image, CHIP_BYTES), 3);
	assert_int_equal(counts[FLASHROM_MSG_ERROR], 1);
	assert_int_equal(counts[FLASHROM_MSG_INFO], 0);
	flashrom_set_log_level(FLASHROM_MSG_SPEW);
	assert_int_equal(flashrom_image_verify(session->flash, session->image, CHIP_BYTES), 3);
	assert_true(counts[FLASHROM_MSG_INFO] > 0);
	flashrom_set_log_callback(NULL); /* a shutdown logs, too, when `counts` is gone */
}

/* Records the scheduling policy during an operation. */
static void see_policy(
	enum flashrom_progress_stage stage, size_t current, size_t total, void *user_data)
{
	int *policy = user_data;

	(void)stage;
	(void)current;
	(void)total;
	*policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

static int policy_of_a_read(struct session *session)
{
	int policy = -1;

	flashrom_set_progress_callback_v2(session->flash, see_policy, &policy);
	assert_int_equal(flashrom_image_read(session->flash, session->image, CHIP_BYTES), 0);
	flashrom_set_progress_callback_v2(session->flash, NULL, NULL);
	return policy;
}

static void scheduling_stays_unchanged_by_default(struct session *session)
{
	const int before = sched_getscheduler(0);

	assert_int_equal(policy_of_a_read(session), before);
	assert_int_equal(sched_getscheduler(0), before);
}

static bool may_run_in_realtime(void)
{
	const struct sched_param normal = {0};
	const struct sched_param lowest = {.sched_priority = 1};

	return sched_setscheduler(0, SCHED_FIFO, &lowest) == 0 &&
	       sched_setscheduler(0, SCHED_OTHER, &normal) == 0;
}

static void realtime_priority_lasts_for_one_operation(struct session *session)
{
	if (!may_run_in_realtime())
		skip();
	flashrom_rig_set_realtime(session->flash, true);
	assert_int_equal(policy_of_a_read(session), SCHED_FIFO);
	assert_int_equal(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
	flashrom_rig_set_realtime(session->flash, false);
	assert_int_equal(policy_of_a_read(session), SCHED_OTHER);
}

static void lists_end_with_an_empty_entry(void)
{
	const char **programmers = flashrom_supported_programmers();
	struct flashrom_board_info *boards = flashrom_supported_boards();
	struct flashrom_chipset_info *chipsets = flashrom_supported_chipsets();
	unsigned int found = 0;

	assert_non_null(programmers);
	for (size_t i = 0; programmers[i] != NULL; i++)
		found += strcmp(programmers[i], "serprog") == 0;
	assert_int_equal(found, 1);
	assert_null(boards[0].name);
	assert_null(chipsets[0].chipset);
	flashrom_data_free(programmers);
	flashrom_data_free(boards);
	flashrom_data_free(chipsets);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(session, write_without_an_included_region_changes_nothing),
	CASE_ON(session, excluded_region_is_not_written),
	CASE_ON(session, invalid_region_is_refused),
	CASE_ON(session, region_beyond_the_chip_fails_before_anything_is_written),
	CASE_ON(session, reference_replaces_the_read_of_the_chip),
	CASE_ON(session, unknown_flag_stays_off),
	CASE_ON(session, several_programmers_work_at_a_time),
	CASE(null_can_be_released),
	CASE(messages_go_to_the_callback_that_was_set_last),
	CASE_ON(session, messages_beyond_the_level_are_suppressed),
	CASE_ON(session, scheduling_stays_unchanged_by_default),
	CASE_ON(session, realtime_priority_lasts_for_one_operation),
	CASE(lists_end_with_an_empty_entry),
};

RUN_CASES(tests)
