// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include "shared/number.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const struct option long_options[] = {
	{"signals", required_argument, NULL, 'S'},
	{"threads", required_argument, NULL, 'T'},
	{"delay", required_argument, NULL, 'D'},
	{"ask", required_argument, NULL, 'A'},
	{"across", required_argument, NULL, 'X'},
	{"argument", required_argument, NULL, 'G'},
	{"events", required_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static int take_number(const char *text, uint64_t number_max, uint64_t *number)
{
	return number_parse(text, 0, 0, number_max, number) ? 0 : -EINVAL;
}

static int take_unsigned(const char *text, uint64_t number_max, unsigned int *number)
{
	uint64_t value;
	int error = take_number(text, number_max, &value);

	if (!error)
		*number = (unsigned int)value;
	return error;
}

static int take_manner(const char *word, struct noise_config *noise)
{
	static const struct {
		const char *name;
		int signal;
	} signals[] = {{"alrm", SIGALRM}, {"chld", SIGCHLD}, {"usr1", SIGUSR1}};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (strcmp(word, signals[i].name) == 0) {
			noise->signal = signals[i].signal;
			return 0;
		}
	}
	noise->restart = strcmp(word, "restart") == 0;
	return noise->restart ? 0 : -EINVAL;
}

static int take_signals(char *text, struct noise_config *noise)
{
	int error = take_unsigned(strsep(&text, ","), NOISE_RATE_HZ_MAX, &noise->rate_hz);
	const char *word;

	noise->signal = SIGALRM;
	while (!error && (word = strsep(&text, ",")) != NULL)
		error = take_manner(word, noise);
	return error;
}

static int take_asks(char *text, struct options *options)
{
	const char *word;
	int error = 0;

	while (!error && (word = strsep(&text, ",")) != NULL) {
		if (options->asks == ASKS_MAX)
			return -EINVAL;
		error = take_number(word, UINT64_MAX, &options->ask[options->asks]);
		options->asks++;
	}
	return error;
}

static int take_programmer(char *text, struct options *options)
{
	options->programmer = strsep(&text, ":");
	options->parameters = text;
	return 0;
}

static int take_job(struct options *options, enum job job, const char *image_path)
{
	if (options->job != JOB_PROBE)
		return -EINVAL;
	options->job = job;
	options->image_path = image_path;
	return 0;
}

static int take_string(const char **place, const char *text)
{
	*place = text;
	return 0;
}

static int take_option(int name, char *value, struct options *options)
{
	switch (name) {
	case 'p':
		return take_programmer(value, options);
	case 'c':
		return take_string(&options->chip, value);
	case 'l':
		return take_string(&options->layout_path, value);
	case 'i':
		return take_string(&options->region, value);
	case 'r':
		return take_job(options, JOB_READ, value);
	case 'w':
		return take_job(options, JOB_WRITE, value);
	case 'v':
		return take_job(options, JOB_VERIFY, value);
	case 'E':
		return take_job(options, JOB_ERASE, NULL);
	case 'N':
		return 0; /* the library always verifies only the layout's region */
	case 'S':
		return take_signals(value, &options->noise);
	case 'T':
		return take_unsigned(value, NOISE_THREADS_MAX, &options->noise.threads);
	case 'D':
		return take_number(value, UINT64_MAX, &options->delay_address);
	case 'A':
		return take_asks(value, options);
	case 'X':
		return take_number(value, UINT64_MAX, &options->across);
	case 'G':
		return take_unsigned(value, ASK_ARGUMENT_MAX, &options->delay_argument);
	case 'V':
		return take_string(&options->events_path, value);
	default:
		return -EINVAL;
	}
}

static int refuse(const char *what)
{
	fprintf(stderr, "library-client: %s\n", what);
	return -EINVAL;
}

int options_parse(int argc, char *argv[], struct options *options)
{
	int name;

	memset(options, 0, sizeof(*options));
	optind = 0; /* with 1, a second parse could begin inside an argument of the first */
	while ((name = getopt_long(argc, argv, "p:c:l:i:r:w:v:EN", long_options, NULL)) >= 0) {
		if (take_option(name, optarg, options))
			return refuse("an option is unknown, or has a wrong value");
	}
	if (optind != argc || !options->programmer)
		return refuse("needs a programmer, and takes no other words");
	if (!options->layout_path != !options->region)
		return refuse("a layout and a region of it go together");
	if (!options->delay_address != !(options->asks || options->across))
		return refuse("--delay goes together with --ask or --across");
	return 0;
}
