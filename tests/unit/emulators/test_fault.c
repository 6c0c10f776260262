/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../run_cases.h"
#include "link/fault.h"

#define STREAM_BYTES 20000

/* Faults of a stream, the bytes that come out of it, and the faults that were reported. */
struct stream {
	struct faults faults;
	uint8_t out[16];
	size_t count;
	enum fault_kind last_kind;
	uint64_t last_nth;
};

FIXTURE(stream, NOTHING, NOTHING);

static void note(void *context, const struct fault *fault, uint64_t nth)
{
	struct stream *stream = context;

	stream->count++;
	stream->last_kind = fault->kind;
	stream->last_nth = nth;
}

static void with(struct faults *faults, uint64_t seed, const char *text)
{
	faults_init(faults, seed);
	assert_int_equal(faults_add(faults, text), 0);
}

/* Passes bytes, and checks what comes out. */
static void assert_passed(struct stream *stream, const char *in, const char *expected)
{
	const size_t len = faults_pass(&stream->faults, FAULT_AT_REPLY_BYTE, (const uint8_t *)in,
		strlen(in), stream->out, note, stream);

	assert_int_equal(len, strlen(expected));
	assert_memory_equal(stream->out, expected, len);
}

TEST_ON(stream, drop_loses_the_nth_byte)
{
	with(&stream->faults, 1, "drop@3");
	assert_passed(stream, "abcd", "abd");
	assert_int_equal(stream->count, 1);
	assert_int_equal(stream->last_kind, FAULT_DROP);
	assert_int_equal(stream->last_nth, 3);
}

TEST_ON(stream, bytes_are_counted_across_chunks)
{
	with(&stream->faults, 1, "duplicate@3");
	assert_passed(stream, "ab", "ab");
	assert_passed(stream, "cd", "ccd");
	assert_int_equal(stream->last_nth, 3);
}

TEST_ON(stream, corrupted_byte_always_changes)
{
	for (uint64_t seed = 0; seed < 2000; seed++) {
		with(&stream->faults, seed, "corrupt@1");
		assert_int_equal(faults_pass(&stream->faults, FAULT_AT_REPLY_BYTE,
					 (const uint8_t *)"ab", 2, stream->out, note, stream),
			2);
		assert_int_not_equal(stream->out[0], 'a');
		assert_int_equal(stream->out[1], 'b');
	}
}

TEST_ON(stream, fault_of_requests_leaves_replies_unchanged)
{
	with(&stream->faults, 1, "drop@in:p=1");
	assert_passed(stream, "abcd", "abcd");
	assert_int_equal(stream->count, 0);
	assert_true(faults_touch(&stream->faults, FAULT_AT_REQUEST_BYTE));
	assert_false(faults_touch(&stream->faults, FAULT_AT_REPLY_BYTE));
}

/* Passes a long stream in chunks of @chunk bytes. Returns how many bytes come out. */
static size_t pass_long_stream(uint64_t seed, const char *text, size_t chunk, uint8_t *out)
{
	static const uint8_t zeros[STREAM_BYTES];
	struct stream stream = {0};
	size_t len = 0;

	with(&stream.faults, seed, text);
	for (size_t at = 0; at < STREAM_BYTES; at += chunk)
		len += faults_pass(&stream.faults, FAULT_AT_REPLY_BYTE, zeros, chunk, out + len,
			note, &stream);
	return len;
}

TEST(same_seed_makes_the_same_faults_in_chunks_of_any_size)
{
	static uint8_t once[2 * STREAM_BYTES];
	static uint8_t again[2 * STREAM_BYTES];
	size_t len;

	len = pass_long_stream(7, "corrupt@p=0.01", STREAM_BYTES, once);
	assert_int_equal(pass_long_stream(7, "corrupt@p=0.01", 5, again), len);
	assert_memory_equal(once, again, len);
	(void)pass_long_stream(8, "corrupt@p=0.01", STREAM_BYTES, again);
	assert_memory_not_equal(once, again, len);
}

TEST(number_of_faults_follows_the_probability)
{
	static uint8_t out[2 * STREAM_BYTES];

	/* 200 are expected; the seed is fixed, so the number never changes by itself. */
	assert_in_range(pass_long_stream(7, "drop@p=0.01", STREAM_BYTES, out), STREAM_BYTES - 300,
		STREAM_BYTES - 100);
	assert_int_equal(pass_long_stream(7, "drop@p=1", STREAM_BYTES, out), 0);
}

TEST(second_fault_does_not_change_the_draws_of_the_first)
{
	struct faults alone;
	struct faults beside;

	with(&alone, 3, "nak@p=0.1");
	with(&beside, 3, "nak@p=0.1");
	assert_int_equal(faults_add(&beside, "stall:5@p=0.5"), 0);
	for (int i = 0; i < 1000; i++) {
		faults_count(&alone, FAULT_AT_REQUEST);
		faults_count(&beside, FAULT_AT_REQUEST);
		assert_int_equal(faults_hit(&alone, FAULT_NAK, FAULT_AT_REQUEST) != NULL,
			faults_hit(&beside, FAULT_NAK, FAULT_AT_REQUEST) != NULL);
	}
}

TEST(fault_hits_only_the_nth_request)
{
	struct faults faults;
	const struct fault *fault;

	with(&faults, 1, "delay:250@2");
	assert_null(faults_hit(&faults, FAULT_DELAY, FAULT_AT_REQUEST));
	faults_count(&faults, FAULT_AT_REQUEST);
	assert_null(faults_hit(&faults, FAULT_DELAY, FAULT_AT_REQUEST));
	faults_count(&faults, FAULT_AT_REQUEST);
	fault = faults_hit(&faults, FAULT_DELAY, FAULT_AT_REQUEST);
	assert_non_null(fault);
	assert_int_equal(fault->hold_ns, 250000);
	assert_null(faults_hit(&faults, FAULT_STALL, FAULT_AT_REQUEST));
	assert_true(faults_hold(&faults));
}

TEST(stall_without_a_time_never_ends)
{
	struct faults faults;

	with(&faults, 1, "stall@1");
	assert_true(faults.fault[0].hold_ns == FAULT_FOR_EVER);
}

TEST(earliest_stuck_wip_counts)
{
	struct faults faults;

	with(&faults, 1, "stuck-wip@9");
	assert_int_equal(faults_stuck_from(&faults), 9);
	assert_int_equal(faults_add(&faults, "stuck-wip@4"), 0);
	assert_int_equal(faults_stuck_from(&faults), 4);
	faults_init(&faults, 1);
	assert_int_equal(faults_stuck_from(&faults), 0);
}

TEST(text_that_is_not_a_fault_is_refused)
{
	static const char *const bad[] = {"", "drop", "drop@", "drop@0", "drop@-1", "drop@x",
		"drop:5@1", "drop@p=0", "drop@p=1.1", "drop@p=", "drop@p=nan", "drop@p=1e-3",
		"drop@in:", "dropp@1", "dro@1", "delay@1", "delay:@1", "delay:x@1",
		"delay:86400000001@1", "nak@in:1", "stuck-wip@p=0.5", "stuck-wip@in:1",
		"hang-up:1@1", "stall:5", "drop@18446744073709551616",
		"drop@p=0.00000000000000000000000000000000000000001"};
	struct faults faults;

	faults_init(&faults, 1);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(faults_add(&faults, bad[i]), -EINVAL);
	assert_int_equal(faults.count, 0);
	assert_string_equal(faults.text, "");
}

TEST(fault_without_room_is_refused)
{
	struct faults faults;

	faults_init(&faults, 1);
	for (int i = 0; i < FAULTS_MAX; i++)
		assert_int_equal(faults_add(&faults, "delay:86400000000@18446744073709551615"), 0);
	assert_int_equal(faults_add(&faults, "drop@1"), -ENOSPC);
	assert_int_equal(strlen(faults.text), FAULTS_MAX * 38 + FAULTS_MAX - 1);
}
