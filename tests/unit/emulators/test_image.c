/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <unistd.h>

#include "../run_cases.h"
#include "../temporary_folder.h"
#include "record/events.h"
#include "serprog/image.h"

#define SIZE_BYTES (4 * ARRAY_GRANULE_BYTES)

struct fixture {
	struct array array;
	uint8_t bytes[SIZE_BYTES];
	uint8_t map[1];
	struct folder folder;
	char path[FOLDER_FILE_BYTES];
};

static void set_up(struct fixture *fixture)
{
	folder_create(&fixture->folder);
	folder_file(&fixture->folder, "image", fixture->path);
	array_init(&fixture->array, SIZE_BYTES, fixture->bytes, fixture->map);
}

static void tear_down(struct fixture *fixture)
{
	folder_destroy(&fixture->folder);
}

FIXTURE(fixture, set_up, tear_down);

static void put_file(const char *path, const void *bytes, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_int_equal(fwrite(bytes, 1, len, file), len);
	fclose(file);
}

TEST_ON(fixture, load_at_offset_leaves_the_rest_erased)
{
	uint8_t got[5];

	put_file(fixture->path, "abc", 3);
	assert_int_equal(image_load(&fixture->array, fixture->path, 4095), 0);
	array_read(&fixture->array, 4094, got, sizeof(got));
	assert_memory_equal(got,
		"\xFF"
		"abc"
		"\xFF",
		5);
	assert_true(array_granule_is_erased(&fixture->array, 2 * ARRAY_GRANULE_BYTES));
}

TEST_ON(fixture, load_past_the_end_is_an_error)
{
	put_file(fixture->path, "abc", 3);
	assert_int_equal(image_load(&fixture->array, fixture->path, SIZE_BYTES - 3), 0);
	assert_int_equal(image_load(&fixture->array, fixture->path, SIZE_BYTES - 2), -EFBIG);
}

TEST_ON(fixture, image_as_large_as_the_part_is_loaded)
{
	static const uint8_t content[SIZE_BYTES] = {[0] = 1, [SIZE_BYTES - 1] = 2};
	uint8_t got;

	put_file(fixture->path, content, sizeof(content));
	assert_int_equal(image_load(&fixture->array, fixture->path, 0), 0);
	array_read(&fixture->array, SIZE_BYTES - 1, &got, 1);
	assert_int_equal(got, 2);
}

TEST_ON(fixture, sparse_image_holds_written_granules_and_nothing_else)
{
	static const uint8_t head[] = {0x00, 0x20, 0, 0, 0, 0, 0, 0};
	uint8_t ones = 0xFF;
	uint8_t zero = 0x00;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	array_program(&fixture->array, 0, &ones, 1); /* not erased in the map, but all FFh */
	array_program(&fixture->array, 2 * ARRAY_GRANULE_BYTES + 9, &zero, 1);
	assert_int_equal(image_write_sparse(&fixture->array, out), 0);
	fclose(out);
	assert_int_equal(len, 8 + ARRAY_GRANULE_BYTES);
	assert_memory_equal(text, head, 8);
	assert_int_equal((uint8_t)text[8 + 8], 0xFF);
	assert_int_equal((uint8_t)text[8 + 9], 0x00);
	free(text);
}

TEST_ON(fixture, whole_image_holds_every_byte)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(image_write(&fixture->array, out), 0);
	fclose(out);
	assert_int_equal(len, SIZE_BYTES);
	assert_int_equal((uint8_t)text[SIZE_BYTES - 1], 0xFF);
	free(text);
}

static void assert_content(const char *path, const char *expected)
{
	char got[16] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_int_equal(fread(got, 1, sizeof(got) - 1, file), strlen(expected));
	fclose(file);
	assert_string_equal(got, expected);
}

TEST_ON(fixture, outfile_replaces_the_old_content_only_when_committed)
{
	struct outfile file;

	put_file(fixture->path, "old", 3);
	assert_int_equal(outfile_open(&file, fixture->path), 0);
	fputs("new", file.stream);
	outfile_deinit(&file);
	assert_content(fixture->path, "old");
	assert_int_equal(outfile_open(&file, fixture->path), 0);
	fputs("new", file.stream);
	assert_int_equal(outfile_commit(&file), 0);
	assert_content(fixture->path, "new");
	assert_int_equal(access(file.temporary, F_OK), -1);
}

TEST(outfile_to_a_device_does_not_replace_it)
{
	struct outfile file;

	assert_int_equal(outfile_open(&file, "/dev/null"), 0);
	assert_string_equal(file.temporary, "");
	fputs("new", file.stream);
	assert_int_equal(outfile_commit(&file), 0);
	assert_content("/dev/null", "");
}
