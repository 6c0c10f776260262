/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chip plugin: a chip inside QEMU, behind the registers of a real programmer. This file only
 * connects front, session and QEMU.
 *
 * Arguments: front=NAME, and settings=FILE (session.h) or check=yes. With check=yes QEMU exits as
 * soon as the plugin knows whether the front works in this QEMU.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu_plugin/qemu_plugin_api.h"
#include "front.h"
#include "qemu.h"
#include "session.h"
#include "shared/arguments.h"

#define USB_TYPE "rig-usb" /* the name of the front's device for `-device` */
#define INDEX_BYTES 4

struct options {
	const char *front;
	const char *settings;
	bool check;
};

struct plugin;

/* A window of the front, and its place in QEMU's memory. */
struct window {
	struct plugin *plugin;
	const struct front_window *front;
	struct qemu_layer layer;
	struct MemoryRegion *index; /* NULL: it has none */
};

struct plugin {
	struct options options;
	const struct front *front;
	struct qemu *qemu;
	struct qemu_events events;
	struct session session;
	struct window *windows;
	struct qemu_usb *usb; /* set for a front on USB */
};

/* QEMU keeps pointers to it, so it lives as long as QEMU. */
static struct plugin *plugin;

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API_MIN;

static int complain(const char *what, const char *which)
{
	fprintf(stderr, "chip plugin: %s %s\n", what, which);
	return -EINVAL;
}

/* Exits QEMU. A guest cannot cause this: QEMU is not a known one, or the settings are wrong. */
static void give_up(const char *what, const char *which)
{
	complain(what, which);
	exit(EXIT_FAILURE);
}

static struct front_access access_at(
	const struct window *window, uint64_t offset, unsigned int size)
{
	return (struct front_access){
		.now_ns = qemu_now_ns(window->plugin->qemu),
		.offset = offset,
		.size_bytes = size,
		.index = window->index ? qemu_read_region(window->plugin->qemu, window->index, 0,
						 INDEX_BYTES)
				       : 0,
	};
}

/* Shows or hides each window as the front requests it now. */
static void show_windows(struct plugin *self)
{
	for (size_t i = 0; i < self->front->window_count; i++) {
		const struct window *window = &self->windows[i];

		if (window->front->is_shown)
			qemu_show(self->qemu, &window->layer,
				window->front->is_shown(session_bus(&self->session)));
	}
}

static uint64_t on_read(void *owner, uint64_t offset, unsigned int size_bytes)
{
	struct window *window = owner;
	struct front_access access = access_at(window, offset, size_bytes);

	if (window->front->is_passed)
		access.beneath = qemu_read_region(window->plugin->qemu, window->layer.beneath,
			window->layer.offset + offset, size_bytes);
	return window->front->read(session_bus(&window->plugin->session), &access);
}

static void on_write(void *owner, uint64_t offset, uint64_t value, unsigned int size_bytes)
{
	struct window *window = owner;
	const struct front_access access = access_at(window, offset, size_bytes);

	front_write(window->front, session_bus(&window->plugin->session), &access, value);
	if (window->front->is_passed)
		qemu_write_region(window->plugin->qemu, window->layer.beneath,
			window->layer.offset + offset, value, size_bytes);
	show_windows(window->plugin);
}

/* Returns the bus of the current cell. */
static struct bus *bus_of(void *owner)
{
	struct plugin *self = owner;

	return session_bus(&self->session);
}

static int lay_window(struct plugin *self, const struct front_window *front, struct window *window)
{
	const struct qemu_registers registers = {
		.name = self->front->name,
		.size_bytes = front->size_bytes,
		.access_bytes_max = front->access_bytes_max,
		.read = on_read,
		.write = on_write,
		.owner = window,
	};

	*window = (struct window){.plugin = self, .front = front};
	if (front->index_region) {
		window->index = qemu_find_region(self->qemu, front->index_region);
		if (!window->index)
			return -ENODEV;
	}
	return qemu_lay_over(self->qemu, front->region, front->offset, &registers, &window->layer);
}

static void on_machine_done(void *owner)
{
	struct plugin *self = owner;

	if (!qemu_registers_work(self->qemu))
		give_up("registers do not work in this QEMU as they do in", QEMU_NEEDED);
	for (size_t i = 0; i < self->front->window_count; i++) {
		const struct front_window *front = &self->front->windows[i];

		if (lay_window(self, front, &self->windows[i]) < 0)
			give_up("this machine has no room for registers in", front->region);
	}
	if (self->options.check)
		exit(EXIT_SUCCESS);
	show_windows(self);
}

static void on_resumed(void *owner, uint64_t now_ns)
{
	struct plugin *self = owner;
	uint64_t cell = self->session.settings.cell;

	if (session_resume(&self->session, now_ns) < 0)
		give_up("cannot begin the cell of", self->options.settings);
	/* The device still has the state of the last cell. */
	if (self->usb && self->session.settings.cell != cell)
		qemu_usb_reset(self->usb);
	show_windows(self);
}

static void on_paused(void *owner, uint64_t now_ns)
{
	struct plugin *self = owner;

	if (session_pause(&self->session, now_ns) < 0)
		give_up("cannot record the cell of", self->options.settings);
}

static int parse_yes(const char *text, void *field)
{
	if (strcmp(text, "yes") != 0)
		return -EINVAL;
	*(bool *)field = true;
	return 0;
}

#define FIELD(name_) ARGUMENT(struct options, name_)

static const struct argument arguments[] = {
	{FIELD(front), .wants = "empty", .parse = argument_text},
	{FIELD(settings), .wants = "empty", .parse = argument_text},
	{FIELD(check), .wants = "not yes:", .parse = parse_yes},
};

static int parse_options(int count, char *const *words, struct options *options)
{
	uint64_t seen = 0;

	for (int i = 0; i < count; i++) {
		const char *wants = "unknown or twice:";

		if (argument_take(arguments, sizeof(arguments) / sizeof(arguments[0]), words[i],
			    options, &seen, &wants) < 0)
			return complain(wants, words[i]);
	}
	if (!options->front || !options->settings == !options->check)
		return complain("needs front, and settings or", "check");
	return 0;
}

static bool find_qemu(struct plugin *self, const char **missing)
{
	self->qemu = qemu_find(missing);
	if (!self->qemu || !self->front->usb)
		return self->qemu;
	self->usb =
		qemu_usb_register(self->qemu, USB_TYPE, self->front->usb, bus_of, self, missing);
	return self->usb;
}

static int set_up(struct plugin *self, int argc, char **argv)
{
	const char *missing = "memory";

	if (parse_options(argc, argv, &self->options) < 0)
		return -EINVAL;
	self->front = front_find(self->options.front);
	if (!self->front)
		return complain("no front is called", self->options.front);
	self->windows = calloc(self->front->window_count + 1, sizeof(*self->windows));
	if (!self->windows || !find_qemu(self, &missing)) {
		complain("this QEMU has no", missing);
		return complain("it needs", QEMU_NEEDED);
	}
	self->session.front = self->front;
	self->session.settings_path = self->options.settings;
	self->events = (struct qemu_events){
		.machine_done = on_machine_done,
		.resumed = on_resumed,
		.paused = on_paused,
		.owner = self,
	};
	qemu_listen(self->qemu, &self->events);
	return 0;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(
	qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	(void)id;
	if (!info->system_emulation)
		return complain("this is", "user mode emulation");
	plugin = calloc(1, sizeof(*plugin));
	return plugin ? set_up(plugin, argc, argv) : complain("no", "memory");
}
