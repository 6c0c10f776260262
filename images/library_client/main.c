// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A typical program that uses libflashrom: it handles signals and runs threads while the library
 * works. The rig runs it with each subject's own library.
 */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include "layout.h"
#include "options.h"
#include "serprog/counter.h"
#include "shared/json_line.h"

#include <errno.h>
#include <libflashrom.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIBRARY "/libflashrom.so.1"
#define BEFORE_FULL_SECOND_NS 10000000

/* A delay function with fewer or narrower arguments ignores the rest. */
typedef void delay_function(uint64_t first, uint64_t second, uint64_t third);

static int print_message(enum flashrom_log_level level, const char *format, va_list args)
{
	return level <= FLASHROM_MSG_INFO ? vprintf(format, args) : 0;
}

static int failed(const char *what, int status)
{
	printf("%s failed: %d\n", what, status);
	return -EIO;
}

static int load_image(const char *path, uint8_t *image, size_t bytes)
{
	FILE *file = fopen(path, "r");
	size_t got = file ? fread(image, 1, bytes, file) : 0;

	if (file)
		fclose(file);
	return got == bytes ? 0 : failed("reading the image file", -EIO);
}

static int save_image(const char *path, const uint8_t *image, size_t bytes)
{
	FILE *file = fopen(path, "w");
	size_t put = file ? fwrite(image, 1, bytes, file) : 0;
	int error = file ? fclose(file) : -1;

	return put == bytes && !error ? 0 : failed("writing the image file", -EIO);
}

static int write_chip(struct flashrom_flashctx *flash, uint8_t *image, size_t bytes)
{
	flashrom_flag_set(flash, FLASHROM_FLAG_VERIFY_AFTER_WRITE, true);
	return flashrom_image_write(flash, image, bytes, NULL);
}

static int do_job(struct flashrom_flashctx *flash, const struct options *options, uint8_t *image,
	size_t bytes)
{
	const char *call = "flashrom_flash_erase()";
	int status = 0;

	if (options->job == JOB_WRITE || options->job == JOB_VERIFY)
		status = load_image(options->image_path, image, bytes);
	if (status)
		return status;
	switch (options->job) {
	case JOB_PROBE:
		return 0;
	case JOB_READ:
		call = "flashrom_image_read()";
		status = flashrom_image_read(flash, image, bytes);
		break;
	case JOB_WRITE:
		call = "flashrom_image_write()";
		status = write_chip(flash, image, bytes);
		break;
	case JOB_VERIFY:
		call = "flashrom_image_verify()";
		status = flashrom_image_verify(flash, image, bytes);
		break;
	case JOB_ERASE:
		status = flashrom_flash_erase(flash);
		break;
	}
	if (status)
		return failed(call, status);
	return options->job == JOB_READ ? save_image(options->image_path, image, bytes) : 0;
}

static int use_chip(struct flashrom_flashctx *flash, const struct options *options)
{
	size_t bytes = flashrom_flash_getsize(flash);
	struct flashrom_layout *layout = NULL;
	uint8_t *image = calloc(1, bytes);
	int error = 0;

	if (!image)
		return failed("allocating the image", -ENOMEM);
	if (options->layout_path)
		error = layout_read(&layout, options->layout_path, options->region);
	if (error) {
		free(image);
		return failed("reading the layout", error);
	}
	flashrom_layout_set(flash, layout);
	error = do_job(flash, options, image, bytes);
	flashrom_layout_set(flash, NULL);
	if (layout)
		flashrom_layout_release(layout);
	free(image);
	return error;
}

static int use_programmer(struct flashrom_programmer *programmer, const struct options *options)
{
	struct flashrom_flashctx *flash;
	int status = flashrom_flash_probe(&flash, programmer, options->chip);

	if (status)
		return failed("flashrom_flash_probe()", status);
	status = use_chip(flash, options);
	flashrom_flash_release(flash);
	return status;
}

/* Stores the library's load address in `base`, and then ends the iteration. */
static int note_base(struct dl_phdr_info *info, size_t bytes, void *base)
{
	(void)bytes;
	if (!strstr(info->dlpi_name, LIBRARY))
		return 0;
	memcpy(base, &info->dlpi_addr, sizeof(info->dlpi_addr));
	return 1;
}

static void ask_delay(delay_function *delay, const struct options *options, uint64_t length)
{
	uint64_t given[ASK_ARGUMENT_MAX + 1] = {0};

	given[options->delay_argument] = length;
	delay(given[0], given[1], given[2]);
}

/* Sleeps until shortly before a full second of that clock. */
static void sleep_to_full_second(clockid_t clock)
{
	struct timespec now, left = {0, 0};

	clock_gettime(clock, &now);
	left.tv_nsec = (long)NS_PER_S - BEFORE_FULL_SECOND_NS - now.tv_nsec;
	if (left.tv_nsec < 0)
		left.tv_nsec += (long)NS_PER_S;
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

/* Calls the delay function before, during and after a full second of each clock that waits use. */
static void ask_across(delay_function *delay, const struct options *options)
{
	static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		sleep_to_full_second(clocks[i]);
		for (size_t j = 0; j < ACROSS_CALLS; j++)
			ask_delay(delay, options, options->across);
	}
}

/* Calls the delay function with the requested lengths; QEMU measures the waits. */
static int ask_delays(const struct options *options)
{
	delay_function *delay;
	ElfW(Addr) place;

	if (!dl_iterate_phdr(note_base, &place))
		return -ENOENT;
	place += (ElfW(Addr))options->delay_address;
	memcpy((void *)&delay, &place, sizeof(delay));
	for (size_t i = 0; i < options->asks; i++)
		ask_delay(delay, options, options->ask[i]);
	if (options->across)
		ask_across(delay, options);
	return 0;
}

static int use_library(const struct options *options)
{
	struct flashrom_programmer *programmer;
	int error, status;

	status = flashrom_programmer_init(&programmer, options->programmer, options->parameters);
	if (status)
		return failed("flashrom_programmer_init()", status);
	error = use_programmer(programmer, options);
	if (!error && options->delay_address)
		error = ask_delays(options);
	status = flashrom_programmer_shutdown(programmer);
	if (!error && status)
		error = failed("flashrom_programmer_shutdown()", status);
	return error;
}

/*
 * Does the job, and then the requested calls of the delay function. Prints the library's messages
 * and failures to standard output.
 */
static int run_session(const struct options *options)
{
	int error, status;

	flashrom_set_log_callback(print_message);
	/* No self-check: a library with shortened waits must run, so that the rig can find it. */
	status = flashrom_init(0);
	if (status)
		return failed("flashrom_init()", status);
	printf("flashrom %s, as a library\n", flashrom_version_info());
	error = use_library(options);
	status = flashrom_shutdown();
	if (!error && status)
		error = failed("flashrom_shutdown()", status);
	return error;
}

/* The rig merges these events with those of others by time. */
static void write_start(FILE *events)
{
	struct json_line line;

	json_event(&line, events, "host_start", counter_read_ns());
	json_end(&line);
}

static void write_end(FILE *events, const struct noise *noise)
{
	struct json_line line;

	json_event(&line, events, "host_end", counter_read_ns());
	json_unsigned(&line, "signals", (uint64_t)noise->signals);
	json_unsigned(&line, "turns", noise->turns);
	json_end(&line);
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
	error = run_session(options);
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
		/* A line buffer, so that the file has all events if the program is killed. */
		setvbuf(events, NULL, _IOLBF, 0);
	}
	error = run(&options, events);
	if (events)
		fclose(events);
	return error ? 1 : 0;
}
