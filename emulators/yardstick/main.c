/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-floor: writes a region of a part that is never busy with the fewest transfers, one at a
 * time. No flashrom in the same guest can be faster.
 *
 * Built with waits (yardstick.c), it is a canary or a control of a gate.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "floor.h"
#include "shared/number.h"

#define PROGRAMMER "serprog:ip="
#define LINE_BYTES_MAX 256

struct options {
	const char *target; /* HOST:PORT */
	const struct part *part;
	const char *layout_path;
	const char *region_name;
	const char *image_path;
};

/* Returns the position of the name in a part's list, or INT_MAX if the list does not have it. */
static int rank_of_name(const struct part *part, const char *flashrom_name)
{
	const char *const *names = part_flashrom_names(part);

	for (int rank = 0; names[rank]; rank++) {
		if (strcmp(names[rank], flashrom_name) == 0)
			return rank;
	}
	return INT_MAX;
}

/*
 * Finds the part for the value of -c, a name of flashrom. If several parts have that name, returns
 * the one whose list has it first.
 */
static const struct part *find_part(const char *flashrom_name)
{
	const struct part *best = NULL;
	int best_rank = INT_MAX;

	for (size_t i = 0; i < part_table_count; i++) {
		int rank = rank_of_name(&part_table[i], flashrom_name);

		if (rank < best_rank) {
			best = &part_table[i];
			best_rank = rank;
		}
	}
	return best;
}

static int set_programmer(const char *text, struct options *options)
{
	if (strncmp(text, PROGRAMMER, strlen(PROGRAMMER)) != 0)
		return -EINVAL;
	options->target = text + strlen(PROGRAMMER);
	return 0;
}

static int apply(int option, char *text, struct options *options)
{
	switch (option) {
	case 'p':
		return set_programmer(text, options);
	case 'c':
		options->part = find_part(text);
		return options->part ? 0 : -EINVAL;
	case 'l':
		options->layout_path = text;
		return 0;
	case 'i':
		options->region_name = text;
		return 0;
	case 'w':
		options->image_path = text;
		return 0;
	case 'N': /* --noverify-all: no more than the region is verified anyway */
		return 0;
	default:
		return -EINVAL;
	}
}

/* Parses the arguments. The strings in @options are those of @argv. Returns 0 or -EINVAL. */
static int options_parse(int argc, char *argv[], struct options *options)
{
	int option;

	*options = (struct options){0};
	while ((option = getopt(argc, argv, "p:c:l:i:w:N")) != -1) {
		int error = apply(option, optarg, options);

		if (error)
			return error;
	}
	if (optind < argc || !options->target || !options->part || !options->layout_path ||
		!options->region_name || !options->image_path)
		return -EINVAL;
	return 0;
}

/* Parses `FIRST:LAST NAME`, hexadecimal, LAST included. Returns false for any other region. */
static bool parse_line(const char *line, const struct options *options, struct region *region)
{
	const char *rest;
	uint64_t first;
	uint64_t last;
	size_t name_len;

	if (!number_begins(line, 16, UINT32_MAX, &rest, &first) || *rest != ':')
		return false;
	if (!number_begins(rest + 1, 16, UINT32_MAX, &rest, &last))
		return false;
	rest += strspn(rest, " \t");
	name_len = strcspn(rest, " \t\n");
	if (strlen(options->region_name) != name_len ||
		strncmp(rest, options->region_name, name_len) != 0)
		return false;
	if (first > last || last >= options->part->size_bytes)
		return false;
	*region = (struct region){
		.offset_bytes = (uint32_t)first, .size_bytes = (uint32_t)(last - first + 1)};
	return true;
}

/* Finds the region in the layout, by its `FIRST:LAST NAME` in hexadecimal. Returns 0 or -errno. */
static int options_read_region(const struct options *options, struct region *region)
{
	FILE *file = fopen(options->layout_path, "re");
	char line[LINE_BYTES_MAX];
	int error = -EINVAL;

	if (!file)
		return -errno;
	while (error && fgets(line, sizeof(line), file)) {
		if (parse_line(line, options, region))
			error = 0;
	}
	fclose(file);
	return error;
}

/* Reads the region's bytes from the image of the whole part; the caller frees @content. */
static int options_read_content(
	const struct options *options, const struct region *region, uint8_t **content)
{
	FILE *file = fopen(options->image_path, "re");
	uint8_t *bytes;
	int error = 0;

	if (!file)
		return -errno;
	bytes = malloc(options->part->size_bytes); /* The region lies within the part. */
	if (!bytes)
		error = -ENOMEM;
	else if (fseek(file, (long)region->offset_bytes, SEEK_SET) != 0 ||
		 fread(bytes, 1, region->size_bytes, file) != region->size_bytes)
		error = -EIO;
	fclose(file);
	if (error)
		free(bytes);
	else
		*content = bytes;
	return error;
}

#ifdef SLEEP_PERCENT
#define WAIT yardstick_wait
#else
#define WAIT NULL
#endif

#define EXIT_USAGE 2

static const char help[] =
	"Usage: serprog-floor -p serprog:ip=ADDR:PORT -c CHIP -l LAYOUT -i REGION -w IMAGE\n"
	"Writes one region of a part that is never busy (serprog-emu --corner zero) with as few\n"
	"transfers as possible.\n";

static const char *cause_of(int error)
{
	switch (error) {
	case -EBUSY:
		return "the part is busy, but must never be busy here (--corner zero)";
	case -EIO:
		return "the part does not hold what was written";
	case -EINVAL:
		return "the part has no erase that fits the region";
	case -ENOTSUP:
		return "only SPI NOR parts, and only regions below 16 MiB, can be written";
	default:
		return strerror(-error);
	}
}

static int fail(const char *what, const char *cause)
{
	fprintf(stderr, "serprog-floor: %s: %s\n", what, cause);
	return EXIT_FAILURE;
}

static int write_region(const struct options *options)
{
	struct region region;
	struct client client;
	uint8_t *content = NULL;
	int error = options_read_region(options, &region);

	if (error)
		return fail(options->layout_path, strerror(-error));
	error = options_read_content(options, &region, &content);
	if (error)
		return fail(options->image_path, strerror(-error));
	error = client_init(&client, options->target);
	if (error) {
		free(content);
		return fail(options->target, strerror(-error));
	}
	error = job_write(&client, options->part, &region, content, WAIT);
	client_deinit(&client);
	free(content);
	return error ? fail(options->part->name, cause_of(error)) : EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	struct options options;

	if (options_parse(argc, argv, &options)) {
		fputs(help, stderr);
		return EXIT_USAGE;
	}
	puts("serprog-floor " FLOOR_VERSION);
	return write_region(&options);
}
