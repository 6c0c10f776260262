// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program as others write them around libflashrom: it handles signals and has threads of its own
 * while the library works. The rig loads it with each subject's own library.
 */
#include "events.h"
#include "noise.h"
#include "options.h"
#include "session.h"

#include <errno.h>
#include <string.h>

static int run(const struct options *options, FILE *events)
{
	struct noise noise;
	int error;

	events_host_start(events);
	error = noise_start(&noise, &options->noise);
	if (error) {
		fprintf(stderr, "library-client: no signals or threads: %s\n", strerror(-error));
		return error;
	}
	error = session_run(options);
	noise_stop(&noise);
	events_host_end(events, (uint64_t)noise.signals, noise.turns);
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
	if (options.events_path)
		events = fopen(options.events_path, "w");
	if (options.events_path && !events) {
		fprintf(stderr, "%s: %s\n", options.events_path, strerror(errno));
		return 2;
	}
	error = run(&options, events);
	if (events)
		fclose(events);
	return error ? 1 : 0;
}
