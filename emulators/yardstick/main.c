/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-floor: writes a region of a part that is never busy with the fewest transfers, one at a
 * time. No flashrom in the same guest can be faster.
 *
 * With waits (yardstick.c) it is a canary or a control of gates.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"

#ifdef SLEEP_PERCENT
#define WAIT yardstick_wait
#else
#define WAIT NULL
#endif

#define EXIT_USAGE 2

static const char help[] =
	"Usage: serprog-floor -p serprog:ip=ADDR:PORT -c CHIP -l LAYOUT -i REGION -w IMAGE\n"
	"Writes one region of a part that is never busy (serprog-emu --corner zero) with the\n"
	"transfers that such a job cannot do without.\n";

static const char *cause_of(int error)
{
	switch (error) {
	case -EBUSY:
		return "the part is busy; this is for parts that never are (--corner zero)";
	case -EIO:
		return "the part does not hold what was written";
	case -EINVAL:
		return "the part has no erase that fits the region";
	case -ENOTSUP:
		return "such parts, or places past 16 MiB, are not written here";
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
	uint8_t *content;
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
