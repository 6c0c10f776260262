// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program as others write them around libflashrom: it handles signals and has threads of its own
 * while the library works. The rig loads it with each subject's own library.
 */
#include "noise.h"
#include "options.h"
#include "serprog/counter.h"
#include "session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The rig merges these events with those of others by time. */
static void write_start(FILE *events)
{
	fprintf(events, "{\"ev\":\"host_start\",\"t_ns\":%" PRIu64 "}\n", counter_read_ns());
}

static void write_end(FILE *events, const struct noise *noise)
{
	fprintf(events,
		"{\"ev\":\"host_end\",\"t_ns\":%" PRIu64 ",\"signals\":%" PRIu64
		",\"turns\":%" PRIu64 "}\n",
		counter_read_ns(), (uint64_t)noise->signals, (uint64_t)noise->turns);
}

static int run(const struct options *options, FILE *events)
{
	struct noise noise;
	int error;

	if (events)
		write_start(events);
	error = noise_start(&noise, &options->noise);
	if (error) {
		fprintf(stderr, "library-client: no signals or threads: %s\n", strerror(-error));
		return error;
	}
	error = session_run(options);
	noise_stop(&noise);
	if (events)
		write_end(events, &noise);
	return error;
}

int main(int argc, char *argv[])
{
	struct options options;
	FILE *events = NULL;
	int error;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (options_parse(argc, argv, &options) < 0)
		return 2;
	if (options.events_path) {
		events = fopen(options.events_path, "w");
		if (!events) {
			fprintf(stderr, "%s: %s\n", options.events_path, strerror(errno));
			return 2;
		}
		/* A program that is ended leaves what came before. */
		setvbuf(events, NULL, _IOLBF, 0);
	}
	error = run(&options, events);
	if (events)
		fclose(events);
	return error ? 1 : 0;
}
