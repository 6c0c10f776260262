/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "../run_cases.h"
#include "cell.h"

#define WINDOW_BYTES 256u
#define HEADER_BYTES 24u
#define ENTRY_HEADER_BYTES 16u
#define UNTOUCHED 0xEE

/* A window in ordinary memory, bytes behind it that must stay untouched, and a file. */
struct bench {
	uint8_t memory[WINDOW_BYTES + 64];
	struct parcel parcel;
	char path[32];
};

static void bench_create(struct bench *bench)
{
	int file;

	memset(bench->memory, UNTOUCHED, sizeof(bench->memory));
	bench->parcel = (struct parcel){.window = bench->memory,
		.capacity_bytes = WINDOW_BYTES,
		.used_bytes = HEADER_BYTES};
	strcpy(bench->path, "/tmp/parcel-test-XXXXXX");
	file = mkstemp(bench->path);
	assert_int_equal(write(file, "0123456789", 10), 10);
	close(file);
}

static void bench_destroy(struct bench *bench)
{
	unlink(bench->path);
}

FIXTURE(bench, bench_create, bench_destroy);

static uint64_t u64_at(const struct bench *bench, size_t at)
{
	uint64_t value = 0;

	for (size_t i = 8; i-- > 0;)
		value = value << 8 | bench->memory[at + i];
	return value;
}

static void assert_untouched(const struct bench *bench, size_t from, size_t to)
{
	for (size_t at = from; at < to; at++)
		assert_int_equal(bench->memory[at], UNTOUCHED);
}

static void assert_counts(const struct bench *bench, size_t used_bytes, uint64_t entries)
{
	assert_int_equal(bench->parcel.used_bytes, used_bytes);
	assert_int_equal(bench->parcel.entries, entries);
}

/* Checks the entry at `at`. Returns the offset of the next one. */
static size_t assert_entry(
	const struct bench *bench, size_t at, const char *name, const char *content)
{
	size_t name_bytes = strlen(name), content_bytes = strlen(content);

	assert_int_equal(u64_at(bench, at), name_bytes);
	assert_int_equal(u64_at(bench, at + 8), content_bytes);
	at += ENTRY_HEADER_BYTES;
	assert_memory_equal(bench->memory + at, name, name_bytes);
	assert_memory_equal(bench->memory + at + name_bytes, content, content_bytes);
	return at + name_bytes + content_bytes;
}

TEST_ON(bench, sealed_parcel_has_the_layout_that_the_host_reads)
{
	/* clang-format off */
	static const uint8_t expected[] = {
		'F', 'D', 'R', 'P', 'A', 'R', 'C', '1',
		24 + 16 + 6 + 16 + 4, 0, 0, 0, 0, 0, 0, 0, /* used bytes in total */
		2, 0, 0, 0, 0, 0, 0, 0,                    /* number of entries */
		1, 0, 0, 0, 0, 0, 0, 0,                    /* length of name */
		5, 0, 0, 0, 0, 0, 0, 0,                    /* length of content */
		'a', 1, 0, 2, 0xFF, '\n',
		4, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0,
		'n', 'o', 'n', 'e',
	};
	/* clang-format on */
	static const uint8_t content[] = {1, 0, 2, 0xFF, '\n'};

	assert_int_equal(parcel_add(&bench->parcel, "a", content, sizeof(content)), 0);
	assert_int_equal(parcel_add(&bench->parcel, "none", "", 0), 0);
	parcel_seal(&bench->parcel);
	assert_memory_equal(bench->memory, expected, sizeof(expected));
	assert_untouched(bench, sizeof(expected), sizeof(bench->memory));
}

TEST_ON(bench, sealed_parcel_without_entries_is_a_header)
{
	parcel_seal(&bench->parcel);
	assert_memory_equal(bench->memory, "FDRPARC1", 8);
	assert_int_equal(u64_at(bench, 8), HEADER_BYTES);
	assert_int_equal(u64_at(bench, 16), 0);
	assert_untouched(bench, HEADER_BYTES, sizeof(bench->memory));
}

TEST_ON(bench, parcel_has_no_header_before_it_is_sealed)
{
	assert_int_equal(parcel_add(&bench->parcel, "a", "b", 1), 0);
	assert_int_equal(parcel_add_file(&bench->parcel, "c", bench->path, 0, 0), 0);
	assert_untouched(bench, 0, HEADER_BYTES);
}

TEST_ON(bench, entry_that_fills_the_window_is_added)
{
	uint8_t content[WINDOW_BYTES - HEADER_BYTES - ENTRY_HEADER_BYTES - 1];

	memset(content, 'x', sizeof(content));
	assert_int_equal(parcel_add(&bench->parcel, "n", content, sizeof(content)), 0);
	assert_counts(bench, WINDOW_BYTES, 1);
	assert_untouched(bench, WINDOW_BYTES, sizeof(bench->memory));
	assert_int_equal(parcel_add(&bench->parcel, "", "", 0), -ENOSPC);
	assert_counts(bench, WINDOW_BYTES, 1);
}

TEST_ON(bench, entry_that_does_not_fit_leaves_the_parcel_unchanged)
{
	static const size_t too_many[] = {WINDOW_BYTES - HEADER_BYTES - ENTRY_HEADER_BYTES,
		WINDOW_BYTES, SIZE_MAX - ENTRY_HEADER_BYTES, SIZE_MAX};
	uint8_t content[WINDOW_BYTES] = {0};

	for (size_t i = 0; i < COUNT(too_many); i++) {
		assert_int_equal(parcel_add(&bench->parcel, "n", content, too_many[i]), -ENOSPC);
		assert_counts(bench, HEADER_BYTES, 0);
		assert_untouched(bench, 0, sizeof(bench->memory));
	}
}

TEST_ON(bench, name_that_does_not_fit_leaves_the_parcel_unchanged)
{
	char name[WINDOW_BYTES + 1];

	memset(name, 'n', WINDOW_BYTES);
	name[WINDOW_BYTES] = '\0';
	assert_int_equal(parcel_add(&bench->parcel, name, "", 0), -ENOSPC);
	name[WINDOW_BYTES - HEADER_BYTES - ENTRY_HEADER_BYTES + 1] = '\0';
	assert_int_equal(parcel_add(&bench->parcel, name, "", 0), -ENOSPC);
	assert_counts(bench, HEADER_BYTES, 0);
	assert_untouched(bench, 0, sizeof(bench->memory));
}

TEST_ON(bench, smaller_entry_after_one_that_did_not_fit_is_added)
{
	uint8_t content[WINDOW_BYTES] = {0};
	size_t end;

	assert_int_equal(parcel_add(&bench->parcel, "large", content, sizeof(content)), -ENOSPC);
	assert_int_equal(parcel_add(&bench->parcel, "small", "s", 1), 0);
	end = assert_entry(bench, HEADER_BYTES, "small", "s");
	assert_counts(bench, end, 1);
}

TEST_ON(bench, ranges_of_a_file_are_added_as_requested)
{
	static const struct {
		off_t offset;
		size_t bytes; /* 0: to the end */
		const char *content;
	} ranges[] = {
		{0, 0, "0123456789"}, {4, 0, "456789"}, {0, 1, "0"}, {3, 4, "3456"}, {9, 1, "9"}};
	size_t at = HEADER_BYTES;

	for (size_t i = 0; i < COUNT(ranges); i++) {
		assert_int_equal(parcel_add_file(&bench->parcel, "f", bench->path, ranges[i].offset,
					 ranges[i].bytes),
			0);
		at = assert_entry(bench, at, "f", ranges[i].content);
		assert_counts(bench, at, i + 1);
		assert_untouched(bench, at, sizeof(bench->memory));
	}
}

TEST_ON(bench, empty_file_makes_an_empty_entry)
{
	assert_int_equal(truncate(bench->path, 0), 0);
	assert_int_equal(parcel_add_file(&bench->parcel, "f", bench->path, 0, 0), 0);
	assert_counts(bench, assert_entry(bench, HEADER_BYTES, "f", ""), 1);
}

TEST_ON(bench, file_shorter_than_requested_is_an_error_and_no_entry)
{
	static const struct {
		off_t offset;
		size_t bytes;
	} ranges[] = {{0, 11}, {9, 2}, {10, 1}, {1000, 1}};

	for (size_t i = 0; i < COUNT(ranges); i++) {
		assert_int_equal(parcel_add_file(&bench->parcel, "f", bench->path, ranges[i].offset,
					 ranges[i].bytes),
			-EIO);
		assert_counts(bench, HEADER_BYTES, 0);
	}
	assert_int_equal(parcel_add(&bench->parcel, "n", "c", 1), 0);
	assert_counts(bench, assert_entry(bench, HEADER_BYTES, "n", "c"), 1);
}

TEST_ON(bench, file_that_does_not_fit_leaves_the_parcel_unchanged)
{
	assert_int_equal(truncate(bench->path, WINDOW_BYTES), 0);
	assert_int_equal(parcel_add_file(&bench->parcel, "f", bench->path, 0, 0), -ENOSPC);
	assert_int_equal(parcel_add_file(&bench->parcel, "f", bench->path, 0, SIZE_MAX), -ENOSPC);
	assert_counts(bench, HEADER_BYTES, 0);
	assert_untouched(bench, 0, sizeof(bench->memory));
}

TEST_ON(bench, missing_file_and_folder_have_their_own_errors)
{
	assert_int_equal(unlink(bench->path), 0);
	assert_int_equal(parcel_add_file(&bench->parcel, "f", bench->path, 0, 0), -ENOENT);
	assert_int_equal(parcel_add_file(&bench->parcel, "f", "/tmp", 0, 1), -EISDIR);
	assert_counts(bench, HEADER_BYTES, 0);
}
