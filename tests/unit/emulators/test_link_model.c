/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../run_cases.h"
#include "link/link_model.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static struct link_model parsed(const char *text)
{
	struct link_model model = {0};

	assert_int_equal(link_model_parse(text, &model), 0);
	return model;
}

TEST(link_of_zeros_takes_no_time)
{
	const struct link_model none = {0};

	assert_false(link_model_takes_time(&none));
	assert_int_equal(link_model_line_ns(&none, 1000), 0);
	assert_int_equal(link_model_delivery_ns(&none, 5, 1000), 5);
}

TEST(byte_on_a_line_is_ten_bits_and_never_early)
{
	const struct link_model model = parsed("baud=115200");

	assert_true(link_model_takes_time(&model));
	assert_int_equal(link_model_line_ns(&model, 0), 0);
	assert_int_equal(link_model_line_ns(&model, 1), 86806); /* 86805.6, rounded up */
	assert_int_equal(link_model_line_ns(&model, 11520), 1000 * MS);
}

TEST(line_of_the_longest_request_does_not_wrap)
{
	const struct link_model model = parsed("baud=1");

	assert_int_equal(link_model_line_ns(&model, LINK_MODEL_LEN_MAX + UINT64_C(7)),
		(LINK_MODEL_LEN_MAX + UINT64_C(7)) * 10 * 1000 * MS);
}

TEST(reply_leaves_at_the_next_usb_frame)
{
	const struct link_model full = parsed("usb-frame-us=1000");
	const struct link_model high = parsed("usb-frame-us=125");

	assert_int_equal(link_model_delivery_ns(&full, 0, 1), 0);
	assert_int_equal(link_model_delivery_ns(&full, 1, 1), MS);
	assert_int_equal(link_model_delivery_ns(&full, MS, 1), MS);
	assert_int_equal(link_model_delivery_ns(&full, MS + 1, 1), 2 * MS);
	assert_int_equal(link_model_delivery_ns(&high, 125 * US + 1, 1), 250 * US);
}

TEST(usb_frames_do_not_delay_requests)
{
	const struct link_model model = parsed("usb-frame-us=1000");

	assert_int_equal(link_model_line_ns(&model, 4096), 0);
}

TEST(reply_takes_its_line_time_and_then_waits_for_a_frame)
{
	const struct link_model model = parsed("baud=1000000,usb-frame-us=1000");

	assert_int_equal(link_model_delivery_ns(&model, 0, 100), MS);
	assert_int_equal(link_model_delivery_ns(&model, 0, 101), 2 * MS);
}

TEST(key_after_a_preset_overrides_it)
{
	const struct link_model model = parsed("frser-duino,baud=2000000,read-max=4096");

	assert_int_equal(model.baud, 2000000);
	assert_int_equal(model.read_len_max, 4096);
	assert_int_equal(model.write_len_max, 1013);
	assert_true(model.native_delay);
}

/* The figures come from the sources that the table names, not from the table. */
TEST(presets_match_their_sources)
{
	const struct link_model uno = parsed("frser-duino");
	const struct link_model ftdi = parsed("frser-duino-ftdi");
	const struct link_model stm32 = parsed("stm32-vserprog");
	const struct link_model shield = parsed("frser-m328lpcspi");
	const struct link_model parallel = parsed("frser-atmega644");

	assert_int_equal(uno.serial_buffer_bytes, 1024 - 4);
	assert_int_equal(uno.write_len_max, 1024 - 4 - 7);
	assert_int_equal(uno.read_len_max, (115200 / 5 + 512) / 1024 * 1024);
	assert_int_equal(ftdi.read_len_max, (2000000 / 5 + 512) / 1024 * 1024);
	assert_int_equal(uno.opbuf_bytes, 12);
	assert_int_equal(stm32.serial_buffer_bytes, 0xFFFF);
	assert_true(stm32.any_length);
	assert_false(stm32.native_delay);
	/* RAM minus 320 bytes, the UART's receive buffer (a quarter) and its send buffer (1/32). */
	assert_int_equal(shield.opbuf_bytes, 2048 - 320 - 2048 / 4 - 2048 / 32);
	assert_int_equal(shield.serial_buffer_bytes, 2048 / 4 - 4);
	assert_int_equal(parallel.opbuf_bytes, 4096 - 320 - 1024);
	assert_int_equal(parallel.write_len_max, 4096 - 320 - 1024 - 7);
	assert_int_equal(parallel.read_len_max, (1500000 / 5 + 512) / 1024 * 1024);
}

/* A user measured 0.29 to 0.34 ms for each transfer of 8 bytes; USB frames take 1 ms. */
TEST(replies_at_full_speed_take_as_long_as_a_user_measured)
{
	static const char *const names[] = {"stm32-vserprog", "pico-serprog", "serprog_pico"};
	const uint64_t count = 10000;

	for (size_t i = 0; i < COUNT(names); i++) {
		const struct link_model model = parsed(names[i]);
		uint64_t sum_ns = 0;

		for (uint64_t nth = 0; nth < count; nth++) {
			uint64_t reply_ns = link_model_reply_ns(&model, 7, nth);

			assert_in_range(reply_ns, MS / 19, MS);
			sum_ns += reply_ns;
		}
		assert_in_range(sum_ns / count, 290 * US, 340 * US);
	}
}

TEST(reply_time_depends_only_on_seed_and_number)
{
	const struct link_model range = parsed("reply-us=10-20");
	const struct link_model fixed = parsed("reply-us=10");

	assert_true(link_model_takes_time(&range));
	assert_int_equal(link_model_reply_ns(&fixed, 1, 2), 10 * US);
	assert_int_equal(link_model_reply_ns(&range, 1, 2), link_model_reply_ns(&range, 1, 2));
	assert_int_not_equal(link_model_reply_ns(&range, 1, 2), link_model_reply_ns(&range, 1, 3));
	assert_int_not_equal(link_model_reply_ns(&range, 1, 2), link_model_reply_ns(&range, 2, 2));
	for (uint64_t nth = 0; nth < 1000; nth++)
		assert_in_range(link_model_reply_ns(&range, 0, nth), 10 * US, 20 * US);
}

TEST(each_preset_is_found_by_its_name)
{
	for (size_t i = 0; i < link_preset_count; i++) {
		const struct link_model model = parsed(link_presets[i].name);

		assert_memory_equal(&model, &link_presets[i].model, sizeof(model));
	}
}

TEST(bad_text_is_refused_and_leaves_the_model_unchanged)
{
	static const char *const bad[] = {"", "nonsense", "baud", "baud=", "baud=x", "baud=-1",
		"baud=1,", ",baud=1", "baud=100000001", "opbuf=4097", "serial-buffer=65536",
		"write-max=16777216", "usb-frame-us=1000001", "bau=1", "baud2=1",
		"baud=1,frser-duino", "baud=1 ", "reply-us=5-3", "reply-us=1-", "reply-us=-1",
		"reply-us=1-1000001", "reply-us=1-2-3", "baud=1-2", "silent=2", "ack-bytes=15",
		"baud=000000000000000000000000000000000000000000000001"};
	struct link_model model = {.baud = 9600};

	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(link_model_parse(bad[i], &model), -EINVAL);
		assert_int_equal(model.baud, 9600);
	}
}

TEST(text_too_long_for_an_event_is_refused)
{
	char text[LINK_MODEL_TEXT_BYTES + 8] = "baud=1";
	struct link_model model;

	while (strlen(text) < LINK_MODEL_TEXT_BYTES - 7)
		strcat(text, ",baud=1");
	assert_int_equal(link_model_parse(text, &model), 0);
	strcat(text, ",baud=1");
	assert_int_equal(link_model_parse(text, &model), -EINVAL);
}
