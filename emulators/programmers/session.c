/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record/events.h"
#include "serprog/image.h"
#include "shared/arguments.h"

static int parse_part(const char *text, void *field)
{
	const struct part *part = part_find(text);

	*(const struct part **)field = part;
	return part ? 0 : -EINVAL;
}

static int parse_corner(const char *text, void *field)
{
	return corner_parse(text, field);
}

/* Refuses states that begin when pins are turned on: fronts do not report that. */
static int parse_start_state(const char *text, void *field)
{
	enum start_state state;

	if (start_state_parse(text, &state) < 0 || start_state_moment(state) == START_AT_PINS)
		return -EINVAL;
	*(enum start_state *)field = state;
	return 0;
}

/* Leaves room for a record that is open at the limit, and for the one that reports it. */
#define RECORDS_MAX (EVENTS_COUNT_MAX - 2)

#define FIELD(name_) ARGUMENT(struct settings, name_)
#define BUS_FIELD(name_) .name = #name_, .offset = offsetof(struct settings, bus.name_)

static const struct argument keys[] = {
	{FIELD(cell), .wants = "no number", .min = 1, .max = UINT64_MAX},
	{BUS_FIELD(part), .wants = "no such part", .parse = parse_part},
	{BUS_FIELD(corner), .wants = "no corner", .parse = parse_corner},
	{BUS_FIELD(seed), .wants = "no number", .max = UINT64_MAX},
	{BUS_FIELD(records_max), .wants = "no number", .min = 1, .max = RECORDS_MAX},
	{BUS_FIELD(start_state), .wants = "no such state", .parse = parse_start_state},
	{FIELD(image_in), .wants = "no path", .parse = argument_text},
	{FIELD(image_offset), .wants = "no offset", .max = UINT32_MAX},
	{FIELD(image_out_sparse), .wants = "no path", .parse = argument_text},
	{FIELD(events), .wants = "no path", .parse = argument_text},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))
#define ALL_KEYS ((UINT64_C(1) << KEY_COUNT) - 1)

static int refuse(char *error, const char *what, const char *line)
{
	snprintf(error, SETTINGS_ERROR_BYTES, "%s: %.120s", what, line);
	return -EINVAL;
}

int settings_parse(char *text, struct settings *settings, char *error)
{
	uint64_t seen = 0;
	char *rest = text;
	char *line;

	*settings = (struct settings){0};
	while ((line = strsep(&rest, "\n")) != NULL) {
		const char *wants = "unknown or twice";

		if (*line != '\0' &&
			argument_take(keys, KEY_COUNT, line, settings, &seen, &wants) < 0)
			return refuse(error, wants, line);
	}
	if (seen != 0 && seen != ALL_KEYS)
		return refuse(error, "incomplete cell", "some keys are missing");
	if (settings->bus.part != NULL &&
		!start_state_fits(settings->bus.start_state, settings->bus.part))
		return refuse(error, "start_state does not fit", settings->bus.part->name);
	return 0;
}

#define CLOCK_NAME "virtual"

static int complain(const char *what, const char *path, int error)
{
	fprintf(stderr, "chip plugin: %s %s: %s\n", what, path, strerror(-error));
	return error;
}

struct bus *session_bus(struct session *session)
{
	return session->memory ? &session->bus : NULL;
}

void session_deinit(struct session *session)
{
	if (session->memory) {
		bus_deinit(&session->bus);
		munmap(session->memory, session->memory_bytes);
	}
	session->memory = NULL;
	free(session->text);
	session->text = NULL;
	session->settings = (struct settings){0};
}

/* Returns the text of a file, which the caller frees, or NULL with errno set. */
static char *read_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &room, '\0', file) < 0) {
		free(text);
		text = ferror(file) ? NULL : strdup(""); /* an empty file */
	}
	fclose(file);
	return text;
}

static int check_bus(const struct front *front, const struct settings *settings, char *error)
{
	const struct part *part = settings->bus.part;

	if (!part || front_reaches(front, part))
		return 0;
	return refuse(error, "this programmer does not have the bus of that part", part->name);
}

static int read_settings(
	const char *path, const struct front *front, char **text, struct settings *settings)
{
	char error[SETTINGS_ERROR_BYTES];

	*text = read_text(path);
	if (!*text)
		return complain("cannot read", path, -errno);
	if (settings_parse(*text, settings, error) == 0 && check_bus(front, settings, error) == 0)
		return 0;
	fprintf(stderr, "chip plugin: %s: %s\n", path, error);
	free(*text);
	*text = NULL;
	return -EINVAL;
}

/* Pages that are never written take no memory. */
static int take_memory(struct session *session)
{
	size_t bytes = chip_memory_bytes(session->settings.bus.part);
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return complain("no memory for a", session->settings.bus.part->name, -errno);
	session->memory = memory;
	session->memory_bytes = bytes;
	return 0;
}

static int make_chip(struct session *session)
{
	const struct settings *settings = &session->settings;
	int ret = take_memory(session);

	if (ret < 0)
		return ret;
	ret = bus_init(&session->bus, &settings->bus, session->memory);
	if (ret < 0)
		return complain("no memory for", "events", ret);
	ret = image_load(
		&session->bus.chip.array, settings->image_in, (uint32_t)settings->image_offset);
	return ret < 0 ? complain("cannot load", settings->image_in, ret) : 0;
}

/* Reads the settings. Keeps the chip if the cell is the same as before. */
static int take_settings(struct session *session)
{
	struct settings settings = {0};
	char *text = NULL;
	int ret = read_settings(session->settings_path, session->front, &text, &settings);

	if (ret < 0)
		return ret;
	if (settings.cell == session->settings.cell) {
		free(text);
		return 0;
	}
	session_deinit(session);
	session->text = text;
	session->settings = settings;
	return settings.cell > 0 ? make_chip(session) : 0;
}

static bool is_untouched(const struct bus *bus)
{
	return bus->last_ns == 0;
}

int session_resume(struct session *session, uint64_t now_ns)
{
	int ret = take_settings(session);

	/*
	 * A machine that boots for one cell pauses and resumes at the point where a restored one
	 * starts. So the cell starts at the last resume before the first access.
	 */
	if (ret == 0 && is_untouched(&session->bus))
		session->start_ns = now_ns;
	return ret;
}

static int write_file(const char *path,
	int (*write)(const struct session *session, uint64_t now_ns, FILE *out),
	const struct session *session, uint64_t now_ns)
{
	struct outfile file = {0};
	int ret = outfile_open(&file, path);

	if (ret == 0)
		ret = write(session, now_ns, file.stream);
	if (ret == 0)
		ret = outfile_commit(&file);
	outfile_deinit(&file);
	return ret < 0 ? complain("cannot write", path, ret) : 0;
}

static int write_events(const struct session *session, uint64_t now_ns, FILE *out)
{
	const struct run_facts facts = {
		.start_ns = session->start_ns,
		.part = session->settings.bus.part,
		.corner = session->settings.bus.corner,
		.seed = session->settings.bus.seed,
		.clock_name = CLOCK_NAME,
	};
	const struct run_end end = {.end_ns = now_ns, .clean = bus_is_clean(&session->bus)};

	return jsonl_write(out, &facts, &session->bus.events, &end);
}

static int write_image(const struct session *session, uint64_t now_ns, FILE *out)
{
	(void)now_ns;
	return image_write_sparse(&session->bus.chip.array, out);
}

int session_pause(struct session *session, uint64_t now_ns)
{
	int ret;

	if (!session->memory)
		return 0;
	bus_flush(&session->bus);
	chip_settle(&session->bus.chip, now_ns);
	ret = write_file(session->settings.events, write_events, session, now_ns);
	if (ret == 0)
		ret = write_file(session->settings.image_out_sparse, write_image, session, now_ns);
	return ret;
}
